"""Looks at all rows: the range of each column by class, and equal rows of two classes."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.proofs.halfspaces.column_ranges import contradiction, ranges


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_ranges_are_those_of_the_rows_of_each_class(layout):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) * (rng.random((60, 5)) < 0.5)
    X[:, 3] = np.abs(X[:, 3]) + 1  # never zero: no stored zero may widen it
    codes = rng.integers(0, 3, 60)
    got = ranges(layout(X), codes, 3)
    for k in range(3):
        assert got.low[k].tolist() == X[codes == k].min(axis=0).tolist()
        assert got.high[k].tolist() == X[codes == k].max(axis=0).tolist()
    assert got.largest().tolist() == np.abs(X).max(axis=0).tolist()


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_equal_rows_contradict_each_other_only_across_classes(layout):
    X = np.array([[1.0, 0.0], [0.5, 2.0], [1.0, -0.0], [3.0, 1.0]])
    assert contradiction(layout(X), np.array([0, 0, 0, 1])) is None
    assert contradiction(layout(X), np.array([0, 0, 1, 1])) == (0, 2)  # −0.0 is 0.0
    assert contradiction(layout(X[:2]), np.array([0, 1])) is None
