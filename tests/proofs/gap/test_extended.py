"""Where plain sums have no correct digit, pairs of doubles bound the gap, and never too closely."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from tests.proofs.gap.test_certificate import LOSSES, exact_objective

from linsep.proofs.gap.certificate import FittedProblem
from linsep.proofs.gap.extended_certificate import ExtendedPlane
from linsep.proofs.gap.extended_joint import ExtendedJoint
from linsep.proofs.gap.extended_sums import ExtendedRows
from linsep.proofs.gap.pairs import FINE, Pair, added_pair, products, total
from linsep.proofs.gap.penalty import Penalty

PENALTIES = [Penalty(), Penalty(0.5, 0.5), Penalty(1.0, 0.0)]


def wild(rng, *shape):
    return rng.standard_normal(shape) * 10.0 ** rng.uniform(-8, 8, shape)


def fraction(pair):
    return Fraction(np.asarray(pair.high).item()) + Fraction(np.asarray(pair.low).item())


@pytest.mark.parametrize("seed", range(5))
def test_sums_of_products_are_those_of_fractions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 300))
    a, b = wild(rng, n), wild(rng, n)
    terms = [Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    off = abs(fraction(total(products(a, b))) - sum(terms))
    assert off <= n * Fraction(FINE) * sum(map(abs, terms))
    x, y = added_pair(a), added_pair(b)
    for found, exact in [
        (x + y, fraction(x) + fraction(y)),
        (x.times(y), fraction(x) * fraction(y)),
        (x.over(y), fraction(x) / fraction(y)),
    ]:
        assert abs(fraction(found) - exact) <= Fraction(FINE) * (abs(fraction(x)) + abs(exact) + 1)


def test_products_out_of_range_are_no_numbers():
    with np.errstate(all="ignore"):
        assert not np.isfinite(Pair(1e300, 0.0).times(1e300).rounded)


def hostile(seed, K=2):
    """Columns from 1e-8 to 1e8, far from the origin, and weights of the size they ask for."""
    rng = np.random.default_rng(seed)
    n, d = 30, 4
    size = 10.0 ** rng.uniform(-8, 8, d)
    X = size * (rng.standard_normal((n, d)) + 10.0 ** rng.uniform(0, 5))
    codes = rng.integers(0, K, n)
    codes[:K] = np.arange(K)
    return X, codes, 10.0 ** rng.uniform(-3, 3, n), size, rng


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_one_hyperplane_hold_in_fifty_digits(seed, loss, free):
    X, codes, C, size, rng = hostile(seed)
    points = [(np.zeros(4), 0.0)]
    for far in (1e-6, 1e-3, 1.0):
        w = far * rng.standard_normal(4) / size
        points.append((w, free * -float(np.mean(X @ w))))
    exact = [exact_objective(loss, X, codes, w, b, C) for w, b in points]
    given = [None, rng.random(30) * C, np.full(30, 1e9), -C, C * 1e-12]
    for (w, b), true in zip(points, exact, strict=True):
        asked = FittedProblem(X, codes, C, w[None], np.array([b]), free)
        for alpha in given:
            W, c = w[None], np.array([b])
            found = ExtendedPlane(loss, asked, codes == 1, alpha, W, c).certificate()
            assert abs(found.primal - true) <= found.rounding
            assert found.rounding <= 1e-9 * max(found.primal, found.dual)
            assert found.low <= min(exact)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("hinge", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_joint_classes_stay_below_every_objective(seed, hinge, penalty):
    X, codes, C, size, rng = hostile(seed, K=3)
    given = [-rng.random((30, 3)) * C[:, None], np.full((30, 3), -1e9), np.zeros((30, 3))]
    given = given if hinge else [None, *given]
    for free in (True, False):
        counts = []
        for far in (0.0, 1e-6, 1e-3, 1.0):
            W = far * rng.standard_normal((3, 4)) / size
            asked = FittedProblem(X, codes, C, W, -free * (X @ W.T).mean(axis=0), free, penalty)
            counts += [ExtendedJoint(asked, hinge).certificate(A) for A in given]
        assert max(one.low for one in counts) <= min(one.primal - one.rounding for one in counts)


def exact_joint(X, codes, C, W, b, hinge):
    import mpmath

    with mpmath.workdps(50):
        value = sum(mpmath.mpf(float(a)) ** 2 for a in W.ravel()) / 2
        for x, own, c in zip(X, codes, C, strict=True):
            row = [mpmath.mpf(float(a)) for a in x]
            s = [
                mpmath.fdot(map(mpmath.mpf, w.tolist()), row) + float(v)
                for w, v in zip(W, b, strict=True)
            ]
            s = [one - s[own] + (hinge and k != own) for k, one in enumerate(s)]
            loss = max(s) if hinge else mpmath.log(sum(mpmath.exp(one) for one in s))
            value += mpmath.mpf(float(c)) * loss
        return value


@pytest.mark.parametrize("hinge", [False, True])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_the_objective_of_joint_classes_is_right_to_the_bound(hinge, layout):
    X, codes, C, size, rng = hostile(7, K=3)
    for far in (0.0, 1e-5, 1.0, 1e3):
        W = far * rng.standard_normal((3, 4)) / size
        b = -(X @ W.T).mean(axis=0)
        asked = FittedProblem(layout(X), codes, C, W, b, True)
        found = ExtendedJoint(asked, hinge).certificate(np.zeros((30, 3)))
        true = exact_joint(X, codes, C, W, b, hinge)
        assert abs(found.primal - true) <= found.rounding <= 1e-9 * found.primal


@pytest.mark.parametrize("loss", LOSSES)
def test_what_leaves_the_range_of_floats_proves_nothing(loss):
    X, codes, C, _, _ = hostile(0)
    asked = FittedProblem(1e200 * X, codes, C, np.full((1, 4), 1e200), np.zeros(1), True)
    plane = ExtendedPlane(loss, asked, codes == 1, None, asked.W, asked.b)
    assert not plane.certificate().low > 0


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_errors_of_scores_and_of_sums_of_rows_are_within_what_is_said(seed, sparse):
    rng = np.random.default_rng(seed)
    X, w, b, a = wild(rng, 40, 6), wild(rng, 6), float(wild(rng, 1)[0]), wild(rng, 40)
    rows = ExtendedRows(sp.csr_array(X) if sparse else X)
    exact = [[Fraction(x) for x in row] for row in X.tolist()]
    scores, off = rows.scores(w, b)
    for i, row in enumerate(exact):
        true = sum((x * Fraction(u) for x, u in zip(row, w.tolist(), strict=True)), Fraction(b))
        assert abs(fraction(scores.of(slice(i, i + 1))) - true) <= Fraction(float(off[i]))
    v, off = rows.combined(Pair(a, np.zeros(40)))
    for j in range(6):
        true = sum(
            (Fraction(s) * row[j] for s, row in zip(a.tolist(), exact, strict=True)), Fraction()
        )
        assert abs(fraction(v.of(slice(j, j + 1))) - true) <= Fraction(float(off[j]))
