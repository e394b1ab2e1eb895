"""Softmax intercepts are settled up to one number for all classes; their sum is kept at zero."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression as Theirs

import linsep
from linsep import LogisticRegression


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:800], y[:800]


@pytest.mark.parametrize("tol", [1e-3, 1e-5])  # of rows this far apart 1.2e-6 can be proved
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_sum_of_the_intercepts_is_zero_and_both_gaps_agree(digits, tol, layout):
    X, y = digits
    learner = LogisticRegression(1000.0, tol=tol).fit(layout(X), y)
    assert abs(learner.intercept_.sum()) <= 1e-9 * np.abs(learner.intercept_).max()
    assert learner.gap_ <= tol
    proved = linsep.gap(learner, X, y).relative
    assert learner.gap_ <= 2 * proved + 1e-6


def test_they_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = (X @ rng.standard_normal((4, 5)) + rng.gumbel(size=(300, 5))).argmax(axis=1)
    X += np.array([100.0, 0.0, -50.0, 3.0])
    theirs = Theirs(C=10.0, tol=1e-12, max_iter=10_000, solver="newton-cg").fit(X, y)
    ours = LogisticRegression(10.0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-2)
