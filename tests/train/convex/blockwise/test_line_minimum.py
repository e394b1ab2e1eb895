"""The lowest point of a line, found from the margins of rows in memory."""

import numpy as np
import pytest

from linsep.train.convex.blockwise.line_minimum import Line, lowest
from linsep.train.convex.blockwise.smoothed_hinge import SQUARED


def line(seed, n=300, one=False):
    rng = np.random.default_rng(seed)
    c = np.array([1 / n]) if one else rng.random(n) / n
    return Line(1.0 - 2 * rng.standard_normal(n), rng.standard_normal(n) - 0.5, c, -0.01)


def values(line, h, slope, bend, sizes):
    at = line.t + sizes[:, None] * line.d
    over = np.maximum(0.0, at)
    corner = np.where(np.abs(at) < h, (at + h) ** 2 / (4 * h) if h else 0.0, over)
    losses = over**2 if h == SQUARED else corner
    c = np.broadcast_to(line.c, line.t.shape)
    return losses @ c + (slope + line.slope) * sizes + 0.5 * bend * sizes**2


@pytest.mark.parametrize("h", [2.0, 0.1, 1e-3, SQUARED])
@pytest.mark.parametrize("seed", range(6))
def test_the_lowest_point_is_lower_than_what_a_fine_search_finds(seed, h):
    mine = line(seed, one=seed % 2 == 0)
    s = lowest(mine, h, -0.1, 0.05)
    grid = np.linspace(0.0, 40.0, 20_001)
    found = values(mine, h, -0.1, 0.05, np.append(grid, s))
    fell = found[0] - found[:-1].min()
    assert found[0] - found[-1] >= 0.95 * fell


def test_a_line_that_rises_is_not_entered():
    assert lowest(line(0)._replace(slope=5.0), 0.1, 0.0, 0.0) == 0.0
