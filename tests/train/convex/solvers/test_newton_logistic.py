"""Two-class logistic regression on dense rows: sums, certificates, digits, invariances, endings."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep.errors import DataError, ParameterError
from linsep.status import Status
from linsep.train.convex import choose
from linsep.train.convex.choose import logistic_solver
from linsep.train.convex.curvature import Curvature, decrease_left
from linsep.train.convex.drive import solve
from linsep.train.convex.sampling import drawn
from linsep.train.convex.solvers import newton
from proofs.gap.second_prover import LOGISTIC, two_class


def overlapping(n, d, seed, noise=0.7):
    """Points labelled by a plane, with noise: the classes overlap."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    signs = np.where(X @ rng.standard_normal(d) + noise * rng.standard_normal(n) > 0, 1, -1)
    signs[:2] = 1, -1
    return X, signs


def objective(X, signs, w, b, C, c=1.0):
    return 0.5 * w @ w + C * np.sum(c * np.logaddexp(0, -signs * (X @ w + b)))


# --- sums -------------------------------------------------------------------------------------


def test_chosen_rows_estimate_sums_without_bias():
    values = np.random.default_rng(0).standard_normal(2000)
    chance = np.random.default_rng(1).uniform(0.1, 1.0, 2000)
    estimates = []
    for seed in range(200):
        rows = np.flatnonzero(drawn(chance, seed * len(chance)))
        estimates.append(np.sum(values[rows] / chance[rows]))
    error = np.std(estimates) / math.sqrt(200)
    assert np.mean(estimates) == pytest.approx(values.sum(), abs=4 * error)


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_curvature_inverts_what_is_not_singular(seed):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((6, 4)) * 10.0 ** rng.integers(-8, 8, 4)
    B[:, 3] = B[:, 2]  # a repeated column
    H = B.T @ B
    c = Curvature(H)
    g = H @ rng.standard_normal(4)
    scale = np.sqrt(H.diagonal())
    np.testing.assert_allclose((H @ c.solve(g)) / scale, g / scale, rtol=1e-6, atol=1e-8)
    Q = c.whiten()
    np.testing.assert_allclose(Q @ (Q.T @ g), c.solve(g), rtol=1e-6, atol=1e-9)


# --- certificates -----------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.floats(-3, 4), st.integers(1, 6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_gap_is_never_smaller_than_the_true_distance(seed, logC, passes, intercept):
    X, signs = overlapping(60, 3, seed)
    c, C = np.random.default_rng(seed).uniform(0.1, 3, 60), 10.0**logC
    best = solve(logistic_solver, X, signs, c, C, tol=1e-12, fit_intercept=intercept)
    early = solve(
        logistic_solver, X, signs, c, C, tol=1e-14, max_iter=passes, fit_intercept=intercept
    )
    assert early.primal == pytest.approx(objective(X, signs, early.w, early.b, C, c), rel=1e-9)
    assert early.dual <= best.primal * (1 + 1e-12)
    assert early.gap >= (early.primal - best.primal) - 1e-12 * best.primal


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_without_a_penalty_the_bound_from_the_decrement_holds(seed):
    X, signs = overlapping(60, 2, seed, noise=2.0)
    best = solve(logistic_solver, X, signs, C=np.inf, tol=1e-13)
    early = solve(logistic_solver, X, signs, C=np.inf, tol=1e-2)
    if best.status is Status.converged:
        assert early.gap >= early.primal - best.primal - 1e-12 * best.primal


def test_the_bound_from_the_decrement_is_sharp_for_a_parabola_and_silent_far_away():
    assert decrease_left(1e-6, 1e-9) == pytest.approx(0.5e-6, rel=1e-3)
    assert decrease_left(1.1, 1.0) == math.inf


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_an_independent_proof_confirms_the_gap(real, C):
    X, signs = overlapping(500, 4, 3)
    X = X.astype(real)
    found = solve(logistic_solver, X, signs, C=C, tol=1e-6)
    primal, dual = two_class(LOGISTIC, X, signs, found.w, found.b, np.full(len(X), C))
    assert found.status is Status.converged
    assert primal == pytest.approx(found.primal, rel=1e-7)
    assert primal - dual <= 2e-6 * primal


