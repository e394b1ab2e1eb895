"""Gaps of folds after a Newton step against their formula."""

import numpy as np
import pytest

from linsep.kernels import folds


def test_gaps_are_those_of_the_formula_and_bound_the_divergence():
    rng = np.random.default_rng(0)
    y, S = rng.choice(np.array([-1, 1], np.int8), 700), rng.normal(size=(4, 700))
    S[1:] = S[0] + 0.1 * S[1:]
    S[3, 600] = -50.0 * y[600]
    sums = np.zeros((3, 3))
    folds.fold_gaps(S, y, 1, sums)
    z = (y * S)[:3]
    alpha, after = 1 / (1 + np.exp(z[0])), 1 / (1 + np.exp(z[1:]))
    a = alpha - alpha * (1 - alpha) * (z[1:] - z[0])
    wanted = ((a - after) ** 2 / (after * (1 - after))).sum(axis=1)
    np.testing.assert_allclose(sums[0], (wanted[0], (a[0] * y).sum(), a[0].sum()), rtol=1e-10)
    assert not sums[1].any() and sums[2, 0] == np.inf  # the rows of its own; out of range
    divergence = a[0] * np.log(a[0] / after[0]) + (1 - a[0]) * np.log((1 - a[0]) / (1 - after[0]))
    assert 0 < divergence.sum() <= sums[0, 0]
    with pytest.raises(ValueError):
        folds.fold_gaps(S, y[:-1], 1, sums)
