"""Axes from products of rows are the singular vectors, or are not taken."""

import numpy as np
import pytest

from linsep import LinearDiscriminantAnalysis
from linsep.train.closed import whitening
from linsep.train.closed.wide_axes import wide_axes


def test_axes_are_those_of_a_singular_value_decomposition():
    R = np.random.default_rng(0).normal(size=(12, 9000))
    R -= R.mean(axis=0)
    sigma, V = wide_axes(R)
    assert V.shape == (9000, 11)
    np.testing.assert_allclose(sigma, np.linalg.svd(R, compute_uv=False)[10::-1], rtol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(11), atol=1e-12)
    np.testing.assert_allclose((R @ V) @ V.T, R, atol=1e-11)


def test_spreads_of_very_different_size_are_left_to_the_decomposition():
    R = np.random.default_rng(1).normal(size=(3, 50)) * np.array([[1.0], [1.0], [1e-5]])
    assert wide_axes(R) == (None, None)
    assert wide_axes(np.zeros((2, 5))) == (None, None)


@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")  # rows fewer than columns
def test_wide_discriminants_are_the_same_either_way(monkeypatch):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 300)) * 10.0 ** rng.integers(-3, 3, 300), np.arange(40) % 3
    quick = LinearDiscriminantAnalysis().fit(X, y)
    monkeypatch.setattr(whitening, "wide_axes", lambda R: (None, None))
    slow = LinearDiscriminantAnalysis().fit(X, y)
    assert (quick.rank_, quick.status_) == (slow.rank_, slow.status_)
    np.testing.assert_allclose(quick.coef_, slow.coef_, rtol=1e-6)
    np.testing.assert_allclose(quick.transform(X), slow.transform(X), rtol=1e-6, atol=1e-6)


def test_cholesky_and_eigenvectors_give_the_same_discriminants(monkeypatch):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 7)) @ rng.normal(size=(7, 7)) + 50.0, np.arange(200) % 4
    X[y == 1] += 1.0
    quick = LinearDiscriminantAnalysis().fit(X, y)
    monkeypatch.setattr(whitening, "_full_rank", lambda moments: None)
    slow = LinearDiscriminantAnalysis().fit(X, y)
    assert quick.rank_ == slow.rank_ == 7
    np.testing.assert_allclose(quick.coef_, slow.coef_, rtol=1e-9)
    np.testing.assert_allclose(quick.scalings_, slow.scalings_, rtol=1e-8, atol=1e-10)
