"""Multipliers on a grid keep limits and balance exactly, and bound what they are said to bound."""

from fractions import Fraction

import numpy as np
import pytest

from linsep.proofs.exported.multipliers import exact_multipliers, lower_bound


@pytest.mark.parametrize("seed", range(20))
def test_limits_and_balance_hold_to_the_last_bit_whatever_is_proposed(seed):
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(2, 40)), int(rng.integers(2, 5))
    codes = np.r_[np.arange(K), rng.integers(0, K, n)].astype(np.int64)
    proposed = rng.exponential(1.0, (n + K, K)) * 10.0 ** rng.integers(-6, 6)
    proposed[rng.random(proposed.shape) < 0.3] = 0.0
    proposed[0, -1] = rng.choice([np.nan, np.inf, -1.0])
    caps = rng.exponential(1.0, n + K)
    exact = exact_multipliers(proposed, codes, caps, True)
    B = [[Fraction(x) for x in row] for row in exact.floats.tolist()]
    assert all(x >= 0 for row in B for x in row)
    assert all(sum(row) <= Fraction(cap) for row, cap in zip(B, caps.tolist(), strict=True))
    for k in range(K):
        assert all(B[i][k] == 0 for i in np.flatnonzero(codes == k))
        assert sum(sum(B[i]) for i in np.flatnonzero(codes == k)) == sum(row[k] for row in B)


def test_a_proposal_that_is_feasible_is_kept_but_for_its_last_digits():
    beta = np.array([[0.0, 0.3], [0.1, 0.0], [0.2, 0.0]])
    exact = exact_multipliers(beta, np.array([0, 1, 1]), np.ones(3), True)
    assert np.abs(exact.floats - beta).max() < 1e-12


def test_the_bound_of_two_rows_is_what_arithmetic_gives():
    X, codes, C = np.array([[-1.0], [1.0]]), np.array([0, 1]), np.ones(2)
    exact = exact_multipliers(np.array([[0.0, 0.5], [0.5, 0.0]]), codes, C, True)
    bound, most = lower_bound("hinge", exact, X, codes, C, 0.0, 1.0)  # 1 − ½·1²
    assert 0.5 - 1e-12 < bound <= 0.5
    assert 1.0 <= most < 1 + 1e-12
    assert lower_bound("hinge", exact, X, codes, C, 0.5, 0.0)[0] == -np.inf
