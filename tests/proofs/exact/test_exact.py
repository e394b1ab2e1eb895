"""Whole-number linear algebra against fractions and against itself."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep.proofs.exact.dixon import lift, pivots, prime_below
from linsep.proofs.exact.integers import fewest, kernel_basis, relation, solve, vanishes, whole
from linsep.proofs.exact.wolfe import nearest
from proofs.rational_lp import kind

floats = st.floats(allow_nan=False, allow_infinity=False)
small = st.integers(-3, 3)


def matrices(entries, most=5):
    """Rows of equal length, at least one of each."""
    return st.integers(1, most).flatmap(
        lambda d: st.lists(st.lists(entries, min_size=d, max_size=d), min_size=1, max_size=most)
    )


@given(matrices(floats))
def test_floats_are_whole_numbers_times_powers_of_two(A):
    found = whole(np.array(A))
    for i, row in enumerate(A):
        for j, value in enumerate(row):
            shift = found.rows[i] + found.columns[j]
            assert Fraction(int(found.values[i, j])) * Fraction(2) ** shift == Fraction(value)


@given(matrices(small))
def test_the_kernel_is_annihilated_and_has_the_dimension_the_rank_leaves(A):
    basis = kernel_basis(A, len(A[0]))
    assert all(sum(a * v for a, v in zip(row, n, strict=True)) == 0 for row in A for n in basis)
    assert len(basis) == len(A[0]) - np.linalg.matrix_rank(np.array(A))
    if basis:
        assert np.linalg.matrix_rank(np.array(basis, dtype=float)) == len(basis)


@given(matrices(small))
def test_pivot_rows_and_columns_are_as_many_as_the_rank_and_independent(A):
    A = np.array(A)
    rows, columns = pivots(A)
    rank = np.linalg.matrix_rank(A)
    assert len(rows) == len(columns) == rank
    if rank:
        assert np.linalg.matrix_rank(A[np.ix_(rows, columns)]) == rank


@pytest.mark.parametrize("bits", [3, 20, 62, 200])
@pytest.mark.parametrize("order", [1, 2, 7, 50])
def test_lifting_solves_systems_of_whole_numbers_exactly(order, bits):
    rng = np.random.default_rng(order + bits)
    A = rng.integers(-(2**20), 2**20, (order, order)).astype(object) << max(0, bits - 20)
    A += rng.integers(-3, 4, (order, order)).astype(object)
    c = rng.integers(-(2**20), 2**20, order).astype(object)
    numerators, denominator = lift(A, c)
    assert list(A @ np.array(numerators, dtype=object)) == [denominator * x for x in c]


def test_lifting_and_elimination_agree():
    rng = np.random.default_rng(1)
    A, c = rng.integers(-9, 9, (12, 12)), rng.integers(-9, 9, 12)
    lifted, eliminated = lift(A, c), solve(A, c)
    assert [Fraction(a, lifted[1]) for a in lifted[0]] == [
        Fraction(a, eliminated[1]) for a in eliminated[0]
    ]


def test_a_singular_system_has_no_answer():
    A, c = np.array([[1, 2], [2, 4]]), np.array([1, 1])
    assert lift(A, c) is None
    assert solve(A, c) is None


@pytest.mark.parametrize("order", [5, 60])
def test_the_relation_of_dependent_rows_is_found_in_small_and_large_systems(order):
    rng = np.random.default_rng(order)
    rows = rng.integers(-4, 5, (order, order + 2)).astype(float)
    wanted = rng.integers(1, 5, order)
    Z = np.vstack([rows, -(wanted @ rows)])
    found = relation(Z)
    assert found == fewest([*wanted.tolist(), 1])
    assert vanishes(whole(Z * 2.0**40).values, found)


def test_independent_rows_have_no_relation_and_several_are_not_told_apart():
    assert relation(np.eye(3)) is None
    assert relation(np.array([[1.0], [1.0], [1.0]])) is None


def test_primes_are_prime():
    assert [prime_below(n) for n in (3, 10, 100, 1 << 21)] == [2, 7, 97, 2097143]


@given(matrices(st.integers(-2, 2), most=6))
def test_the_nearest_point_settles_what_the_simplex_method_settles(Z):
    found = nearest(Z)
    assert (found.direction is not None) == (kind(Z) == "separable")
    if found.direction is not None:
        assert all(sum(a * b for a, b in zip(z, found.direction, strict=True)) > 0 for z in Z)
    else:
        assert min(found.multipliers) > 0
        assert len(found.rows) <= len(Z[0]) + 1
        combination = np.array(found.multipliers) @ np.array([Z[i] for i in found.rows])
        assert not combination.any()
