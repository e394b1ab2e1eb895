"""Newton's method by conjugate gradients: the optimum, its bound, and the same bytes."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from linsep.status import Status
from linsep.train.convex.drive import Goal, drive, solve
from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge
from linsep.train.convex.parts import preconditioner
from linsep.train.convex.problem import Problem
from linsep.train.convex.solvers.newton_cg import NewtonCG

LOSSES = {"logistic": Logistic(), "squared_hinge": SquaredHinge(), "hinge": Hinge()}


def rows(n=600, d=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(1.0, 0.05, d)
    y = np.where(X @ rng.normal(size=d) + 0.5 * rng.normal(size=n) > 0.2, 1, -1)
    return X, y


def problem(X, y, weights=None, C=1.0, loss="logistic", free=True):
    return Problem.of(X, y, weights, C, LOSSES[loss], free)


def objective(loss, X, y, U, w, b):
    z = y * (X @ w + b)
    each = {
        "logistic": np.logaddexp(0.0, -z),
        "squared_hinge": np.maximum(0.0, 1.0 - z) ** 2,
        "hinge": np.maximum(0.0, 1.0 - z),
    }[loss]
    return 0.5 * w @ w + U @ each


def bound(loss, X, y, U, alpha):
    """The dual at α, counted from the data."""
    v = (alpha * y) @ X
    a = np.clip(alpha / U, 0.0, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nan_to_num(a * np.log(a)) - np.nan_to_num((1 - a) * np.log1p(-a))
    each = {"logistic": entropy, "squared_hinge": a - 0.25 * a * a, "hinge": a}[loss]
    return U @ each - 0.5 * v @ v


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_bounds_are_those_of_the_data(loss, free, form):
    X, y = rows()
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    solution = solve(NewtonCG, problem(form(X), y, weights, 0.7, loss, free), tol=1e-6)
    U = 0.7 * weights
    assert solution.status is Status.converged
    assert solution.primal == pytest.approx(objective(loss, X, y, U, solution.w, solution.b))
    proved = bound(loss, X, y, U, solution.alpha)  # E(rα) ≥ rE(α) with a share r of either class
    assert solution.dual <= proved * (1 + 1e-9) and proved <= solution.primal * (1 + 1e-9)
    assert 0.0 <= solution.gap <= 1e-6 * solution.primal
    assert np.all(solution.alpha >= 0.0)
    if loss != "squared_hinge":
        assert np.all(solution.alpha <= U * (1 + 1e-12))
    if free:
        assert abs(solution.alpha @ y) <= 1e-9 * solution.alpha.sum()
    else:
        assert solution.b == 0.0


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_the_optimum_is_that_of_another_method(loss):
    X, y = rows(300, 10)
    U = np.ones(len(y))
    other = scipy.optimize.minimize(
        lambda u: objective(loss, X, y, U, u[:-1], u[-1]), np.zeros(11), tol=1e-12
    )
    solution = solve(NewtonCG, problem(X, y, loss=loss), tol=1e-10)
    assert solution.primal <= other.fun * (1 + 1e-9)
    assert np.append(solution.w, solution.b) == pytest.approx(other.x, abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_do_not_change_a_byte(loss):
    X, y = rows(3000, 30)
    one, two = (solve(NewtonCG, problem(X, y, loss=loss), n_jobs=n) for n in (1, 2))
    assert one.w.tobytes() == two.w.tobytes() and one.b == two.b
    assert one.alpha.tobytes() == two.alpha.tobytes()


@pytest.mark.parametrize("loss", LOSSES)
def test_both_preconditioners_lead_to_the_same_optimum(loss, monkeypatch):
    X, y = rows(4000, 60)
    sampled = solve(NewtonCG, problem(X, y, loss=loss), tol=1e-6)
    monkeypatch.setattr(preconditioner, "WIDEST", 0)  # the diagonal alone
    plain = solve(NewtonCG, problem(X, y, loss=loss), tol=1e-6)
    assert plain.primal == pytest.approx(sampled.primal, rel=2e-6)


def test_a_feature_that_a_sample_misses_is_fitted():
    X, y = rows(20_000, 8)
    X[:, 3] = 0.0
    X[[5, 11, 17], 3] = 50.0
    y[[5, 11, 17]] = 1
    solution = solve(NewtonCG, problem(X, y), tol=1e-6)
    assert solution.status is Status.converged and solution.n_iter < 20


def test_columns_far_apart_in_scale_and_place():
    X, y = rows(2000, 20)
    scale, place = np.geomspace(1e-9, 1e9, 20), np.linspace(-1.0, 1.0, 20)
    far = X * scale + 1000.0 * place * scale
    solution = solve(NewtonCG, problem(far, y))
    assert solution.status is Status.converged


def test_a_start_at_the_optimum_is_where_it_ends():
    X, y = rows()
    first = solve(NewtonCG, problem(X, y), tol=1e-9)
    again = solve(NewtonCG, problem(X, y), tol=1e-6, start=(first.w, first.b))
    assert again.n_iter == 1 and again.primal == pytest.approx(first.primal)


def test_an_interrupt_is_answered_with_the_best_so_far():
    X, y = rows()

    def stop(seen):
        if seen.n_iter == 2:
            raise KeyboardInterrupt

    solution = drive(NewtonCG(problem(X, y)), Goal(1e-12, 100, stop))
    assert solution.status is Status.interrupted and solution.n_iter == 2
    assert solution.primal < len(y) * np.log(2.0)


def test_a_row_without_weight_has_no_say():
    X, y = rows()
    weights = np.ones(len(y))
    weights[:100] = 0.0
    part = solve(NewtonCG, problem(X[100:], y[100:]), tol=1e-9)
    whole = solve(NewtonCG, problem(X, y, weights), tol=1e-9)
    assert whole.primal == pytest.approx(part.primal, rel=1e-8)
    assert not whole.alpha[:100].any()


def rare(n=3000, d=60, seed=0):
    """Pixels of 0 to 255, most of them zero in nearly all rows, and classes that nearly part."""
    rng = np.random.default_rng(seed)
    often = np.geomspace(0.5, 2e-3, d)
    X = np.where(rng.random((n, d)) < often, rng.integers(1, 256, (n, d)), 0).astype(np.float32)
    noise = 40.0 * rng.normal(size=n)
    return X, np.where(X @ rng.normal(size=d) + noise > 0.0, 1, -1)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("free", [True, False])
def test_rare_features_are_fitted_and_a_run_goes_on_with_the_same_bytes(loss, free):
    X, y = rare()
    given = problem(X, y, loss=loss, free=free)
    whole = solve(NewtonCG, given, tol=1e-6)
    assert whole.status is Status.converged and whole.n_iter < 120
    for steps in range(2, whole.n_iter, 9):
        first, again = NewtonCG(given), NewtonCG(given)
        drive(first, Goal(1e-6, steps))
        again.restore(first.state())
        after = drive(again, Goal(1e-6, 10_000))
        assert after.w.tobytes() == whole.w.tobytes() and after.n_iter == whole.n_iter
