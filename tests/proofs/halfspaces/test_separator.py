"""A separator is certified by its exact least lead, in floats or in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.proofs.halfspaces.separator import (
    centred,
    certify,
    certify_rounded,
    certify_whole,
)


def exact_square(X, codes, w, b):
    """margin² in fractions."""
    scores = (sum(Fraction(a) * Fraction(c) for a, c in zip(w, x, strict=True)) for x in X.tolist())
    leads = [
        (score + Fraction(b)) * (1 if y else -1) for score, y in zip(scores, codes, strict=True)
    ]
    return min(leads) ** 2 / sum(Fraction(a) ** 2 for a in w)


def test_the_square_of_the_margin_is_exact():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    w, b = [1.0, -2.0, 0.5], 0.25
    codes = (X @ w + b > 0).astype(int)
    separator = certify(Halfspaces.of(X, codes), np.array([*w, b]))
    assert separator.square == exact_square(X, codes, w, b)
    assert Fraction(separator.margin) ** 2 <= separator.square


def test_what_separates_only_by_rounding_is_refused():
    X, codes = np.array([[0.1, 0.2], [0.3, -0.3]]), np.array([1, 0])
    # 0.1·3 + 0.2·3 − 0.9 is not zero in floats, and on the wrong side of it in fractions
    v = np.array([3.0, 3.0, -(0.1 * 3 + 0.2 * 3)])
    lead = Fraction(0.1) * 3 + Fraction(0.2) * 3 + Fraction(v[2])
    assert (certify(Halfspaces.of(X, codes), v) is not None) == (lead > 0)
    assert certify(Halfspaces.of(X, codes), -v) is None
    assert certify(Halfspaces.of(X, codes), np.full(3, np.nan)) is None


def test_many_classes_have_the_margin_of_their_differences():
    X, codes = np.array([[2.0, 0.0], [0.0, 2.0], [-2.0, -2.0]]), np.array([0, 1, 2])
    W = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, -1.0, 0.0]])
    S = X @ W[:, :2].T
    least = min(S[i, i] - S[i, k] for i in range(3) for k in range(3) if i != k)
    separator = certify(Halfspaces.of(X, codes), W.ravel())
    assert separator.square == Fraction(least) ** 2 / (2 * 4)


def test_whole_weights_stay_fractions_only_where_floats_cannot_hold_them():
    X, codes = np.array([[1.0], [3.0]]), np.array([0, 1])
    problem = Halfspaces.of(X, codes)
    assert certify_whole(problem, [1, -2]).plane is None
    fine = [10**40 + 1, -2 * 10**40]
    exact = certify_whole(problem, fine)
    assert exact.plane is not None
    assert exact.plane[0][0] / exact.plane[0][1] == Fraction(*fine)
    assert certify_rounded(problem, fine).plane is None  # near floats are as good
    assert certify_whole(problem, [1, -3]) is None  # a row on the plane


def test_the_bias_is_put_half_way_unless_there_is_none():
    X, codes = np.array([[1.0], [3.0]]), np.array([0, 1])
    assert centred(Halfspaces.of(X, codes), np.array([1.0, -1.5])).tolist() == [1.0, -2.0]
    through = Halfspaces.of(X, codes, fit_intercept=False)
    assert centred(through, np.array([1.0, 0.0])).tolist() == [1.0, 0.0]
    assert certify(Halfspaces.of(X, codes), np.array([1.0, -2.0])).margin == pytest.approx(1.0)
