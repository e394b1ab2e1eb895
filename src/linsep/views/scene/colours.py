"""Colours and marks that everybody can tell apart: the one list, for pictures and for pages.

The first six colours are those of Okabe and Ito. The four after them are darker, and stay apart
from these and from each other for people who see red, green or blue weakly or not at all.
"""

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, YELLOW, GREY, BLACK = "#56B4E9", "#E69F00", "#666666", "#000000"
INDIGO, MAROON, PINE = "#332288", "#8B0000", "#004D40"
COLOURS = (ORANGE, BLUE, GREEN, PINK, SKY, YELLOW, INDIGO, MAROON, GREY, PINE)
MARKS = "so^Dv*PX<>"  # as matplotlib names them; drawing.js draws the same


def colour_of(code: int) -> str:
    """The colour of a class."""
    return COLOURS[code % len(COLOURS)]


def mark_of(code: int) -> str:
    """The mark of a class; colour and mark together repeat after a hundred classes.

    >>> colour_of(3) == colour_of(13), mark_of(3) == mark_of(13)
    (True, False)
    """
    return MARKS[(code + code // len(COLOURS)) % len(MARKS)]


def pale(colour: str) -> str:
    """A colour with much white in it, for a region behind points.

    >>> pale("#D55E00")
    '#f6dcc7'
    """
    parts = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(255 * 0.78 + 0.22 * part):02x}" for part in parts)
