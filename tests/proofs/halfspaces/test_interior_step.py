"""Newton's systems of the interior-point methods, and the length of their steps."""

import numpy as np
import pytest

from linsep.proofs.halfspaces.interior_step import Normal, step_length


@pytest.mark.parametrize("n", [30, 120_000])  # the larger one is added up in two halves
def test_the_normal_equations_are_solved(n):
    rng = np.random.default_rng(0)
    A, d, penalty = rng.standard_normal((n, 21)), rng.random(n) + 0.1, np.arange(21) * 1.0
    right = rng.standard_normal(21)
    x = Normal(A, d, penalty).solve(right)
    assert np.allclose(A.T @ (d * (A @ x)) + penalty * x, right, atol=1e-8)


def test_dependent_columns_get_one_of_the_solutions():
    A = np.ones((5, 2))
    x = Normal(A, np.ones(5)).solve(np.array([10.0, 10.0]))
    assert x.sum() == pytest.approx(2.0)


def test_a_step_ends_where_the_first_number_vanishes():
    assert step_length(np.array([1.0, 2.0]), np.array([-0.5, -4.0])) == 0.5
    assert step_length(np.array([1.0, 2.0]), np.array([0.5, 4.0])) == 1e9
