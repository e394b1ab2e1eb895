"""Models of two features: regions, boundary, margin and confidence over the plane."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from linsep.errors import DataError
from linsep.views.plots.inputs import Plane, ask, fitted, plane_of
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
FEW = 500  # rows
THIN = "*PX"  # marks that look small


def boundary(model: Any, X: Any, y: Any, ax: Any = None) -> Figure:
    """Draw the region of each class and the rows on them.

    Parameters
    ----------
    model : fitted classifier of two features
    X, y : rows and labels
    ax : matplotlib axes, optional
    """
    plane, labels = plane_of(X, y), list(fitted(model).classes_)
    figure, ax = axes_of(ax)
    across, up, grid = _grid(plane.rows)
    codes = np.array([labels.index(label) for label in ask(model.predict, grid, X)])
    codes = codes.reshape(len(up), len(across))
    K = len(labels)
    ax.pcolormesh(across, up, codes, cmap=shades(K), vmin=-0.5, vmax=K - 0.5, rasterized=True)
    for k in range(K if K > 2 else 1):
        ax.contour(across, up, codes == k, levels=[0.5], colors=BLACK, linewidths=1.2, zorder=5)
    _rows(plane, ax, labels)
    if K > 6:  # a long list would hide rows
        ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        _legend(ax, plane.rows)
    return figure


def margin(model: Any, X: Any, y: Any, ax: Any = None) -> Figure:
    """Draw the boundary, the planes ⟨w, x⟩ + b = ±1, and rings around the rows on or within them.

    Parameters
    ----------
    model : fitted classifier of two features and two classes
    X, y : rows and labels
    ax : matplotlib axes, optional
    """
    plane = plane_of(X, y)
    if len(fitted(model).classes_) != 2:
        raise DataError(
            f"model has {len(model.classes_)} classes; a margin of ±1 is drawn for two. "
            "linsep.plot.boundary draws more."
        )
    figure, ax = axes_of(ax)
    across, up, grid = _grid(plane.rows)
    scores = ask(model.decision_function, grid, X).reshape(len(up), len(across))
    ax.contour(
        across,
        up,
        scores,
        levels=[-1, 0, 1],
        colors=[GREY, BLACK, GREY],
        linestyles=["--", "-", "--"],
        linewidths=[1.0, 1.6, 1.0],
    )
    _rows(plane, ax, list(model.classes_))
    own = np.where(plane.labels == model.classes_[1], 1, -1) * ask(
        model.decision_function, plane.rows, X
    )
    held = plane.rows[own <= 1 + 1e-6]
    ax.scatter(
        held[:, 0], held[:, 1], s=130, facecolors="none", edgecolors=BLACK, label="at or within ±1"
    )
    _legend(ax, plane.rows)
    return figure


def confidence(model: Any, X: Any, y: Any, ax: Any = None) -> Figure:
    """Draw probabilities over the plane, and the rows.

    Of two classes, the probability of the second from 0 to 1; of more, that of the likeliest class
    at each place, in the colour of that class.

    Parameters
    ----------
    model : fitted classifier of two features, with `predict_proba`
    X, y : rows and labels
    ax : matplotlib axes, optional
    """
    plane, labels = plane_of(X, y), list(fitted(model).classes_)
    if not hasattr(model, "predict_proba"):
        raise DataError(
            f"{type(model).__name__} has no predict_proba; linsep.plot.boundary draws its regions."
        )
    figure, ax = axes_of(ax)
    across, up, grid = _grid(plane.rows)
    p = ask(model.predict_proba, grid, X).reshape(len(up), len(across), -1)
    if len(labels) == 2:
        tenths = np.linspace(0, 1, 11)
        drawn = ax.contourf(across, up, p[..., 1], levels=tenths, cmap="PuOr", alpha=0.5)
        ax.contour(across, up, p[..., 1], levels=[0.5], colors=BLACK, linewidths=1.4)
        figure.colorbar(drawn, ax=ax, label=f"probability of class {_plain(labels[1])}")
    else:
        _likeliest(figure, ax, across, up, p)
    _rows(plane, ax, labels)
    _legend(ax, plane.rows)
    return figure


def _likeliest(figure: Figure, ax: Any, across: Array, up: Array, p: Array) -> None:
    """Each class where it is the likeliest, the paler the less certain it is."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    best, K = p.argmax(axis=2), p.shape[2]
    for k in range(K):
        shade = LinearSegmentedColormap.from_list("class", ["white", colour_of(k)])
        mine = np.ma.masked_where(best != k, p[..., k])
        ax.pcolormesh(across, up, mine, cmap=shade, vmin=1 / K, vmax=1.6, rasterized=True)
        ax.contour(across, up, best == k, levels=[0.5], colors=BLACK, linewidths=1.0)
    from matplotlib.cm import ScalarMappable

    grey = LinearSegmentedColormap.from_list("grey", ["white", "#808080"])
    scale = ScalarMappable(Normalize(1 / K, 1), grey)
    figure.colorbar(scale, ax=ax, label="probability of the likeliest class")


def _plain(label: Any) -> str:
    return str(label).replace("$", r"\$")  # no formula


def _rows(plane: Plane, ax: Any, labels: list[Any]) -> None:
    points(plane.rows, plane.labels, ax, labels)
    ax.set(xlabel=_plain(plane.names[0]), ylabel=_plain(plane.names[1]))


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
            label=f"class {_plain(label)}",
        )
    ax.set(xlabel="x₁", ylabel="x₂")


def _legend(ax: Any, rows: Array) -> None:
    """A legend where it hides the fewest rows; to look for that place takes time for many."""
    ax.legend(frameon=True, fontsize=8, loc="best" if len(rows) <= FEW else "upper right")


def _grid(rows: Array) -> tuple[Array, Array, Array]:
    """Coordinates around the rows, and all their combinations as rows."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    room = 0.12 * np.where(high > low, high - low, 1.0)
    across = np.linspace(low[0] - room[0], high[0] + room[0], GRID)
    up = np.linspace(low[1] - room[1], high[1] + room[1], GRID)
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    return across, up, grid
