"""The features of rows in a few numbers each."""

from typing import Any, NamedTuple

import numpy as np


class Column(NamedTuple):
    """A feature: its name, mean, standard deviation, extremes, and the share of zeros."""

    name: str
    mean: float
    spread: float
    least: float
    most: float
    zeros: float


def columns_of(X: Any, names: list[str]) -> list[Column]:
    """All of them, in their order.

    >>> columns_of(np.array([[0.0], [4.0]]), ["size"])
    [Column(name='size', mean=2.0, spread=2.0, least=0.0, most=4.0, zeros=0.5)]
    """
    n = X.shape[0]
    if hasattr(X, "tocsr"):
        mean = np.asarray(X.mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2, 0))
        least, most = (_dense(X.min(axis=0)), _dense(X.max(axis=0)))
        zeros = 1 - np.bincount(X.tocsc().nonzero()[1], minlength=X.shape[1]) / n
    else:
        X = np.asarray(X, float)
        mean, spread = X.mean(axis=0), X.std(axis=0)
        least, most, zeros = X.min(axis=0), X.max(axis=0), (X == 0).mean(axis=0)
    numbers = np.column_stack([mean, spread, least, most, zeros]).tolist()
    return [Column(name, *one) for name, one in zip(names, numbers, strict=True)]


def _dense(row: Any) -> Any:
    return np.asarray(row.toarray() if hasattr(row, "toarray") else row, float).ravel()
