"""Products with curvatures, what stands for the inverse Hessian, and lengths of steps."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge
from linsep.train.convex.parts import curved_sums
from linsep.train.convex.parts.curved_sums import CurvedSums
from linsep.train.convex.parts.dual_bounds import Rest
from linsep.train.convex.parts.margin_sums import lowest
from linsep.train.convex.parts.near_kinks import NearKinks, pieces, settle
from linsep.train.convex.parts.preconditioner import GROWTH, Preconditioner
from linsep.train.convex.problem import Problem
from linsep.train.convex.solvers.newton import Newton

LOSSES = [Logistic(), SquaredHinge(), Hinge().rounded(0.5)]


def made(n, d=9, form=np.asarray, loss=LOSSES[0], free=True, dtype=np.float64):
    """Sums of rows that were looked at, and their Hessian without the penalty."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, d)) < 0.5, rng.normal(size=(n, d)), 0.0).astype(dtype)
    y, U = np.where(rng.random(n) < 0.4, -1, 1), rng.random(n)
    u = rng.normal(size=d + 1) * 0.3
    problem = Problem.of(form(X), y, U, 2.0, loss, free)
    sums = CurvedSums(problem, Pool(1))
    look = sums.look(u, loss)
    wide = np.column_stack([X.astype(np.float64), np.ones(n)])
    bend = np.array([loss.curvature(z) for z in y * (wide @ u)])
    return problem, sums, look, wide.T @ ((2.0 * U * bend)[:, None] * wide)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kept", [True, False])
def test_products_are_those_of_the_hessian(form, dtype, loss, kept, monkeypatch):
    monkeypatch.setattr(curved_sums, "on_cluster", lambda X: not kept)
    _, sums, look, H = made(5000, form=form, loss=loss, dtype=dtype)
    p = np.random.default_rng(1).normal(size=len(H))
    assert sums.curved(p) == pytest.approx(H @ p)
    assert sums.squares() == pytest.approx(H.diagonal())
    all_rows = np.concatenate(list(sums.sampled(5000, np.float64)))
    assert len(all_rows) == look.curved
    assert all_rows.T @ all_rows == pytest.approx(H)
    some = np.concatenate(list(sums.sampled(1000, np.float64)))
    assert len(some) == pytest.approx(min(1000, look.curved), rel=0.1)
    assert (some.T @ some)[-1, -1] == pytest.approx(H[-1, -1], rel=0.25)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("most", [7, 10_000])
@pytest.mark.parametrize("loss", LOSSES)
def test_rows_misjudged_are_those_whose_multipliers_turn_most(most, form, loss):
    problem, sums, _, _ = made(5000, form=form, loss=loss)
    X, u, to = problem.design.X, np.full(10, 1e-3), np.linspace(-0.5, 0.5, 10)
    X = X.toarray() if sp.issparse(X) else X
    signed = np.hstack([X, np.ones((len(X), 1))]) * problem.y[:, None]
    z, change = signed @ u, signed @ (to - u)
    told = loss.slope(z) + change * loss.curvature(z)
    error = np.abs(problem.weights * change * (loss.slope(z + change) - told))
    wanted = np.flatnonzero(error > 1e-3)
    wanted = np.sort(wanted[np.argsort(-error[wanted])[:most]])
    assert np.array_equal(sums.misjudged(u, to, loss, 1e-3, most), wanted)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_extremes_are_those_of_rows_that_count(form):
    problem, sums, _, _ = made(5000, form=form)
    problem.weights[:100] = 0.0
    X, u, to = problem.design.X, np.full(10, 0.2), np.linspace(-0.5, 0.5, 10)
    X = X.toarray() if sp.issparse(X) else X
    signed = (np.hstack([X, np.ones((len(X), 1))]) * problem.y[:, None])[100:]
    z, change = signed @ u, signed @ (to - u)
    assert sums.extremes(u, to) == pytest.approx((z.min(), change.min(), change.max()))
    bent = np.flatnonzero(np.abs(1.0 - z) < 0.3) + 100
    assert np.array_equal(sums.bent(u, Hinge().rounded(0.3), 5000), bent)
    assert sums.bent(u, Hinge().rounded(0.3), len(bent) - 1) is None


