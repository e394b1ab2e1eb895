"""Multinomial logistic regression on dense rows: sums, certificates, digits, endings."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from linsep.errors import DataError
from linsep.status import Status
from linsep.train.convex import basis, several_classes
from linsep.train.convex.basis import better_basis
from linsep.train.convex.choose import logistic_solver
from linsep.train.convex.classes import class_sums
from linsep.train.convex.curvature import asked_for
from linsep.train.convex.drive import solve, telling
from linsep.train.convex.several_classes import softmax_solver
from proofs.gap.second_prover import many_class


def overlapping(n, d, K, seed, strength=1.0):
    """Rows with classes drawn from a softmax of linear scores."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = strength * X @ rng.standard_normal((d, K)) / math.sqrt(d)
    codes = np.argmax(2 * scores + rng.gumbel(size=(n, K)), axis=1)
    codes[:K] = np.arange(K)
    return X, codes


def objective(X, codes, W, b, C, c=1.0):
    S = X @ W.T + b
    top = S.max(axis=1)
    log_sum = top + np.log(np.exp(S - top[:, None]).sum(axis=1))
    return 0.5 * np.sum(W * W) + C * np.sum(c * (log_sum - S[np.arange(len(X)), codes]))


def fit_softmax(X, codes, weights=None, C=1.0, tol=1e-4, **how):
    return solve(softmax_solver, X, codes, weights, C, tol=asked_for(tol, C), **how)


def gently(monkeypatch):
    """Send small problems the way of large ones."""
    monkeypatch.setattr(several_classes, "WEIGHTS", 0)
    monkeypatch.setattr(several_classes, "MOST", 0)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_rows_that_are_not_copied_end_at_the_same_optimum(C, monkeypatch):
    X, codes = overlapping(5000, 3, 3, 4)
    weights = (np.arange(5000) % 5 > 0).astype(float)
    copied = fit_softmax(X, codes, weights, C, n_classes=3, tol=1e-9)
    monkeypatch.setattr(class_sums, "COPIED", 0)
    monkeypatch.setattr(basis, "COPIED", 0)
    streamed = fit_softmax(X, codes, weights, C, n_classes=3, tol=1e-9)
    assert copied.status is streamed.status is Status.converged
    np.testing.assert_allclose(copied.w, streamed.w, atol=1e-8)


def test_coordinates_of_the_row_space_keep_scores_and_norms():
    X = np.random.default_rng(0).standard_normal((6, 40)) + 3
    basis = better_basis(X, C=1.0, centre=True)
    u = np.random.default_rng(1).standard_normal(basis.Z.shape[1])
    w, b = basis.outside(u, 0.7)
    np.testing.assert_allclose(X @ w + b, basis.Z @ u + 0.7, atol=1e-12)
    np.testing.assert_allclose(basis.inside(w, b)[0], u, atol=1e-12)
    assert w @ w == pytest.approx(u @ u)
    assert basis.Z.shape[1] == 5  # centred rows lose one dimension


def test_coordinates_without_penalty_are_orthonormal_whatever_the_features():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4)) @ rng.standard_normal((4, 4)) * [1e-9, 1, 1e9, 1] + 1e3
    X[:, 3] = X[:, 1]
    basis = better_basis(X, C=np.inf, centre=True)
    np.testing.assert_allclose(basis.Z.T @ basis.Z / 50, np.eye(3), atol=1e-12)
    u = rng.standard_normal(3)
    w, b = basis.outside(u, 0.7)
    np.testing.assert_allclose(X @ w + b, basis.Z @ u + 0.7, atol=1e-3)  # 1e3/1e-9 lost 12 digits


