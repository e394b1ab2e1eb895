"""The oracle of gaps: its dual never passes the optimum, its gap never understates."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.svm import SVC

from linsep.data import toys
from proofs.gap.second_prover import (
    HINGE,
    LOGISTIC,
    SQUARED_HINGE,
    _flow_on_grid,
    _moves,
    _on_grid,
    many_class,
    two_class,
)

PLAIN = {
    HINGE: lambda z: np.maximum(0, 1 - z),
    SQUARED_HINGE: lambda z: np.maximum(0, 1 - z) ** 2,
    LOGISTIC: lambda z: np.logaddexp(0, -z),
}


def objective(loss, X, y, w, b, C):
    return 0.5 * w @ w + C @ PLAIN[loss](y * (X @ w + b))


def polished(X, y, C, model):
    """libsvm works with float32 products; its active set gives the optimum by a linear system."""
    alpha = np.zeros(len(X))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    full, free = alpha >= C * (1 - 1e-6), (alpha > C * 1e-6) & (alpha < C * (1 - 1e-6))
    fixed, Z = (C * y)[full] @ X[full], X[free] * y[free, None]
    # unknown α of the free rows and b: yᵢ(⟨w, xᵢ⟩ + b) = 1 and Σ αy = 0
    A = np.block([[Z @ Z.T, y[free, None]], [y[free][None], np.zeros((1, 1))]])
    right = np.append(1 - Z @ fixed, -(C * y)[full].sum())
    found = np.linalg.lstsq(A, right, rcond=None)[0]
    return fixed + found[:-1] @ Z, float(found[-1])


def optimum(loss, X, y, C, intercept):
    """(w, b) to about fifteen digits: Newton's method, or libsvm for the hinge."""
    if loss is HINGE:
        assert intercept
        scale = C.max()
        model = SVC(kernel="linear", C=scale, tol=1e-9).fit(X, y, sample_weight=C / scale)
        return polished(X, y, C, model)
    Z = np.column_stack([X, np.ones(len(X))]) if intercept else X
    ridge = np.ones(Z.shape[1])
    if intercept:
        ridge[-1] = 0
    v = np.zeros(Z.shape[1])
    for _ in range(100):
        z = y * (Z @ v)
        if loss is LOGISTIC:
            first, second = -expit(-z), expit(z) * expit(-z)
        else:
            first, second = -2 * np.maximum(0, 1 - z), 2.0 * (z < 1)
        gradient = ridge * v + Z.T @ (C * y * first)
        hessian = np.diag(ridge) + (Z * (C * second)[:, None]).T @ Z
        v = v - np.linalg.lstsq(hessian, gradient, rcond=None)[0]
    return (v[:-1], float(v[-1])) if intercept else (v, 0.0)


def problem(seed, n=60, d=4, separable=False):
    rng = np.random.default_rng(seed)
    X, y = toys.overlapping(n=n, d=d, distance=1.5, seed=seed)
    if separable:
        X, y, _ = toys.separated(n=n, d=d, margin=0.1, seed=seed)
    return X, y, rng.uniform(0.2, 3.0, n), rng


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE, LOGISTIC])
def test_at_the_optimum_the_gap_closes(loss, seed):
    X, y, C, _ = problem(seed, separable=seed % 2 == 0)
    w, b = optimum(loss, X, y, C, intercept=True)
    primal, dual = two_class(loss, X, y, w, b, C)
    assert primal == pytest.approx(objective(loss, X, y, w, b, C), rel=1e-11)
    assert 0 <= primal - dual <= 1e-9 * primal


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE, LOGISTIC])
@pytest.mark.parametrize("size", [1e-7, 1e-3, 0.3, 30.0])
def test_the_gap_is_never_less_than_the_true_loss_of_optimality(loss, seed, size):
    X, y, C, rng = problem(seed)
    best_w, best_b = optimum(loss, X, y, C, intercept=True)
    best = objective(loss, X, y, best_w, best_b, C)
    w, b = best_w + size * rng.standard_normal(4), best_b + size * rng.standard_normal()
    primal, dual = two_class(loss, X, y, w, b, C)
    assert dual <= best
    assert primal - dual >= objective(loss, X, y, w, b, C) - best
    assert dual >= 0


