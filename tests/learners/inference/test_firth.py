"""Firth's penalty where it has no single answer."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LogisticRegression
from linsep.errors import DataError


def test_fewer_rows_than_weights_are_refused_before_a_sparse_matrix_is_written_out():
    places = (np.arange(3000), 500 * np.arange(3000))
    X = sp.csr_matrix((np.ones(3000), places), (3000, 2_000_000))  # 48 GB written out
    with pytest.raises(DataError, match="3000 rows with weight are fewer than 2000001 weights"):
        LogisticRegression(penalty="firth").fit(X, np.arange(3000) % 2)


@pytest.mark.parametrize("noise", [0.0, 1e-3, 1e-4, 1e-8])
def test_columns_are_called_sums_of_others_only_where_they_are(noise):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    X[:, 4] = X[:, 0] - X[:, 2] + noise * rng.standard_normal(80)
    y = (X[:, 1] + rng.standard_normal(80) > 0).astype(int)
    learner = LogisticRegression(penalty="firth")
    if noise > 1e-6:
        assert np.isfinite(learner.fit(X, y).coef_).all()
        return
    with pytest.raises(DataError, match="sums of others" if noise else "sums of others, so that"):
        learner.fit(X, y)
    assert not hasattr(learner, "coef_")


def test_a_failed_fit_leaves_nothing_of_an_earlier_one():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    learner = LogisticRegression(penalty="firth").fit(X, y)
    with pytest.raises(DataError, match="sums of others"):
        learner.fit(np.column_stack([X, X[:, 0]]), y)
    results = ("coef_", "intercept_", "solver_", "gap_", "diagnosis_", "status_", "n_iter_")
    assert not any(hasattr(learner, name) for name in results)
