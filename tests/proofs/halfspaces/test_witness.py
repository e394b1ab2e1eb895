"""Multipliers in floats become whole numbers that annihilate few rows exactly."""

import numpy as np
import pytest

from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.proofs.halfspaces.witness import (
    Witness,
    exactly,
    prove,
    reduce,
    search_whole,
    whole_separator,
)


def annihilates(problem, witness):
    """Σ aᵢzᵢ = 0 in whole numbers, with every a > 0."""
    Z = problem.take(witness.ids, np.arange(problem.n_features))
    total = sum(
        a * z for a, z in zip(witness.multipliers, Z.astype(int).astype(object), strict=True)
    )
    return min(witness.multipliers) > 0 and not np.any(total)


def inseparable(seed, n=60, d=3):
    """Whole rows with a combination to zero, and multipliers of all of them that show it."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (n, d)).astype(float)
    codes = np.arange(n) % 2
    X[1::2] = X[::2][rng.permutation(n // 2)]  # both classes hold the same rows
    return Halfspaces.of(X, codes)


@pytest.mark.parametrize("seed", range(4))
def test_many_multipliers_are_reduced_to_independent_rows(seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((300, 4))
    M[-1] = -M[:-1].sum(axis=0)
    rows = reduce(M, np.ones(300), seed)
    A = np.hstack([M[rows], np.ones((len(rows), 1))])
    assert len(rows) <= 5 and np.linalg.matrix_rank(A) == len(rows)
    a = np.linalg.lstsq(A.T, [0.0, 0.0, 0.0, 0.0, 1.0], rcond=None)[0]
    assert a.min() > 0 and np.abs(A.T @ a - [0, 0, 0, 0, 1]).max() < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_a_proof_is_exact_and_has_few_rows(seed):
    problem = inseparable(seed)
    ids = problem.all()
    rows = problem.take(ids, np.arange(3))
    witness = prove(problem, ids, rows, np.full(len(ids), 1 / len(ids)))
    assert len(witness.ids) <= problem.dimension + 1 and annihilates(problem, witness)


def test_relations_of_mixed_signs_prove_nothing():
    assert exactly(np.array([[1.0, 1.0], [2.0, 2.0]])) is None
    keep, multipliers = exactly(np.array([[1.0, 1.0], [-2.0, -2.0]]))
    assert keep.tolist() == [0, 1] and multipliers == [2, 1]


def test_whole_numbers_settle_small_sets_either_way():
    problem = inseparable(0, n=12)
    assert annihilates(problem, search_whole(problem, problem.all()))
    settled = whole_separator(problem, problem.all())
    assert isinstance(settled, Witness) and annihilates(problem, settled)
    apart = Halfspaces.of(np.array([[0.0], [0.5], [2.0]]), np.array([0, 0, 1]))
    plane = whole_separator(apart, apart.all())
    Z = apart.take(apart.all(), np.arange(1))
    assert (Z @ np.array(plane, float)).min() > 0
    assert search_whole(apart, apart.all()) is None