# --- digits -----------------------------------------------------------------------------------


def exact(X, signs, C, c):
    """Newton's method with 50 digits: (w, b) and nothing shared with the solver."""
    with mp.workdps(50):
        d = X.shape[1]
        A = [[*map(mp.mpf, map(float, row)), mp.mpf(1)] for row in X]
        ridge = [mp.mpf(0) if math.isinf(C) else 1 / mp.mpf(C)] * d + [mp.mpf(0)]

        def value(u):
            z = [s * mp.fdot(row, u) for row, s in zip(A, signs.tolist(), strict=True)]
            loss = mp.fsum(k * mp.log1p(mp.exp(-t)) for k, t in zip(c.tolist(), z, strict=True))
            return loss + mp.fsum(r * t * t for r, t in zip(ridge, u, strict=True)) / 2, z

        u = [mp.mpf(0)] * (d + 1)
        f, z = value(u)
        for _ in range(100):
            g, H = [r * t for r, t in zip(ridge, u, strict=True)], mp.diag(ridge)
            for row, s, k, t in zip(A, signs.tolist(), c.tolist(), z, strict=True):
                p = 1 / (1 + mp.exp(t))
                for i in range(d + 1):
                    g[i] -= k * s * p * row[i]
                    for j in range(d + 1):
                        H[i, j] += k * p * (1 - p) * row[i] * row[j]
            step = mp.lu_solve(H, mp.matrix(g))
            if mp.fdot(g, step) < mp.mpf(10) ** -40 * f:
                break
            t = mp.mpf(1)
            while True:
                trial = [a - t * b for a, b in zip(u, step, strict=True)]
                f2, z2 = value(trial)
                if f2 <= f:
                    break
                t /= 2
            u, f, z = trial, f2, z2
        return np.array([float(t) for t in u[:d]]), float(u[d])


