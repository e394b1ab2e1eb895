"""Rows of a Gram matrix in bounded memory, and the rows that carry a separator."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.errors import DataError
from linsep.rows.gram import GramRows, Support
from linsep.rows.kernels import Kernel

KERNEL = Kernel("poly", 2, 1.0, 1.0)


def integers(n, d, seed=0):
    return np.random.default_rng(seed).integers(-4, 5, (n, d)).astype(float)


@pytest.mark.parametrize("kept_rows", [0, 1, 7, 40])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_sums_over_gram_rows_do_not_depend_on_what_is_kept(kept_rows, layout):
    X = integers(40, 3)
    gram = GramRows(KERNEL, layout(X), 8 * 40 * kept_rows)
    rng = np.random.default_rng(1)
    for _ in range(30):
        rows = rng.integers(0, 40, 12)  # some of them twice
        steps = rng.integers(-2, 3, (12, 2))
        assert (gram.combine(rows, steps) == steps.T @ KERNEL(X[rows], X)).all()


def test_the_rows_used_most_stay_in_memory():
    X = integers(40, 3)
    asked = []

    def dots(A, B):
        asked.append(len(A))
        return A @ B.T

    gram = GramRows(Kernel(dots), X, 8 * 40 * 2)  # room for two rows
    one = np.ones((1, 1))
    for row in [3, 9, 9, 9, 5, 5, 5, 3, 8]:
        gram.combine(np.array([row]), one)
    asked.clear()
    for row in [9, 5]:
        gram.combine(np.array([row]), one)
    assert asked == []
    gram.combine(np.array([3]), one)
    assert asked == [1]


def test_memory_for_gram_rows_never_exceeds_what_was_granted():
    X = integers(50, 3)
    gram = GramRows(KERNEL, X, 8 * 50 * 5 + 7)
    for start in range(0, 50, 10):
        gram.combine(np.arange(start, start + 10), np.ones((10, 1)))
        assert gram._kept.nbytes <= 8 * 50 * 5


def test_a_whole_matrix_is_held_to_symmetry_across_its_pieces():
    def later_is_larger(A, B):
        return np.where(A[:, :1] < B[:, 0], 2.0, 1.0)

    X = np.arange(2000.0)[:, None]
    gram = GramRows(Kernel(later_is_larger), X, 8 * 2000**2)
    with pytest.raises(DataError, match="later_is_larger is not symmetric"):
        gram.whole()


def test_support_keeps_rows_in_order_in_few_parts():
    X = integers(300, 2)
    support = Support()
    for i in range(300):
        support = support.plus(X[i : i + 1])
    assert len(support) == 300
    assert (support.all(2) == X).all()
    assert len(support.parts) <= 10


def test_adding_rows_leaves_the_support_before_as_it_was():
    before = Support().plus(np.ones((1, 2)))
    after = before.plus(np.zeros((4, 2)))
    assert (len(before), len(after)) == (1, 5)


@pytest.mark.parametrize("layouts", [(np.asarray, sp.csr_array), (sp.csr_array, np.asarray)])
def test_support_takes_rows_of_both_layouts(layouts):
    X, new = integers(10, 3), integers(6, 3, seed=1)
    support = Support()
    for start in range(0, 10, 2):
        support = support.plus(layouts[start // 2 % 2](X[start : start + 2]))
    a = np.arange(20.0).reshape(10, 2)
    for layout in layouts:
        assert (support.expand(KERNEL, layout(new), a) == KERNEL(new, X) @ a).all()


def test_no_support_means_scores_of_zero():
    assert Support().expand(KERNEL, np.ones((3, 2)), np.zeros((0, 2))).tolist() == [[0, 0]] * 3
