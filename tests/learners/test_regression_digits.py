"""How many digits of a regression are right, against exact rational and certified answers."""

from fractions import Fraction

import numpy as np
import pytest

from linref import nist
from linsep import LinearRegression


def exactly(X, y):
    """Intercept and weights as fractions, by Gauss-Jordan elimination of the normal equations."""
    rows = [[Fraction(1), *map(Fraction, row)] for row in X.tolist()]
    t = [Fraction(v) for v in y.tolist()]
    k = len(rows[0])
    A = [
        [*(sum(r[i] * r[j] for r in rows) for j in range(k)),
         sum(r[i] * v for r, v in zip(rows, t, strict=True))]
        for i in range(k)
    ]  # fmt: skip
    for i in range(k):
        A[i] = [v / A[i][i] for v in A[i]]
        for r in range(k):
            if r != i and A[r][i]:
                A[r] = [a - A[r][i] * b for a, b in zip(A[r], A[i], strict=True)]
    return [A[i][k] for i in range(k)]


def digits(learner, X, y):
    """Right digits of the worst coefficient: −log₁₀ of its relative error."""
    found = [learner.intercept_, *learner.coef_]
    errors = [
        abs(float((Fraction(float(f)) - e) / e)) for f, e in zip(found, exactly(X, y), strict=True)
    ]
    return -np.log10(max(*errors, 1e-17))


def polynomial(n=82, degree=10):
    """Powers 1 to 10 of points between −9 and −3, and a response that is not a polynomial."""
    rng = np.random.default_rng(82)
    x = -np.sort(rng.choice(np.arange(3 * 32, 9 * 32), n, replace=False)) / 32
    X = np.stack([x**k for k in range(1, degree + 1)], axis=1)
    return X, rng.integers(750, 950, n) / 1024


def certified_digits(X, y, answer):
    learner = LinearRegression().fit(X, y)
    errors = np.abs(np.append(learner.intercept_, learner.coef_) / answer - 1)
    return -np.log10(max(errors.max(), 1e-16))


def test_nearly_collinear_series_have_fourteen_certified_digits():
    assert certified_digits(*nist.longley()) > 14


@pytest.mark.parametrize("number", [1, 3, 4, 5])
def test_polynomials_of_degree_five_are_certified_to_the_last_digit(number):
    assert certified_digits(*nist.wampler(number)) == 16


def test_rounded_data_limit_the_certified_digits():
    assert certified_digits(*nist.wampler(2)) > 12


def test_many_rows_keep_the_digits_of_an_orthogonal_factor():
    X, y = polynomial()
    many = LinearRegression().fit(np.tile(X[:, :6], (1000, 1)), np.tile(y, 1000))
    assert digits(many, X[:, :6], y) > 6


def test_a_polynomial_of_degree_ten_is_right_to_the_last_digit():
    X, y = polynomial()
    assert digits(LinearRegression().fit(X, y), X, y) > 15.5


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_an_offset_leaves_many_digits(offset):
    X, y = np.random.default_rng(0).standard_normal((100, 4)), np.arange(100.0)
    X = X + offset
    assert digits(LinearRegression().fit(X, y), X, y) > 12
