"""Directions without spread: confirmed by the rows, corrected where a matrix blurred them."""

import numpy as np
import pytest

from linsep.train.closed.empty_directions import SKETCH, empty_directions


def split(Z, least=1e-6):
    Z = Z / np.sqrt(np.square(Z).sum(axis=0))

    def against(N, back):
        return Z.T @ (Z @ N), np.square(Z @ N).sum(axis=0)

    def limit(N):
        return np.full(N.shape[1], 16 * Z.shape[1] * 2.0**-53)

    return Z, empty_directions(Z.T @ Z, against, limit, least)


@pytest.mark.parametrize("dependent", [1, SKETCH, 20])
def test_combinations_of_other_columns_leave_as_many_empty_directions(dependent):
    rng = np.random.default_rng(dependent)
    X = rng.integers(-4, 5, (400, 6)).astype(float)
    Z, found = split(np.hstack([X, X @ rng.integers(-2, 3, (6, dependent)) * 2 + X[:, :1]]))
    assert found.empty.shape[1] == dependent
    assert np.abs(Z @ found.empty).max() < 1e-13
    both = np.hstack([found.vectors, found.empty])
    np.testing.assert_allclose(both.T @ both, np.eye(6 + dependent), atol=1e-13)
    np.testing.assert_allclose(
        np.sort(np.linalg.svd(Z, compute_uv=False)[:6] ** 2), np.sort(found.values), rtol=1e-8
    )


@pytest.mark.parametrize("columns", [1, 9])
def test_a_spread_that_sums_of_squares_hide_is_not_taken_for_none(columns):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    hidden = X[:, [0] * columns] + 1e-7 * rng.standard_normal((300, columns))
    assert split(np.hstack([X, hidden]))[1] is None


def test_one_hidden_spread_among_many_empty_directions_is_seen():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (500, 4)).astype(float) + np.eye(500, 4)
    copies = np.repeat(X, 6, axis=1)
    copies[:, -1] += 1e-7 * rng.standard_normal(500)
    assert split(copies)[1] is None


def test_eigenvalues_below_what_can_be_trusted_are_left_to_a_factor():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 2))
    assert split(np.column_stack([X, X[:, 0] + 1e-4 * X[:, 1]]), least=1e-6)[1] is not None
    X = rng.standard_normal((200, 3))
    assert split(np.column_stack([X[:, :2], X[:, 0] + 1e-4 * X[:, 2]]), least=1e-6)[1] is None
