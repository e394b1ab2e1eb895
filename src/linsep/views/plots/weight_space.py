"""The space of weights: what each row forbids, what is left, and the way there."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from linsep.data.blocks.sampling import sample_by_class
from linsep.errors import DataError, ParameterError
from linsep.train.run.trace import KeptRows, Trace
from linsep.views.scene.axes import WeightView, flatten, weight_view
from linsep.views.scene.geometry import Box, around, region
from linsep.views.scene.moments import when
from linsep.views.scene.palette import (
    BLACK,
    COLOURS,
    GREEN,
    GREY,
    axes_of,
    colour_of,
    mark_of,
    name_class,
)
from linsep.views.scene.run import Run, open_run

Array = npt.NDArray[Any]

LINES = 150
TICKED = 12  # so many lines can show their forbidden side
STYLES = ("--", "-")  # of the lines of the two classes


def weight_space(
    run: Any, X: Any = None, y: Any = None, *, at: int | None = None, ax: Any = None
) -> Figure:
    """Draw what each row forbids the weights, what they leave, and the path of a run through it.

    A row x of sign y is right where y(⟨w, x⟩ + b) > 0: one side of a line in the space of weights.
    What all rows leave is the solution region. Two weights without an intercept, or one with it,
    are drawn whole; otherwise the picture is the slice through the weights at the time chosen, and
    its title says so. With more than two classes the weights of each have their own path.

    Parameters
    ----------
    run : learner fitted with trace=True, its `trace_`, or a fitted model of two classes
        Of a model without a trace only its weights are drawn; X and y must be given.
    X, y : optional
        The rows of the fit, where the trace holds none or only a sample.
    at : int, optional
        How many of the recorded corrections to go along, 0 is the start. By default all, and on to
        the model returned where it is not where the last one led.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import linsep
    >>> from linsep.data.toys import separated
    >>> X, y, _ = separated(n=20, margin=0.3)
    >>> learner = linsep.Perceptron(fit_intercept=False, trace=True).fit(X, y)
    >>> figure = linsep.plot.weight_space(learner)
    """
    opened = _run(run, X, y)
    last = len(opened.W) - 1
    t = last if at is None else at
    if isinstance(t, bool) or not isinstance(t, (int, np.integer)) or not 0 <= t <= last:
        raise ParameterError(
            f"at is {at!r}; the trace has corrections from 0 to {last}, give one of these numbers."
        )
    figure, ax = axes_of(ax, (5.4, 4.4))
    view = weight_view(opened, flatten(opened))
    draw_weights(ax, opened, view, t, weight_box(view))
    ax.set_title(_title(opened, view, t), fontsize=9)
    columns = 2 if view.path.shape[1] <= 4 else 3
    ax.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13),
              ncols=columns)  # fmt: skip
    return figure


def weight_box(view: WeightView) -> Box:
    """A box around the whole path and the origin."""
    return around(np.vstack([view.path.reshape(-1, 2), np.zeros(2)]), 0.25, 4 / 3, np.inf)


def draw_weights(ax: Any, run: Run, view: WeightView, t: int, box: Box) -> None:
    """One moment of the path, with lines and region if there is one plane."""
    ax.axhline(0, color=GREY, lw=0.5, zorder=0)
    ax.axvline(0, color=GREY, lw=0.5, zorder=0)
    if run.binary:
        _lines(ax, run, view, t, box)
        signs = run.signs
        left = region(signs * view.A, signs * view.B, signs * view.C[t], box)
        if len(left):
            ax.add_patch(Polygon(left, facecolor=GREEN, alpha=0.3, label="solution region"))
        else:
            ax.plot([], [], " ", label="no solution in this view")
    for k in range(view.path.shape[1]):
        colour = BLACK if run.binary else colour_of(k)
        way = view.path[: t + 1, k]
        label = "weights" if run.binary else f"weights of class {run.labels[k]}"
        ax.plot(way[:, 0], way[:, 1], color=colour, lw=1.1, alpha=0.8)
        mark = "o" if run.binary else mark_of(k)
        ax.plot(*way[-1:].T, mark, color=colour, ms=6, label=label, zorder=4)
        if not run.binary:
            above = 0.035 * (box.high - box.low)
            name_class(ax, run.labels[k], way[-1] + [0, above])
    if run.binary and t > 0:
        ax.annotate("", view.path[t, 0], view.path[t - 1, 0],
                    arrowprops={"arrowstyle": "-|>", "color": BLACK, "lw": 1.6})  # fmt: skip
    ax.set(xlim=(box.left, box.right), ylim=(box.low, box.high),
           xlabel=view.names[0], ylabel=view.names[1])  # fmt: skip


def _lines(ax: Any, run: Run, view: WeightView, t: int, box: Box) -> None:
    """The line of each row, or of some of each class; those that forbid these weights thicker."""
    some = sample_by_class(run.rows.codes, LINES)
    normals = np.column_stack([view.A, view.B])[some]
    long = np.linalg.norm(normals, axis=1) > 0
    some, normals = some[long], normals[long]
    C = view.C[t, some]
    feet = -(C / (normals**2).sum(axis=1))[:, None] * normals
    along = np.column_stack([-normals[:, 1], normals[:, 0]])
    along /= np.linalg.norm(along, axis=1)[:, None]
    middle = np.array([(box.left + box.right) / 2, (box.low + box.high) / 2])
    feet = feet + ((middle - feet) * along).sum(axis=1)[:, None] * along  # nearest to the middle
    reach = 2 * max(box.right - box.left, box.high - box.low)
    ends = np.stack([feet - reach * along, feet + reach * along], axis=1)
    wrong = run.signs[some] * (normals @ view.path[t, 0] + C) <= 0
    codes = run.rows.codes[some]
    for code in (0, 1):
        colour, style = COLOURS[code], STYLES[code]
        ax.plot([], [], color=colour, ls=style, label=f"rows of class {run.labels[code]}")
        for which, width, alpha in ((~wrong, 0.7, 0.45), (wrong, 1.6, 0.95)):
            mine = ends[which & (codes == code)]
            ax.add_collection(LineCollection(list(mine), colors=colour, linestyles=style,
                                             linewidths=width, alpha=alpha))  # fmt: skip
    if len(some) <= TICKED:  # a short stroke to the side that is forbidden
        away = -run.signs[some, None] * normals / np.linalg.norm(normals, axis=1)[:, None]
        strokes = np.stack([feet, feet + 0.05 * (box.high - box.low) * away], axis=1)
        ax.add_collection(LineCollection(list(strokes), colors=[COLOURS[code] for code in codes],
                                         linewidths=1.4))  # fmt: skip


def _title(run: Run, view: WeightView, t: int) -> str:
    title = f"{run.trace.learner}{when(run, t) if len(run.W) > 1 else ''}"
    if not run.binary:
        return f"{title}\nweights of each class, seen along two axes"
    if view.exact:
        return f"{title}\nall of the space of weights"
    if run.rows.X.shape[1] == 2:
        return f"{title}\nslice of (w₁, w₂, b) at b = {run.b[t, 0]:.4g}"
    return f"{title}\nslice of {run.rows.X.shape[1]} weights and b through the present ones"


def _run(run: Any, X: Any, y: Any) -> Run:
    if isinstance(run, Trace) or hasattr(run, "trace_"):
        return open_run(run, X, y)
    if not hasattr(run, "coef_") or not hasattr(run, "classes_"):
        raise DataError(
            f"run is {run!r}; give a fitted model, or a trace of a fit with trace=True."
        )
    if len(run.classes_) != 2 or X is None or y is None:
        raise DataError(
            f"{type(run).__name__} was fitted without trace=True; its weights alone can be drawn "
            "for two classes, with the rows as X and y."
        )
    from linsep.data.check.labels import encode

    rows = np.asarray(X, float)
    codes = encode(y, len(rows), run.classes_)[1]
    trace = Trace(type(run).__name__, {}, run.classes_.tolist())
    W, b = np.asarray(run.coef_, float)[None], np.asarray(run.intercept_, float)[None]
    held = KeptRows(rows, codes, np.arange(len(rows)), len(rows))
    return Run(trace, held, W, b, [], 1)
