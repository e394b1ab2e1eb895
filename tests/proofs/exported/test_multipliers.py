"""Multipliers on a grid keep limits and balance exactly, and bound what they are said to bound."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.proofs.exported.multipliers import (
    exact_multipliers,
    lower_bound,
    scaled_multipliers,
)


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


def test_signs_infinities_and_multipliers_of_the_own_class_are_dropped():
    proposed = np.array([[0.5, -1.0, np.nan], [2.0, 0.25, np.inf], [0.125, 4.0, 0.0]])
    exact = exact_multipliers(proposed, np.array([1, 2, 0]), np.full(3, np.inf), False)
    assert exact.floats.tolist() == [[0.5, 0.0, 0.0], [2.0, 0.25, 0.0], [0.0, 4.0, 0.0]]
    assert np.frexp(exact.step)[0] == 0.5  # a power of two
    assert exact.moves(np.array([1, 2, 0])).tolist() == [
        [-0.5, 0.5, 0.0], [-2.0, -0.25, 2.25], [4.0, -4.0, 0.0],
    ]  # fmt: skip


def test_nothing_proposed_is_nothing():
    exact = exact_multipliers(np.zeros((2, 2)), np.array([0, 1]), np.ones(2), True)
    assert exact.floats.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_what_is_above_a_limit_is_taken_from_the_largest():
    proposed = np.array([[0.0, 3.0, 2.0], [0.0, 1.0, 1.0], [0.0, 5.0, 0.5]])
    exact = exact_multipliers(proposed, np.zeros(3, int), np.array([4.0, 4.0, 0.25]), False)
    assert exact.floats.tolist() == [[0.0, 2.0, 2.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.25]]


def test_forty_four_digits_of_the_largest_are_kept_and_fewer_of_very_many():
    exact = exact_multipliers(
        np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1]), np.ones(2), True
    )
    assert exact.step == 2.0**-43 and exact.floats.max() == 1.0
    many = np.zeros((1 << 17, 2))
    many[:, 1] = 1.0
    assert exact_multipliers(many, np.zeros(1 << 17, int), np.ones(1 << 17), False).step == 2.0**-40


def test_balance_moves_rows_between_their_limits_first():
    """Class 0 gives 0.5 too much: the row at its limit stays, those between meet half-way."""
    codes = np.array([0, 0, 1, 1])
    proposed = np.array([[0.0, 1.0], [0.0, 0.5], [0.5, 0.0], [0.5, 0.0]])
    exact = exact_multipliers(proposed, codes, np.ones(4), True)
    assert exact.floats.tolist() == [[0.0, 1.0], [0.0, 0.5], [0.75, 0.0], [0.75, 0.0]]


def test_a_class_without_room_takes_back_what_the_other_cannot_give():
    codes = np.array([0, 1])
    exact = exact_multipliers(
        np.array([[0.0, 1.0], [0.25, 0.0]]), codes, np.array([1.0, 0.25]), True
    )
    assert exact.floats.tolist() == [[0.0, 0.25], [0.25, 0.0]]
    full = exact_multipliers(np.array([[0.0, 1.0], [0.25, 0.0]]), codes, np.array([1.0, 0.0]), True)
    assert full.floats.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def entropy(p):
    return -sum(float(v) * np.log(float(v)) for v in p if v > 0)


@pytest.mark.parametrize("loss", ["hinge", "squared hinge", "logistic"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 1.0), (0.0, 0.5), (0.2, 0.75), (0.4, 2.0)])
def test_the_bound_is_the_dual_and_a_little_less(loss, K, l1, l2):
    rng = np.random.default_rng(K)
    X, codes = rng.standard_normal((7, 3)), np.r_[np.arange(K), rng.integers(0, K, 7 - K)]
    C = rng.uniform(0.5, 2.0, 7)
    exact = exact_multipliers(rng.uniform(0, 0.3, (7, K)), codes, C, True)
    moves, t = exact.moves(codes), exact.floats.sum(axis=1)
    v = np.abs(X.T @ (moves[:, 1:] if K == 2 else moves))
    cost = float((np.maximum(0.0, v - l1) ** 2).sum() / (2 * l2))
    gain = {
        "hinge": float(t.sum()),
        "squared hinge": float((t - t**2 / (4 * C)).sum()),
        "logistic": sum(c * entropy([1 - s / c, *(b / c)])
                        for c, s, b in zip(C, t, exact.floats, strict=True)),
    }[loss]  # fmt: skip
    bound, most = lower_bound(loss, exact, X, codes, C, l1, l2)
    assert gain - cost - 1e-11 < bound < gain - cost
    assert v.max() < most < v.max() + 1e-12
    assert lower_bound(loss, exact, sp.csr_array(X), codes, C, l1, l2)[0] == pytest.approx(bound)
    only, _ = lower_bound(loss, exact, X, codes, C, v.max() + 1e-6, 0.0)
    assert gain - 1e-11 < only < gain
    assert lower_bound(loss, exact, X, codes, C, v.max() * 0.99, 0.0)[0] == -np.inf


def test_the_bound_is_scaled_to_its_best():
    """Two rows, hinge: D(t) = 2ta − ½(2ta)², largest at 2ta = 1."""
    X, codes, C = np.array([[-1.0], [1.0]]), np.array([0, 1]), np.full(2, 9.0)
    for a in (0.3, 0.5, 2.0):
        proposed = np.array([[0.0, a], [a, 0.0]])
        exact, bound = scaled_multipliers("hinge", proposed, X, codes, C, 0.0, 1.0, True)
        assert 0.5 - 1e-9 < bound < 0.5 or a == 0.3
        assert bound >= 2 * a - 2 * a**2 - 1e-12
        assert exact.floats.sum() <= 18.0


def test_multipliers_of_an_l1_penalty_alone_are_brought_within_it():
    X, codes, C = np.array([[-1.0], [1.0]]), np.array([0, 1]), np.full(2, 9.0)
    proposed = np.array([[0.0, 3.0], [3.0, 0.0]])
    exact, bound = scaled_multipliers("hinge", proposed, X, codes, C, 0.5, 0.0, True)
    assert 0.5 - 1e-9 < bound <= 0.5  # α ≤ l1/2 each
    assert exact.floats.sum() == pytest.approx(0.5)
    inside = np.array([[0.0, 0.1], [0.1, 0.0]])
    assert scaled_multipliers("hinge", inside, X, codes, C, 0.5, 0.0, True)[1] == pytest.approx(0.2)


def test_limits_are_those_of_the_loss_and_none_where_rows_weigh_nothing():
    X, codes = np.array([[-0.1], [0.1], [0.1]]), np.array([0, 1, 1])
    proposed = np.array([[0.0, 1.5], [1.5, 0.0], [1.5, 0.0]])
    C = np.array([1.0, 1.0, 0.0])
    hinge, _ = scaled_multipliers("hinge", proposed, X, codes, C, 0.0, 1.0, False)
    assert hinge.floats.max() <= 1.0 and hinge.floats[2].sum() == 0.0
    square, bound = scaled_multipliers("squared hinge", proposed, X, codes, C, 0.0, 1.0, False)
    assert square.floats[:2].sum() > 2.5 and square.floats[2].sum() == 0.0
    assert bound > 1.0


def test_multipliers_that_bound_nothing_are_none():
    X, codes = np.array([[-1e6], [1e6]]), np.array([0, 1])
    found, bound = scaled_multipliers(
        "squared hinge", np.zeros((2, 2)), X, codes, np.ones(2), 0.0, 1.0, True
    )
    assert bound == 0.0 and found.floats.tolist() == [[0.0, 0.0], [0.0, 0.0]] and found.step == 1.0
