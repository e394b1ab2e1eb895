"""Novikoff's bound is confirmed by code of its own, and nothing else is."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.data import toys
from linsep.proofs.mistakes.mistake_bound import mistake_bound
from linsep.proofs.verify.mistake_bound import check_bound


def separated(seed):
    """Rows of two to four classes that weights of whole numbers separate, large, small or plain."""
    rng = np.random.default_rng(seed)
    d, classes = 1 + seed % 4, 2 + seed % 3
    W, X = rng.integers(-3, 4, (classes, d + 1)), rng.normal(size=(60, d))
    scores = X @ W[:, :d].T + W[:, d]
    clear = np.diff(np.sort(scores, axis=1)[:, -2:])[:, 0] > 0.2
    X, y = X[clear], scores[clear].argmax(axis=1)
    return X * float(rng.choice([1.0, 0.1, 1e150, 1e-150])), y


ASKED = [{}, {"bias_step": "radius"}, {"fit_intercept": False}]


@pytest.mark.parametrize("asked", ASKED, ids=["unit", "radius", "origin"])
@pytest.mark.parametrize("seed", range(12))
def test_a_bound_is_confirmed_and_no_better_number_is(seed, asked):
    X, y = separated(seed)
    found = mistake_bound(X, y, **asked)
    if found.bound == np.inf:  # of planes through the origin
        assert "no bound" in check_bound(found, X, y)
        return
    assert check_bound(found, X, y) == ""
    assert found.verify(sp.csr_array(X), y)
    for other, problem in (
        ({"radius": found.radius * (1 - 1e-9)}, "longer"),
        ({"margin": found.margin * (1 + 1e-9)}, "less than"),
        ({"bound": found.bound - 1 - found.bound // 10**9}, "more than"),
        ({"weights": -found.weights}, "not on its side"),
    ):
        assert problem in check_bound(replace(found, **other), X, y)


def test_the_bound_is_of_these_rows():
    X, y = toys.three_points()
    found = mistake_bound(X, y)
    assert found.verify(X, y)
    assert not found.verify(np.asarray(X) * 2, y)
    assert not found.verify(X, [1, -1, -1])


def test_a_separator_in_fractions_is_confirmed_too():
    X = np.array([[1e16, 1.0], [1e16 + 2, 1.0], [1e16 + 4, -1.0]])
    y = [0, 1, 1]
    found = mistake_bound(X, y)
    assert found.verify(X, y)
    plane = ((Fraction(1), Fraction(0), Fraction(-(10**16) - 1)),)
    exact = replace(found, plane=plane, margin=0.0, bound=10**70)
    assert exact.verify(X, y)
    assert not replace(exact, plane=((*plane[0][:2], Fraction(-(10**16) - 2)),)).verify(X, y)
