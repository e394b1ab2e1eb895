"""Losses: as curves over the margin, as surfaces over two weights, and along a line."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from linsep import losses as known
from linsep.errors import DataError
from linsep.train.run.trace import Trace
from linsep.views.plots.inputs import numbers, two_classes
from linsep.views.scene.palette import BLACK, BLUE, COLOURS, GREEN, GREY, ORANGE, PINK, axes_of

Array = npt.NDArray[Any]

NAMES = ("ZeroOne", "Perceptron", "Hinge", "SquaredHinge", "Logistic", "Squared")
WORDS = {
    "ZeroOne": "0/1: 1 where z ≤ 0",
    "Perceptron": "perceptron: max(0, −z)",
    "Hinge": "hinge: max(0, 1 − z)",
    "SquaredHinge": "squared hinge: max(0, 1 − z)²",
    "Logistic": "logistic: log(1 + e⁻ᶻ)",
    "Squared": "squared: (1 − z)²",
}
STYLES = ("-", "--", "-", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
GRID = 161


def losses(which: Any = NAMES, ax: Any = None) -> Figure:
    """Draw what each loss charges a row of margin z = y(⟨w, x⟩ + b).

    Parameters
    ----------
    which : names of `linsep.losses`, optional
    ax : matplotlib axes, optional
    """
    figure, ax = axes_of(ax, (6.0, 4.2))
    z = np.linspace(-2.5, 3.0, 1101)
    for name in which if isinstance(which, (list, tuple)) else [which]:
        k = NAMES.index(_name(name))
        loss = getattr(known, name)()
        values = loss.value(z)
        if name == "ZeroOne":
            values = np.where(np.abs(z) < 3e-3, np.nan, values)  # a jump is no line
        colour = (BLACK, ORANGE, BLUE, GREEN, PINK, GREY)[k]
        ax.plot(z, values, color=colour, ls=STYLES[k], lw=1.8, label=WORDS[name])
    ax.axvline(0, color="#999999", lw=0.6, zorder=0)
    ax.set(xlabel="margin z = y(⟨w, x⟩ + b): wrong to the left of 0", ylabel="loss",
           ylim=(-0.1, 4.0), xlim=(-2.5, 3.0))  # fmt: skip
    ax.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    return figure


def loss_surface(
    X: Any, y: Any, loss: str = "Perceptron", *, run: Any = None, span: Any = None, ax: Any = None
) -> Figure:
    """Draw the mean loss over two weights, without an intercept, and the path of a run on it.

    Parameters
    ----------
    X, y : rows of two features, and labels of two classes
    loss : name of a loss of `linsep.losses`
    run : learner fitted with trace=True and fit_intercept=False, or its trace, optional
    span : ((low, high), (low, high)) of the two weights, optional
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import linsep
    >>> from linsep.data.toys import separated
    >>> X, y, _ = separated(n=30, margin=0.2)
    >>> learner = linsep.Perceptron(fit_intercept=False, trace=True).fit(X, y)
    >>> figure = linsep.plot.loss_surface(X, y, "ZeroOne", run=learner)
    """
    rows, signs, _ = two_classes(X, y)
    if rows.shape[1] != 2:
        raise DataError(f"X has {rows.shape[1]} columns; a surface is drawn over two weights.")
    path = None if run is None else _path(run)
    figure, ax = axes_of(ax, (5.4, 4.2))
    low, high = _span(path, span)
    first, second = (np.linspace(low[k], high[k], GRID) for k in (0, 1))
    W = np.stack(np.meshgrid(first, second), axis=-1)
    chosen = getattr(known, _name(loss))()
    # One row at a time: the margins of all rows at all weights would take much memory.
    total = sum(chosen.value(sign * (W @ x)) for x, sign in zip(rows, signs, strict=True))
    values = total / len(rows)
    drawn = ax.contourf(first, second, values, levels=14, cmap="Greys")
    figure.colorbar(drawn, ax=ax, label=f"mean loss, {WORDS[loss].split(':')[0]}")
    if path is not None:
        ax.plot(path[:, 0], path[:, 1], "-o", color=COLOURS[0], ms=3.5, lw=1.4, label="run")
        ax.plot(*path[-1], "*", color=COLOURS[1], ms=13, mec="white", label="its end", zorder=4)
        ax.legend(frameon=True, fontsize=8, loc="upper left")
    ax.set(xlabel="w₁", ylabel="w₂", title=f"{WORDS[loss].split(':')[0]} loss over two weights")
    return figure


def criteria(
    X: Any, y: Any, start: Any, end: Any, *, ax: Any = None, span: tuple[float, float] = (-0.5, 1.5)
) -> Figure:
    """Draw the true cost and the perceptron criterion along a line in the space of weights.

    Parameters
    ----------
    X, y : rows, and labels of two classes
    start, end : weights with the intercept last; t = 0 and t = 1 on the line
    span : first and last t drawn
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import linsep
    >>> from linsep.data.toys import two_groups
    >>> figure = linsep.plot.criteria(*two_groups(), [0, 1, -0.5], [1.45, -0.6, -0.5])
    """
    rows, signs, _ = two_classes(X, y)
    rows = np.column_stack([rows, np.ones(len(rows))])
    start, end = numbers("start", start), numbers("end", end)
    if start.shape != (rows.shape[1],) or end.shape != start.shape:
        raise DataError(
            f"start and end have shapes {start.shape} and {end.shape}; give {rows.shape[1]} "
            "numbers each, the intercept last."
        )
    first, last = numbers("span", span, (2,))
    figure, ax = axes_of(ax, (6.0, 4.0))
    t = np.linspace(first, last, 801)
    z = signs * ((start + t[:, None] * (end - start)) @ rows.T)
    ax.step(t, (z <= 0).sum(axis=1), color=BLACK, where="mid", label="true cost: rows wrong")
    ax.plot(t, np.maximum(0.0, -z).sum(axis=1), color=COLOURS[0], ls="--",
            label="perceptron criterion: Σ max(0, −z)")  # fmt: skip
    for at, word in ((0.0, "start"), (1.0, "end")):
        ax.axvline(at, color="#999999", lw=0.7, zorder=0)
        ax.text(at, ax.get_ylim()[1], word, ha="center", va="bottom", fontsize=8)
    ax.set(xlabel="t, along w̃(t) = (1 − t) · start + t · end", ylabel="cost of all rows")
    ax.legend(frameon=False, fontsize=8)
    return figure


def _name(name: Any) -> str:
    if not isinstance(name, str) or name not in NAMES:
        raise DataError(f"loss is {name!r}; choose one of {', '.join(NAMES)}.")
    return str(name)


def _path(run: Any) -> Array:
    """The weights of a run from its start on, (m, 2)."""
    trace = run if isinstance(run, Trace) else getattr(run, "trace_", None)
    if trace is None:
        raise DataError(f"run is {run!r}; fit it with trace=True.")
    first = trace.start[0][0] if trace.start is not None else np.zeros(2)
    path = np.array([first, *(event["w"][0] for event in trace.updates)], float)
    if path.shape[1:] != (2,) or any(np.any(event["b"]) for event in trace.updates):
        raise DataError("run has an intercept or not two weights; use fit_intercept=False.")
    return path


def _span(path: Array | None, span: Any) -> tuple[Array, Array]:
    if span is not None:
        pairs = numbers("span", span, (2, 2))
        return pairs[:, 0], pairs[:, 1]
    points = np.zeros((1, 2)) if path is None else np.vstack([path, np.zeros(2)])
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.maximum(0.35 * (high - low), 0.35 * float((high - low).max(initial=0.0)))
    room = np.where(room > 0, room, 2.0)
    return low - room, high + room
