"""A second count bounds what the first one claims, and is not taken in by wrong numbers."""

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import linsep
from linsep.data import toys
from linsep.proofs.gap.certificate import FittedProblem, certify_planes
from linsep.proofs.gap.joint_certificate import certify_crammer_singer, certify_softmax
from linsep.proofs.gap.penalty import Penalty

LOSSES = ["hinge", "squared_hinge", "logistic"]


def problem(seed, n=40, d=3):
    rng = np.random.default_rng(seed)
    X, y = toys.overlapping(n=n, d=d, distance=1.5, seed=seed)
    return X, (y > 0).astype(int), rng.uniform(0.2, 3.0, n), rng


def _below(found):
    """What is certain to lie below every objective."""
    return found.dual - found.rounding


def exact_objective(loss, X, codes, w, b, C):
    """½‖w‖² + Σ Cφ(z) in fifty digits."""
    with mpmath.workdps(50):
        total = sum(mpmath.mpf(float(a)) ** 2 for a in w) / 2
        for x, code, c in zip(X, codes, C, strict=True):
            s = mpmath.fdot(map(mpmath.mpf, w.tolist()), map(mpmath.mpf, x.tolist()))
            z = (1 if code else -1) * (s + mpmath.mpf(float(b)))
            inside = max(mpmath.mpf(0), 1 - z)
            phi = {"hinge": inside, "squared_hinge": inside**2}.get(loss)
            total += mpmath.mpf(float(c)) * (mpmath.log1p(mpmath.exp(-z)) if phi is None else phi)
        return total


def exact_logistic(X, codes, C):
    """The least of the logistic objective, by Newton's method in fifty digits."""
    with mpmath.workdps(50):
        Z = mpmath.matrix(np.column_stack([X, np.ones(len(X))]).tolist())
        y = [1 if code else -1 for code in codes]
        d = Z.cols
        v = mpmath.zeros(d, 1)
        for _ in range(30):
            s = Z * v
            g, H = mpmath.zeros(d, 1), mpmath.zeros(d, d)
            for j in range(d - 1):
                g[j], H[j, j] = v[j], 1
            for i in range(Z.rows):
                u = 1 / (1 + mpmath.exp(y[i] * s[i]))
                for j in range(d):
                    g[j] -= C[i] * y[i] * u * Z[i, j]
                    for k in range(d):
                        H[j, k] += C[i] * u * (1 - u) * Z[i, j] * Z[i, k]
            step = mpmath.lu_solve(H, g)
            v -= step
            if mpmath.norm(step) < mpmath.mpf(10) ** -40:
                break
        s = Z * v
        return sum(v[j] ** 2 for j in range(d - 1)) / 2 + sum(
            C[i] * mpmath.log1p(mpmath.exp(-y[i] * s[i])) for i in range(Z.rows)
        )


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix, np.float32])
@pytest.mark.parametrize("seed", range(3))
def test_the_gap_is_never_below_the_truth_in_fifty_digits(seed, layout):
    X, codes, C, rng = problem(seed)
    if layout is np.float32:
        X = X.astype(np.float32).astype(float)
    least = exact_logistic(X, codes, C)
    near = minimize(
        lambda v: float(exact_objective_fast(X, codes, v[:-1], v[-1], C)), np.zeros(4), tol=1e-12
    ).x
    for size in (0.0, 1e-8, 1e-4, 0.1, 10.0):
        v = near + size * rng.standard_normal(4)
        found = certify_planes(
            "logistic", FittedProblem(layout(X), codes, C, v[None, :3], v[3:], True)
        )
        true = exact_objective("logistic", X, codes, v[:3], v[3], C)
        assert abs(found.primal - true) <= found.rounding
        assert found.gap >= float((true - least) / true)
        if size <= 1e-8:
            assert found.gap < 1e-6


