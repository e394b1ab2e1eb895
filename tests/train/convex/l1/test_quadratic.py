"""A quadratic model with corners is minimised: no coordinate can gain by itself."""

import numpy as np
import pytest

from linsep.rows.rows import as_rows
from linsep.train.convex.l1.quadratic import by_columns, by_matrix


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_both_ways_end_where_every_slope_is_within_the_corner(l2):
    rng = np.random.default_rng(0)
    B = rng.standard_normal((40, 6))
    h, h0 = B.sum(axis=0), 40.0
    H = B.T @ B - np.outer(h, h) / h0  # the best intercept is taken out
    g, w, l1 = 9 * rng.standard_normal(6), np.array([0.0, 1.0, 0.0, -2.0, 0.0, 0.5]), 25.0
    ends = []
    change = np.zeros(6)
    by_matrix(H, g, w, l1, l2, change, 1e-12, np.inf, 200)
    ends.append(change)
    change, moved = np.zeros(6), np.zeros(40)
    columns = as_rows(np.ascontiguousarray(B.T))
    by_columns(columns, h, h0, g, w, l1, l2, change, moved, np.zeros(6), 1e-12, np.inf, 200)
    ends.append(change)
    assert np.allclose(*ends, atol=1e-9) and np.allclose(moved, B @ change)
    at, slope = w + ends[0], g + H @ ends[0] + l2 * (w + ends[0])
    held = at == 0
    assert held.any() and (~held).any()
    assert (np.abs(slope[held]) <= l1 + 1e-9).all()
    assert np.allclose(slope[~held], -l1 * np.sign(at[~held]), atol=1e-8)
