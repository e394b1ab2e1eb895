"""Models of two features: regions, boundary, margin and confidence over the plane."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from linsep.errors import DataError
from linsep.views.scene.palette import (
    BLACK,
    GREY,
    axes_of,
    colour_of,
    mark_of,
    shades,
)

Array = npt.NDArray[Any]

GRID = 400
THIN = "*PX"  # marks that look small


def boundary(model: Any, X: Any, y: Any, ax: Any = None) -> Figure:
    """Draw the region of each class and the rows on them.

    Parameters
    ----------
    model : fitted classifier of two features
    X, y : rows and labels
    ax : matplotlib axes, optional
    """
    figure, ax = axes_of(ax)
    across, up, grid = _grid(X)
    labels = list(model.classes_)
    codes = np.array([labels.index(label) for label in model.predict(grid)])
    codes = codes.reshape(len(up), len(across))
    K = len(labels)
    ax.pcolormesh(across, up, codes, cmap=shades(K), vmin=-0.5, vmax=K - 0.5, rasterized=True)
    for k in range(K if K > 2 else 1):
        ax.contour(across, up, codes == k, levels=[0.5], colors=BLACK, linewidths=1.2)
    points(X, y, ax, labels)
    if K > 6:  # a long list would hide rows
        ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        ax.legend(frameon=True, fontsize=8, loc="upper right")
    return figure


def margin(model: Any, X: Any, y: Any, ax: Any = None) -> Figure:
    """Draw the boundary, the planes ⟨w, x⟩ + b = ±1, and rings around the rows on or within them.

    Parameters
    ----------
    model : fitted classifier of two features and two classes
    X, y : rows and labels
    ax : matplotlib axes, optional
    """
    figure, ax = axes_of(ax)
    across, up, grid = _grid(X)
    scores = np.asarray(model.decision_function(grid)).reshape(len(up), len(across))
    ax.contour(
        across,
        up,
        scores,
        levels=[-1, 0, 1],
        colors=[GREY, BLACK, GREY],
        linestyles=["--", "-", "--"],
        linewidths=[1.0, 1.6, 1.0],
    )
    points(X, y, ax, list(model.classes_))
    rows = np.asarray(X, float)
    own = np.where(np.asarray(y) == model.classes_[1], 1, -1) * model.decision_function(rows)
    held = rows[own <= 1 + 1e-6]
    ax.scatter(
        held[:, 0], held[:, 1], s=130, facecolors="none", edgecolors=BLACK, label="at or within ±1"
    )
    ax.legend(frameon=True, fontsize=8, loc="upper right")
    return figure


def confidence(model: Any, X: Any, y: Any, ax: Any = None) -> Figure:
    """Draw the probability of the second class over the plane, from 0 to 1, and the rows.

    Parameters
    ----------
    model : fitted classifier of two features and two classes, with `predict_proba`
    X, y : rows and labels
    ax : matplotlib axes, optional
    """
    figure, ax = axes_of(ax)
    across, up, grid = _grid(X)
    p = np.asarray(model.predict_proba(grid))[:, 1].reshape(len(up), len(across))
    drawn = ax.contourf(across, up, p, levels=np.linspace(0, 1, 11), cmap="PuOr", alpha=0.5)
    ax.contour(across, up, p, levels=[0.5], colors=BLACK, linewidths=1.4)
    figure.colorbar(drawn, ax=ax, label=f"probability of class {model.classes_[1]}")
    points(X, y, ax, list(model.classes_))
    ax.legend(frameon=True, fontsize=8, loc="upper right")
    return figure


def points(X: Any, y: Any, ax: Any, labels: list[Any] | None = None) -> None:
    """Draw rows of two features, each class with its own colour and mark."""
    X, y = np.asarray(X, float), np.asarray(y)
    for k, label in enumerate(np.unique(y).tolist() if labels is None else labels):
        some = X[y == label]
        ax.scatter(
            some[:, 0],
            some[:, 1],
            c=colour_of(k),
            marker=mark_of(k),
            s=(26 if len(X) > 40 else 55) * (1.8 if mark_of(k) in THIN else 1.0),
            edgecolors="white",
            linewidths=0.5,
            zorder=3,
            label=f"class {label}".replace("$", r"\$"),  # no formula
        )
    ax.set(xlabel="x₁", ylabel="x₂")


def _grid(X: Any) -> tuple[Array, Array, Array]:
    """Coordinates around the rows, and all their combinations as rows."""
    X = np.asarray(X, float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise DataError(f"X has shape {X.shape}; a picture of the plane needs two columns.")
    low, high = X.min(axis=0), X.max(axis=0)
    room = 0.12 * np.where(high > low, high - low, 1.0)
    across = np.linspace(low[0] - room[0], high[0] + room[0], GRID)
    up = np.linspace(low[1] - room[1], high[1] + room[1], GRID)
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    return across, up, grid
