"""Moments from block sums: right to the last digits at any scale, and the same bytes always."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.errors import DataError, OverflowedError
from linsep.train.closed.frame import in_units
from linsep.train.closed.moments import factor_of, moments
from linsep.train.closed.tsqr import triangle
from linsep.train.problem import Problem


def covariance(found):
    return in_units(found.scatter, found.frame.exponents)


def cloud(n=40, d=3, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + codes[:, None]
    return X, codes.astype(np.int32)


def exactly(X, codes, weights):
    """Class means and within-class covariance as fractions of the floats in X."""
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    c = [Fraction(w) for w in weights.tolist()]
    d, total = len(rows[0]), sum(c)
    means = {}
    for k in sorted(set(codes.tolist())):
        mine = [i for i in range(len(rows)) if codes[i] == k]
        size = sum(c[i] for i in mine)
        means[k] = [sum(c[i] * rows[i][j] for i in mine) / size for j in range(d)]
    about = [
        [x - m for x, m in zip(r, means[k], strict=True)] for r, k in zip(rows, codes, strict=True)
    ]
    S = [
        [sum(w * z[a] * z[b] for w, z in zip(c, about, strict=True)) / total for b in range(d)]
        for a in range(d)
    ]
    return means, S


SCALES = [(1.0, 0.0), (1e150, 0.0), (1e-150, 0.0), (1e300, 0.0), (1e-300, 0.0)]
OFFSETS = [(1.0, 1e6), (1.0, 1e9), (1.0, 1e12), (1.0, 1e15), (1e-8, 1e6)]


@pytest.mark.parametrize(("scale", "offset"), SCALES + OFFSETS)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_means_and_scatter_are_those_of_exact_arithmetic(scale, offset, layout):
    X, codes = cloud()
    X = X * scale + offset
    weights = np.random.default_rng(1).integers(1, 4, len(X)) / 2
    found = moments(Problem(layout(X), codes, weights, 2))
    means, S = exactly(X, codes, weights)
    units = [Fraction(2) ** int(e) for e in found.frame.exponents]
    for a in range(3):
        for b in range(3):
            size = float(S[a][a] / units[a] ** 2 * S[b][b] / units[b] ** 2) ** 0.5
            error = Fraction(found.scatter[a, b]) - S[a][b] / units[a] / units[b]
            assert abs(float(error)) < 1e-14 * size
        apart = (means[1][a] - means[0][a]) / units[a]
        spread = float(S[a][a] / units[a] ** 2) ** 0.5
        error = Fraction(found.offsets[1, a]) - Fraction(found.offsets[0, a]) - apart
        assert abs(float(error)) < 1e-14 * spread


def test_a_power_of_two_changes_no_digit():
    X, codes = cloud()
    plain, scaled = (moments(Problem(Z, codes, None, 2)) for Z in (X, X * 2.0**900))
    assert plain.scatter.tobytes() == scaled.scatter.tobytes()
    assert (plain.means * 2.0**900).tobytes() == scaled.means.tobytes()


def test_a_row_of_weight_three_is_three_rows():
    X, codes = cloud()
    times = np.random.default_rng(2).integers(0, 4, len(X))
    weighted = moments(Problem(X, codes, times.astype(float), 2))
    repeated = moments(Problem(X.repeat(times, axis=0), codes.repeat(times), None, 2))
    np.testing.assert_allclose(covariance(weighted), covariance(repeated), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(weighted.means, repeated.means, rtol=1e-13, atol=1e-15)


def test_a_row_without_weight_leaves_no_trace_however_large():
    X, codes = cloud()
    weights = np.ones(len(X) + 1)
    weights[-1] = 0
    more = np.vstack([X, np.full((1, 3), 1e300)])
    with_it = moments(Problem(more, np.append(codes, 0), weights, 2))
    assert with_it.scatter.tobytes() == moments(Problem(X, codes, None, 2)).scatter.tobytes()


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_threads_change_no_byte(layout, kind):
    X, codes = cloud(n=9000, d=20, classes=3)
    X = layout(X.astype(kind))
    one, two = (moments(Problem(X, codes, None, 3, n_jobs)) for n_jobs in (1, 2))
    assert one.scatter.tobytes() == two.scatter.tobytes()
    assert one.offsets.tobytes() == two.offsets.tobytes()
    R = [factor_of(one, Problem(X, codes, None, 3, n_jobs)).tobytes() for n_jobs in (1, 2)]
    assert R[0] == R[1]


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_sparse_rows_give_what_dense_rows_give(offset):
    rng = np.random.default_rng(3)
    X, codes = cloud(n=5000, d=12, classes=3)
    X[:, :8] *= rng.random((5000, 8)) < 0.2  # eight mostly empty columns, four filled ones
    X[:, 8:] += offset
    weights = rng.random(5000)
    dense, sparse = (moments(Problem(Z, codes, weights, 3)) for Z in (X, sp.csr_array(X)))
    size = np.sqrt(dense.scatter.diagonal())
    assert np.abs((dense.scatter - sparse.scatter) / np.outer(size, size)).max() < 1e-12
    assert np.abs((dense.offsets - sparse.offsets) / size).max() < 1e-12


def test_the_triangle_holds_the_scatter():
    X, codes = cloud(n=9000, d=5)
    problem = Problem(X, codes, None, 2)
    found = moments(problem)
    R = factor_of(found, problem)
    np.testing.assert_allclose(R.T @ R, found.scatter, rtol=1e-12, atol=1e-16)


def test_the_triangle_of_few_rows_is_the_rows():
    X, codes = cloud(n=3, d=7)
    R = triangle(Problem(X, codes, None, 2), lambda block: block.rows.X)
    assert R.tobytes() == X.tobytes()


def test_one_class_against_the_rest_is_what_two_classes_give():
    X, codes = cloud(n=300, classes=4)
    merged = moments(Problem(X, codes, None, 4)).against_rest(2)
    direct = moments(Problem(X, (codes == 2).astype(np.int32), None, 2))
    np.testing.assert_allclose(covariance(merged), covariance(direct), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(merged.means, direct.means, rtol=1e-12, atol=1e-14)


def test_more_columns_than_a_matrix_can_have_are_refused():
    X = sp.csr_array((30_000, 25_000))
    with pytest.raises(DataError, match=r"25000 columns.*TruncatedSVD"):
        moments(Problem(X, np.arange(30_000, dtype=np.int32) % 2, None, 2))


def test_a_class_without_weight_is_refused():
    X, codes = cloud()
    with pytest.raises(DataError, match="class number 1"):
        moments(Problem(X, codes, (codes == 0).astype(float), 2))


def test_a_covariance_that_no_float_can_hold_is_refused():
    X, codes = cloud()
    with pytest.raises(OverflowedError, match=r"1e\+60\d"):
        covariance(moments(Problem(X * 1e300, codes, None, 2)))


def test_weights_of_any_size_mean_the_same():
    X, codes = cloud()
    weights = np.random.default_rng(4).random(len(X)) + 0.1
    plain = moments(Problem(X, codes, weights, 2))
    for scale in (2.0**-1000, 2.0**1000):
        scaled = moments(Problem(X, codes, weights * scale, 2))
        assert scaled.scatter.tobytes() == plain.scatter.tobytes()
