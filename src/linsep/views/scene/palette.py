"""The colours of pictures, and the axes to use them on."""

import io
import sys
from typing import Any

from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patheffects import Normal, Stroke

from linsep.errors import ParameterError
from linsep.views.scene.colours import (
    BLACK,
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    MARKS,
    ORANGE,
    PINK,
    colour_of,
    mark_of,
    pale,
)

__all__ = [
    "BLACK",
    "BLUE",
    "COLOURS",
    "GREEN",
    "GREY",
    "MARKS",
    "ORANGE",
    "PINK",
    "axes_of",
    "colour_of",
    "mark_of",
    "name_class",
    "new_figure",
    "require_axes",
    "shades",
]


def axes_of(ax: Any, size: tuple[float, float] = (4.8, 4.0)) -> tuple[Figure, Any]:
    """The figure and axes to draw on: those given, or new ones."""
    if ax is not None:
        return require_axes(ax).figure, ax
    figure = new_figure(size)
    return figure, figure.subplots()


def require_axes(ax: Any) -> Any:
    """The axes, if they are matplotlib's."""
    if not hasattr(ax, "figure") or not hasattr(ax, "plot"):
        raise ParameterError(f"ax is {ax!r}; give axes of matplotlib, or leave it out.")
    return ax


class Picture(Figure):
    """A figure that a notebook shows where a cell returns it, also before pyplot was imported."""

    def _repr_png_(self) -> bytes:
        held = io.BytesIO()
        self.savefig(held, format="png")
        return held.getvalue()


def new_figure(size: tuple[float, float]) -> Figure:
    """A figure: one of pyplot's where pyplot is in use, so that `plt.show()` shows it.

    In a notebook that draws inline it is none of pyplot's: the notebook shows what a cell returns,
    and would show it twice.
    """
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or "inline" in str(pyplot.get_backend()).lower():
        return Picture(figsize=size, layout="constrained")
    with pyplot.rc_context({"figure.max_open_warning": 0}):
        made: Figure = pyplot.figure(figsize=size, layout="constrained")
    return made


def name_class(ax: Any, label: Any, place: Any) -> None:
    """Write a class where its region or its path is, so that colour is not all that tells it."""
    text = str(label).replace("$", r"\$")  # no formula
    text = text if len(text) <= 12 else f"{text[:11]}…"
    white = [Stroke(linewidth=2.5, foreground="white"), Normal()]
    ax.annotate(text, place, fontsize=8, fontweight="bold", ha="center", va="center", zorder=5,
                path_effects=white, annotation_clip=True)  # fmt: skip


def shades(count: int) -> ListedColormap:
    """The pale colours of the first classes, for regions behind points."""
    return ListedColormap([pale(colour_of(k)) for k in range(count)])
