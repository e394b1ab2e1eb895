"""Matrices and arrays of scipy are the same rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LinearRegression, LogisticRegression, Perceptron
from linsep.data.check.arrays import check_shape


@pytest.mark.parametrize("kind", [LogisticRegression, LinearRegression])
def test_a_sparse_matrix_is_taken_as_a_sparse_array_is(kind, monkeypatch):
    """scikit-learn's own look at the rows costs more than the prediction of one of them."""
    rng = np.random.default_rng(0)
    X = sp.random(60, 8, 0.5, "csr", random_state=0)
    y = rng.integers(0, 2, 60)
    learner = kind()
    as_array = learner.fit(sp.csr_array(X), y).predict(sp.csr_array(X[:1]))
    import sklearn.utils.validation

    monkeypatch.delattr(sklearn.utils.validation, "validate_data")
    np.testing.assert_array_equal(learner.fit(X, y).predict(X[:1]), as_array)


def test_duplicate_entries_of_a_matrix_are_added_up():
    X = sp.csr_matrix((np.ones(2), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    learner = Perceptron()
    assert check_shape(X, learner).toarray().tolist() == [[2.0, 0.0]]
    assert learner.n_features_in_ == 2
