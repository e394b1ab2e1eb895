"""A path of ten penalties with five folds, against scikit-learn's `LogisticRegressionCV`."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegressionCV

from benchmarks.sources import covtype, imdb
from benchmarks.stopwatch import race
from linsep import LogisticRegression, path

ROWS = 100_000  # of covtype: the peer needs minutes for all
REPEATS = 3


def rows() -> list[dict[str, Any]]:
    """One line per problem."""
    warnings.simplefilter("ignore")
    X, y, name = covtype()
    some = np.random.default_rng(0).permutation(len(X))[:ROWS]
    X, y = X[some], y[some] == 2
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
    lines = [_against_peer(f"{name} ({ROWS} rows), 10 values, 5 folds", X, y)]
    X, y, name = imdb()
    return [*lines, _against_peer(f"{name}, 10 values, 5 folds", sp.csr_matrix(X), y)]


def _against_peer(name: str, X: Any, y: Any) -> dict[str, Any]:
    path(LogisticRegression(), X, y)  # compiles all that the run below needs
    peer = LogisticRegressionCV(
        Cs=10, cv=5, n_jobs=2, max_iter=1000, scoring="accuracy", l1_ratios=(0,),
        use_legacy_attributes=False,
    )  # fmt: skip
    times = race(
        {"linsep": lambda: path(LogisticRegression(), X, y), "peer": lambda: peer.fit(X, y)},
        REPEATS,  # the peer starts its processes in the first
    )
    ours, theirs = times["linsep"], times["peer"]
    return {
        "workload": name, "linsep": ours.best, "peer": theirs.best,
        "ratio": theirs.best / ours.best, "wanted": 20.0,
        "note": f"C {ours.result.C:.3g} against {float(np.ravel(peer.C_)[0]):.3g}, best score "
                f"{ours.result.mean.max():.4f} against {peer.scores_.mean(axis=0).max():.4f}, "
                f"gaps to {ours.result.gaps.max():.1e}",
    }  # fmt: skip
