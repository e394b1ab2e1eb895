"""Coordinate descent on the dual: two-class support vector machines and logistic regression."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from linsep.errors import OverflowedError, ParameterError
from linsep.status import Status
from linsep.train.convex.drive import Goal, drive, solve
from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge
from linsep.train.convex.solvers import dual_descent

LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge(), "logistic": Logistic()}


def DualDescent(X, y, weights=None, C=1.0, loss="hinge", fit_intercept=True, **settings):
    problem = dual_descent.posed(X, y, weights, C, LOSSES[loss], fit_intercept)
    return dual_descent.DualDescent(problem, **settings)


def primal(X, y, w, b, C, loss, weights=1.0):
    z = y * (X @ w + b)
    charge = {
        "hinge": np.maximum(0.0, 1.0 - z),
        "squared_hinge": np.maximum(0.0, 1.0 - z) ** 2,
        "logistic": np.logaddexp(0.0, -z),
    }[loss]
    return 0.5 * w @ w + C * float(np.sum(weights * charge))


def dual(X, y, alpha, C, loss, weights=1.0):
    w = X.T @ (y * alpha)
    U = C * weights * np.ones(len(y))
    if loss == "hinge":
        credit = alpha.sum()
    elif loss == "squared_hinge":
        credit = alpha.sum() - np.sum(alpha[U > 0] ** 2 / (4 * U[U > 0]))
    else:
        p = np.clip(alpha[U > 0] / U[U > 0], 1e-300, 1 - 1e-16)
        credit = -np.sum(U[U > 0] * (p * np.log(p) + (1 - p) * np.log1p(-p)))
    return credit - 0.5 * float(w @ w)


def overlapping(n=80, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, y


def text_like(n=4000, d=3000, per_row=75, seed=0):
    """Sparse rows of unit length with a few crowded features, large enough for lanes."""
    rng = np.random.default_rng(seed)
    columns = (d * rng.random((n, per_row)) ** 4).astype(np.int32)
    values = rng.random((n, per_row)) + 0.1
    X = sp.csr_array((values.ravel(), columns.ravel(), np.arange(0, n * per_row + 1, per_row)))
    X.resize((n, d))
    X.sum_duplicates()
    X = sp.csr_array(sp.diags_array(1.0 / np.sqrt((X * X).sum(axis=1))) @ X)
    u = rng.standard_normal(d)
    score = X @ u
    y = np.where(score + 0.5 * score.std() * rng.standard_normal(n) > np.median(score), 1.0, -1.0)
    X.indices = X.indices.astype(np.int32)
    return X, y


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_bounds_it_reports_are_those_of_its_weights_and_multipliers(loss, fit_intercept):
    X, y = overlapping()
    found = solve(DualDescent, X, y, C=0.7, loss=loss, fit_intercept=fit_intercept, tol=1e-8)
    assert found.status is Status.converged
    assert found.primal == pytest.approx(primal(X, y, found.w, found.b, 0.7, loss), rel=1e-12)
    assert found.dual == pytest.approx(dual(X, y, found.alpha, 0.7, loss), rel=1e-11)
    assert found.gap == pytest.approx(found.primal - found.dual, abs=1e-12 * found.primal)
    assert 0.0 <= found.gap <= 1e-8 * found.primal
    if fit_intercept:
        assert abs(y @ found.alpha) < 1e-12 * found.alpha.sum()
    else:
        assert found.b == 0.0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_gap_is_never_smaller_than_the_distance_to_the_optimum(loss, tol, fit_intercept):
    X, y = overlapping(seed=3)
    best = solve(
        DualDescent, X, y, loss=loss, fit_intercept=fit_intercept, tol=1e-12, max_iter=100_000
    )
    checks = []
    solve(
        DualDescent, X, y, loss=loss, fit_intercept=fit_intercept, tol=tol, listener=checks.append
    )
    for check in checks:
        assert check.dual <= best.primal * (1 + 1e-11)
        rounding = 4 * np.finfo(float).eps * check.primal
        assert check.gap >= (check.primal - best.primal) * (1 - 1e-11) - rounding


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_hinge_agrees_with_libsvm(seed, C):
    X, y = overlapping(seed=seed)
    found = solve(DualDescent, X, y, C=C, loss="hinge", tol=1e-10, max_iter=100_000)
    theirs = SVC(kernel="linear", C=C, tol=1e-10).fit(X, y)
    value = primal(X, y, theirs.coef_[0], theirs.intercept_[0], C, "hinge")
    assert found.dual <= value
    assert found.primal <= value * (1 + 1e-9)
    np.testing.assert_allclose(found.w, theirs.coef_[0], atol=1e-3)


@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_logistic_agrees_with_scikit_learn(C):
    X, y = overlapping(seed=1)
    found = solve(DualDescent, X, y, C=C, loss="logistic", tol=1e-12, max_iter=100_000)
    theirs = LogisticRegression(C=C, tol=1e-12, max_iter=10_000, solver="newton-cg").fit(X, y)
    np.testing.assert_allclose(found.w, theirs.coef_[0], rtol=1e-5)
    assert found.b == pytest.approx(theirs.intercept_[0], rel=1e-5)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_squared_hinge_agrees_with_a_general_quadratic_solver(fit_intercept):
    X, y = overlapping(n=30, seed=2)
    found = solve(
        DualDescent, X, y, C=2.0, loss="squared_hinge", fit_intercept=fit_intercept, tol=1e-11
    )
    Q = (y[:, None] * X) @ (y[:, None] * X).T + np.eye(30) / 4.0
    balanced = [LinearConstraint(y[None], 0.0, 0.0)] if fit_intercept else []
    theirs = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        np.ones(30),
        jac=lambda a: Q @ a - 1.0,
        bounds=[(0.0, None)] * 30,
        constraints=balanced,
        method="SLSQP" if fit_intercept else "L-BFGS-B",
        options={"maxiter": 10_000, "ftol": 1e-14},
    )
    assert found.dual == pytest.approx(-theirs.fun, rel=1e-6)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_hinge_multipliers_obey_the_optimality_conditions(fit_intercept):
    X, y = overlapping(n=200, seed=5)
    found = solve(
        DualDescent,
        X,
        y,
        C=1.0,
        loss="hinge",
        fit_intercept=fit_intercept,
        tol=1e-11,
        max_iter=10**6,
    )
    z = y * (X @ found.w + found.b)
    assert np.all(z[found.alpha == 0.0] >= 1.0 - 1e-5)
    assert np.all(z[found.alpha == 1.0] <= 1.0 + 1e-5)
    inside = (found.alpha > 1e-7) & (found.alpha < 1.0 - 1e-7)
    np.testing.assert_allclose(z[inside], 1.0, atol=1e-5)
    np.testing.assert_allclose(found.w, X.T @ (y * found.alpha), atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_dense_and_sparse_rows_lead_to_the_same_weights(loss, fit_intercept):
    X, y = overlapping(seed=7)
    X[np.abs(X) < 0.8] = 0.0  # mostly empty: the sparse rows stay sparse
    S = sp.csr_array(X)
    S.indices = S.indices.astype(np.int32)
    settings = {"loss": loss, "fit_intercept": fit_intercept, "tol": 1e-12, "max_iter": 100_000}
    dense, sparse = solve(DualDescent, X, y, **settings), solve(DualDescent, S, y, **settings)
    np.testing.assert_allclose(dense.w, sparse.w, atol=2e-6)
    assert dense.primal == pytest.approx(sparse.primal, rel=1e-11)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_row_of_weight_k_counts_as_k_copies(loss):
    X, y = overlapping(n=40, seed=8)
    times = np.random.default_rng(0).integers(0, 4, 40)
    weighted = solve(DualDescent, X, y, times.astype(float), loss=loss, tol=1e-12, max_iter=100_000)
    copied = solve(DualDescent, np.repeat(X, times, axis=0), np.repeat(y, times), loss=loss,
                   tol=1e-12, max_iter=100_000)  # fmt: skip
    np.testing.assert_allclose(weighted.w, copied.w, atol=3e-6)
    assert weighted.primal == pytest.approx(copied.primal, rel=1e-11)
    assert np.all(weighted.alpha[times == 0] == 0.0)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_one_thread_and_two_give_the_same_bytes(loss, fit_intercept):
    X, y = text_like()
    runs = [
        solve(DualDescent, X, y, loss=loss, fit_intercept=fit_intercept, tol=1e-5, n_jobs=n)
        for n in (1, 2, 2)
    ]
    assert X.nnz >= dual_descent.SMALL  # so that rows are visited in blocks
    assert runs[0].status is Status.converged
    for other in runs[1:]:
        assert runs[0].w.tobytes() == other.w.tobytes()
        assert runs[0].alpha.tobytes() == other.alpha.tobytes()
        assert (runs[0].b, runs[0].n_iter) == (other.b, other.n_iter)


def test_a_looser_tolerance_takes_fewer_passes():
    X, y = text_like(seed=3)
    passes = [solve(DualDescent, X, y, tol=tol).n_iter for tol in (1e-1, 1e-2, 1e-4, 1e-8)]
    assert passes == sorted(passes)
    assert passes[0] < passes[-1]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_free_intercept_absorbs_any_shift_of_the_features(loss):
    X, y = overlapping(seed=9)
    here = solve(DualDescent, X, y, loss=loss, tol=1e-10, max_iter=100_000)
    far = solve(DualDescent, X + 1000.0, y, loss=loss, tol=1e-10, max_iter=100_000)
    np.testing.assert_allclose(here.w, far.w, atol=1e-4)
    assert here.primal == pytest.approx(far.primal, rel=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_swapping_the_classes_turns_the_weights_around(loss):
    X, y = overlapping(seed=10)
    one = solve(DualDescent, X, y, loss=loss, tol=1e-11, max_iter=100_000)
    other = solve(DualDescent, X, -y, loss=loss, tol=1e-11, max_iter=100_000)
    np.testing.assert_allclose(one.w, -other.w, atol=1e-5)


def test_float32_rows_are_solved_as_the_numbers_they_are():
    X, y = overlapping(seed=11)
    narrow = X.astype(np.float32)
    found = solve(DualDescent, narrow, y, tol=1e-10, max_iter=100_000)
    wide = solve(DualDescent, narrow.astype(np.float64), y, tol=1e-10, max_iter=100_000)
    assert found.primal == pytest.approx(wide.primal, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_multipliers_of_a_neighbouring_problem_are_a_good_start(loss):
    X, y = text_like(seed=4)
    before = solve(DualDescent, X, y, C=1.0, loss=loss, tol=1e-6)
    cold = solve(DualDescent, X, y, C=1.1, loss=loss, tol=1e-6)
    warm = solve(DualDescent, X, y, C=1.1, loss=loss, tol=1e-6, start=1.1 * before.alpha)
    assert warm.status is Status.converged
    assert warm.n_iter < cold.n_iter
    assert warm.primal == pytest.approx(cold.primal, rel=2e-6)


def degenerate():
    rng = np.random.default_rng(0)
    X, y = overlapping(n=40, d=3)
    few = np.where(np.arange(40) < 2, 1.0, -1.0)
    outlier = X.copy()
    outlier[0, 0] = 1e12
    empty = X.copy()
    empty[::2] = 0.0
    yield "zero", 0.0 * X, y
    yield "zero, imbalanced", 0.0 * X, few
    yield "constant feature", np.c_[X, np.ones(40)], y
    yield "copied features", np.c_[X, X], y
    yield "copied rows", np.r_[X, X], np.r_[y, y]
    yield "conflicting copies", np.r_[X, X], np.r_[y, -y]
    yield "fewer rows than features", rng.standard_normal((10, 50)), few[:10]
    yield "outlier", outlier, y
    yield "empty rows", empty, y
    yield "two rows", X[:2], np.array([1.0, -1.0])
    yield "imbalanced", X, few
    for scale in (1e-310, 1e-300, 1e-150, 1e-8):
        yield f"times {scale:g}", X * scale, y


DEGENERATE = {name: (X, y) for name, X, y in degenerate()}


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_rows_are_solved(name, loss, layout):
    X, y = DEGENERATE[name]
    rows = layout(X)
    if sp.issparse(rows):
        rows.indices = rows.indices.astype(np.int32)
    for fit_intercept, C in itertools.product((False, True), (1e-3, 1.0)):
        found = solve(
            DualDescent,
            rows,
            y,
            C=C,
            loss=loss,
            fit_intercept=fit_intercept,
            tol=1e-5,
            max_iter=5000,
        )
        assert found.status is Status.converged
        value = primal(X, y, found.w, found.b, C, loss)
        assert found.primal == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("scale", [1e8, 1e100, 1e150])
@pytest.mark.parametrize("loss", LOSSES)
def test_huge_rows_end_with_a_finite_answer_and_an_honest_gap(scale, loss):
    X, y = overlapping(n=60, d=3)
    found = solve(DualDescent, scale * X, y, loss=loss, max_iter=200)
    assert np.isfinite(found.w).all()
    assert np.isfinite(found.b)
    assert found.status in (Status.converged, Status.budget)
    value = primal(scale * X, y, found.w, found.b, 1.0, loss)
    assert found.primal == pytest.approx(value, rel=1e-6)
    assert found.primal <= primal(X, y, np.zeros(3), 0.0, 1.0, loss) * (1 + 1e-12)
    assert found.dual <= value


def test_rows_whose_squares_overflow_are_refused_by_name():
    X, y = overlapping()
    X[17] *= 1e200
    with pytest.raises(OverflowedError, match="row 17"):
        solve(DualDescent, X, y)


@pytest.mark.parametrize("C", [0.0, -1.0, np.inf, np.nan])
def test_a_penalty_that_is_no_positive_number_is_refused(C):
    X, y = overlapping()
    with pytest.raises(ParameterError, match="C is"):
        solve(DualDescent, X, y, C=C)


def test_a_spent_budget_says_how_far_it_got():
    X, y = overlapping()
    found = solve(DualDescent, X, y, C=1e6, tol=1e-12, max_iter=40)
    assert found.status is Status.budget
    assert np.isfinite(found.gap)


@given(
    st.integers(2, 12),
    st.integers(1, 4),
    st.integers(0, 10**6),
    st.sampled_from(list(LOSSES)),
    st.booleans(),
    st.sampled_from([0.01, 1.0, 10.0]),
)
@settings(max_examples=60, deadline=None)
def test_small_integer_problems_close_their_gap(n, d, seed, loss, fit_intercept, C):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    found = solve(
        DualDescent, X, y, C=C, loss=loss, fit_intercept=fit_intercept, tol=1e-6, max_iter=50_000
    )
    assert found.status is Status.converged
    value = primal(X, y, found.w, found.b, C, loss)
    assert found.primal == pytest.approx(value, rel=1e-9)
    assert dual(X, y, found.alpha, C, loss) >= value * (1 - 1.1e-6) - 1e-12


def test_many_rows_for_each_feature_are_descended_in_few_passes():
    # Two lanes that meet in nearly every feature took hundreds of passes to a gap of a percent.
    rng = np.random.default_rng(0)
    n, levels = 100_000, 150
    share = 1.0 / np.arange(1, levels + 1)
    codes = rng.choice(levels, (n, 3), p=share / share.sum()) + levels * np.arange(3)
    codes[:, 2] = 2 * levels
    places = codes.astype(np.int32)
    pointers = np.arange(0, 3 * n + 1, 3, dtype=np.int32)
    X = sp.csr_array((np.ones(3 * n), places.ravel(), pointers), shape=(n, 2 * levels + 1))
    X.data[2::3] = rng.standard_normal(n)
    signs = np.where(rng.random(n) < 0.2, 1, -1)
    solver = DualDescent(X, signs, loss="hinge", fit_intercept=False)
    assert drive(solver, Goal(1e-4, 100)).status is Status.converged
