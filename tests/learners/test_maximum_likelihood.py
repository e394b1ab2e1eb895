"""Without a penalty a fit ends on Newton's decrement: the weights have their digits, not only P."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LogisticRegression, gap
from linsep.errors import NotConverged, ParameterError
from linsep.status import Status

DIGITS = 1e-8


def counts(n, n_classes, seed):
    """Columns as a health survey has them: counts, shares, flags, money, and a rare one."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.lognormal(8, 1, n),
            rng.random(n),
            rng.integers(0, 2, n),
            rng.normal(1e-4, 1e-5, n),
            rng.poisson(3, n),
            rng.random(n) < 0.2,
        ]
    )
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = 0.3 * Z @ rng.standard_normal((X.shape[1], n_classes))
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def newton(X, codes, n_classes, fit_intercept):
    """Weights less those of class 0, by damped Newton steps with gradients in long doubles."""
    n, d = X.shape
    size = X.std(axis=0)
    Z = np.column_stack([X / size, np.full(n, float(fit_intercept))]).astype(np.longdouble)
    own, W = np.eye(n_classes)[codes], np.zeros((n_classes, d + 1), np.longdouble)

    def at(W):
        S = Z @ W.T
        S = S - S.max(axis=1, keepdims=True)
        logs = S - np.log(np.exp(S).sum(axis=1, keepdims=True))
        return -float((logs * own).sum()), np.exp(logs)

    for _ in range(100):
        value, P = at(W)
        g = ((P - own)[:, 1:].T @ Z).ravel().astype(float)
        p, z = P.astype(float), Z.astype(float)
        H = np.block(
            [[z.T @ ((p[:, i] * ((i == j) - p[:, j]))[:, None] * z) for j in range(1, n_classes)]
             for i in range(1, n_classes)]
        )  # fmt: skip
        step = np.linalg.lstsq(H, g, rcond=1e-14)[0].reshape(n_classes - 1, d + 1)
        t = 1.0
        while t > 1e-3 and at(W - np.vstack([np.zeros(d + 1), t * step]))[0] > value + 1e-9:
            t /= 2
        W = W - np.vstack([np.zeros(d + 1), t * step])
        if t == 1.0 and np.abs(step).max() < 1e-14 * np.abs(W).max():
            break
    return (W[1:, :d] / size).astype(float), W[1:, d].astype(float)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("tol", [1e-6, 1e-2])
def test_the_weights_have_eight_digits_whatever_the_tolerance(
    n_classes, layout, fit_intercept, tol
):
    X, codes = counts(1500, n_classes, n_classes)
    W, b = newton(X, codes, n_classes, fit_intercept)
    learner = LogisticRegression(np.inf, fit_intercept=fit_intercept, tol=tol)
    learner.fit(layout(X), codes)
    assert learner.status_ is Status.converged
    first = learner.coef_[:1] * (n_classes > 2)
    found = learner.coef_[-(n_classes - 1) :] - first
    np.testing.assert_allclose(found, W, rtol=DIGITS)
    if fit_intercept:
        low = learner.intercept_[:1] * (n_classes > 2)
        np.testing.assert_allclose(learner.intercept_[-(n_classes - 1) :] - low, b, rtol=DIGITS)


def test_a_class_that_a_flag_rules_out_has_no_best_weights():
    """Its weight for the flag falls for ever, though the flag puts no row on its own side."""
    X, codes = counts(600, 4, 1)
    codes[(X[:, 5] > 0) & (codes == 3)] = 0
    learner = LogisticRegression(np.inf)
    with pytest.warns(NotConverged, match="no finite optimum"):
        learner.fit(X, codes)
    assert learner.status_ is Status.no_optimum


def test_many_features_have_their_digits_too():
    """More columns than a Hessian is usually made for."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 300)) * np.geomspace(1e-3, 1e3, 300)
    codes = (X[:, -1] / X[:, -1].std() + rng.logistic(size=3000) > 0).astype(int)
    W, _ = newton(X, codes, 2, True)
    learner = LogisticRegression(np.inf).fit(X, codes)
    assert learner.status_ is Status.converged
    np.testing.assert_allclose(learner.coef_ * X.std(axis=0), W * X.std(axis=0), atol=DIGITS)


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "gradient"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_penalty_none_is_no_penalty_whatever_c_is(solver, n_classes):
    X, y = counts(300, n_classes, 5)
    X = X / X.std(axis=0)
    given = {"solver": solver, "max_iter": 50}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        with pytest.warns(UserWarning, match="penalty=None will ignore the C"):
            free = LogisticRegression(penalty=None, C=0.01, **given).fit(X, y)
        same = LogisticRegression(C=np.inf, **given).fit(X, y)
    assert free.coef_.tobytes() == same.coef_.tobytes()
    assert free.C == 0.01 and free.status_ is same.status_
    with pytest.raises(ParameterError, match="a gap needs a finite penalty"):
        gap(free, X, y)
    if free.status_.good:
        assert str(free.summary()) == str(same.summary())