MAPS = {
    "benign": lambda X, rng: X,
    "shifted by 1e6": lambda X, rng: X + 1e6,
    "scaled by 1e8": lambda X, rng: X * 1e8,
    "scaled by 1e-8": lambda X, rng: X * 1e-8,
    "mixed scales": lambda X, rng: X * 10.0 ** rng.integers(-8, 9, X.shape[1]),
}


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("seed", range(4))
def test_twelve_digits_agree_with_fifty_digit_arithmetic(kind, C, seed):
    rng = np.random.default_rng(seed)
    X, signs = overlapping(30, 3, seed + 10, noise=1.5)
    X = MAPS[kind](X, rng)
    c = rng.integers(1, 4, len(X)).astype(float)
    w, b = exact(X, signs, C, c)
    found = solve(logistic_solver, X, signs, c, C, tol=1e-14)
    assert found.status is Status.converged
    spread = X.std(axis=0)  # digits of the scores, feature by feature
    assert np.max(np.abs(found.w - w) * spread) <= 1e-12 * np.max(np.abs(w) * spread)
    assert found.b == pytest.approx(b, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("gap", [1e-3, 1e-6])
def test_nearly_collinear_features_cost_digits_but_not_predictions(gap):
    X, signs = overlapping(30, 2, 5, noise=1.5)
    X = np.c_[X, X[:, 0] + gap * np.random.default_rng(0).standard_normal(30)]
    c = np.ones(30)
    w, b = exact(X, signs, np.inf, c)
    found = solve(logistic_solver, X, signs, c, np.inf, tol=1e-12)
    assert found.status is Status.converged
    np.testing.assert_allclose(X @ found.w + found.b, X @ w + b, atol=1e-15 / gap)


# --- invariances ------------------------------------------------------------------------------


def _affine_maps(rng, d):
    rotation = np.linalg.qr(rng.standard_normal((d, d)))[0]
    stretch = np.diag(10.0 ** rng.uniform(-4, 4, d))
    return {
        "shift": (np.eye(d), rng.uniform(-1e6, 1e6, d)),
        "scale": (stretch, np.zeros(d)),
        "rotation": (rotation, np.zeros(d)),
        "shear": (np.triu(rng.standard_normal((d, d)), 1) * 30 + np.eye(d), np.zeros(d)),
        "rotate and stretch": (rotation @ stretch, np.zeros(d)),
        "all": (rotation @ stretch @ rotation.T, rng.uniform(-1e4, 1e4, d)),
        "tiny": (np.eye(d) * 1e-150, np.zeros(d)),
        "huge": (np.eye(d) * 1e150, np.zeros(d)),
    }


@pytest.mark.parametrize("seed", range(20))
def test_maximum_likelihood_does_not_depend_on_how_features_are_encoded(seed):
    X, signs = overlapping(80, 4, seed, noise=1.0)
    plain = solve(logistic_solver, X, signs, C=np.inf, tol=1e-10)
    assert plain.status is Status.converged
    scores = X @ plain.w + plain.b
    for T, shift in _affine_maps(np.random.default_rng(seed), 4).values():
        Z = X @ T + shift
        found = solve(logistic_solver, Z, signs, C=np.inf, tol=1e-10)
        assert found.status is Status.converged
        np.testing.assert_allclose(Z @ found.w + found.b, scores, atol=1e-5)


@pytest.mark.parametrize("C", [0.1, np.inf])
def test_a_weight_of_k_is_k_copies(C):
    X, signs = overlapping(50, 3, 1, noise=1.5)
    k = np.random.default_rng(0).integers(0, 4, 50)
    k[:2] = 1
    weighted = solve(logistic_solver, X, signs, k.astype(float), C, tol=1e-12)
    copied = solve(logistic_solver, np.repeat(X, k, axis=0), np.repeat(signs, k), C=C, tol=1e-12)
    np.testing.assert_allclose(weighted.w, copied.w, rtol=1e-9)
    assert weighted.primal == pytest.approx(copied.primal, rel=1e-12)


def test_swapping_the_labels_turns_the_weights_around():
    X, signs = overlapping(50, 3, 2)
    one, other = (
        solve(logistic_solver, X, signs, tol=1e-12),
        solve(logistic_solver, X, -signs, tol=1e-12),
    )
    np.testing.assert_allclose(one.w, -other.w, rtol=1e-10)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("n", [300, 40000])
def test_the_number_of_threads_does_not_change_a_byte(real, n):
    X, signs = overlapping(n, 5, 4)
    X = X.astype(real)
    found = [solve(logistic_solver, X, signs, tol=1e-7, n_jobs=jobs) for jobs in (1, 2, 3)]
    assert len({(f.w.tobytes(), f.b, f.gap) for f in found}) == 1


def test_a_sample_leads_to_the_same_optimum_as_all_rows(monkeypatch):
    X, signs = overlapping(40000, 6, 5)
    X[:, 0] = np.where(np.arange(40000) % 2000 == 0, 30.0, 0.0)  # a rare feature
    sampled = solve(logistic_solver, X, signs, tol=1e-9)
    monkeypatch.setattr(newton, "LARGEST", 0)
    whole = solve(logistic_solver, X, signs, tol=1e-9)
    assert sampled.primal == pytest.approx(whole.primal, rel=1e-9)
    np.testing.assert_allclose(sampled.w, whole.w, atol=1e-4)


def test_fewer_rows_than_features_are_solved_among_the_rows():
    rng = np.random.default_rng(0)
    X, signs = rng.standard_normal((30, 400)) + 5, np.where(np.arange(30) % 3, 1, -1)
    found = solve(logistic_solver, X, signs, tol=1e-10)
    z = signs * (X @ found.w + found.b)
    alpha = 1 / (1 + np.exp(z))
    np.testing.assert_allclose(found.w, (alpha * signs) @ X, atol=1e-5)  # stationary in w
    assert alpha @ signs == pytest.approx(0, abs=1e-5)  # and in b


def test_many_features_go_through_the_multinomial_solver(monkeypatch):
    X, signs = overlapping(400, 30, 6)
    narrow = solve(logistic_solver, X, signs, tol=1e-9)
    monkeypatch.setattr(choose, "NARROW", 20)
    wide = solve(logistic_solver, X, signs, tol=1e-9)
    assert wide.primal == pytest.approx(narrow.primal, rel=1e-8)
    np.testing.assert_allclose(wide.w, narrow.w, atol=1e-3)


# --- endings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_separable_classes_without_penalty_have_no_optimum_and_a_separator_is_kept(seed):
    rng = np.random.default_rng(seed)
    X, signs = rng.standard_normal((40, 3)), np.where(np.arange(40) % 2, 1, -1)
    X[:, 0] += 6 * signs
    found = solve(logistic_solver, X, signs, C=np.inf)
    assert found.status is Status.no_optimum
    assert (signs * (X @ found.w + found.b)).min() > 0


def test_classes_that_touch_in_one_point_have_no_optimum_either():
    X, signs = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([-1, -1, 1, 1])
    assert solve(logistic_solver, X, signs, C=np.inf).status is Status.no_optimum
    X = np.c_[X, [0.3, -1.0, 2.0, 0.1]]
    X[2] = X[1]
    assert solve(logistic_solver, X, signs, C=np.inf).status is Status.no_optimum


def test_conflicting_labels_of_one_point_have_the_frequencies_as_optimum():
    X, signs = np.zeros((4, 1)), np.array([1, 1, 1, -1])
    found = solve(logistic_solver, X, signs, C=np.inf, tol=1e-12)
    assert found.status is Status.converged
    assert found.b == pytest.approx(math.log(3))


DEGENERATE = {
    "zero": lambda X: X * 0,
    "constant column": lambda X: np.c_[X, np.full(len(X), 5.0)],
    "constant 1e15": lambda X: np.c_[X, np.full(len(X), 1e15)],
    "duplicate columns": lambda X: np.c_[X, X],
    "collinear": lambda X: np.c_[X, X.sum(axis=1)],
    "outlier 1e12": lambda X: np.where(np.arange(X.size).reshape(X.shape) == 0, 1e12, X),
    "times 1e150": lambda X: X * 1e150,
    "times 1e-150": lambda X: X * 1e-150,
    "times 1e300": lambda X: X * 1e300,
    "times 1e-300": lambda X: X * 1e-300,
    "near the largest float": lambda X: X / np.abs(X).max() * 1.7e308,
    "offset 1e6": lambda X: X + 1e6,
    "offset 1e12": lambda X: X + 1e12,
    "offset 1e15": lambda X: X + 1e15,
    "one column": lambda X: X[:, :1].copy(),
}


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6, np.inf])
@pytest.mark.parametrize("kind", DEGENERATE)
def test_degenerate_features_end_in_a_named_way_with_finite_weights(kind, C):
    X, signs = overlapping(60, 3, 7)
    found = solve(logistic_solver, DEGENERATE[kind](X), signs, C=C, tol=1e-6)
    assert found.status in (Status.converged, Status.no_optimum)
    assert np.isfinite(found.w).all() and math.isfinite(found.b)
    assert found.status is Status.converged or math.isinf(C)


