"""Tall sparse tables: folds are fitted one by one, with the answers of dense rows."""

import numpy as np
import scipy.sparse as sp

from linsep import LogisticRegression, path


def test_tall_sparse_folds_score_as_those_of_dense_rows():
    rng = np.random.default_rng(0)
    codes = rng.integers(6, size=(3000, 5)) + 6 * np.arange(5)
    X = np.zeros((3000, 30))
    X[np.arange(3000)[:, None], codes] = 1.0
    y = X @ rng.standard_normal(30) + rng.standard_normal(3000) > 0
    sparse, dense = (
        path(LogisticRegression(), rows, y, Cs=[0.01, 1.0], fold_tol=1e-6)
        for rows in (sp.csr_array(X), X)
    )
    assert sparse.gaps.max() <= 1e-6 and sparse.C == dense.C
    assert np.abs(sparse.scores - dense.scores).max() <= 2 / 600
