"""The solution region of two weights: where every row is on its own side."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from linsep.errors import DataError
from linsep.views.plots.boundary import points
from linsep.views.plots.inputs import two_classes
from linsep.views.scene.palette import GREEN, axes_of, colour_of


def solution_region(X: Any, y: Any, *, normalised: bool = False, ax: Any = None) -> Figure:
    """Draw rows and weights in one plane: the line that each row sets, and the solution region.

    The row x asks for weights on its own side of the line ⟨w, x⟩ = 0, which it is perpendicular to.
    Un-normalised, rows of the first class ask for the side away from them. Normalised, these rows
    are drawn as −x, and all rows ask for their own side. The region is the same.

    Parameters
    ----------
    X : (n, 2) rows, for planes through the origin
    y : labels of two classes
    normalised : bool
        Whether rows of the first class are turned round.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import linsep
    >>> figure = linsep.plot.solution_region([[1.0, 2.0], [2.0, 0.5], [-1.0, 0.5]], [1, 1, -1])
    """
    rows, signs, classes = two_classes(X, y)
    if rows.shape[1] != 2:
        raise DataError(
            f"X has shape {rows.shape}; the solution region is drawn for two features. "
            "plot.weight_space shows runs on others."
        )
    labels = np.asarray(y)
    signed = signs[:, None] * rows
    figure, ax = axes_of(ax, (4.8, 4.4))
    reach = 1.5 * float(np.abs(rows).max())
    line = np.linspace(-reach, reach, 401)
    w = np.stack(np.meshgrid(line, line), axis=-1)
    solved = (w @ signed.T > 0).all(axis=-1)
    if solved.any():
        ax.contourf(line, line, solved, levels=[0.5, 1.5], colors=[GREEN], alpha=0.3)
    shown = signed if normalised else rows
    for x, sign in zip(shown, signs, strict=True):
        away = np.array([-x[1], x[0]]) / (np.linalg.norm(x) or 1.0) * 2 * reach
        ax.plot(*np.array([-away, away]).T, color=colour_of(int(sign > 0)),
                ls="-" if sign > 0 else "--", lw=1.2)  # fmt: skip
    points(shown, labels, ax, classes)
    caption = "solution region shaded" if solved.any() else "no solution"
    words = "normalised" if normalised else "un-normalised"
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="w₁ and x₁",
           ylabel="w₂ and x₂")  # fmt: skip
    ax.set_title(f"{words}; {caption}", fontsize=10)
    ax.legend(frameon=True, fontsize=8, loc="lower left")
    return figure