def exact_objective_fast(X, codes, w, b, C):
    z = np.where(codes, 1, -1) * (X @ w + b)
    return 0.5 * w @ w + C @ np.logaddexp(0, -z)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_no_multipliers_lift_the_dual_above_an_objective(loss, seed, free):
    X, codes, C, rng = problem(seed)
    lowest = np.inf
    for _ in range(200):
        w, b = rng.standard_normal(3), free * rng.standard_normal()
        lowest = min(lowest, float(exact_objective(loss, X, codes, w, b, C)))
    for false in (np.full(40, 1e9), -np.ones(40), 1.0 * codes, C, rng.random(40) * C):
        asked = FittedProblem(X, codes, C, w[None], np.array([b]), free)
        assert _below(certify_planes(loss, asked, false[None])) <= lowest


@pytest.mark.parametrize("seed", range(3))
def test_softmax_and_joint_bounds_stay_below_every_objective(seed):
    rng = np.random.default_rng(seed)
    X, codes = toys.three_classes(n=60, spread=1.5, seed=seed)
    C, own = rng.uniform(0.2, 2.0, 60), (np.arange(60), codes)
    proposals = [(rng.standard_normal((3, 2)), rng.standard_normal(3)) for _ in range(20)]
    for penalty in (Penalty(), Penalty(0.5, 0.5), Penalty(1.0, 0.0)):
        counts = [
            certify_softmax(FittedProblem(X, codes, C, W, b, free, penalty))
            for W, b in proposals
            for free in (True, False)
        ]
        assert max(map(_below, counts)) <= min(one.primal for one in counts)
    for A in (-rng.random((60, 3)) * 3, rng.standard_normal((60, 3)), np.full((60, 3), -1e9)):
        counts = [
            certify_softmax(FittedProblem(X, codes, C, W, 0 * b, free), A)
            for W, b in proposals
            for free in (True, False)
        ]
        assert max(map(_below, counts)) <= min(one.primal for one in counts)
    values = []
    for W, b in proposals:
        S = X @ W.T + b + 1
        S[own] -= 1
        values.append(0.5 * (W**2).sum() + C @ (S.max(axis=1) - S[own]))
    A = -rng.random((60, 3)) * 3
    found = [
        certify_crammer_singer(FittedProblem(X, codes, C, W, b, True), A) for W, b in proposals
    ]
    assert np.allclose([one.primal for one in found], values)
    assert max(map(_below, found)) <= min(values)


def test_threads_change_no_byte_and_sparse_rows_count_alike():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9000, 40)) * (rng.random((9000, 40)) < 0.2)
    codes = (X @ rng.standard_normal(40) + rng.standard_normal(9000) > 0).astype(int)
    asked = FittedProblem(X, codes, 0.1, rng.standard_normal((1, 40)), np.zeros(1), True)
    one, two = (certify_planes("logistic", asked._replace(n_jobs=jobs)) for jobs in (1, 2))
    assert one == two
    sparse = certify_planes("logistic", asked._replace(X=sp.csr_matrix(X)))
    assert sparse[:2] == pytest.approx(one[:2], rel=1e-9)


def test_rows_of_any_length_are_counted_without_a_warning():
    X, codes, C, _ = problem(0)
    for scale in (1e-300, 1e-150, 1e150, 1e300):
        asked = FittedProblem(X * scale, codes, C, np.full((1, 3), 1 / scale), np.zeros(1), True)
        found = certify_planes("logistic", asked)
        assert 0 <= found.gap <= 1


def test_a_poor_proposal_does_not_hide_what_the_weights_show():
    X, codes = toys.three_classes(n=60, spread=1.5, seed=3)
    model = linsep.LogisticRegression(tol=1e-8).fit(X, codes)
    asked = FittedProblem(X, codes, 1.0, model.coef_, model.intercept_, True, wanted=1e-6)
    unbalanced = np.zeros((60, 3))
    unbalanced[:, 0] = -1.0  # every row leaves for the first class
    own = certify_softmax(asked)
    assert own.gap < 1e-6
    assert certify_softmax(asked, unbalanced) == own
