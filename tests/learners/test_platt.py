"""Platt's sigmoid minimises its cross-entropy, and folds go by what rows are."""

import numpy as np
from scipy.optimize import minimize

from linsep.learners.platt import fit_sigmoid, folds


def test_the_sigmoid_is_the_minimum_of_the_cross_entropy():
    rng = np.random.default_rng(0)
    s = 3 * rng.standard_normal(200)
    positive, c = s + rng.logistic(size=200) > 0.5, rng.uniform(0.5, 2.0, 200)
    plus, minus = c[positive].sum(), c[~positive].sum()
    t = np.where(positive, (plus + 1) / (plus + 2), 1 / (minus + 2))

    def cost(u):
        z = u[0] * s + u[1]
        return float(c @ (np.logaddexp(0, z) - t * z))

    a, b = fit_sigmoid(s, positive, c)
    best = minimize(cost, np.zeros(2), tol=1e-12)
    assert cost((a, b)) <= best.fun + 1e-9 and np.allclose((a, b), best.x, atol=1e-4)
    # scores that are all on their own side, of any size, leave a and b finite
    assert np.isfinite(
        fit_sigmoid(np.array([-1e200, 1e200]), np.array([False, True]), np.ones(2))
    ).all()


def test_equal_rows_share_a_fold_and_every_fold_has_every_class():
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 1 << 60, 40).repeat(3)
    codes = (np.arange(40) % 2).repeat(3)
    fold = folds(hashes, codes)
    assert all(len(set(fold[hashes == h].tolist())) == 1 for h in np.unique(hashes))
    assert all(set(codes[fold == k].tolist()) == {0, 1} for k in range(5))
    order = rng.permutation(120)
    assert folds(hashes[order], codes[order]).tolist() == fold[order].tolist()
