"""Signs and least scores are exact for every float there is."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep.proofs.exact.scores import (
    bracket,
    least,
    least_difference,
    root_above,
    root_below,
    sides,
    whole,
)

floats = st.floats(allow_nan=False, allow_infinity=False)
tame = st.sampled_from([0.0, 1.0, -1.0, 0.1, 0.2, 0.3, -0.3, 3.0, 1e16, -1e16, 5e-324])
either = st.one_of(floats, tame)


@st.composite
def planes(draw, numbers=either):
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n)))
    w = np.array(draw(st.lists(numbers, min_size=d, max_size=d)))
    return X, w, draw(numbers)


def exact_scores(X, w, b):
    return [
        sum((Fraction(a) * Fraction(x) for a, x in zip(w, row, strict=True)), Fraction(b))
        for row in X.tolist()
    ]


@settings(max_examples=300, deadline=None)
@given(planes())
def test_sides_are_the_signs_of_rational_scores(problem):
    X, w, b = problem
    exact = exact_scores(X, w, b)
    assert sides(X, w, b).tolist() == [(s > 0) - (s < 0) for s in exact]
    assert sides(sp.csr_array(X), w, b).tolist() == [(s > 0) - (s < 0) for s in exact]


@settings(max_examples=200, deadline=None)
@given(planes())
def test_the_bracket_holds_the_rational_score(problem):
    X, w, b = problem
    s, e, k = bracket(X, w, b)
    for value, error, exact in zip(s.tolist(), e.tolist(), exact_scores(X, w, b), strict=True):
        assert abs(Fraction(value) - exact / Fraction(2) ** k) <= Fraction(error)


@settings(max_examples=200, deadline=None)
@given(planes(), st.randoms(use_true_random=False))
def test_the_least_score_is_the_rational_minimum(problem, random):
    X, w, b = problem
    signs = np.array([random.choice([-1, 1]) for _ in range(len(X))])
    exact = exact_scores(X, w, b)
    assert least(X, signs, w, b) == min(int(t) * s for t, s in zip(signs, exact, strict=True))


@settings(max_examples=100, deadline=None)
@given(planes(), planes(), planes())
def test_the_least_difference_of_three_classes_is_the_rational_minimum(first, second, third):
    X = first[0]
    d = X.shape[1]
    W = np.array([np.resize(p[1], d) for p in (first, second, third)])
    b = np.array([p[2] for p in (first, second, third)])
    codes = np.arange(len(X)) % 3
    S = [exact_scores(X, W[k], b[k]) for k in range(3)]
    want = min(S[codes[i]][i] - S[k][i] for i in range(len(X)) for k in range(3) if k != codes[i])
    assert least_difference(X, codes, W, b) == want


@given(st.lists(floats, max_size=5))
def test_whole_numbers_give_back_the_floats(values):
    numbers, shift = whole(np.array(values))
    assert [Fraction(n) / Fraction(2) ** shift for n in numbers] == [Fraction(v) for v in values]


@given(st.fractions(min_value=0), st.integers(-2200, 2000))
def test_roots_are_rounded_to_the_stated_side(value, exponent):
    square = value * Fraction(2) ** exponent
    low, high = root_below(square), root_above(square)
    assert Fraction(low) ** 2 <= square
    assert high == np.inf or Fraction(high) ** 2 >= square
    if 1e-290 < low < 1e290:
        assert high <= low * (1 + 1e-14)


def test_whole_numbers_on_the_plane_need_no_second_look():
    X = np.random.default_rng(0).integers(-5, 6, (10_000, 8)).astype(float)
    w = np.array([3.0, -2, 1, 0, 4, -1, 2, 1])
    s, e, _ = bracket(X, w, 2.0)
    assert e.max() == 0
    assert np.array_equal(s, X.astype(int) @ w.astype(int) + 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float32_rows_are_taken_as_stored(dtype):
    X = np.array([[0.1]], dtype)
    assert least(X, np.array([1]), np.array([1.0]), 0.0) == Fraction(float(dtype(0.1)))
