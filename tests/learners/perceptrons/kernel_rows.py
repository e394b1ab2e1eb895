"""Rows and feature space for the tests of kernel perceptrons."""

import numpy as np

CACHES = [200, 0.1, 0]  # megabytes: the whole Gram matrix, some of its rows, none


def integers(seed, classes, n=600, d=3):
    """Small whole numbers, so that every sum is exact; a fifth of the labels is noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (n, d)).astype(float)
    codes = (X @ rng.integers(-3, 4, (d, classes))).argmax(axis=1)
    codes[:classes] = np.arange(classes)
    return X, np.where(rng.random(n) < 0.8, codes, rng.permutation(codes))


def quadratic(X):
    """φ with ⟨φ(x), φ(x')⟩ = (⟨x, x'⟩ + 1)²."""
    one = np.column_stack([X, np.ones(len(X))])
    return (one[:, :, None] * one[:, None, :]).reshape(len(X), -1)
