"""Threshold units and two-layer networks of two inputs, over the plane their inputs lie in."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from linsep.errors import DataError
from linsep.logic import Network, ThresholdUnit
from linsep.views.scene.palette import BLACK, BLUE, COLOURS, ORANGE, axes_of, shades

LOW, HIGH, GRID = -0.5, 1.5, 500
STYLES = ("--", "-.", ":", (0, (5, 1)))


def network(logic: Any, ax: Any = None) -> Figure:
    """Draw where a unit or a two-layer network of two inputs says 1, and the four corners.

    The region of a network is what its output makes of the half-planes of the hidden units; their
    edges are drawn too, with a tick on the side where the unit fires.

    Parameters
    ----------
    logic : linsep.logic.ThresholdUnit or linsep.logic.Network
    ax : matplotlib axes, optional
    """
    if not isinstance(logic, (ThresholdUnit, Network)) or logic.n != 2:
        raise DataError(
            f"{logic!r} is not a unit or network of two inputs, which a plane can show."
        )
    figure, ax = axes_of(ax, (4.0, 4.0))
    line = np.linspace(LOW, HIGH, GRID)
    across, up = np.meshgrid(line, line)
    units = logic.hidden if isinstance(logic, Network) else (logic,)
    fires = [_score(unit, across, up) >= 0 for unit in units]
    if isinstance(logic, Network):
        total = sum(float(w) * fire for w, fire in zip(logic.output.weights, fires, strict=True))
        says = total + float(logic.output.bias) >= 0
    else:
        says = fires[0]
    ax.pcolormesh(line, line, says, cmap=shades(2), vmin=-0.5, vmax=1.5, rasterized=True)
    for k, unit in enumerate(units):
        colour = BLACK if len(units) == 1 else COLOURS[2 + k % 4]
        style = "-" if len(units) == 1 else STYLES[k % len(STYLES)]
        _edge(ax, unit, colour, style, f"h{k + 1}: {unit}" if len(units) > 1 else str(unit))
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    values = logic.truth_table()
    for value, colour, mark in ((0, ORANGE, "s"), (1, BLUE, "o")):
        some = corners[values == value]
        ax.scatter(some[:, 0], some[:, 1], c=colour, marker=mark, s=90, edgecolors="white",
                   zorder=4, label=f"says {value}")  # fmt: skip
    ax.set(xlim=(LOW, HIGH), ylim=(LOW, HIGH), xticks=[0, 1], yticks=[0, 1], aspect="equal",
           xlabel="x₁", ylabel="x₂")  # fmt: skip
    ax.legend(frameon=True, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.19), ncols=2)
    return figure


def _score(unit: ThresholdUnit, across: Any, up: Any) -> Any:
    first, second = (float(w) for w in unit.weights)
    return first * across + second * up + float(unit.bias)


def _edge(ax: Any, unit: ThresholdUnit, colour: Any, style: Any, label: str) -> None:
    """The line w·x + b = 0, and a tick of length 0.12 towards w from its point nearest (½, ½)."""
    w, b = np.array([float(v) for v in unit.weights]), float(unit.bias)
    length = np.linalg.norm(w)
    if length == 0:
        return  # the unit always says the same: there is no edge
    middle = np.array([0.5, 0.5])
    foot = middle - (w @ middle + b) / length**2 * w
    along = np.array([-w[1], w[0]]) / length
    ends = np.array([foot - 4 * along, foot + 4 * along])
    ax.plot(ends[:, 0], ends[:, 1], color=colour, ls=style, lw=1.8, label=label)
    tick = np.array([foot, foot + 0.12 * w / length])
    ax.plot(tick[:, 0], tick[:, 1], color=colour, lw=1.8)