@pytest.mark.parametrize("loss", LOSSES)
def test_with_all_rows_kept_the_model_is_the_objective(loss):
    problem, *_ = made(200, loss=loss)
    u = np.full(10, 0.1)
    rest = Rest(u, 0.0, np.zeros(10), np.zeros((10, 10)))
    best = Newton(problem, rest=rest).minimised(u, 1e-12)

    def P(v):
        X = np.hstack([problem.design.X, np.ones((200, 1))]) * problem.y[:, None]
        return 0.5 * v[:-1] @ v[:-1] + problem.weights @ loss.value(X @ v)

    assert best.value == pytest.approx(P(best.u), rel=1e-12)
    assert P(best.u) <= scipy.optimize.minimize(P, np.zeros(10), tol=1e-12).fun * (1 + 1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("most", [7, 10_000])
def test_rows_near_are_those_that_the_step_takes_across_first(most, form):
    loss = SquaredHinge()
    problem, sums, _, _ = made(5000, form=form, loss=loss)
    X, u, step = problem.design.X, np.full(10, 1e-3), np.linspace(-0.5, 0.5, 10)
    sums.look(u, loss)
    near = sums.near(pieces(loss), step, 2.0, most)
    X = X.toarray() if sp.issparse(X) else X
    signed = np.hstack([X, np.ones((len(X), 1))]) * problem.y[:, None]
    part = np.abs(1.0 - signed @ u) / np.abs(signed @ step)
    wanted = np.flatnonzero(part <= 2.0)
    wanted = np.sort(wanted[np.argsort(part[wanted])[:most]])
    assert np.array_equal(near.rows, signed[wanted])
    assert near.z == pytest.approx(signed[wanted] @ u)
    assert np.array_equal(near.caps, problem.weights[wanted])


@pytest.mark.parametrize("loss", LOSSES[1:])
def test_with_all_rows_near_the_model_is_the_objective(loss):
    rng = np.random.default_rng(3)
    B, U = rng.normal(size=(200, 6)), rng.uniform(0.5, 2.0, 200)
    u = rng.normal(size=6)

    def P(v):
        return 0.5 * v @ v + sum(c * loss.value(t) for c, t in zip(U, B @ v, strict=True))

    parts, z = pieces(loss), B @ u
    assert parts.alpha(z, U) == pytest.approx(
        [-c * loss.slope(t) for c, t in zip(U, z, strict=True)]
    )
    g = u - B.T @ parts.alpha(z, U)
    H = np.eye(6) + B.T @ (B * parts.curvature(z, U)[:, None])
    step, falls = settle(g, H, NearKinks(B, z, U), parts, -np.linalg.solve(H, g))
    lowest = scipy.optimize.minimize(P, np.zeros(6), tol=1e-12).fun
    assert P(u + step) == pytest.approx(lowest, rel=1e-9)
    assert falls == pytest.approx(P(u) - lowest, rel=1e-9)


def test_with_no_row_near_it_is_newtons_step():
    H, g = np.diag([2.0, 4.0]), np.array([2.0, -4.0])
    none = NearKinks(np.zeros((0, 2)), np.zeros(0), np.zeros(0))
    step, falls = settle(g, H, none, pieces(SquaredHinge()), np.array([-1.0, 1.0]))
    assert step == pytest.approx([-1.0, 1.0]) and falls == pytest.approx(3.0)
    assert pieces(Logistic()) is None


@pytest.mark.parametrize("free", [True, False])
def test_the_factor_of_all_rows_is_the_inverse_of_the_hessian(free):
    problem, sums, look, H = made(900, free=free)
    inverse = Preconditioner(problem, sums)
    inverse.single = False
    inverse.prepare(look.curved, 0)
    if not free:
        H[-1] = H[:, -1] = 0.0
        H[-1, -1] = 1.0
    r = np.append(np.linspace(-1.0, 1.0, 9), 0.5 * free)
    assert inverse.solve(r) == pytest.approx(np.linalg.solve(H + np.diag(problem.ridge), r))


def test_a_slow_step_takes_a_sample_anew_and_then_a_larger_one():
    problem, sums, look, _ = made(20_000)
    inverse = Preconditioner(problem, sums)
    assert inverse.prepare(look.curved, 0)
    first = inverse.rows
    assert not inverse.prepare(look.curved, 0)
    assert inverse.prepare(look.curved, 10_000) and inverse.rows == first
    assert inverse.prepare(look.curved, 10_000) and inverse.rows == GROWTH * first


def test_a_diagonal_is_all_there_is_of_many_features(monkeypatch):
    monkeypatch.setattr("linsep.train.convex.parts.preconditioner.WIDEST", 3)
    problem, sums, look, H = made(500)
    inverse = Preconditioner(problem, sums)
    inverse.prepare(look.curved, 0)
    assert inverse.solve(np.ones(10)) == pytest.approx(1.0 / (H.diagonal() + problem.ridge))


@pytest.mark.parametrize("scale", [1.0, 1e30], ids=["twins", "overflow"])
def test_sums_in_single_precision_give_way_to_double_where_they_do_not_do(scale):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 4))
    X[:, 3] = X[:, 2] + 1e-5 * rng.normal(size=500)
    problem = Problem.of(sp.csr_array(scale * X), np.ones(500), None, 1.0, SquaredHinge(), True)
    problem = problem._replace(penalty=problem.penalty._replace(l2=0.0))
    sums = CurvedSums(problem, Pool(1))
    look = sums.look(np.zeros(5), SquaredHinge())
    inverse = Preconditioner(problem, sums)
    with np.errstate(all="ignore"):
        inverse.prepare(look.curved, 0)
    assert not inverse.single
    r = np.array([1.0, -1.0, 2.0, 2.0, 0.5])
    data = np.hstack([X, np.ones((500, 1))])
    units = np.array([scale] * 4 + [1.0])
    wanted = np.linalg.solve(2.0 * data.T @ data, r / units) / units
    assert inverse.solve(r) == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("where", [0.9, 0.31, 1e-3, 1e-6])
def test_the_length_is_where_the_slope_changes_its_sign(where):
    def slopes(t):
        return np.where(t < where, t - where, 50.0 * (t - where))

    t = lowest(slopes)
    assert abs(t - where) < 0.2 * where
