"""The interior point method for support vector machines: right where descent crawls."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.errors import OverflowedError, ParameterError
from linsep.status import Status
from linsep.train.convex.drive import solve
from linsep.train.convex.losses import Hinge, SquaredHinge
from linsep.train.convex.solvers import dual_descent
from linsep.train.convex.solvers import interior_point as interior
from linsep.train.convex.solvers.interior_point import InteriorPoint, Rows

LOSSES = ("hinge", "squared_hinge")


def DualDescent(X, y, C, loss, fit_intercept, **settings):
    loss = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}[loss]
    problem = dual_descent.posed(X, y, None, C, loss, fit_intercept)
    return dual_descent.DualDescent(problem, **settings)


def primal(X, y, w, b, C, loss, weights=1.0):
    lost = np.maximum(0.0, 1.0 - y * (X @ w + b))
    return 0.5 * w @ w + C * float(np.sum(weights * (lost if loss == "hinge" else lost**2)))


def overlapping(n=80, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, y


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [(80, 4), (12, 40)])
def test_it_agrees_with_descent_on_the_dual(loss, fit_intercept, shape):
    X, y = overlapping(*shape, seed=1)
    settings = {"C": 0.5, "loss": loss, "fit_intercept": fit_intercept, "tol": 1e-10}
    ours = solve(InteriorPoint, X, y, **settings)
    theirs = solve(DualDescent, X, y, max_iter=100_000, **settings)
    assert ours.status is theirs.status is Status.converged
    assert ours.primal == pytest.approx(theirs.primal, rel=1e-9)
    np.testing.assert_allclose(ours.w, theirs.w, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_bounds_it_reports_are_those_of_its_weights_and_multipliers(loss, fit_intercept):
    X, y = overlapping(seed=2)
    found = solve(InteriorPoint, X, y, C=3.0, loss=loss, fit_intercept=fit_intercept, tol=1e-9)
    assert found.primal == pytest.approx(primal(X, y, found.w, found.b, 3.0, loss), rel=1e-11)
    w = X.T @ (y * found.alpha)
    credit = found.alpha.sum()
    if loss == "squared_hinge":
        credit -= float(found.alpha @ found.alpha) / 12.0
    else:
        assert found.alpha.max() <= 3.0
    assert found.dual == pytest.approx(credit - 0.5 * float(w @ w), rel=1e-10)
    assert found.alpha.min() >= 0.0
    if fit_intercept:
        assert abs(y @ found.alpha) <= 1e-12 * found.alpha.sum()


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6, 1e9])
@pytest.mark.parametrize("loss", LOSSES)
def test_no_penalty_is_too_weak_or_too_strong(C, loss):
    X, y = overlapping(seed=3)
    found = solve(InteriorPoint, X, y, C=C, loss=loss, tol=1e-6)
    assert found.status is Status.converged
    assert found.n_iter < 60


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_features_of_very_different_scales_do_not_matter(loss, fit_intercept):
    X, y = overlapping(d=3, seed=4)
    found = solve(
        InteriorPoint,
        X * np.array([1e-6, 1.0, 1e6]),
        y,
        loss=loss,
        fit_intercept=fit_intercept,
        tol=1e-6,
    )
    assert found.status is Status.converged


@pytest.mark.parametrize("loss", LOSSES)
def test_scaling_rows_by_a_power_of_two_and_the_penalty_by_its_square_changes_no_score(loss):
    X, y = overlapping(seed=5)
    here = solve(InteriorPoint, X, y, C=1.0, loss=loss, tol=1e-10)
    there = solve(InteriorPoint, 2.0**20 * X, y, C=2.0**-40, loss=loss, tol=1e-10)
    np.testing.assert_allclose(here.w, 2.0**20 * there.w, rtol=1e-12)
    assert here.b == pytest.approx(there.b, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_free_intercept_absorbs_any_shift_of_the_features(loss):
    X, y = overlapping(seed=6)
    here = solve(InteriorPoint, X, y, loss=loss, tol=1e-9)
    far = solve(InteriorPoint, X + 1e5, y, loss=loss, tol=1e-9)
    assert here.primal == pytest.approx(far.primal, rel=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_an_outlier_costs_no_digits_of_the_others(loss):
    X, y = overlapping(seed=7)
    X[0, 0] = 1e9
    assert solve(InteriorPoint, X, y, loss=loss, tol=1e-6).status is Status.converged


@pytest.mark.parametrize("loss", LOSSES)
def test_a_row_of_weight_k_counts_as_k_copies(loss):
    X, y = overlapping(n=40, seed=8)
    times = np.random.default_rng(0).integers(0, 4, 40)
    weighted = solve(InteriorPoint, X, y, times.astype(float), loss=loss, tol=1e-10)
    copied = solve(
        InteriorPoint, np.repeat(X, times, axis=0), np.repeat(y, times), loss=loss, tol=1e-10
    )
    assert weighted.primal == pytest.approx(copied.primal, rel=1e-9)
    assert np.all(weighted.alpha[times == 0] == 0.0)


@pytest.mark.parametrize("shape", [(60, 5), (10, 30), (6000, 3)])
def test_dense_and_sparse_rows_lead_to_the_same_weights(shape):
    X, y = overlapping(*shape, seed=9)
    X[np.abs(X) < 0.8] = 0.0
    dense = solve(InteriorPoint, X, y, tol=1e-8)
    sparse = solve(InteriorPoint, sp.csr_array(X), y, tol=1e-8)
    np.testing.assert_allclose(dense.w, sparse.w, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_zero_rows_leave_the_intercept_to_the_majority(loss):
    y = np.where(np.arange(40) < 5, 1.0, -1.0)
    found = solve(InteriorPoint, np.zeros((40, 2)), y, loss=loss, tol=1e-6)
    assert found.status is Status.converged
    assert found.b < 0.0
    np.testing.assert_allclose(found.w, 0.0, atol=1e-12)


@pytest.mark.parametrize("scale", [1e100, 1e150])
@pytest.mark.parametrize("loss", LOSSES)
def test_huge_rows_end_with_a_finite_answer_and_an_honest_gap(scale, loss):
    X, y = overlapping(n=60, d=3)
    found = solve(InteriorPoint, scale * X, y, loss=loss)
    assert np.isfinite(found.w).all()
    assert np.isfinite(found.b)
    assert found.status in (Status.converged, Status.budget)
    value = primal(scale * X, y, found.w, found.b, 1.0, loss)
    assert found.primal == pytest.approx(value, rel=1e-6)
    assert found.dual <= value


def test_rows_that_overflow_are_refused():
    X, y = overlapping()
    X[3], X[4] = 1e308, -1e308
    X[::2] = 1.7e308
    with pytest.raises(OverflowedError, match="largest entry"):
        solve(InteriorPoint, X, y)


@pytest.mark.parametrize("wrong", [{"C": 0.0}, {"C": np.inf}, {"loss": "logistic"}])
def test_parameters_it_cannot_honour_are_refused(wrong):
    X, y = overlapping()
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        solve(InteriorPoint, X, y, **wrong)


def test_a_listener_can_stop_the_run_and_an_interrupt_keeps_the_best():
    X, y = overlapping()
    assert solve(InteriorPoint, X, y, listener=lambda check: True).status is Status.stopped

    def interrupt(check):
        raise KeyboardInterrupt

    found = solve(InteriorPoint, X, y, listener=interrupt)
    assert found.status is Status.interrupted
    assert found.primal <= 80.0


def test_it_suits_rows_with_one_small_side():
    assert interior.suits(np.zeros((10_000, 20)))
    assert interior.suits(sp.csr_array((20, 10_000)))
    assert not interior.suits(sp.csr_array((5000, 5000)))
    assert not interior.suits(sp.csr_array((1000, 1_000_000)))  # too much to write out


@pytest.mark.parametrize("shape", [(30, 4), (6, 20)])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_weights_come_back_with_the_same_scores(shape, layout):
    rng = np.random.default_rng(0)
    X = 1e6 * (rng.standard_normal(shape) + 3.0)
    rows = Rows(layout(X), centred=True)
    v, b = rng.standard_normal(rows.width), 0.7
    w, c = rows.outside(v, b)
    assert X @ w + c == pytest.approx(rows.scores(v) + b)


def test_products_are_those_of_the_rows():
    rng = np.random.default_rng(1)
    rows = Rows(rng.standard_normal((30, 4)), centred=False)
    ((_, Z),) = rows.blocks()
    theta = rng.random(30) * (rng.random(30) < 0.3)
    one = np.column_stack([Z, np.ones(30)])
    assert np.allclose(rows.gram(theta), one.T @ (theta[:, None] * one))
    assert np.allclose(rows.total(theta), Z.T @ theta)