@pytest.mark.parametrize("way", ["exact", "passes"])
@given(seed=st.integers(0, 10**6), logC=st.floats(-3, 3), passes=st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_the_gap_is_never_smaller_than_the_true_distance(way, seed, logC, passes):
    X, codes = overlapping(60, 3, 3, seed)
    c, C = np.random.default_rng(seed).uniform(0.1, 3, 60), 10.0**logC
    best = fit_softmax(X, codes, c, C, n_classes=3, tol=1e-12)
    with pytest.MonkeyPatch.context() as patch:
        if way == "passes":
            gently(patch)
        early = fit_softmax(X, codes, c, C, n_classes=3, tol=1e-13, max_iter=passes)
    assert early.primal == pytest.approx(objective(X, codes, early.w, early.b, C, c), rel=1e-9)
    assert early.gap >= (early.primal - best.primal) - 1e-10 * best.primal


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d", "K"), [(300, 4, 3), (500, 170, 5)])
def test_an_independent_proof_confirms_the_gap(real, n, d, K):
    X, codes = overlapping(n, d, K, 3)
    X = X.astype(real)
    found = fit_softmax(X, codes, C=0.5, n_classes=K, tol=1e-4)
    primal, _ = many_class(X, codes, found.w, found.b, np.full(n, 0.5))
    best = fit_softmax(X, codes, C=0.5, n_classes=K, tol=1e-9)
    _, dual = many_class(X, codes, best.w, best.b, np.full(n, 0.5))
    assert found.status is best.status is Status.converged
    assert primal == pytest.approx(found.primal, rel=1e-5)
    assert primal - dual <= 1.01e-4 * primal
    assert found.dual <= primal


def exact(X, codes, K, C):
    """Newton's method with 50 digits for (W, b), the biases summing to zero."""
    with mp.workdps(50):
        d, ridge = X.shape[1], 1 / mp.mpf(C)
        A = [[*map(mp.mpf, map(float, row)), mp.mpf(1)] for row in X]
        size = K * (d + 1)
        u = [mp.mpf(0)] * size
        for _ in range(60):
            g = [ridge * t if i % (d + 1) < d else mp.mpf(0) for i, t in enumerate(u)]
            H = mp.diag([ridge if i % (d + 1) < d else mp.mpf(0) for i in range(size)])
            for row, y in zip(A, codes.tolist(), strict=True):
                s = [mp.exp(mp.fdot(row, u[k * (d + 1) : (k + 1) * (d + 1)])) for k in range(K)]
                p = [t / mp.fsum(s) for t in s]
                for k in range(K):
                    for i in range(d + 1):
                        g[k * (d + 1) + i] += (p[k] - (k == y)) * row[i]
                        for m in range(K):
                            q = p[k] * ((k == m) - p[m])
                            for j in range(d + 1):
                                H[k * (d + 1) + i, m * (d + 1) + j] += q * row[i] * row[j]
            for k in range(K):
                for m in range(K):
                    H[k * (d + 1) + d, m * (d + 1) + d] += 1
            step = mp.lu_solve(H, mp.matrix(g))
            u = [a - b for a, b in zip(u, step, strict=True)]
            if mp.fdot(g, step) < mp.mpf(10) ** -40:
                break
        U = np.array([float(t) for t in u]).reshape(K, d + 1)
        return U[:, :d], U[:, d] - U[:, d].mean()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_twelve_digits_agree_with_fifty_digit_arithmetic(seed, shift):
    X, codes = overlapping(18, 2, 3, seed)
    X = X + shift
    if shift:
        X = np.ldexp(np.round(np.ldexp(X, 20)), -20)
    W, b = exact(X - shift, codes, 3, 1.0)  # exact differences: a free bias takes up the shift
    found = fit_softmax(X, codes, C=1.0, n_classes=3, tol=1e-14)
    assert found.status is Status.converged
    np.testing.assert_allclose(found.w, W, atol=1e-12 * np.abs(W).max())
    bias = found.b + shift * found.w.sum(axis=1)
    np.testing.assert_allclose(bias - bias.mean(), b, atol=1e-12 * (1 + shift))


@pytest.mark.parametrize("way", ["exact", "passes"])
@pytest.mark.parametrize("intercept", [True, False])
def test_scikit_learn_finds_the_same_weights(way, intercept, monkeypatch):
    if way == "passes":
        gently(monkeypatch)
    X, codes = overlapping(400, 5, 4, 5)
    c = np.random.default_rng(0).uniform(0.5, 2, 400)
    theirs = LogisticRegression(C=0.3, tol=1e-10, max_iter=10000, fit_intercept=intercept)
    theirs.fit(X, codes, c)
    ours = fit_softmax(X, codes, c, 0.3, n_classes=4, tol=1e-9, fit_intercept=intercept)
    assert ours.status is Status.converged
    np.testing.assert_allclose(ours.w, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.b, theirs.intercept_, atol=1e-4)


def test_two_classes_are_the_two_class_problem_at_twice_the_weight():
    X, codes = overlapping(200, 3, 2, 6)
    many = fit_softmax(X, codes, C=0.5, n_classes=2, tol=1e-12)
    two = solve(logistic_solver, X, 2 * codes - 1, C=1.0, tol=1e-12)
    np.testing.assert_allclose(many.w[1] - many.w[0], two.w, rtol=1e-8)
    assert 2 * many.primal == pytest.approx(two.primal, rel=1e-12)


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_a_sample_leads_to_the_optimum_of_all_rows(real):
    X, codes = overlapping(26000, 165, 5, 7)
    X = X.astype(real)
    found = fit_softmax(X, codes, C=0.01, n_classes=5, tol=1e-6)
    again = fit_softmax(X, codes, C=0.01, n_classes=5, tol=1e-7, start=(found.w, found.b))
    assert found.status is Status.converged
    assert found.primal - again.primal <= 1e-6 * again.primal
    assert found.n_iter < 30


@pytest.mark.parametrize(("n", "d", "K"), [(300, 4, 3), (500, 170, 5), (26000, 165, 5)])
def test_the_number_of_threads_does_not_change_a_byte(n, d, K):
    X, codes = overlapping(n, d, K, 8)
    X = X.astype(np.float32)
    found = [fit_softmax(X, codes, C=0.1, n_classes=K, tol=1e-4, n_jobs=j) for j in (1, 2, 3)]
    assert len({(f.w.tobytes(), f.b.tobytes(), f.gap) for f in found}) == 1


@pytest.mark.parametrize("seed", range(5))
def test_maximum_likelihood_does_not_depend_on_how_features_are_encoded(seed):
    X, codes = overlapping(150, 3, 3, seed)
    rng = np.random.default_rng(seed)
    plain = fit_softmax(X, codes, C=np.inf, n_classes=3, tol=1e-10)
    assert plain.status is Status.converged
    scores = X @ plain.w.T + plain.b
    scores -= scores.mean(axis=1, keepdims=True)
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    stretch = np.diag(10.0 ** rng.uniform(-4, 4, 3))
    for T, shift in [
        (np.eye(3), 1e6),
        (stretch, 0.0),
        (rotation @ stretch @ rotation.T, 1e3),
        (np.eye(3) * 1e150, 0.0),
        (np.eye(3) * 1e-150, 0.0),
    ]:
        Z = X @ T + shift
        found = fit_softmax(Z, codes, C=np.inf, n_classes=3, tol=1e-10)
        assert found.status is Status.converged
        other = Z @ found.w.T + found.b
        np.testing.assert_allclose(other - other.mean(axis=1, keepdims=True), scores, atol=1e-5)


def test_a_weight_of_k_is_k_copies():
    X, codes = overlapping(60, 3, 3, 9)
    k = np.random.default_rng(0).integers(0, 4, 60)
    k[:3] = 1
    weighted = fit_softmax(X, codes, k.astype(float), 0.5, n_classes=3, tol=1e-12)
    copied = fit_softmax(
        np.repeat(X, k, axis=0), np.repeat(codes, k), C=0.5, n_classes=3, tol=1e-12
    )
    np.testing.assert_allclose(weighted.w, copied.w, atol=1e-9)


@pytest.mark.parametrize("way", ["exact", "passes"])
def test_separable_classes_without_penalty_have_no_optimum_and_a_separator_is_kept(
    way, monkeypatch
):
    if way == "passes":
        gently(monkeypatch)
    codes = np.arange(60) % 3
    X = 4 * np.eye(3)[codes] + 0.1 * np.random.default_rng(0).standard_normal((60, 3))
    found = fit_softmax(X, codes, C=np.inf, n_classes=3)
    assert found.status is Status.no_optimum
    assert (np.argmax(X @ found.w.T + found.b, axis=1) == codes).all()


def test_classes_that_touch_have_no_optimum_either():
    X = np.array([[0.0], [1.0], [1.0], [2.0], [2.0], [3.0]])
    codes = np.array([0, 0, 1, 1, 2, 2])
    assert fit_softmax(X, codes, C=np.inf, n_classes=3).status is Status.no_optimum


DEGENERATE = {
    "zero": lambda X: X * 0,
    "constant column": lambda X: np.c_[X, np.full(len(X), 5.0)],
    "duplicate columns": lambda X: np.c_[X, X],
    "collinear": lambda X: np.c_[X, X.sum(axis=1)],
    "outlier 1e12": lambda X: np.where(np.arange(X.size).reshape(X.shape) == 0, 1e12, X),
    "times 1e150": lambda X: X * 1e150,
    "times 1e-150": lambda X: X * 1e-150,
    "times 1e300": lambda X: X * 1e300,
    "near the largest float": lambda X: X / np.abs(X).max() * 1.7e308,
    "offset 1e12": lambda X: X + 1e12,
    "more features than rows": lambda X: np.tile(X, 40) * np.linspace(1, 2, 120),
}


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6, np.inf])
@pytest.mark.parametrize("kind", DEGENERATE)
def test_degenerate_features_end_in_a_named_way_with_finite_weights(kind, C):
    X, codes = overlapping(90, 3, 3, 10)
    found = fit_softmax(DEGENERATE[kind](X), codes, C=C, n_classes=3, tol=1e-6)
    assert np.isfinite(found.w).all() and np.isfinite(found.b).all()
    if kind == "outlier 1e12" and C == 1e6:  # its scores keep too few digits for a better proof
        assert found.gap < 0.01 * found.primal
    else:
        assert found.status is Status.converged or (found.status, C) == (Status.no_optimum, np.inf)


