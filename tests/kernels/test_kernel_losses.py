"""Losses of many rows are those of one row at a time, with their multipliers and dual terms."""

import math

import numpy as np
import pytest

from linsep.kernels import losses as kernels
from linsep.train.convex.losses import Hinge, Logistic, SmoothedHinge, SquaredHinge

LOSSES = [Logistic(), Logistic(2.0), Hinge(), SquaredHinge(0.5), SmoothedHinge(0.3)]
IDS = [repr(loss) for loss in LOSSES]


def rows(n=700):
    rng = np.random.default_rng(3)
    s = rng.normal(scale=3.0, size=n)
    s[:6] = 0.0, 1e-9, 800.0, -800.0, 40.0, -40.0
    y = np.where(rng.uniform(size=n) < 0.4, 1, -1).astype(np.int8)
    return s, y, rng.uniform(0.0, 2.0, size=n)


def exact(loss, z):
    if isinstance(loss, Logistic):
        t = loss.scale * z
        return math.log1p(math.exp(-abs(t))) + max(0.0, -t)
    return loss.value(z)


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
@pytest.mark.parametrize("one_weight", [False, True])
def test_terms_are_those_of_each_row(loss, one_weight):
    s, y, U = rows()
    U = U[:1] if one_weight else U
    R, D, sums = np.empty((2, len(s))), np.empty(len(s)), np.empty(7)
    kernels.terms(loss, s, y, U, R, D, sums)
    z, caps = y * s, np.broadcast_to(U, s.shape)
    a = -caps * [loss.slope(t) for t in z]
    np.testing.assert_allclose(R[0], np.where(y > 0, a, 0.0), rtol=2e-15, atol=1e-300)
    np.testing.assert_allclose(R[1], np.where(y > 0, 0.0, -a), rtol=2e-15, atol=1e-300)
    np.testing.assert_allclose(D, caps * [loss.curvature(t) for t in z], rtol=4e-15, atol=1e-300)
    meant = Hinge() if isinstance(loss, SmoothedHinge) else loss
    dual = caps * [loss_dual(meant, t) for t in a / np.maximum(caps, 1e-300)]
    wanted = [
        caps @ [exact(loss, t) for t in z], caps @ [exact(meant, t) for t in z],
        a[y > 0].sum(), a[y < 0].sum(), dual[y > 0].sum(), dual[y < 0].sum(), a @ z,
    ]  # fmt: skip
    np.testing.assert_allclose(sums, wanted, rtol=1e-12, atol=1e-10)


def loss_dual(loss, a):
    if isinstance(loss, Hinge):
        return loss.margin * a
    return loss.dual(a)


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_multipliers_after_a_step_are_those_of_the_quadratic_model(loss):
    s, y, U = rows()
    s[2:4] = 1.0
    moved = s + 1e-3 * np.sin(np.arange(len(s)))
    alpha, sums = np.empty(len(s)), np.empty(3)
    kernels.foretold(loss, s, moved, y, U, alpha, sums)
    z, dz = y * s, y * (moved - s)
    share = [-loss.slope(t) - loss.curvature(t) * e for t, e in zip(z, dz, strict=True)]
    np.testing.assert_allclose(alpha, U * share, rtol=1e-12, atol=1e-15)
    meant = Hinge() if isinstance(loss, SmoothedHinge) else loss
    inside = (
        all(0.0 <= a <= loss.most() for a in share) if hasattr(loss, "most") else min(share) >= 0
    )
    inside = inside and max(share) <= (1.0 if isinstance(meant, Hinge) else np.inf)
    if inside:
        dual = float(U @ [loss_dual(meant, a) for a in share])
        np.testing.assert_allclose(sums, [dual, alpha @ y, alpha.sum()], rtol=1e-11, atol=1e-11)
    else:
        assert sums[0] == -np.inf


@pytest.mark.parametrize("loss", LOSSES[:1] + LOSSES[3:], ids=IDS[:1] + IDS[3:])
def test_slopes_along_a_line_are_differences_of_values(loss):
    s, y, U = rows()
    s = np.clip(s, -5.0, 5.0)
    moved, t = s + np.cos(np.arange(len(s))), np.array([0.0, 0.3, 1.0])
    slopes = np.empty((3, 2))
    kernels.along(loss, s, moved, y, U, t, slopes)
    for k in range(3):
        at, change = y * (s + t[k] * (moved - s)), y * (moved - s)
        one = U @ (np.array([loss.slope(z) for z in at]) * change)
        two = U @ (np.array([loss.curvature(z) for z in at]) * change**2)
        np.testing.assert_allclose(slopes[k], [one, two], rtol=1e-11)


def test_what_is_no_loss_or_has_no_number_for_a_row_is_refused():
    s, y, U = rows()
    R, D, sums = np.empty((2, len(s))), np.empty(len(s)), np.empty(7)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernels.terms("hinge", s, y, U, R, D, sums)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernels.terms((1.0,), s, y, U, R, D, sums)
    with pytest.raises(ValueError, match="a number for each row"):
        kernels.terms(Hinge(), s, y, U[:5], R, D, sums)
    with pytest.raises(ValueError, match="a number for each row"):
        kernels.foretold(Hinge(), s, s[:4], y, U, D, sums[:3])
    with pytest.raises(ValueError, match="two numbers for each t"):
        kernels.along(Hinge(), s, s, y, U, np.ones(2), np.empty((3, 2)))
    with pytest.raises(ValueError, match="a number for each row"):
        kernels.along(Hinge(), s, s[:9], y, U, np.ones(2), np.empty((2, 2)))
