"""Sweeps of dual descent and moves of working sets, against plain NumPy."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.kernels import descent, gram, shuffle
from linsep.rows.rows import aligned, as_rows
from linsep.train.convex.losses import Hinge, Logistic, SmoothedHinge, SquaredHinge
from linsep.train.order import block_order

SIGN, CAP, SQUARE, SHIFT, ALPHA, LOGIT, MARGIN, IDLE = range(8)
BIAS, PULL, TOTAL, LEVEL, SPREAD, REACH, MET, DRIFT = range(8)
LOSSES = [Hinge(), SquaredHinge(), Logistic()]
NAMES = ["hinge", "squared hinge", "logistic"]


def dual_term(loss, a, U):
    """−U ℓ*(−a/U)"""
    if isinstance(loss, Hinge):
        return a
    if isinstance(loss, SquaredHinge):
        return a - a * a / (4 * U)
    return -a * math.log(a / U) - (U - a) * math.log1p(-a / U) if 0 < a < U else 0.0


def one_row(a, U=1.0):
    points = aligned((1, 8), np.float64)
    points[0] = 1.0, U, 1.7, 0.0, a, math.log(a / U) - math.log1p(-a / U), 0.0, 0.0
    return points


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("z", [-2.0, 0.3, 0.9, 1.0, 3.0])
def test_a_multiplier_moves_to_where_the_dual_is_highest(loss, z):
    points, w = one_row(0.4), np.array([z / 1.7**0.5])
    rows = as_rows(np.array([[1.7**0.5]]))
    descent.sweep(loss, rows, points, np.zeros(1, np.uint32), w, np.zeros(8))
    to = points[0, ALPHA]
    assert points[0, MARGIN] == pytest.approx(z)
    assert w[0] == pytest.approx((z + 1.7 * (to - 0.4)) / 1.7**0.5)

    def gain(x):  # along αᵢ, all else fixed: its term less the change of ½‖w‖²
        return dual_term(loss, x, 1.0) - (x - 0.4) * z - 0.5 * 1.7 * (x - 0.4) ** 2

    grid = np.linspace(1e-6, 3.0 if isinstance(loss, SquaredHinge) else 1 - 1e-6, 4001)
    best, begin = max(map(gain, grid)), gain(0.4)
    assert gain(to) - begin >= 0.9 * (best - begin) - 1e-2  # over-relaxed, or one step


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("z", [-1.0, 0.2, 0.999, 1.5])
@pytest.mark.parametrize("a", [0.1, 0.6, 1.2])
def test_slack_is_the_gap_between_a_loss_and_its_dual_term(loss, z, a):
    points, sums = one_row(a, 1.3), np.empty(2)
    descent.weigh(loss, points, np.array([z - 0.5]), 0.5, 0.0, sums)
    assert sums[0] == pytest.approx(1.3 * loss.value(z))
    assert sums[1] == pytest.approx(
        1.3 * loss.value(z) - dual_term(loss, a, 1.3) + a * z, abs=1e-12
    )
    descent.tilt(loss, points, np.array([z - 0.5]), 0.5, sums)
    assert sums == pytest.approx([1.3 * loss.slope(z), 1.3 * loss.curvature(z)])


@pytest.mark.parametrize("logit", [-30.0, -2.0, 0.0, 2.0, 30.0])
def test_the_logistic_slack_is_zero_at_the_best_margin_and_grows_like_a_parabola(logit):
    points, sums = one_row(0.5, 3.0), np.empty(2)
    points[0, ALPHA], points[0, LOGIT] = 3.0 / (1.0 + math.exp(-logit)), logit
    bend = points[0, ALPHA] * (1.0 - points[0, ALPHA] / 3.0)
    for off in (0.0, 1e-3):
        descent.weigh(Logistic(), points, np.array([off - logit]), 0.0, 0.0, sums)
        assert sums[1] == pytest.approx(0.5 * off * off * bend, rel=1e-3)


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_sweeps_carry_weights_totals_and_bias_along(loss, layout, real):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((40, 9)) * (rng.random((40, 9)) < 0.6)).astype(real)
    points, centre, w, at = (
        aligned((40, 8), np.float64),
        rng.standard_normal(9),
        np.zeros(9),
        np.zeros(8),
    )
    points[:, SIGN], points[:, CAP], points[:, LOGIT] = np.where(X[:, 0] > 0, 1, -1), 0.7, -np.inf
    rows = as_rows(layout(X))
    descent.measure(rows, centre, points)
    assert np.allclose(points[:, SQUARE], ((X - centre) ** 2).sum(axis=1))
    assert np.allclose(points[:, SHIFT], X @ centre)
    at[PULL], at[SPREAD], at[BIAS] = 0.01, centre @ centre, 0.3
    before = points[:, ALPHA].copy()
    for _ in range(3):
        descent.sweep(loss, rows, points, rng.permutation(40).astype(np.uint32), w, at)
    signed = points[:, SIGN] * points[:, ALPHA]
    assert np.any(points[:, ALPHA] != before) and np.all(points[:, ALPHA] >= 0.0)
    assert np.allclose(w, signed @ X) and at[TOTAL] == pytest.approx(signed.sum())
    assert at[LEVEL] == pytest.approx(w @ centre) and at[BIAS] == pytest.approx(
        0.3 + 0.01 * signed.sum()
    )
    v = np.zeros(9)
    descent.add_rows(rows, np.arange(40, dtype=np.uint32), signed, v)
    assert np.allclose(v, w)
    s = X @ w - at[LEVEL] - at[TOTAL] * (points[:, SHIFT] - at[SPREAD]) + at[BIAS]
    last, z = int(rng.integers(40)), points[:, SIGN] * s
    descent.sweep(loss, rows, points, np.array([last], np.uint32), w, at)
    assert points[last, MARGIN] == pytest.approx(z[last])


def test_rows_of_the_heavier_side_are_listed():
    points = aligned((5, 8), np.float64)
    points[:, SIGN], points[:, CAP] = [1, 1, -1, 1, 1], 1.0
    points[:, ALPHA] = [0.5, 0.0, 0.5, 1.0, 0.2]
    room = np.empty(6, np.uint32)
    for inside, wanted in ((False, [0, 3, 4]), (True, [0, 4])):
        count = descent.heavier(points, 1.2, inside, room)
        assert room[:count].tolist() == wanted


def test_rows_that_are_not_there_and_losses_without_a_dual_step_are_refused():
    rows, points, w = as_rows(np.ones((2, 3))), aligned((2, 8), np.float64), np.zeros(3)
    with pytest.raises(ValueError, match="no such row"):
        descent.sweep(Hinge(), rows, points, np.array([2], np.uint32), w, np.zeros(8))
    with pytest.raises(ValueError, match="no dual step"):
        descent.sweep(SmoothedHinge(0.1), rows, points, np.array([1], np.uint32), w, np.zeros(8))


@pytest.mark.parametrize("free", [False, True])
def test_a_working_set_is_moved_to_its_optimum_and_all_scores_follow(free):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12, 3))
    K, y = X @ X.T + np.eye(12), np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
    caps, alpha, f = np.full(12, 0.8), np.zeros(12), np.zeros(12)
    rows = np.arange(12)
    moves = gram.work(K, rows, rows, y, caps, free, 1e-9, 10_000, alpha, f, np.empty((14, 12)))
    assert moves > 0 and np.allclose(f, K @ (y * alpha))
    assert np.all(alpha >= 0.0) and np.all(alpha <= 0.8)
    v = y - f
    if not free:
        lack = y * v
        assert np.all(lack[alpha < 0.8] <= 1e-8) and np.all(lack[alpha > 0.0] >= -1e-8)
        return
    assert abs(y @ alpha) < 1e-12
    rises = np.where(y > 0, alpha < 0.8, alpha > 0.0)
    falls = np.where(y > 0, alpha > 0.0, alpha < 0.8)
    assert v[rises].max() - v[falls].min() <= 1e-8
    with pytest.raises(ValueError, match="no such row"):
        gram.work(K, rows + 1, rows, y, caps, free, 1e-9, 1, alpha, f, np.empty((14, 12)))


def test_the_orders_of_several_passes_are_those_of_single_ones():
    order = np.empty(3 * 10, np.uint32)
    shuffle.pass_orders(order, 10, 7, 4)
    single = [block_order(10, 7, epoch, True) for epoch in (4, 5, 6)]
    np.testing.assert_array_equal(order, np.concatenate(single))
