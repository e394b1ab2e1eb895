"""Colours and marks that everybody can tell apart, and the axes to use them on."""

from typing import Any

from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, YELLOW, GREY, BLACK = "#56B4E9", "#E69F00", "#666666", "#000000"
COLOURS = (ORANGE, BLUE, GREEN, PINK, SKY, YELLOW)
MARKS = "so^Dv*"


def axes_of(ax: Any, size: tuple[float, float] = (4.8, 4.0)) -> tuple[Figure, Any]:
    """The figure and axes to draw on: those given, or new ones."""
    if ax is not None:
        return ax.figure, ax
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots()


def shades(count: int) -> ListedColormap:
    """A pale version of the first colours, for regions behind points."""
    return ListedColormap([_pale(COLOURS[k % len(COLOURS)]) for k in range(count)])


def _pale(colour: str) -> tuple[float, ...]:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    return tuple(0.78 + 0.22 * part for part in parts)
