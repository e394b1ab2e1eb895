"""The best intercept for given scores."""

import numpy as np
import pytest

from linsep.train.convex.intercept import best_corner, best_smooth_intercept
from linsep.train.convex.losses import Logistic, SquaredHinge


@pytest.mark.parametrize("b", [-9.0, 0.0, 0.4])
def test_at_the_best_corner_the_hinge_is_lowest(b):
    rng = np.random.default_rng(1)
    y, s, U = np.where(rng.random(50) < 0.4, 1.0, -1.0), 3 * rng.standard_normal(50), rng.random(50)
    best = best_corner(y - s, U, float(U[y > 0].sum()), b)
    lost = [U @ np.maximum(0, 1 - y * (s + t)) for t in (best, *(y - s))]
    assert lost[0] == pytest.approx(min(lost), rel=1e-12)
    assert best_corner(y - s, U, 0.0, b) == b  # one class only


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("b", [-9.0, 0.0, 0.4])
def test_at_the_best_intercept_of_a_smooth_loss_the_slope_is_zero(loss, b):
    rng = np.random.default_rng(0)
    y, s = np.where(np.arange(60) % 5 == 0, 1.0, -1.0), 3 * rng.standard_normal(60)

    def slopes(t):
        return (
            sum(one * loss.slope(one * (x + t)) for one, x in zip(y, s, strict=True)),
            sum(loss.curvature(one * (x + t)) for one, x in zip(y, s, strict=True)),
        )

    assert abs(slopes(best_smooth_intercept(slopes, b))[0]) <= 1e-7 * 60
    assert best_smooth_intercept(lambda t: (-1.0, 0.0), b) == b  # one class only
