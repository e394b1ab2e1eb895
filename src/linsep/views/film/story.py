"""A film as plain values: all that the player needs to draw it, computed beforehand."""

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.sampling import sample_by_class
from linsep.status import Status
from linsep.views.film.facts import Facts, facts_of
from linsep.views.scene.axes import Flat, WeightView, flatten, weight_view
from linsep.views.scene.geometry import around, region
from linsep.views.scene.run import Run
from linsep.views.scene.words import captions

Array = npt.NDArray[Any]

POINTS = 1000  # rows drawn at most
LINES = 150  # of them with a line in the space of weights
SHAPE = 4 / 3  # of both pictures
MARGIN_ONE = ("LinearSVC", "PassiveAggressive")  # whose margin is at scores of ±1


def story_of(run: Run, title: str | None = None) -> dict[str, Any]:
    """Everything to be drawn and said, ready to be written as JSON."""
    flat = flatten(run)
    facts = facts_of(run)
    leads = np.stack([run.lead(t) for t in range(len(run.W))])
    wrong = (leads <= 0).sum(axis=1)
    drawn = _drawn(run, facts)
    told = captions(run, wrong.tolist())
    places = {int(number): k for k, number in enumerate(run.rows.numbers[drawn])}
    rows = [None, *(event["row"] for event in run.events)]
    frames = {
        "n": [0, *(event["n"] for event in run.events)],
        "epoch": [0, *(event["epoch"] for event in run.events)],
        "at": [-1 if row is None else places.get(row, -1) for row in rows],
        "planes": _exactly(flat.planes.reshape(len(run.W), -1)),
        "wrong": [_bits(lead[drawn] <= 0) for lead in leads],
        "count": wrong.tolist(),
        "level": [_level(run, lead) for lead in leads],
        "mistake": [int(one.mistake) for one in told],
        "said": [one.said for one in told],
        "sum": [one.sum for one in told],
    }
    return {
        "version": 1,
        "title": title or f"{run.trace.learner} at work",
        "learner": run.trace.learner,
        "parameters": _parameters(run),
        "classes": run.labels,
        "status": _ending(run, facts),
        "notes": _notes(run, flat, drawn),
        "points": _exactly(flat.points[drawn]),
        "codes": run.rows.codes[drawn].tolist(),
        "numbers": run.rows.numbers[drawn].tolist(),
        "rows": len(run.rows.X),
        "returned": run.returned,
        "axes": list(flat.names),
        "box": _exactly(np.array(around(flat.points, 0.12, SHAPE))),
        "frames": frames,
        "passes": [[one["after"], one["epoch"], _finite(one["loss"])] for one in run.trace.passes],
        "weights": _weights(run, weight_view(run, flat), drawn),
        "facts": _facts(run, facts, flat, drawn),
    }


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


def _weights(run: Run, view: WeightView, drawn: Array) -> dict[str, Any]:
    """The other picture: path, lines, and what the half-planes of all rows leave of the box."""
    path = view.path.reshape(-1, 2)
    box = around(np.vstack([path, np.zeros(2)]), 0.25, SHAPE, np.inf)
    found: dict[str, Any] = {
        "names": list(view.names),
        "note": view.note,
        "box": _exactly(np.array(box)),
        "path": _exactly(view.path.reshape(len(view.path), -1)),
        "lines": [],
        "regions": None,
    }
    if not run.binary:
        return found
    signs = run.signs
    places = sample_by_class(run.rows.codes[drawn], LINES)
    lines = drawn[places]
    moving = bool(np.ptp(view.C, axis=0).any())
    found["lines"] = places.tolist()
    found["A"], found["B"] = _exactly(view.A[lines]), _exactly(view.B[lines])
    found["C"] = [_shortly(C[lines]) for C in view.C] if moving else _exactly(view.C[0, lines])
    if moving and not np.ptp(view.C, axis=1).any():
        found["C"] = _exactly(view.C[:, 0])  # one number for all lines of a frame
    found["moving"] = "no" if not moving else "together" if np.ndim(found["C"]) == 1 else "apart"
    found["signs"] = signs[lines].astype(int).tolist()
    some = range(len(view.C)) if moving else range(1)
    found["regions"] = [
        _shortly(region(signs * view.A, signs * view.B, signs * view.C[t], box)) for t in some
    ]
    return found


def _facts(run: Run, facts: Facts, flat: Flat, drawn: Array) -> dict[str, Any]:
    position = {int(place): k for k, place in enumerate(drawn)}
    found = {
        "verdict": facts.verdict,
        "separable": facts.separable,
        "rows": [position[place] for place in facts.rows],
        "multipliers": facts.multipliers,
        "bound": facts.bound,
        "boundText": facts.bound_text,
        "meet": None,
    }
    if facts.rows and run.binary and facts.balanced:
        # Σ αᵢ yᵢ (xᵢ, 1) = 0: a mean of some rows of one class is a mean of some of the other
        alpha = np.array([_fraction(one) for one in facts.multipliers])
        some = run.rows.codes[facts.rows] == 1
        mean = alpha[some] @ flat.points[np.array(facts.rows)[some]] / alpha[some].sum()
        found["meet"] = _exactly(mean)
    return found


def _fraction(text: str) -> float:
    from fractions import Fraction

    return float(Fraction(text))


def _level(run: Run, lead: Array) -> float | None:
    """The score at the edge of the margin: ±1, or of the nearest row where all are right."""
    if not run.binary:
        return None
    if run.trace.learner in MARGIN_ONE:
        return 1.0
    least = float(lead.min())
    return least if least > 0 else None


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
    import inspect

    import linsep

    kind = getattr(linsep, run.trace.learner, None)
    usual = {} if kind is None else inspect.signature(kind).parameters
    said = [
        f"{name}={value!r}"
        for name, value in run.trace.parameters.items()
        if name != "trace" and not (name in usual and usual[name].default == value)
    ]
    return ", ".join(said)


def _bits(flags: Array) -> str:
    return base64.b64encode(np.packbits(flags, bitorder="little").tobytes()).decode()


def _exactly(values: Array) -> Any:
    return np.asarray(values, float).tolist()


def _shortly(values: Array) -> Any:
    """Six digits: enough to draw."""
    return [
        _shortly(one) if np.ndim(one) else float(f"{one:.6g}") for one in np.asarray(values, float)
    ]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
