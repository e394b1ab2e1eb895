"""Kernels against the inner products they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from linsep.errors import DataError, ParameterError
from linsep.rows.kernels import PIECE, Kernel, check_kernel, kernel_of


def integers(n, d, seed=0):
    return np.random.default_rng(seed).integers(-4, 5, (n, d)).astype(float)


def tensor_power(X, degree):
    """φ(x) = (x, 1) ⊗ ... ⊗ (x, 1), for which ⟨φ(x), φ(x')⟩ = (⟨x, x'⟩ + 1)^degree."""
    one = np.column_stack([X, np.ones(len(X))])
    power = one
    for _ in range(degree - 1):
        power = (power[:, :, None] * one[:, None, :]).reshape(len(X), -1)
    return power


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_poly_is_the_inner_product_of_tensor_powers(degree, layout, dtype):
    A, B = integers(7, 3), integers(9, 3, seed=1)
    kernel = Kernel("poly", degree, 1.0, 1.0)
    expected = tensor_power(A, degree) @ tensor_power(B, degree).T
    assert (kernel(layout(A.astype(dtype)), layout(B.astype(dtype))) == expected).all()


@pytest.mark.parametrize("first", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("second", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("form", ["linear", "poly", "rbf"])
def test_named_kernels_agree_with_scikit_learn_in_every_layout(form, first, second):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((20, 6)), rng.standard_normal((30, 6))
    A[rng.random(A.shape) < 0.5] = 0
    parameters = {"degree": 3, "gamma": 0.3, "coef0": 0.7}
    found = Kernel(form, **parameters)(first(A), second(B))
    expected = pairwise_kernels(A, B, form, filter_params=True, **parameters)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_rbf_of_float32_rows_keeps_the_digits_of_close_rows_far_from_zero():
    X = np.array([[1000.0, 1000.0], [1000.5, 1000.0], [1000.0, 1001.0]], np.float32)
    expected = np.exp(-((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2).astype(float))
    np.testing.assert_allclose(Kernel("rbf", gamma=1.0)(X, X), expected, rtol=1e-9)


@pytest.mark.parametrize("form", ["linear", "poly", "rbf"])
def test_pieces_do_not_show_in_the_values(form):
    A, B = integers(3, 2), integers(2 * PIECE + 5, 2, seed=1)
    kernel = Kernel(form, 2, 0.01, 1.0)
    one_by_one = np.concatenate([kernel(A, B[j : j + 1]) for j in range(len(B))], axis=1)
    np.testing.assert_allclose(kernel(A, B), one_by_one, rtol=1e-14)


rows = st.lists(st.lists(st.integers(-5, 5), min_size=2, max_size=2), min_size=1, max_size=6)


@given(rows, st.sampled_from(["linear", "poly", "rbf"]), st.integers(1, 4), st.floats(0, 3))
def test_a_gram_matrix_is_symmetric_and_positive_semidefinite(points, form, degree, coef0):
    """So that it is one of inner products in some feature space (Mercer)."""
    X = np.array(points, float)
    K = Kernel(form, degree, 0.5, coef0)(X, X)
    assert (np.abs(K - K.T) <= 1e-12 * np.abs(K).max()).all()
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.trace(K)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_gamma_by_name_is_that_of_scikit_learn(gamma, layout):
    X = layout(integers(20, 3))
    svc = SVC(gamma=gamma).fit(X, np.arange(20) % 2)
    found = kernel_of("rbf", 3, gamma, 0.0, X).gamma
    assert found == pytest.approx(svc._gamma, rel=1e-14)


def test_rows_that_are_all_alike_have_gamma_one():
    assert kernel_of("rbf", 3, "scale", 0.0, np.ones((3, 2))).gamma == 1.0


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_a_function_is_handed_the_rows_as_they_are(layout):
    seen = []

    def dots(A, B):
        seen.append((type(A), A.dtype, type(B)))
        return A @ B.T

    X = layout(integers(4, 3).astype(np.float32))
    K = Kernel(dots)(X, X)
    assert (Kernel("linear")(X, X) == K).all()
    assert K.dtype == np.float64
    assert seen == [(type(X), np.float32, type(X))]


def test_a_function_never_has_to_mix_layouts():
    def dots(A, B):
        assert sp.issparse(A) == sp.issparse(B)
        return A @ B.T

    X = integers(4, 3)
    assert (Kernel(dots)(sp.csr_array(X), X) == X @ X.T).all()


def broken(value):
    def kernel(A, B):
        K = np.ones((len(A), len(B)))
        K[1, 2] = value
        return K

    return kernel


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_a_function_that_returns_no_number_is_named_with_the_rows(value, word):
    message = f"kernel kernel gives {word} for row 11 and row 32. It must return finite numbers"
    with pytest.raises(DataError, match=message):
        Kernel(broken(value))(np.ones((3, 1)), np.ones((4, 1)), range(10, 13), range(30, 34))


def test_a_function_that_is_not_symmetric_is_named_with_both_values():
    message = r"kernel is not symmetric: κ\(row 1, row 2\) is 5 but κ\(row 2, row 1\) is 1"
    with pytest.raises(DataError, match=message):
        Kernel(broken(5.0)).square(np.ones((3, 1)))


def test_rounding_is_no_lack_of_symmetry():
    K = Kernel(broken(1.0 + 1e-9)).square(np.ones((3, 1)))
    assert K[1, 2] == 1.0 + 1e-9


def test_a_function_of_two_rows_is_told_that_matrices_are_meant():
    def of_rows(a, b):
        return float((a * b).sum())

    message = r"of_rows returned shape \(\) for 3 rows and 3 rows; .* shape \(3, 3\)"
    with pytest.raises(DataError, match=message):
        Kernel(of_rows)(np.ones((3, 2)), np.ones((3, 2)))


def test_a_function_that_returns_complex_numbers_is_refused():
    with pytest.raises(DataError, match="values of type complex128"):
        Kernel(lambda A, B: A @ B.T + 1j)(np.ones((3, 2)), np.ones((3, 2)))


def test_a_power_beyond_the_range_of_floats_is_named():
    X = np.full((2, 1), 1e100)
    message = "kernel 'poly' gives infinity for row 0 and row 0. Divide X by"
    with pytest.raises(DataError, match=message):
        Kernel("poly", 3, 1.0, 0.0)(X, X)


def test_large_values_are_refused_only_where_one_of_them_is_infinite():
    X = np.full((2, 1), 1e154)  # each square is finite, the sum of four is not
    assert np.isfinite(Kernel("linear")(X, X)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (("sigmoid", 3, 1.0, 0.0), "kernel is 'sigmoid'; choose one of 'linear', 'poly', 'rbf'"),
        ((None, 3, 1.0, 0.0), "kernel is None"),
        (("poly", 0, 1.0, 0.0), "degree is 0; give a whole number > 0"),
        (("poly", 2.5, 1.0, 0.0), "degree is 2.5"),
        (("poly", True, 1.0, 0.0), "degree is True"),
        (("rbf", 3, 0.0, 0.0), "gamma is 0.0; give 'scale', 'auto' or a finite number > 0"),
        (("rbf", 3, "wide", 0.0), "gamma is 'wide'"),
        (("rbf", 3, np.inf, 0.0), "gamma is inf"),
        (("poly", 3, 1.0, np.nan), "coef0 is nan; give a finite number"),
    ],
)
def test_parameters_that_name_no_kernel_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        check_kernel(*parameters)