@pytest.mark.parametrize("loss", [SQUARED_HINGE, LOGISTIC])
def test_without_intercept_the_gap_closes_too(loss):
    X, y, C, _ = problem(3)
    w, _ = optimum(loss, X, y, C, intercept=False)
    primal, dual = two_class(loss, X, y, w, 0.0, C, intercept=False)
    assert 0 <= primal - dual <= 1e-12 * primal


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE, LOGISTIC])
def test_small_and_large_penalties_keep_the_dual_below(loss, scale):
    X, y, C, rng = problem(0)
    for _ in range(10):
        w, b = rng.standard_normal(4), rng.standard_normal()
        _, dual = two_class(loss, X, y, w, b, C * scale)
        assert dual >= 0
        for _ in range(20):
            other = rng.standard_normal(4) * 10.0 ** rng.integers(-9, 2)
            assert dual <= objective(loss, X, y, other, rng.standard_normal(), C * scale)


def test_a_dual_point_of_the_solver_is_used_but_not_trusted():
    X, y, C, _ = problem(1)
    w, b = optimum(HINGE, X, y, C, intercept=True)
    best = objective(HINGE, X, y, w, b, C)
    for false in (np.full(60, 1e9), -np.ones(60), np.where(y > 0, 1.0, 0.0)):
        assert two_class(HINGE, X, y, w, b, C, alpha=false)[1] <= best


@pytest.mark.parametrize("seed", range(5))
def test_multipliers_on_the_grid_cancel_exactly(seed):
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1, 1], 1000)
    alpha = _on_grid(rng.random(1000) * 10.0 ** rng.integers(-12, 3, 1000), signs)
    assert sum(int(s) * int(a * 2**70) for s, a in zip(signs, alpha, strict=True)) == 0
    codes = rng.integers(0, 4, 500)
    leave = rng.random((500, 4)) * 0.2
    leave[np.arange(500), codes] = 0
    flow = _flow_on_grid(leave, codes, np.ones(500), intercept=True)
    whole = (flow * 2.0**60).astype(object)
    assert np.all(_moves(np.array(whole, dtype=object), codes).sum(axis=0) == 0)


def multinomial(X, codes, W, b, C):
    S = X @ W.T + b
    return 0.5 * (W**2).sum() + C @ (
        np.logaddexp.reduce(S, axis=1) - S[np.arange(len(codes)), codes]
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_multinomial_gap_closes_at_the_optimum_and_bounds_elsewhere(seed, intercept):
    rng = np.random.default_rng(seed)
    X, codes = toys.three_classes(n=60, spread=1.5, seed=seed)
    C = rng.uniform(0.2, 2.0, 60)

    def value(v):
        W, b = v[:6].reshape(3, 2), v[6:] * intercept
        A = softmax(X @ W.T + b, axis=1)
        A[np.arange(60), codes] -= 1
        A *= C[:, None]
        slope = np.concatenate([(W + A.T @ X).ravel(), A.sum(axis=0) * intercept])
        return multinomial(X, codes, W, b, C), slope

    best = minimize(value, np.zeros(9), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    W, b = best[:6].reshape(3, 2), best[6:] * intercept
    primal, dual = many_class(X, codes, W, b, C, intercept)
    lowest = multinomial(X, codes, W, b, C)
    assert 0 <= primal - dual <= 1e-8 * primal
    assert dual <= lowest
    for size in (1e-3, 1.0, 20.0):
        other_W, other_b = W + size * rng.standard_normal((3, 2)), b + intercept * size
        primal, dual = many_class(X, codes, other_W, other_b, C, intercept)
        assert 0 <= dual <= lowest
        assert primal - dual >= multinomial(X, codes, other_W, other_b, C) - lowest


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE, LOGISTIC])
def test_sparse_rows_give_the_same_bounds(loss):
    X, y, C, rng = problem(2)
    X[np.abs(X) < 0.5] = 0
    w = rng.standard_normal(4)
    dense, sparse = (two_class(loss, Z, y, w, 0.3, C) for Z in (X, sp.csr_array(X)))
    assert dense == pytest.approx(sparse, rel=1e-9)
