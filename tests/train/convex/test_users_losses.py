"""The core is open: a loss of a test's own is fitted by the solvers, and its gap is proved."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from huberised_hinge import HuberisedHinge

from linsep.status import Status
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.penalties import RIDGE, Elastic
from linsep.train.convex.problem import Problem
from linsep.train.convex.solvers.newton import Newton
from linsep.train.convex.solvers.newton_cg import NewtonCG
from linsep.train.convex.solvers.prox_newton import ProxNewton

TOL = 1e-8


def overlapping(n=90, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(3)
    X[:, 1] *= 30.0
    X[rng.uniform(size=X.shape) < 0.3] = 0.0
    y = np.where(X[:, 0] + 0.03 * X[:, 1] + rng.normal(size=n) > 0.4, 1, -1)
    return X, y.astype(np.int8), rng.uniform(0.0, 2.0, size=n).round(2)


def exact(values):
    return [Fraction(float(one)) for one in np.ravel(values)]


def proved_gap(X, y, weights, C, h, penalty, intercept, solution):
    """P − D of a Huberised hinge by whole numbers alone, relative to P."""
    rows = [exact(x) for x in X]
    signs = [int(one) for one in y]
    U = [Fraction(float(one)) * Fraction(C) for one in weights]
    h, l1, l2 = Fraction(h), Fraction(penalty.l1), Fraction(penalty.l2)
    w, (b,) = exact(solution.w), exact(solution.b)
    primal = sum(l1 * abs(one) + l2 * one * one / 2 for one in w)
    for x, s, u in zip(rows, signs, U, strict=True):
        lack = max(0, 1 - s * (sum(map(Fraction.__mul__, w, x)) + b))
        bent = min(lack, h)
        primal += u * bent * (lack - bent / 2) / h
    a = [min(max(one, 0), u) for one, u in zip(exact(solution.alpha), U, strict=True)]
    if intercept:  # as much weight on either side
        side = {s: sum(one for one, own in zip(a, signs, strict=True) if own == s) for s in (-1, 1)}
        least = min(side.values())
        a = [one * least / side[s] if side[s] else one for one, s in zip(a, signs, strict=True)]
    else:
        assert b == 0
    V = [
        sum(one * s * x[j] for one, s, x in zip(a, signs, rows, strict=True)) for j in range(len(w))
    ]
    if not l2:  # feasible where |v| ≤ l1
        shrink = min([Fraction(1), *(l1 / abs(v) for v in V if abs(v) > l1)])
        a, V = [shrink * one for one in a], [shrink * v for v in V]
    dual = sum(one - h * one * one / u / 2 for one, u in zip(a, U, strict=True) if u)
    if l2:
        dual -= sum(max(abs(v) - l1, 0) ** 2 for v in V) / (2 * l2)
    return float((primal - dual) / primal)


@pytest.mark.parametrize(
    "layout", [np.asarray, sp.csr_matrix, np.float32], ids=["dense", "CSR", "float32"]
)
@pytest.mark.parametrize("intercept", [True, False], ids=["b free", "b zero"])
@pytest.mark.parametrize(
    ("make", "penalty"),
    [
        (NewtonCG, RIDGE), (Newton, RIDGE), (ProxNewton, RIDGE), (ProxNewton, Elastic(1.0, 0.0)),
        (ProxNewton, Elastic(0.4, 0.6)),
    ],
    ids=["newton_cg", "newton", "prox_newton", "prox_newton l1", "prox_newton elastic"],
)  # fmt: skip
@pytest.mark.parametrize(("h", "C"), [(0.5, 1.0), (0.05, 20.0)])
def test_a_loss_in_one_file_is_fitted_and_proved(layout, intercept, make, penalty, h, C):
    X, y, weights = overlapping()
    X = layout(X)
    problem = Problem.of(X, y, weights, C, HuberisedHinge(h), intercept)
    solution = drive(make(problem._replace(penalty=penalty)), Goal(TOL))
    assert solution.status is Status.converged
    rows = X.toarray() if sp.issparse(X) else X
    gap = proved_gap(rows, y, weights, C, h, penalty, intercept, solution)
    assert -1e-12 <= gap <= 1.01 * TOL
