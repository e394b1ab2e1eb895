"""Products of columns in tiles are those of the rows, whatever their shape."""

import numpy as np
import pytest

from linsep.train.closed.gram import TOGETHER, gram
from linsep.train.problem import Problem


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("t", [1, 3, 9])
@pytest.mark.parametrize("d", [1, 7, 8, 15, 22, 64])
def test_whole_numbers_are_multiplied_without_a_rounding_error(d, t, weighted, dtype):
    rng = np.random.default_rng(d)
    for n in (1, TOGETHER - 1, TOGETHER, TOGETHER + 1, 9000):
        X, Y = rng.integers(-9, 9, (n, d)).astype(dtype), rng.integers(-9, 9, (n, t)).astype(float)
        weights = rng.integers(0, 3, n).astype(float) ** 2 if weighted else None
        problem = Problem(X, np.zeros(n, np.int32), weights, 1)
        Z = np.hstack([X, Y, np.ones((n, 1))])
        wanted = (Z * (1.0 if weights is None else weights[:, None])).T @ Z
        np.testing.assert_array_equal(gram(problem, Y, False).matrix, wanted)


@pytest.mark.parametrize("place", [(0, 0), (130, 4), (299, 8)])
def test_an_entry_that_is_not_finite_is_seen_in_its_own_column_only(place):
    X = np.random.default_rng(0).standard_normal((300, 9))
    X[place] = np.nan
    G = gram(Problem(X, np.zeros(300, np.int32), None, 1), np.ones((300, 1)), False).matrix
    bad = np.arange(11) == place[1]
    np.testing.assert_array_equal(np.isnan(G), bad | bad[:, None])
