"""Blocks are cut by row number, whatever lengths the pieces have."""

import itertools

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linsep.data.sources.cutting import in_blocks

LENGTHS = st.lists(st.integers(1, 12), max_size=12)


def made(lengths, sparse, labelled):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(sum(lengths), 5)) * (rng.random((sum(lengths), 5)) < 0.5)
    y = np.arange(len(X))
    ends = np.cumsum([0, *lengths])
    pieces = []
    for first, last in itertools.pairwise(ends):
        part = sp.csr_array(X[first:last]) if sparse else X[first:last].copy()
        pieces.append((part, y[first:last] if labelled else None))
    return X, y, pieces


@given(LENGTHS, st.integers(1, 20), st.booleans(), st.booleans())
def test_blocks_hold_the_rows_in_order(lengths, size, sparse, labelled):
    X, y, pieces = made(lengths, sparse, labelled)
    found = list(in_blocks(pieces, size))
    counts = [len(X[first : first + size]) for first in range(0, len(X), size)]
    assert [rows.shape for rows, _ in found] == [(n, 5) for n in counts]
    for k, (rows, labels) in enumerate(found):
        part = slice(k * size, k * size + counts[k])
        if sparse:
            assert rows.has_canonical_format and rows.indices.dtype == np.int32
            rows.check_format(full_check=True)
        np.testing.assert_array_equal(rows.toarray() if sparse else rows, X[part])
        assert (labels is None) if not labelled else labels.tolist() == y[part].tolist()


def test_a_dense_block_within_a_piece_is_not_copied():
    X, _, pieces = made([10, 3, 10], False, False)
    found = [rows for rows, _ in in_blocks(pieces, 5)]
    shared = [any(np.shares_memory(rows, piece) for piece, _ in pieces) for rows in found]
    assert shared == [True, True, False, True, True]
    np.testing.assert_array_equal(np.concatenate(found), X)
