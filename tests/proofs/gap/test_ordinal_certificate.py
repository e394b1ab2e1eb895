"""The certificate of proportional odds: a true bound at any weights and thresholds."""

import numpy as np
import pytest

from linsep import OrdinalRegression
from linsep.proofs.gap.certificate import FittedProblem
from linsep.proofs.gap.ordinal_certificate import certify_ordinal


def made(n, d, K, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    z = X @ rng.normal(size=d) + rng.logistic(size=n)
    return X, np.digitize(z, np.quantile(z, np.arange(1, K) / K))


@pytest.mark.parametrize("seed", range(20))
def test_no_bound_of_any_weights_lies_above_the_optimum(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    X, y = made(50, 2, K, seed)
    y[:K] = np.arange(K)
    weights = rng.integers(0, 3, 50).astype(float)
    weights[:K] = 1.0
    C = float(10.0 ** rng.uniform(-2, 2))
    best = OrdinalRegression(C, tol=1e-11).fit(X, y, weights)
    exact = float(best.objective_)
    for spread in (0.0, 1e-6, 1e-3, 0.1, 1.0):
        W = best.coef_ + spread * rng.normal(size=(1, 2))
        theta = np.sort(best.thresholds_ + spread * rng.normal(size=K - 1))
        bounds = certify_ordinal(FittedProblem(X, y, C * weights, W, -theta, True))
        assert bounds.low <= exact * (1 + 1e-11) and bounds.high >= exact * (1 - 1e-11)
    assert best.gap_ <= 1e-11
