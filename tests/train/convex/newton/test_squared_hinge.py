"""Newton's method on the squared hinge."""

import numpy as np
import pytest

from linsep.train.convex.drive import solve
from linsep.train.convex.newton.squared_hinge import SquaredHingeNewton


def data(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    signs = np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0, 1, -1)
    return X, signs, rng


@pytest.mark.parametrize("free", [True, False])
def test_newton_on_the_squared_hinge_ends_where_its_slope_vanishes(free):
    X, signs, _ = data()
    solution = solve(
        SquaredHingeNewton, X, signs.astype(float), C=0.4, tol=1e-9, fit_intercept=free
    )
    z = signs * (X @ solution.w + solution.b)
    pull = 2 * 0.4 * np.maximum(0, 1 - z) * signs
    assert np.allclose(solution.w, pull @ X, atol=1e-6) and (solution.b == 0 or free)
    assert abs(pull.sum()) < 1e-6 or not free
    assert solution.relative_gap <= 1e-9
