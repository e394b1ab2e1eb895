"""The problems, and what every answer is judged by."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.sources import covtype, imdb, mnist, news

Array = Any


class Workload(NamedTuple):
    """A problem: ½‖w‖² + C Σ loss, with a free intercept or none.

    Attributes
    ----------
    loss : 'logistic', 'multinomial', 'hinge' or 'squared_hinge'
    wanted : at which accuracies linsep should be ahead, and by which factor
    """

    name: str
    load: Callable[[], tuple[Array, Array]]
    loss: str
    C: float
    intercept: bool
    wanted: dict[float, float]


def _standardised() -> tuple[Array, Array]:
    X, y, _ = covtype()
    spread = X.std(axis=0)
    return np.ascontiguousarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)), y == 2


def _digits() -> tuple[Array, Array]:
    X, y, _ = mnist()
    return X, y


def _reviews() -> tuple[Array, Array]:
    X, y, _ = imdb()
    return sp.csr_matrix(X), y


def _news() -> tuple[Array, Array]:
    X, y, _ = news()
    return sp.csr_matrix(X), y


SPARSE = {1e-3: 4.0, 1e-4: 4.0}
WORKLOADS = [
    Workload("covtype logistic", _standardised, "logistic", 1.0, True, {1e-4: 5.0}),
    Workload("MNIST multinomial", _digits, "multinomial", 0.01, True, {1e-4: 5.0}),
    Workload("IMDB hinge", _reviews, "hinge", 1.0, False, SPARSE),
    Workload("IMDB squared hinge", _reviews, "squared_hinge", 1.0, False, SPARSE),
    Workload("IMDB logistic", _reviews, "logistic", 1.0, False, SPARSE),
    Workload("20news multinomial", _news, "multinomial", 1.0, False, SPARSE),
]


def objective(work: Workload, X: Array, y: Array, coef: Array, intercept: Array) -> float:
    """½‖w‖² + C Σ loss in float64, by code that no solver shares."""
    W = np.atleast_2d(np.asarray(coef, np.float64))
    b = np.asarray(intercept, np.float64).ravel()
    total = 0.0
    for start in range(0, X.shape[0], 8192):
        part = X[start : start + 8192].astype(np.float64)
        scores = np.asarray(part @ W.T) + (b if b.size else 0.0)
        total += float(_losses(work.loss, scores, y[start : start + 8192]).sum())
    return 0.5 * float((W**2).sum()) + work.C * total


def _losses(loss: str, scores: Array, y: Array) -> Array:
    if loss == "multinomial":
        top = scores.max(axis=1)
        own = scores[np.arange(len(y)), y]
        return np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top - own
    z = np.where(y, 1.0, -1.0) * scores[:, 0]
    if loss == "logistic":
        return np.logaddexp(0.0, -z)
    slack = np.maximum(0.0, 1.0 - z)
    return slack if loss == "hinge" else slack**2
