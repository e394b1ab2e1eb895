"""Parameters of scikit-learn that are honoured: positive=, tol=None, sparsify."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

import linsep
from linsep.errors import ParameterError


def test_weights_are_those_of_lawson_and_hanson():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    model = linsep.LinearRegression(positive=True).fit(X, y)
    expected = nnls(X - X.mean(axis=0), y - y.mean())[0]
    np.testing.assert_allclose(model.coef_, expected, atol=1e-12)
    assert (model.coef_ >= 0).all() and (model.coef_ == 0).any()
    weighted = linsep.LinearRegression(positive=True).fit(X, y, np.r_[np.full(25, 2), np.ones(25)])
    twice = linsep.LinearRegression(positive=True).fit(np.r_[X, X[:25]], np.r_[y, y[:25]])
    np.testing.assert_allclose(weighted.coef_, twice.coef_, atol=1e-12)
    with pytest.raises(ParameterError, match="solver='exact'"):
        linsep.LinearRegression("sgd", positive=True).fit(X, y)


def test_tol_none_is_no_end_before_max_iter():
    X, y = [[0.0], [1.0], [0.5]], [0, 1, 1]
    one, other = linsep.Perceptron(tol=None), linsep.Perceptron()
    assert one.fit(X, y).coef_.tolist() == other.fit(X, y).coef_.tolist()


def test_sparse_weights_predict_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    learner = linsep.LogisticRegression(l1_ratio=1.0, C=0.1).fit(X, X[:, 0] > 0)
    wanted = learner.decision_function(X)
    assert sp.issparse(learner.sparsify().coef_)
    np.testing.assert_array_equal(learner.decision_function(X), wanted)
    assert isinstance(learner.densify().coef_, np.ndarray)
