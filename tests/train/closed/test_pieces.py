"""Sums over cached pieces: each row once, and the same bytes whoever adds them up."""

from operator import add

import numpy as np
import pytest

from linsep.train.closed import pieces
from linsep.train.closed.pieces import sum_pieces
from linsep.train.problem import Problem


def products(block, first, last):
    X = block.rows.X[first:last]
    return X.T @ X


@pytest.mark.parametrize("n", [1, 300, 4096, 4097, 9000, 30_000])
def test_threads_that_share_pieces_give_the_bytes_of_one_alone(n, monkeypatch):
    X = np.random.default_rng(n).standard_normal((n, 5))
    sums = []
    for jobs, alone in ((1, pieces.ALONE), (3, 0.0)):
        monkeypatch.setattr(pieces, "ALONE", alone)
        problem = Problem(X, np.zeros(n, np.int32), None, 1, jobs)
        sums.append(sum_pieces(problem, products, add, 5, 25.0 * n))
    np.testing.assert_array_equal(*sums)
    np.testing.assert_allclose(sums[0], X.T @ X, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("width", [1, 300, 70_000])
def test_every_row_is_in_one_piece(width, monkeypatch):
    monkeypatch.setattr(pieces, "ALONE", 0.0)
    problem = Problem(np.ones((9001, 1)), np.zeros(9001, np.int32), None, 1, 2)
    rows = sum_pieces(
        problem, lambda block, i, j: [*range(block.start + i, block.start + j)], add, width, 1.0
    )
    assert rows == list(range(9001))


def test_the_check_of_entries_is_waited_for():
    for n in (10, 9000):
        seen = []
        problem = Problem(np.ones((n, 1)), np.zeros(n, np.int32), None, 1, 1)
        problem.settle = lambda seen=seen: seen.append(True)
        sum_pieces(problem, lambda block, i, j: j - i, add, 1, 1.0)
        assert seen
