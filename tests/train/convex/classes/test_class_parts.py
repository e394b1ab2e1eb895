"""Several classes that share a loss: sums, Hessians, guesses at them and bounds are NumPy's."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.train.convex.classes.class_curvature import ClassCurvature, drawn
from linsep.train.convex.classes.class_hessian import ClassHessian
from linsep.train.convex.classes.class_sums import ClassProblem, ClassSums
from linsep.train.convex.classes.dense_classes import DenseClasses
from linsep.train.convex.classes.sparse_classes import SparseClasses

K = 3


def problem_of(n=60, d=4, form=np.asarray, free=True, C=2.0):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, d)) < 0.6, rng.normal(size=(n, d)), 0.0)
    codes = np.append(np.arange(K), rng.integers(0, K, n - K))
    weights = rng.uniform(0.5, 2.0, n)
    return ClassProblem.of(form(X), codes, weights, C, K, free), X


def shares(S):
    p = np.exp(S - S.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def value_of(problem, X, W, b):
    """F by its formula; all columns are those of the data."""
    S = X @ W.T + b
    loss = np.logaddexp.reduce(S, axis=1) - S[np.arange(len(X)), problem.codes]
    return float(problem.c @ loss + 0.5 * problem.ridge[0] * np.sum(W * W))


def least(problem, X):
    d = X.shape[1]

    def F(v):
        u = v.reshape(K, d + 1)
        return value_of(problem, X, u[:, :d], u[:, d] * problem.free)

    return scipy.optimize.minimize(F, np.zeros(K * (d + 1)), method="BFGS", tol=1e-9).fun


@pytest.mark.parametrize("free", [True, False])
def test_sums_are_those_of_the_formulas(free):
    problem, X = problem_of(free=free)
    sums, u = ClassSums(problem, Pool(1)), np.random.default_rng(1).normal(size=(K, 4 + free))
    wide = np.column_stack([X, np.ones(len(X))])[:, : 4 + free]
    p, seen = shares(wide @ u.T), sums.at(u)
    W, b = problem.outside(u)
    assert seen.loss + problem.half(u) == pytest.approx(value_of(problem, X, W, b))
    off = (p - np.eye(K)[problem.codes]) * problem.c[:, None]
    assert seen.slope == pytest.approx(off.T @ wide)
    doubts = p * (1.0 - p) * problem.c[:, None]
    assert seen.doubt == pytest.approx(doubts.sum(axis=0))
    tilts, squares = sums.tilts(u)
    assert tilts[:, :4] == pytest.approx(doubts.T @ X)
    assert squares == pytest.approx(doubts.sum(axis=1) @ X**2)
    S, rows = wide @ u.T, np.arange(len(X))
    apart = S[rows, problem.codes][:, None] - S
    apart[rows, problem.codes] = np.inf
    assert sums.margins(u)[0] == pytest.approx(apart.min())


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("some", [None, np.arange(0, 700, 3)])
def test_the_hessian_is_the_sum_of_its_rows(free, some):
    rng = np.random.default_rng(0)
    X, d = rng.normal(size=(700, 3)), rng.random((K, 700))
    H = ClassHessian(X, K, free, Pool(1))(d, some)
    wide, wanted = np.column_stack([X, np.ones(700)])[:, : 3 + free], 0.0
    for i in range(700) if some is None else some:
        bend = np.diag(d[:, i]) - np.outer(d[:, i], d[:, i]) / d[:, i].sum()
        wanted = wanted + np.kron(bend, np.outer(wide[i], wide[i]))
    assert pytest.approx(wanted) == H


@pytest.mark.parametrize("free", [True, False])
def test_a_curvature_of_all_rows_is_the_inverse_of_each_class(free):
    problem, X = problem_of(free=free)
    rng = np.random.default_rng(1)
    u, G = rng.normal(size=(K, 4 + free)), rng.normal(size=(K, 4))
    with Pool(1) as pool:
        guess = ClassCurvature(problem, ClassSums(problem, pool), u, True, pool)
        steps = guess(G)
    p = shares(X @ u[:, :4].T + (u[:, 4] if free else 0.0))
    for k in range(K):
        q = problem.c * p[:, k] * (1.0 - p[:, k])
        m = q @ X / q.sum() if free else np.zeros(4)
        assert guess.centres[k] == pytest.approx(m)
        H = np.diag(problem.ridge[:4]) + ((X - m).T * q) @ (X - m)
        assert steps[k] == pytest.approx(np.linalg.solve(H, G[k]), rel=1e-3)


def test_drawn_rows_stand_for_all_weights():
    weights = np.random.default_rng(0).random(1000) ** 2
    rows, counts = drawn(weights, 200)
    assert len(rows) == pytest.approx(200, abs=2)
    assert weights[rows] @ counts == pytest.approx(weights.sum(), rel=0.02)


@pytest.mark.parametrize("free", [True, False])
def test_dense_classes_know_the_slope_and_bound_what_is_left(free):
    problem, X = problem_of(free=free)
    with Pool(1) as pool:
        dense = DenseClasses(problem, pool, np.float64)
        p = dense.point(0.1 * np.random.default_rng(2).normal(size=(K, 4 + free)))
        step, dense_of = 1e-6 * np.random.default_rng(3).normal(size=p.u.shape), dense.point
        rise = dense_of(p.u + step).value - dense_of(p.u - step).value
        assert rise == pytest.approx(2.0 * dense.dot(p.gradient, step), rel=1e-5)
        left = p.value - least(problem, X)
        assert 0.0 < left <= dense.proved(p)
        dense.guess(p.u, 0)
        down = -dense.inverse(p, p.gradient)
        better = dense.search(p, down, dense.dot(p.gradient, down), True)
        assert better is not None and better.value < p.value - 0.5 * left
        assert dense.answer(better)[2] == better.value


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("d", [4, 150])
def test_sparse_classes_keep_scores_that_bound_what_is_left(free, d):
    problem, X = problem_of(d=d, form=sp.csr_array, free=free, C=0.05)
    with Pool(1) as pool:
        sparse = SparseClasses(problem, pool)
        assert sparse.rows == (d == 150)
        p = sparse.begin(None, None)
        down = -sparse.inverse(p, p.gradient)
        slope = sparse.dot(p.gradient, down)
        better = sparse.search(p, down, slope, True)
        assert better is not None and better.value < p.value
        W, b, value, gap, _ = sparse.answer(better)
    assert value == pytest.approx(value_of(problem, X, W, b))
    off = (shares(X @ W.T + b) - np.eye(K)[problem.codes]) * problem.c[:, None]
    if free:
        np.testing.assert_allclose(off.sum(axis=0), 0.0, atol=1e-12)
    left = problem.ridge[0] * W + off.T @ X
    assert gap == pytest.approx(0.5 * np.sum(left**2) / problem.ridge[0])
    assert sparse.bound(better) == pytest.approx(gap, rel=1e-4)
    if d == 4:
        assert 0.0 <= value - least(problem, X) <= gap
