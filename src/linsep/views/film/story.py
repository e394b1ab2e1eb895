"""A film as values: all that the player needs to draw it, and nothing that it can tell itself."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.sampling import sample_by_class
from linsep.status import Status
from linsep.views.film.facts import Facts, facts_of
from linsep.views.scene.axes import Axes, Flat, WeightView, flatten, raised, weight_view
from linsep.views.scene.moments import mistakes
from linsep.views.scene.run import Run
from linsep.views.scene.series import LOSSES, Series, series_of
from linsep.views.scene.visits import visits_of

Array = npt.NDArray[Any]

POINTS = 2000  # rows drawn at most
LINES = 150  # of them with a line in the space of weights
PIXELS = 400_000  # of rows or weights shown as images
MARGIN_ONE = ("LinearSVC", "PassiveAggressive")  # whose margin is at scores of ±1


def story_of(
    run: Run,
    title: str | None = None,
    lift: str = "",
    proof: Any = None,
    prove: Callable[..., Any] | None = None,
    axes: Axes | None = None,
) -> dict[str, Any]:
    """Everything to be drawn and said, arrays as arrays; the page makes words of a frame it shows.

    `lift` names the third feature where two were raised to three: 'product' or 'squares'.
    `axes` are those of another run that is drawn in the same picture.
    """
    flat = flatten(run, axes) if not lift else raised(run)
    facts = facts_of(run, proof, prove)
    drawn = _drawn(run, facts)
    numbers = series_of(run, facts.weights)
    frames = _frames(run, flat, numbers, drawn) | _squeeze(facts)
    visits = visits_of(run) if len(drawn) == len(run.rows.X) else None
    if visits is not None:
        frames["visit"] = visits[1]
    return {
        "version": 2,
        "title": title or f"{run.trace.learner} at work",
        "learner": run.trace.learner,
        "parameters": _parameters(run),
        "classes": run.labels,
        "status": _ending(run, facts),
        "notes": _notes(run, flat, drawn),
        "points": np.ascontiguousarray(flat.points[drawn], float),
        "codes": run.rows.codes[drawn].astype(np.uint16),
        "numbers": run.rows.numbers[drawn].astype(np.uint32),
        "rows": len(run.rows.X),
        "features": run.rows.X.shape[1],
        "lift": lift,
        "intercept": bool(run.trace.parameters.get("fit_intercept", True)),
        "every": run.every,
        "corrections": run.trace.count,
        "returned": run.returned,
        "axes": list(flat.names),
        "level": 1.0 if run.trace.learner in MARGIN_ONE else None,
        "lossName": LOSSES.get(run.trace.learner, "perceptron loss"),
        "towards": "the widest separator" if facts.weights is not None else "the last weights",
        "frames": frames,
        "order": None if visits is None else visits[0],
        "passes": [[one["after"], one["epoch"], _finite(one["loss"])] for one in run.trace.passes],
        "weights": _weights(run, weight_view(run, flat), drawn, lift),
        "facts": _facts(run, facts, flat, drawn),
        "images": _images(run, drawn),
    }


def _frames(run: Run, flat: Flat, numbers: Series, drawn: Array) -> dict[str, Any]:
    """What is so at each moment."""
    places = {int(number): k for k, number in enumerate(run.rows.numbers[drawn])}
    rows = [None, *(event["row"] for event in run.events)]
    exact = flat.planes.shape[2] == run.rows.X.shape[1] + 1 or run.rows.X.shape[1] == 1
    frames = {
        "n": np.array([0, *(event["n"] for event in run.events)], np.uint32),
        "epoch": np.array([0, *(event["epoch"] for event in run.events)], np.uint32),
        "row": np.array([-1 if row is None else row for row in rows], np.int32),
        "at": np.array([-1 if row is None else places.get(row, -1) for row in rows], np.int32),
        "planes": np.ascontiguousarray(flat.planes, float),
        "mistake": mistakes(run, numbers.misplaced),
        "plane": np.array(
            [-1, *(-1 if one["plane"] is None else one["plane"] for one in run.events)], np.int32
        ),
        "score": _ragged([event["scores"] for event in run.events]),
        "step": _ragged([event["step"] for event in run.events]),
        "count": numbers.misplaced.astype(np.uint32),
        "loss": numbers.loss.astype(np.float32),
        "norm": numbers.norm.astype(np.float32),
        "margin": numbers.margin.astype(np.float32),
        "angle": numbers.angle.astype(np.float32),
    }
    if not exact:  # the page cannot tell from the picture alone
        frames["wrong"] = np.packbits(numbers.wrong[:, drawn], axis=1, bitorder="little")
        frames["least"] = numbers.least.astype(np.float32)
    return frames


def _squeeze(facts: Facts) -> dict[str, Any]:
    """Both sides of the proof that mistakes end, frame by frame."""
    if facts.squeeze is None:
        return {}
    along, length = facts.squeeze[:2]
    return {"along": along.astype(np.float32), "length": length.astype(np.float32)}


def _ragged(lists: list[list[float]]) -> Array:
    """(frames, most): a row of numbers for each correction, filled up with NaN; none at first."""
    most = max((len(one) for one in lists), default=0)
    table = np.full((len(lists) + 1, most), np.nan)
    for t, one in enumerate(lists, 1):
        table[t, : len(one)] = one
    return table


def _ending(run: Run, facts: Facts) -> str:
    """How the run ended; and what its optimum rests on, where only a penalty keeps it finite."""
    status, C = run.trace.status, run.trace.parameters.get("C", 1.0)
    said = "" if status is None else status.value
    logistic = run.trace.learner == "LogisticRegression" and status is not Status.no_optimum
    if logistic and facts.separable:
        said += (
            f" The rows are separable: only the penalty, C={C:g}, keeps the weights finite. "
            "They grow without end as C does, and without a penalty there is no optimum."
        )
    return said


def _drawn(run: Run, facts: Facts) -> Array:
    """Which rows are drawn: the proof's, then those corrected, then some of every class."""
    n = len(run.rows.X)
    if n <= POINTS:
        return np.arange(n)
    places = {int(number): place for place, number in enumerate(run.rows.numbers)}
    met = [places[e["row"]] for e in run.events if e["row"] in places]
    chosen = dict.fromkeys([*facts.rows, *list(dict.fromkeys(met))[: POINTS // 2]])
    rest = np.setdiff1d(np.arange(n), list(chosen))
    even = sample_by_class(run.rows.codes[rest], max(0, POINTS - len(chosen)))
    chosen |= dict.fromkeys(rest[even].tolist())
    return np.array(sorted(chosen))


def _weights(run: Run, view: WeightView, drawn: Array, lift: str) -> dict[str, Any]:
    """The other picture: which rows have a line, and where it is if the page cannot tell."""
    weights: dict[str, Any] = {"names": list(view.names), "note": view.note, "exact": view.exact}
    if not run.binary:
        return {**weights, "lines": np.zeros(0, np.uint32)}
    places = sample_by_class(run.rows.codes[drawn], LINES)
    weights["lines"] = np.asarray(places, np.uint32)
    if run.rows.X.shape[1] > 2 and not lift:
        weights["offsets"] = view.C[:, drawn[places]].astype(np.float32)
    return weights


def _images(run: Run, drawn: Array) -> dict[str, Any] | None:
    """Rows and weights as pictures, where features are the pixels of a square."""
    d = run.rows.X.shape[1]
    side = round(d**0.5)
    if side < 8 or side * side != d or len(drawn) * d > PIXELS:
        return None
    some = np.unique(np.linspace(0, len(run.W) - 1, max(1, PIXELS // run.W[0].size)).astype(int))
    return {
        "side": side,
        "rows": run.rows.X[drawn].astype(np.float32),
        "frames": some.astype(np.uint32),
        "weights": run.W[some].astype(np.float32),
    }


def _facts(run: Run, facts: Facts, flat: Flat, drawn: Array) -> dict[str, Any]:
    position = {int(place): k for k, place in enumerate(drawn)}
    record: dict[str, Any] = {
        "verdict": facts.verdict,
        "separable": facts.separable,
        "rows": [position[place] for place in facts.rows],
        "multipliers": facts.multipliers,
        "bound": facts.bound,
        "boundText": facts.bound_text,
        "margin": facts.margin,
        "radius": facts.radius,
        "gamma": facts.gamma,
        "meet": None,
        "squeeze": None,
    }
    if facts.squeeze is not None:
        _, _, radius, margin, step = facts.squeeze
        record["squeeze"] = {"radius": radius, "margin": margin, "step": step}
    if facts.rows and run.binary and facts.balanced:
        # Σ αᵢ yᵢ (xᵢ, 1) = 0: a mean of some rows of one class is a mean of some of the other
        alpha = np.array([_fraction(one) for one in facts.multipliers])
        some = run.rows.codes[facts.rows] == 1
        mean = alpha[some] @ flat.points[np.array(facts.rows)[some]] / alpha[some].sum()
        record["meet"] = [float(one) for one in mean]
    return record


def _fraction(text: str) -> float:
    from fractions import Fraction

    return float(Fraction(text))


def _notes(run: Run, flat: Flat, drawn: Array) -> list[str]:
    notes = [flat.note] if flat.note else []
    total, keep = run.rows.total, run.trace.parameters.get("keep")
    if len(drawn) < total:
        notes.append(f"{len(drawn):,} of {total:,} rows are drawn.")
    if len(run.rows.X) < total:
        notes.append(f"Rows are counted among the {len(run.rows.X):,} that the trace holds.")
    if run.every > 1:
        shown = len(run.events) - bool(run.returned)
        notes.append(
            f"{shown:,} of {run.trace.count:,} corrections are shown, about every {run.every:,}th."
        )
    if run.returned:
        notes.append(f"The last frame is no correction but the model returned: {run.returned}.")
    elif run.trace.returned is None and run.trace.parameters.get("decide") == "vote":
        notes.append("The model is the vote of all weights met; the film shows them in turn.")
    elif run.trace.returned is None and keep in ("average", "pocket"):
        what = "the average of all weights" if keep == "average" else "the best weights met"
        notes.append(f"The model keeps {what}, which this trace does not hold.")
    return notes


def _parameters(run: Run) -> str:
    """Parameters that say how the run went, as Python writes them."""
    usual = _defaults(run.trace.learner)
    said = [
        f"{name}={value!r}"
        for name, value in run.trace.parameters.items()
        if name not in ("trace", "n_jobs") and not (name in usual and usual[name] == value)
    ]
    return ", ".join(said)


@cache
def _defaults(learner: str) -> dict[str, Any]:
    import inspect

    import linsep

    kind = getattr(linsep, learner, None)
    taken = {} if kind is None else inspect.signature(kind).parameters
    return {name: one.default for name, one in taken.items()}


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
