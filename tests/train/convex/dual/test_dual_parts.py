"""Parts of dual descent: losses, rows, one state, one pass, support rows, last digits."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.kernels import shuffle
from linsep.parallel import Pool
from linsep.train.convex.dual import kernels as compiled
from linsep.train.convex.dual.active_set import polish
from linsep.train.convex.dual.coordinate_descent import FARTHEST, GapSchedule
from linsep.train.convex.dual.design import Design, middle
from linsep.train.convex.dual.dual_losses import Hinge, Logistic, SquaredHinge, logit_root
from linsep.train.convex.dual.gram_descent import GramCache
from linsep.train.convex.dual.kernels import Centred, Stretched
from linsep.train.convex.dual.state import DualState
from linsep.train.convex.dual.support import near_margin, supports
from linsep.train.convex.losses import Hinge as HingeLoss
from linsep.train.convex.steps.score_losses import Planes
from linsep.train.order import block_order
from linsep.train.problem import Problem

DUAL_TERMS = {
    Hinge: lambda a, U: a if 0 <= a <= U else -np.inf,
    SquaredHinge: lambda a, U: a - a * a / (4 * U) if a >= 0 else -np.inf,
    Logistic: lambda a, U: (
        -a * math.log(a / U) - (U - a) * math.log1p(-a / U) if 0 < a < U else 0.0
    ),
}


@pytest.mark.parametrize(
    "loss", [kind(1.0) for kind in DUAL_TERMS], ids=lambda loss: type(loss).__name__
)
@pytest.mark.parametrize("z", [-2.0, 0.3, 0.9, 1.0, 3.0])
def test_a_multiplier_moves_to_where_the_dual_is_highest(loss, z):
    a, q, U = 0.4, 1.7, 1.0
    logit = math.log(a / U) - math.log1p(-a / U)
    new, _ = loss.move(a, logit, z, q, U)

    def dual(x):  # along αᵢ, all else fixed: its term less the change of ½‖w‖²
        return DUAL_TERMS[type(loss)](x, U) - (x - a) * z - 0.5 * q * (x - a) ** 2

    grid = np.linspace(1e-6, 3.0 if isinstance(loss, SquaredHinge) else U - 1e-6, 4001)
    best = max(dual(x) for x in grid)
    tight = 1e-6 if not isinstance(loss, Logistic) else 1e-2  # one Newton step, near enough
    assert dual(max(min(new, grid[-1]), 1e-6)) >= best - tight


@pytest.mark.parametrize(
    "loss", [kind(1.0) for kind in DUAL_TERMS], ids=lambda loss: type(loss).__name__
)
def test_slack_is_the_gap_between_a_loss_and_its_dual_term(loss):
    U = 1.3
    for z in (-1.0, 0.2, 0.999, 1.5):
        for a in (0.1, 0.6, 1.2):
            logit = math.log(a / U) - math.log1p(-a / U)
            gap = loss.value(z, U) - DUAL_TERMS[type(loss)](a, U) + a * z
            assert loss.slack(a, logit, z, U) == pytest.approx(gap, abs=1e-9) and gap >= -1e-12
            step = 1e-6
            slope = (loss.value(z + step, U) - loss.value(z - step, U)) / (2 * step)
            assert loss.slope(z, U) == pytest.approx(slope, abs=1e-4)


def test_the_root_of_the_logit_equation_is_found():
    a, logit, z, q, U = 0.3, -2.0, 5.0, 9.0, 1.0
    u = logit_root.py_func(a, logit, z, q, U)
    assert u + z + q * (U / (1 + math.exp(-u)) - a) == pytest.approx(0.0, abs=1e-6)


def data(sparse, n=400, d=30):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < (0.2 if sparse else 1.0)) + 0.0
    signs = np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0, 1.0, -1.0)
    return (sp.csr_matrix(X) if sparse else X), X, signs


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_a_design_knows_lengths_and_centre_of_its_rows(sparse):
    given, X, _ = data(sparse)
    with Pool(1) as pool:
        design = Design(given, True, pool)
    centre = design.centre if sparse else middle(X)
    lengths = design.lengths
    assert np.allclose(lengths[:, 0], ((X - centre) ** 2).sum(axis=1))
    assert design.far == pytest.approx(np.linalg.norm(centre))
    w = np.arange(30.0)
    assert design.shift(w) == pytest.approx(centre @ w)
    assert np.array_equal(design.features(w), w)
    assert design.typical == pytest.approx(np.median(lengths[:, 0]), rel=0.2)


def test_rows_with_a_centre_or_a_stretch_are_read_as_such():
    X = np.arange(12.0).reshape(3, 4)
    centre, w = np.array([1.0, 0.0, 2.0, 0.0]), np.array([1.0, 2.0, 3.0, 4.0])
    centred = Centred(X, centre)
    assert centred.dot(1, w) == pytest.approx((X[1] - centre) @ w)
    assert centred.square(2) == pytest.approx(((X[2] - centre) ** 2).sum())
    out = np.zeros(4)
    centred.add(0, 2.0, out)
    assert np.allclose(out, 2 * (X[0] - centre))
    assert compiled.inner(w, w) == pytest.approx(30.0)
    assert Stretched._fields


@pytest.mark.parametrize(
    "loss", [Hinge(), SquaredHinge(), Logistic()], ids=lambda o: type(o).__name__
)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_passes_raise_the_dual_and_keep_it_below_the_primal(sparse, loss):
    given, _, signs = data(sparse)
    caps = np.full(400, 0.5)
    with Pool(1) as pool:
        design = Design(given, True, pool)
        state = DualState(design, signs, caps, loss, free=True, lanes=1, seed=0, pool=pool)
        evaluations = [state.evaluate()]
        for _ in range(12):
            state.one_pass()
            evaluations.append(state.evaluate())
    duals = [one.dual for one in evaluations]
    last = evaluations[-1]
    assert duals[-1] > duals[0] and all(one.dual <= one.primal * (1 + 1e-12) for one in evaluations)
    assert last.primal - last.dual < 0.05 * last.primal
    assert abs(last.alpha @ signs) < 1e-6  # an intercept is free


def test_support_rows_are_those_with_multipliers_or_inside_the_margin():
    X = np.array([[2.0], [0.5], [-0.5], [-2.0]])
    problem = Problem(X, np.array([1, 1, 0, 0]), None, 2)
    rows, alpha = supports(problem, [np.array([0.0, 0.7, 0.7, 0.0])])
    assert rows.tolist() == [1, 2] and alpha.tolist() == [[0.7, -0.7]]
    near = near_margin(problem, Planes(HingeLoss()), np.array([[1.0]]), np.zeros(1))
    assert near.tolist() == [1, 2]


@pytest.mark.parametrize("squared", [False, True])
def test_the_last_digits_come_from_linear_equations(squared):
    _, X, signs = data(False, n=60, d=3)
    caps = np.full(60, 0.7)
    rough = np.clip(0.35 + 0.1 * signs, 0, 0.7)
    for _ in range(2000):  # projected ascent, as plain as can be
        g = 1 - signs * (X @ ((rough * signs) @ X)) - (rough / (2 * caps) if squared else 0)
        rough = np.clip(rough + 0.002 * g, 0, np.inf if squared else caps)
    end = polish(X, signs, caps, rough, squared=squared, fit_intercept=False)
    assert end is not None and end.primal - end.dual <= 1e-12 * end.primal
    assert np.allclose(end.w, (end.alpha * signs) @ X)


def test_rows_of_the_gram_matrix_are_kept_and_made_again():
    X = np.random.default_rng(0).standard_normal((30, 4))
    calls = []

    def kernel(A, B, rows, everyone, each=map):
        calls.append(list(rows))
        return A @ B.T

    gram = GramCache(kernel, X, cache=1e9)
    places = gram.hold(np.array([3, 5]))
    assert np.allclose(gram.kept[places], X[[3, 5]] @ X.T)
    gram.hold(np.array([5, 7]))
    assert calls == [[3, 5], [7]]  # row 5 was there


def test_the_orders_of_several_passes_are_those_of_single_ones():
    order = np.empty(3 * 10, np.uint32)
    shuffle.pass_orders(order, 10, 7, 4)
    single = [block_order(10, 7, epoch, True) for epoch in (4, 5, 6)]
    np.testing.assert_array_equal(order, np.concatenate(single))


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("begin", [-9.0, 0.0, 0.4])
def test_at_the_best_intercept_the_slope_is_zero(loss, begin):
    rng = np.random.default_rng(0)
    n = 600  # more than are looked at together
    points = np.zeros((n, 8))
    points[:, compiled.SIGN] = np.where(np.arange(n) % 5 == 0, 1.0, -1.0)
    points[:, compiled.CAP] = rng.uniform(0.0, 2.0, n) * (np.arange(n) % 7 > 0)
    scores = 3.0 * rng.standard_normal(n)
    b = compiled.best_intercept(loss, points, scores, begin, 3e-4)
    assert abs(compiled.tilt(loss, points, scores, b)) <= 1e-7 * points[:, compiled.CAP].sum()


def test_rows_of_the_heavier_side_are_listed():
    points = np.zeros((5, 8))
    points[:, compiled.SIGN] = [1, 1, -1, 1, 1]
    points[:, compiled.ALPHA] = [0.5, 0.0, 0.5, 1.0, 0.2]
    points[:, compiled.CAP] = 1.0
    room = np.empty(6, np.uint32)
    for inside, wanted in ((False, [0, 3, 4]), (True, [0, 4])):
        count = compiled.heavier(points, 1.2, inside, room)
        assert room[:count].tolist() == wanted


@pytest.mark.parametrize("leaves", [True, False])
def test_an_evaluation_that_brings_no_row_back_waits_for_the_gap_asked_for(leaves):
    schedule = GapSchedule(1e-9, 100.0, leaves=leaves)
    assert [schedule.due(met) for met in (50.0, 5.0, 2.0)] == [False, False, leaves]
    assert schedule.due(1e-12)  # the gap is foretold
    waiting = GapSchedule(1e-9, 100.0, leaves=leaves)
    assert [waiting.due(100.0) for _ in range(FARTHEST)] == [False] * (FARTHEST - 1) + [True]


@pytest.mark.parametrize("logit", [-30.0, -2.0, 0.0, 2.0, 30.0])
def test_the_logistic_slack_is_zero_at_the_best_margin_and_grows_like_a_parabola(logit):
    loss, U = Logistic(), 3.0
    a = U / (1.0 + math.exp(-logit))
    assert loss.slack(a, logit, -logit, U) == 0.0
    bend = a * (1.0 - a / U)
    assert loss.slack(a, logit, 1e-3 - logit, U) == pytest.approx(0.5e-6 * bend, rel=1e-3)