def test_an_outlier_of_1e12_does_not_hide_what_the_other_rows_say():
    X, codes = overlapping(90, 3, 3, 10)
    found = fit_softmax(DEGENERATE["outlier 1e12"](X), codes, C=1.0, n_classes=3, tol=1e-7)
    assert found.status is Status.converged
    # By Newton's method with 60 digits; the column taken for a constant and one exception: 72.277.
    assert found.primal == pytest.approx(58.631803329444524, rel=1e-7)
    np.testing.assert_allclose(found.w[:, 0], [0.52318118, 0.52318118, -1.04636235], rtol=1e-4)


@pytest.mark.parametrize("kind", DEGENERATE)
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_the_way_of_large_problems_ends_too(kind, C, monkeypatch):
    gently(monkeypatch)
    X, codes = overlapping(90, 3, 3, 10)
    found = fit_softmax(DEGENERATE[kind](X), codes, C=C, n_classes=3, tol=1e-5, max_iter=200)
    assert np.isfinite(found.w).all() and np.isfinite(found.b).all()
    assert found.status in (Status.converged, Status.no_optimum, Status.budget)


@pytest.mark.parametrize("way", ["exact", "passes"])
def test_a_listener_hears_every_pass_and_may_stop_the_run(way, monkeypatch):
    if way == "passes":
        gently(monkeypatch)
    X, codes = overlapping(200, 3, 3, 11)
    heard = []
    listener = telling([lambda p: heard.append(p) or p.epoch == 2])
    found = fit_softmax(X, codes, n_classes=3, tol=1e-12, listener=listener)
    assert [p.epoch for p in heard] == [1, 2]
    assert found.status is Status.stopped


def test_a_class_without_weight_is_refused():
    X, codes = overlapping(30, 2, 3, 13)
    with pytest.raises(DataError, match="class number 1"):
        fit_softmax(X, codes, (codes != 1).astype(float), n_classes=3)
