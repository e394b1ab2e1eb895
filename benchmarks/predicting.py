"""Prediction against the bare matrix product it cannot do without."""

from typing import Any

import numpy as np

from benchmarks.sources import covtype, imdb, mnist
from benchmarks.stopwatch import race
from linsep import LogisticRegression, Perceptron


def rows() -> list[dict[str, Any]]:
    """One line per kind of rows."""
    X, y, name = mnist()
    lines = [_line(f"{name}, 10 classes, labels", Perceptron(max_iter=2), X, y)]
    X, y, name = covtype()
    lines.append(_line(f"{name}, 2 classes, labels", LogisticRegression(tol=1e-2), X, y == 2))
    X, y, name = imdb()
    return [*lines, _line(f"{name}, sparse, labels", LogisticRegression(tol=1e-2), X, y)]


def _line(name: str, learner: Any, X: Any, y: Any) -> dict[str, Any]:
    some = np.random.default_rng(0).permutation(X.shape[0])[:5000]
    learner.fit(X[some], y[some])
    W = np.ascontiguousarray(learner.coef_.T.astype(X.dtype))
    times = race({"linsep": lambda: learner.predict(X), "product": lambda: X @ W}, 9)
    ours, bare = times["linsep"].best, times["product"].best
    return {
        "workload": name, "linsep": ours, "peer": bare, "ratio": ours / bare, "wanted": -1.2,
        "note": "peer column: the bare product X @ W.T",
    }  # fmt: skip
