"""The support vector machine by looks at all rows: bounds, multipliers, and the same bytes."""

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep import LinearSVC
from linsep.status import Status
from linsep.train.convex.drive import solve
from linsep.train.convex.losses import Hinge, SquaredHinge
from linsep.train.convex.problem import Problem
from linsep.train.convex.solvers.interior_point import InteriorPoint
from linsep.train.convex.solvers.newton import Newton

LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}


def newton(X, y, weights=None, C=1.0, *, loss="hinge", fit_intercept=True, n_jobs=None, start=None):
    return Newton(Problem.of(X, y, weights, C, LOSSES[loss], fit_intercept), n_jobs, start)


def noisy(n=3000, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * [1.0, 5.0, 0.1, 1.0][:d] + 0.5
    y = np.where(X[:, 0] + X[:, 3] + rng.standard_normal(n) > 1, 1, -1).astype(np.int8)
    return X, y


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_the_optimum_lies_between_the_bounds(loss, free, C):
    X, y = noisy()
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    settings = {"loss": loss, "fit_intercept": free}
    exact = solve(InteriorPoint, X, y, weights, C, tol=1e-10, **settings)
    found = solve(newton, X, y, weights, C, tol=1e-6, **settings)
    assert found.status is Status.converged
    assert found.gap <= 1e-6 * found.primal
    slack = 1e-9 * exact.primal
    assert found.dual <= exact.primal + slack
    assert found.primal >= exact.dual - slack
    assert found.primal <= exact.primal * (1 + 1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_multipliers_are_feasible_and_give_the_bound(loss):
    X, y = noisy()
    found = solve(newton, X, y, C=0.7, loss=loss, tol=1e-5)
    alpha = found.alpha
    assert (alpha >= 0).all()
    assert abs(alpha @ y) <= 1e-10 * alpha.sum()
    w = (alpha * y) @ X
    dual = alpha.sum() - 0.5 * w @ w
    if loss == "hinge":
        assert (alpha <= 0.7).all()
    else:
        dual -= (alpha**2).sum() / (4 * 0.7)
    assert found.dual <= dual * (1 + 1e-9) <= found.primal * (1 + 2e-9)


def test_primal_is_that_of_the_weights():
    X, y = noisy()
    found = solve(newton, X, y, C=0.7)
    lost = np.maximum(0, 1 - y * (X @ found.w + found.b))
    assert 0.5 * found.w @ found.w + 0.7 * lost.sum() == pytest.approx(found.primal, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_change_no_byte(loss):
    X, y = noisy(n=40_000)
    one, two = (solve(newton, X, y, loss=loss, n_jobs=k) for k in (1, 2))
    assert one.w.tobytes() == two.w.tobytes()
    assert one.b == two.b
    assert one.alpha.tobytes() == two.alpha.tobytes()


def test_sparse_rows_give_the_same_optimum():
    X, y = noisy()
    X[np.abs(X) < 0.4] = 0.0
    dense, sparse = (
        solve(newton, X, y, tol=1e-8),
        solve(newton, sp.csr_array(X), y, tol=1e-8),
    )
    assert sparse.status is Status.converged
    assert sparse.primal == pytest.approx(dense.primal, rel=1e-7)


@pytest.mark.parametrize("scale", [1e-6, 1e9])
def test_units_do_not_matter_to_the_proof(scale):
    X, y = noisy()
    found = solve(newton, X * [1.0, scale, 1.0, 1.0] + [0, 1e9 * scale, 0, 0], y)
    assert found.status is Status.converged


def test_a_listener_stops_it():
    X, y = noisy()
    assert solve(newton, X, y, tol=1e-9, listener=lambda seen: True).status is Status.stopped


def test_a_start_at_the_optimum_takes_one_look_less_than_none():
    X, y = noisy()
    cold = solve(newton, X, y, loss="squared_hinge", tol=1e-9)
    warm = solve(newton, X, y, loss="squared_hinge", tol=1e-9, start=(cold.w, cold.b))
    assert warm.n_iter == 1


def test_many_rows_of_a_file_and_of_an_array_give_the_same_machine(tmp_path):
    X, y = noisy(n=2048, d=4)
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    array = LinearSVC().fit(X, y)
    file = LinearSVC().fit(linsep.read(tmp_path / "rows.npz", memory=1 << 16))
    for name in ("coef_", "intercept_", "support_", "dual_coef_"):
        assert getattr(array, name).tobytes() == getattr(file, name).tobytes()
    assert array.gap_ == file.gap_ <= 1e-4
    assert isinstance(file.support_.base, np.memmap)  # as many as rows, and not in memory


@pytest.mark.parametrize("loss", LOSSES)
def test_several_classes_each_have_their_bound(loss):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((2048, 3))
    y = np.argmax(X + rng.standard_normal(X.shape), axis=1)
    learner = LinearSVC(loss=loss).fit(X, y)
    assert linsep.gap(learner, X, y).relative <= 1e-4
    assert learner.dual_coef_.shape == (3, len(learner.support_))


def long_tailed(n, d, seed):
    """Rows of a few kinds, each alike, in columns of one scale with entries far out."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 40, n)
    kinds = np.where(rng.random((40, d)) < 0.3, rng.lognormal(0, 2.5, (40, d)), 0.0)
    X = kinds[kind] * (1 + 0.01 * rng.standard_normal((n, d)))
    X += np.where(rng.random((n, d)) < 0.002, rng.lognormal(3, 2.5, (n, d)), 0.0)
    own = (np.tanh(kinds) @ rng.standard_normal(d) > 0)[kind] ^ (rng.random(n) < 0.002)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(own, 1, -1).astype(np.int8)


@pytest.mark.parametrize("free", [True, False])
def test_long_tails_are_no_hindrance(free):
    """Far rows cross the corner in every step, so that many are needed, but they end."""
    X, y = long_tailed(70_000, 30, 0)
    learner = LinearSVC(fit_intercept=free).fit(X, y)
    assert learner.status_ is Status.converged and learner.gap_ <= 1e-4


def test_rows_that_can_be_parted_need_few_looks():
    rng = np.random.default_rng(0)
    X = np.tile(rng.standard_normal((2000, 10)), (40, 1))
    signs = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    found = solve(newton, X, signs, C=10.0, max_iter=1000)
    assert found.status is Status.converged
    assert found.n_iter < 60
