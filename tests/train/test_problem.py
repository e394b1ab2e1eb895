"""Rows, classes and weights in fixed blocks, summed alike by any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.errors import DataError, OverflowedError
from linsep.kernels import rows
from linsep.train.problem import Problem, presentations


def made(layout=np.asarray, n=10_000, weights=None, n_jobs=1):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    return X, Problem(layout(X), np.arange(n) % 3, weights, 3, n_jobs)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_blocks_hold_every_row_once(layout):
    X, problem = made(layout)
    w = np.array([1.0, -2.0, 0.5])
    scores = [
        rows.dot(block.rows, i, w) for block in problem.blocks() for i in range(len(block.codes))
    ]
    assert np.allclose(scores, X @ w)
    codes = np.concatenate([block.codes for block in problem.blocks()])
    assert codes.tolist() == (np.arange(10_000) % 3).tolist()
    assert problem.radius == pytest.approx(np.linalg.norm(X, axis=1).max())


def test_a_sum_over_blocks_is_the_same_bytes_for_any_threads():
    totals = []
    for n_jobs in (1, 2):
        X, problem = made(n_jobs=n_jobs)
        totals.append(problem.sum(lambda block: np.array(block.codes @ block.rows.X), np.add))
    assert totals[0].tobytes() == totals[1].tobytes()
    assert np.allclose(totals[0], (np.arange(10_000) % 3) @ X)


def test_one_class_against_the_rest_is_a_problem_of_two():
    _, problem = made()
    parts = problem.one_vs_rest()
    assert len(parts) == 3 and all(part.binary for part in parts)
    assert (parts[2].signs > 0).tolist() == (np.arange(10_000) % 3 == 2).tolist()


def test_a_pass_meets_each_row_once_and_stops_where_it_is_told_to():
    _, problem = made()
    met = [block.start + i for block, order in problem.in_order(0, 1, True) for i in order]
    assert sorted(met) == list(range(10_000)) and met != sorted(met)
    problem.halt.set()
    assert list(problem.in_order(0, 1, True)) == []


def test_weights_are_presentations_and_parts_of_a_step():
    weights = np.array([2.5, 0.0, 1.0])
    X = np.eye(3)
    block = next(Problem(X, np.zeros(3, int), weights, 2).blocks())
    order, scale = presentations(block, np.array([0, 1, 2]))
    assert order.tolist() == [0, 0, 0, 2] and scale.tolist() == [1.0, 1.0, 0.5, 1.0]
    heavy = next(Problem(X, np.zeros(3, int), np.full(3, 1e9), 2).blocks())
    with pytest.raises(DataError, match="sample_weight reaches 1e"):
        presentations(heavy, np.arange(3))


def test_weights_whose_scores_leave_the_range_are_refused():
    _, problem = made()
    problem.require_in_range(np.full((1, 3), 1e100), np.zeros(1))
    with np.errstate(over="ignore"), pytest.raises(OverflowedError, match="Divide X"):
        problem.require_in_range(np.full((1, 3), 1e308), np.zeros(1))
