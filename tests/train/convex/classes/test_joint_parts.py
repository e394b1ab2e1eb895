"""Crammer and Singer's machine in parts: feasible multipliers, faces and the smoothed loss."""

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.train.convex.classes import joint_face
from linsep.train.convex.classes.joint_face import Face, projected
from linsep.train.convex.classes.joint_problem import JointProblem, even
from linsep.train.convex.classes.smoothed_rows import SmoothedRows

N, D, K = 40, 3, 4


def problem_of(weights=None):
    rng = np.random.default_rng(0)
    codes = np.append(np.arange(K), rng.integers(0, K, N - K))
    return JointProblem.of(rng.normal(size=(N, D)), codes, weights, 2.0, K, True)


def onto_simplex(v):
    """The nearest p ≥ 0 that adds up to one, by halving the number that is taken from all."""
    low, high = v.min() - 1.0, v.max()
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.maximum(v - middle, 0).sum() > 1.0 else (low, middle)
    return np.maximum(v - low, 0.0)


def test_what_leaves_a_row_is_feasible_and_goes_back_to_where_it_was():
    weights = np.arange(N) % 3.0
    problem = problem_of(weights)
    assert np.array_equal(problem.caps, 2.0 * weights)
    some = problem.used
    assert np.array_equal(some.X, problem.X[weights > 0]) and len(some.codes) == len(some.caps)
    leave = some.leaving(np.random.default_rng(1).normal(size=(len(some.codes), K)))
    A = some.moves(leave)
    np.testing.assert_allclose(A.sum(axis=1), 0.0, atol=1e-15)
    assert (A[some.own] <= some.caps * (1 + 1e-15)).all() and (leave >= 0.0).all()
    assert some.leaving(A) == pytest.approx(leave)
    whole = problem.spread(A)
    assert np.array_equal(whole[weights > 0], A) and not whole[weights == 0].any()


def test_moves_that_are_made_even_are_smaller_and_balance_each_class():
    problem = problem_of()
    A = problem.moves(np.random.default_rng(1).random((N, K)))
    balanced = even(A, problem.codes)
    np.testing.assert_allclose(balanced.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(balanced.sum(axis=1), 0.0, atol=1e-12)
    assert (np.abs(balanced) <= np.abs(A) + 1e-12).all() and (balanced * A >= 0.0).all()
    assert np.abs(balanced).sum() > 0.5 * np.abs(A).sum()


def face_of(rho=0.5):
    rng = np.random.default_rng(2)
    a = rng.random((N, K)) * (rng.random((N, K)) < 0.7)
    a[:, :2] += 0.1
    X = rng.normal(size=(N, D))
    return Face(X, a, rng.normal(size=a.shape), a.sum(axis=1), (X * X).sum(axis=1) + rho, rho)


def test_a_direction_within_a_face_solves_its_equations(monkeypatch):
    monkeypatch.setattr(joint_face, "PROGRESS", 0.0)
    monkeypatch.setattr(joint_face, "BEYOND", np.inf)
    face = face_of()
    # what D gains is a combination of the rows, so that the largest is finite
    V = np.random.default_rng(3).normal(size=(D, K))
    face = face._replace(s=face.within(face.Z @ V))
    delta, _ = face.direction(1e-9, 500)
    np.testing.assert_allclose(delta.sum(axis=1), 0.0, atol=1e-9)
    assert not delta[face.a == 0.0].any()
    bent = face.Z @ (face.Z.T @ delta) + face.rho * delta.sum(axis=0)
    np.testing.assert_allclose(face.within(face.s - bent), 0.0, atol=1e-8)


def test_a_step_stays_within_its_bounds_and_gains_what_it_says():
    face = face_of()
    delta, products = face.direction(1e-9, 20)
    a, gain, _ = face.step(delta)
    assert products > 0 and (a >= 0.0).all()
    assert a.sum(axis=1) == pytest.approx(face.caps)
    change = a - face.a
    bend = np.sum((face.Z.T @ change) ** 2) + face.rho * np.sum(change.sum(axis=0) ** 2)
    assert gain == pytest.approx(np.vdot(face.s, change) - 0.5 * bend) and gain > 0.0


def test_projections_are_the_nearest():
    a = np.random.default_rng(4).normal(size=(N, K))
    near = projected(a, np.ones(a.shape, bool), np.full(N, 2.0))
    assert near == pytest.approx(np.array([2.0 * onto_simplex(0.5 * row) for row in a]))


def test_smoothed_rows_are_those_of_the_formulas():
    problem, epsilon, rng = problem_of(), 0.7, np.random.default_rng(5)
    rows, W, step = SmoothedRows(problem, Pool(1), np.float64), *rng.normal(size=(2, K, D + 1))
    rows.centre[:] = rng.dirichlet(np.ones(K), N)
    rows.scores(W, rows.S)
    rows.scores(step, rows.dS)
    wide, one, U = np.column_stack([problem.X, np.ones(N)]), np.arange(N), problem.caps
    assert pytest.approx(wide @ W.T) == rows.S

    def at(W):
        S = wide @ W.T
        z = S - S[one, problem.codes][:, None] + 1.0
        z[one, problem.codes] = 0.0
        p = np.array([onto_simplex(v) for v in rows.centre + z / epsilon])
        moved = np.sum((p - rows.centre) ** 2, axis=1)
        return z, p, float(U @ ((p * z).sum(axis=1) - 0.5 * epsilon * moved))

    z, p, F = at(W)
    known = rows.evaluate(epsilon)
    assert pytest.approx(p, abs=1e-12) == rows.P
    A = U[:, None] * (np.eye(K)[problem.codes] - p)
    assert pytest.approx(A.T @ wide) == known.V
    assert known.charge == pytest.approx(U @ z.max(axis=1))
    assert known.away == pytest.approx(A[one, problem.codes].sum())
    assert pytest.approx(known.mean - 0.5 * epsilon * known.moved) == F
    value, slope = rows.along(epsilon, 0.0)
    assert value == pytest.approx(F) and slope == pytest.approx(-np.vdot(known.V, step))
    t = 1e-6
    assert (at(W + t * step)[2] - at(W - t * step)[2]) / (2 * t) == pytest.approx(slope, rel=1e-5)

    HQ, mine = np.zeros((K, D + 1)), np.zeros((K, D + 1, D + 1))
    for i in range(N):
        on = np.flatnonzero(rows.P[i] > 0.0)
        M = np.zeros((K, K))
        M[np.ix_(on, on)] = np.eye(len(on)) - 1.0 / len(on)
        HQ += U[i] / epsilon * np.outer(M @ step @ wide[i], wide[i])
        mine += U[i] / epsilon * M.diagonal()[:, None, None] * np.outer(wide[i], wide[i])
    assert rows.curve(step) == pytest.approx(HQ)
    ridge = np.full(D + 1, 0.3)
    whole = np.linalg.inv(mine.mean(axis=0) + np.diag(ridge))
    assert rows.inverse(ridge)(step) == pytest.approx(step @ whole)
