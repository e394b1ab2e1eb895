"""Crammer and Singer's machine with many weights and a weak penalty."""

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.handover import Handover
from linsep.train.convex.joint import choose
from linsep.train.convex.joint.augmented_lagrangian import AugmentedLagrangian
from linsep.train.convex.joint.class_hessian import ClassHessian
from linsep.train.convex.joint.interior_point import JointInteriorPoint
from linsep.train.convex.joint.softened import joint_factor, softened_cg
from linsep.train.convex.joint.softened.joint_factor import JointFactor, factored
from linsep.train.convex.joint.softened.softened_cg import ProductRows, SoftenedNewtonCG


def classes(n=300, d=6, K=4, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    return scale * (rng.standard_normal((n, d)) + rng.standard_normal((K, d))[y]), y


def solver(X, y, weights=None, C=1.0, **more):
    return SoftenedNewtonCG(X, y, weights, C, n_classes=int(y.max()) + 1, **more)


def rows_at(X, y, epsilon=0.3, raised=2.0, seed=1):
    W = np.random.default_rng(seed).standard_normal((int(y.max()) + 1, X.shape[1]))
    rows = ProductRows(
        X, y, np.linspace(0.5, 2.0, len(y)), np.full(X.shape[1], 0.7), len(W), Pool(1)
    )
    rows.go(W - W.mean(axis=0), epsilon, raised)
    rows.gather()
    return rows


def hessian(rows):
    H = ClassHessian(rows.X, len(rows.P), False, Pool(1))(rows.P * (rows.caps / rows.epsilon))
    return H + rows.raised * np.diag(np.tile(rows.ridge, len(rows.P)))


def test_products_are_those_with_the_matrix_of_second_derivatives():
    rows = rows_at(*classes())
    Q = np.random.default_rng(2).standard_normal(rows.W.shape)
    H = hessian(rows)
    assert rows.product(Q).ravel() == pytest.approx(H @ Q.ravel(), rel=1e-4, abs=1e-3)
    ridge = rows.raised * np.tile(rows.ridge, 4)
    assert rows.squares().ravel() == pytest.approx(H.diagonal() - ridge, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("tile", [512, 5])
def test_a_factor_of_all_that_counts_is_the_inverse(monkeypatch, tile):
    monkeypatch.setattr(joint_factor, "TILE", tile)
    monkeypatch.setattr(joint_factor, "BUDGET", 1e9)
    X, y = classes()
    X[:, 2] = 0.0  # a column that says nothing keeps its ridge
    rows = rows_at(X, y)
    inverse = rows.factor()
    G = np.random.default_rng(2).standard_normal(rows.W.shape)
    G -= G.mean(axis=0)
    assert inverse.whole
    back = hessian(rows) @ inverse(G).ravel()
    assert back == pytest.approx(G.ravel(), rel=1e-3, abs=1e-3)


def test_a_factor_of_some_rows_and_classes_is_near_it(monkeypatch):
    monkeypatch.setattr(joint_factor, "BUDGET", 1.5)
    monkeypatch.setattr(joint_factor, "FEW", 0)
    rows = rows_at(*classes(3000))
    inverse = rows.factor()
    assert not inverse.whole
    assert inverse.pairs < 1000
    G = rows.gradient - rows.gradient.mean(axis=0)
    step = inverse(G)
    exact = np.linalg.solve(hessian(rows), G.ravel())
    assert 0.2 < np.vdot(G, step) / (G.ravel() @ exact) < 5.0


def test_rows_that_are_all_certain_leave_the_ridge():
    X, one = np.ones((2, 3)), np.ones(3)
    nothing = np.zeros((2, 3))
    inverse = JointFactor(X, np.eye(2), np.ones(2), np.zeros(0, int), 2.0 * one, nothing, Pool(1))
    assert inverse(np.array([one, -one])).tolist() == [[0.5] * 3, [-0.5] * 3]


def test_a_tile_that_rounding_made_indefinite_is_factored_with_a_little_more():
    A = np.ones((3, 3))
    A[1, 1] -= 1e-12
    L = np.tril(factored(A.copy(), Pool(1)))
    assert np.allclose(L @ L.T, A, atol=1e-6)


@pytest.mark.parametrize("scale", [0.1, 1.0, 100.0, 1e4])
def test_it_ends_at_the_optimum_whatever_the_scale(scale):
    X, y = classes(scale=scale)
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    got = drive(solver(X, y, weights), Goal(1e-6))
    other = JointInteriorPoint(X, y, weights, n_classes=4, fit_intercept=False)
    assert got.status is Status.converged
    assert got.primal == pytest.approx(drive(other, Goal(1e-8)).primal, rel=2e-6)
    assert not got.alpha[weights == 0.0].any()


def test_few_rows_and_classes_in_factors_and_float32_rows_lead_there_too(monkeypatch):
    X, y = classes(2000, scale=50.0)
    best = drive(solver(X, y), Goal(1e-6))
    monkeypatch.setattr(joint_factor, "BUDGET", 1.0)
    monkeypatch.setattr(joint_factor, "FEW", 0)
    got = drive(solver(X.astype(np.float32), y), Goal(1e-4))
    assert got.status is Status.converged
    assert got.primal == pytest.approx(best.primal, rel=2e-4)


def test_threads_change_no_byte(monkeypatch):
    monkeypatch.setattr(softened_cg, "PART", 128)
    monkeypatch.setattr(joint_factor, "TILE", 7)
    X, y = classes(1500, scale=30.0)
    one, two = (drive(solver(X.astype(np.float32), y, n_jobs=jobs), Goal(1e-4)) for jobs in (1, 2))
    assert one.status is Status.converged
    assert one.w.tobytes() == two.w.tobytes()


def test_it_goes_on_from_its_state_as_if_it_had_never_stopped():
    X, y = classes(scale=100.0)
    first = solver(X, y)
    seen = []
    with first.pool:
        for candidate in first.candidates():
            seen.append((candidate, first.state()))
            if len(seen) > 12:
                break
        again = solver(X, y)
        again.restore(seen[6][1])
        ahead = again.candidates()
        for candidate, _ in seen[6:]:
            assert next(ahead) == candidate


def test_multipliers_of_a_neighbouring_problem_shorten_the_way():
    X, y = classes(scale=20.0)
    cold = drive(solver(X, y), Goal(1e-5))
    warm = drive(solver(X, y, C=1.1, start=(1.1 * cold.alpha, np.zeros(4))), Goal(1e-4))
    assert warm.status is Status.converged
    assert warm.n_iter < cold.n_iter


def test_it_is_chosen_where_the_penalty_is_weak(monkeypatch):
    monkeypatch.setattr(choose, "WRITTEN", 100)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 200)), np.arange(3000) % 3

    def first(X, **more):
        got = choose.joint_solver(
            X, y, None, 1.0, n_classes=3, max_iter=10, **{"fit_intercept": False, **more}
        )
        return type(got._first) if isinstance(got, Handover) else type(got)

    assert first(X) is AugmentedLagrangian
    assert first(100.0 * X) is SoftenedNewtonCG
    assert first(100.0 * X, fit_intercept=True) is AugmentedLagrangian


def test_it_ends_where_classes_can_be_set_apart(monkeypatch):
    X, y = classes(scale=0.01)
    X[np.arange(len(y)), y] += 3000.0
    got = solver(X, y)
    with got.pool:
        last = list(got.candidates())[-1]
    assert last.primal < softened_cg.APART * len(y)
    assert got.n_iter < softened_cg.STEPS
    monkeypatch.setattr(softened_cg, "STEPS", 3)
    X, y = classes(scale=100.0)
    few = solver(X, y)
    with few.pool:
        assert len(list(few.candidates())) == 4


def test_what_it_leaves_is_handed_over(monkeypatch):
    monkeypatch.setattr(choose, "WRITTEN", 100)
    monkeypatch.setattr(choose, "WIDE", 2)
    monkeypatch.setattr(choose, "followed", lambda *given: True)
    monkeypatch.setattr(softened_cg, "STEPS", 3)
    X, y = classes(scale=0.3)
    given = {"n_classes": 4, "fit_intercept": False, "max_iter": 1000}
    got = drive(choose.joint_solver(X, y, None, 1.0, **given), Goal(1e-4))
    assert got.status is Status.converged
    assert got.solver == "newton-cg"
    assert got.n_iter > 3