def test_one_row_in_a_hundred_thousand_of_the_other_class_is_no_trouble():
    X, signs = overlapping(100_000, 2, 8)
    signs = np.where(np.arange(len(X)) == 17, 1, -1)
    found = solve(logistic_solver, X, signs, tol=1e-9)
    assert found.status is Status.converged
    p = 1 / (1 + np.exp(-(X @ found.w + found.b)))
    assert p.sum() == pytest.approx(1, rel=1e-3)  # the free bias matches the frequency


def test_without_intercept_the_bias_stays_zero():
    X, signs = overlapping(80, 3, 9)
    found = solve(logistic_solver, X + 3, signs, fit_intercept=False, tol=1e-10)
    assert found.b == 0.0
    z = signs * ((X + 3) @ found.w)
    np.testing.assert_allclose(found.w, (signs / (1 + np.exp(z))) @ (X + 3), atol=1e-4)


def test_a_start_at_the_optimum_ends_at_once():
    X, signs = overlapping(5000, 3, 10)
    found = solve(logistic_solver, X + 1e4, signs, tol=1e-6)
    again = solve(logistic_solver, X + 1e4, signs, tol=1e-6, start=(found.w, found.b))
    assert again.n_iter <= 2
    assert again.primal == pytest.approx(found.primal, rel=1e-6)


def test_all_weight_on_one_class_is_refused():
    X, signs = overlapping(20, 2, 14)
    with pytest.raises(DataError, match="one class"):
        solve(logistic_solver, X, signs, (signs > 0).astype(float))
    with pytest.raises(ParameterError, match="C is -1"):
        solve(logistic_solver, X, signs, C=-1)
