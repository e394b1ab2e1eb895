"""Rows of an interior point method: scaled, centred, and rotated where they are few."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.train.convex.dual.interior_rows import Rows


@pytest.mark.parametrize("shape", [(30, 4), (6, 20)])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_weights_come_back_with_the_same_scores(shape, layout):
    rng = np.random.default_rng(0)
    X = 1e6 * (rng.standard_normal(shape) + 3.0)
    rows = Rows(layout(X), centred=True)
    v, b = rng.standard_normal(rows.width), 0.7
    w, c = rows.outside(v, b)
    assert X @ w + c == pytest.approx(rows.scores(v) + b)
    again, level = rows.inside(w, c)
    assert again == pytest.approx(v) and level == pytest.approx(b)


def test_products_are_those_of_the_rows():
    rng = np.random.default_rng(1)
    rows = Rows(rng.standard_normal((30, 4)), centred=False)
    ((_, Z),) = rows.blocks()
    theta = rng.random(30) * (rng.random(30) < 0.3)
    one = np.column_stack([Z, np.ones(30)])
    assert np.allclose(rows.gram(theta), one.T @ (theta[:, None] * one))
    assert np.allclose(rows.total(theta), Z.T @ theta)
