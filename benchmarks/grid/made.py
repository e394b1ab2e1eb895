"""Shapes that real sets lack: tall, wide, embeddings, text, one-hot tables, click logs."""

from typing import Any

import numpy as np
import scipy.sparse as sp

Array = Any


def _drawn(scores: Array, rng: Any) -> Array:
    """−1 or +1 with the probability that the logistic model gives."""
    return np.where(rng.random(len(scores)) < 1 / (1 + np.exp(-scores)), 1, -1)


def correlated(n: int, d: int, seed: int) -> tuple[Array, Array]:
    """Gaussian rows, half of whose columns share a part; logistic labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1 : d // 2] += 0.7 * X[:, :1]
    scores = X @ rng.standard_normal(d)
    return X, _drawn(2 * scores / scores.std(), rng)


def embeddings(n: int, d: int, classes: int, seed: int) -> tuple[Array, Array]:
    """Float32 rows of one length with a spectrum that falls off as k^-0.6, rotated.

    Two classes: logistic labels. More: the class is drawn from a softmax of linear scores, so that
    held-out accuracy stays away from one.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), np.float32) * np.arange(1, d + 1, dtype=np.float32) ** -0.6
    X = X @ np.linalg.qr(rng.standard_normal((d, d)))[0].astype(np.float32)
    X *= np.sqrt(d) / np.linalg.norm(X, axis=1, keepdims=True)
    if classes == 2:
        scores = X @ rng.standard_normal(d)
        return X, _drawn(2 * scores / scores.std(), rng)
    S = X @ rng.standard_normal((d, classes)).astype(np.float32)
    S *= 3 / S.std()
    S += rng.gumbel(size=S.shape)
    return X, S.argmax(axis=1)


def clusters(n: int, d: int, classes: int, seed: int, apart: float = 0.3) -> tuple[Array, Array]:
    """What an image network makes of many classes: a mean for each and noise, of one spectrum.

    Rows are float32, of length √d and made in pieces, so that no copy of them is needed.
    """
    rng = np.random.default_rng(seed)
    spectrum = np.arange(1, d + 1, dtype=np.float32) ** -0.6
    spectrum /= np.sqrt(np.mean(spectrum**2))
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0].astype(np.float32)
    means = apart * rng.standard_normal((classes, d), np.float32) * spectrum
    y = rng.integers(0, classes, n)
    X = np.empty((n, d), np.float32)
    for start in range(0, n, 8192):
        part = X[start : start + 8192]
        noise = rng.standard_normal(part.shape, np.float32) * spectrum
        part[:] = (means[y[start : start + 8192]] + noise) @ turn
        part *= np.sqrt(d) / np.linalg.norm(part, axis=1, keepdims=True)
    return X, y


def text(n: int, d: int, words: int, classes: int, seed: int) -> tuple[Array, Array]:
    """Rows of words drawn by a power law, TF-IDF, unit length."""
    rng = np.random.default_rng(seed)
    columns = np.minimum(float(d) ** rng.random((n, words)) - 1, d - 1).astype(np.int64)
    X = _counts(columns, d)
    X.data = 1 + np.log(X.data)
    X = X @ sp.diags_array(np.log(n / (1 + np.bincount(X.indices, minlength=d))) + 1)
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_matrix(sp.diags_array(1 / length) @ X)
    if classes == 2:
        scores = X @ rng.standard_normal(d)
        return X, _drawn(3 * scores / scores.std(), rng)
    S = X @ rng.standard_normal((d, classes))
    return X, (4 * S / S.std() + rng.gumbel(size=S.shape)).argmax(axis=1)


def one_hot(n: int, columns: int, levels: int, seed: int) -> tuple[Array, Array]:
    """Categories as zeros and ones, rare ones included."""
    rng = np.random.default_rng(seed)
    chance = np.arange(1, levels + 1) ** -1.5
    codes = rng.choice(levels, (n, columns), p=chance / chance.sum())
    X = _counts(codes + levels * np.arange(columns), levels * columns)
    return X, _drawn(X @ rng.standard_normal(levels * columns), rng)


def clicks(n: int, fields: int, buckets: int, seed: int) -> tuple[Array, Array]:
    """A log of clicks: ids of very unequal frequency hashed to buckets; one row in seven clicks."""
    rng = np.random.default_rng(seed)
    size = np.logspace(1, 5, fields)  # distinct ids of each field
    ids = (size ** rng.random((n, fields))).astype(np.int64)
    columns = ((ids * 2654435761 + np.arange(fields) * 40503) & 0xFFFFFFFF) % buckets
    X = _counts(columns, buckets)
    return X, _drawn(0.35 * (X @ rng.standard_normal(buckets)) - 1.9, rng)


def _counts(columns: Array, d: int) -> Any:
    """CSR rows with a one for each column named, summed where one is named twice."""
    n, k = columns.shape
    X = sp.csr_matrix((np.ones(n * k), columns.ravel(), np.arange(0, n * k + 1, k)), shape=(n, d))
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X
