"""Sums and kernels that serve all folds at once are those of each fold by itself."""

import math

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.train.convex.dual.dual_losses import Logistic
from linsep.train.convex.dual.kernels import SIGN
from linsep.train.convex.path import fold_kernels
from linsep.train.convex.path.fold_kernels import BIAS, best_intercept, logit, weigh
from linsep.train.convex.path.fold_sums import FoldSums


def test_sums_by_home_and_over_kept_rows_are_those_of_plain_formulas():
    rng = np.random.default_rng(0)
    n, d, folds = 5000, 6, 3
    X = rng.standard_normal((n, d))
    signs, home = np.where(rng.random(n) < 0.4, 1, -1), rng.integers(0, folds, n)
    U = rng.standard_normal((4, d + 1))
    with Pool(1) as pool:
        sums = FoldSums(X, signs, home, pool)
        by_home = sums.by_home(U)
        scores = np.zeros((n, 4))
        left_out = np.array([0, 1, 2, 2])
        kept = sums.kept(U, left_out, np.arange(4), scores)
    z = signs[:, None] * (X @ U[:, :-1].T + U[:, -1])
    alpha, losses = 1 / (1 + np.exp(z)), np.logaddexp(0, -z)
    for k in range(4):
        for h in range(folds):
            for side, sign in enumerate((1, -1)):
                rows = (home == h) & (signs == sign)
                expected = [
                    *(alpha[rows, k] * sign) @ X[rows],
                    losses[rows, k].sum(),
                    alpha[rows, k].sum(),
                ]
                assert np.allclose(by_home[h, k, side], expected)
        rest = home != left_out[k]
        assert kept[k, :, d].sum() == pytest.approx(losses[rest, k].sum())
        out = home == left_out[k]
        assert np.allclose(scores[out, k], (X @ U[k, :-1] + U[k, -1])[out])


def points_of(signs):
    points = np.zeros((len(signs), 8))
    points[:, SIGN] = signs
    return points


def test_the_best_intercept_of_a_fold_balances_its_residuals():
    rng = np.random.default_rng(1)
    signs, home = np.where(rng.random(300) < 0.3, 1.0, -1.0), rng.integers(0, 2, 300)
    scores = rng.standard_normal((300, 2))
    b = best_intercept(points_of(signs), home, 1, scores, 0, 0.0)
    rest = home != 1
    pull = signs[rest] / (1 + np.exp(signs[rest] * (scores[rest, 0] + b)))
    assert abs(pull.sum()) < 1e-8


def test_losses_and_slack_are_summed_over_the_rows_that_a_fold_keeps():
    rng = np.random.default_rng(2)
    signs, home = np.where(rng.random(50) < 0.5, 1.0, -1.0), rng.integers(0, 2, 50)
    U, scores, lanes = 0.8, rng.standard_normal((50, 2)), np.zeros((2, 8))
    lanes[:, BIAS] = 0.3
    alpha = rng.uniform(0.1, 0.7, (50, 2))
    logits = np.vectorize(lambda a: logit.py_func(a, U))(alpha)
    out = np.empty((2, 2))
    weigh(Logistic(), points_of(signs), home, 0, alpha, logits, scores, lanes, U, out)
    for k in range(2):
        rest = home != k
        z = signs[rest] * (scores[rest, k] + 0.3)
        assert out[k, 0] == pytest.approx(U * np.logaddexp(0, -z).sum())
        a = alpha[rest, k] / U
        entropy = -a * np.log(a) - (1 - a) * np.log1p(-a)
        slack = U * (np.logaddexp(0, -z) + a * z - entropy).sum()
        assert out[k, 1] == pytest.approx(slack, rel=1e-6)
    assert logit.py_func(U, U) < math.inf and fold_kernels.LEVEL != BIAS
