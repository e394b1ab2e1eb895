"""Rows of many features, dense and sparse, stay on the workers, and no byte changes."""

import warnings
from functools import partial

import dask
import numpy as np
import pytest
import scipy.sparse as sp
from cluster_models import content

import linsep
from linsep.errors import ClusterNote
from linsep.learners.cluster import fit


def wide():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40_000, 12)) @ rng.standard_normal((12, 260))
    X = (X + rng.standard_normal(X.shape)).astype(np.float32) / 5
    return X, (X @ rng.standard_normal(260) + 2 * rng.standard_normal(len(X)) > 0).astype(int)


def rare():
    """Pixels that are zero in nearly all rows: Newton's steps fail where such rows turn."""
    rng = np.random.default_rng(3)
    often = np.geomspace(0.3, 1e-3, 520)
    X = np.where(rng.random((30_000, 520)) < often, rng.integers(1, 256, (30_000, 520)), 0)
    scores = X @ rng.standard_normal(520) + 100.0 * rng.standard_normal(len(X))
    return X.astype(np.float32), (scores > 0).astype(int)


def one_hot(columns=11, levels=100, n=70_000):
    rng = np.random.default_rng(2)
    places = rng.integers(0, levels, (n, columns)) + levels * np.arange(columns)
    ends = np.arange(0, n * columns + 1, columns)
    entries = np.ones(n * columns), places.ravel().astype(np.int32), ends
    X = sp.csr_array(entries, shape=(n, levels * columns))
    return X, (X @ rng.standard_normal(X.shape[1]) + 2 * rng.standard_normal(n) > 0).astype(int)


CASES = {
    "wide": (wide, linsep.LogisticRegression(), "newton_cg"),
    "sparse": (one_hot, linsep.LogisticRegression(), "newton_cg"),
    "squared hinge": (one_hot, linsep.LinearSVC(loss="squared_hinge"), "newton_cg"),
    "rare features": (rare, linsep.LinearSVC(loss="squared_hinge"), "newton_cg"),
    "short rows": (lambda: one_hot(9, 10), linsep.LogisticRegression(), "newton"),
    "short rows, hinge": (lambda: one_hot(9, 10), linsep.LinearSVC(), "newton"),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_stay_on_the_workers_and_no_byte_changes(client, name):
    make, learner, solver = CASES[name]
    X, y = make()
    here = content(learner.fit(X, y)), learner.gap_, learner.objective_
    parts = [dask.delayed(X[i : i + 23_000]) for i in range(0, X.shape[0], 23_000)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ClusterNote)
        learner.fit(parts, y)
    assert learner.solver_ == solver
    assert (content(learner), learner.gap_, learner.objective_) == here


@pytest.mark.parametrize(
    "make",
    [linsep.LogisticRegression, partial(linsep.LinearSVC, loss="squared_hinge")],
    ids=["logistic", "squared hinge"],
)
def test_rows_that_descent_would_visit_one_by_one_are_left_to_products(client, monkeypatch, make):
    monkeypatch.setattr(fit, "SMALL", 0)
    X, y = one_hot(3, 4_000, n=9_000)
    here, learner = make().fit(X, y), make()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ClusterNote)
        learner.fit([dask.delayed(X[i : i + 5_000]) for i in range(0, X.shape[0], 5_000)], y)
    assert here.solver_ != learner.solver_ == "newton_cg"
    assert learner.gap_ <= learner.tol
    assert learner.objective_ == pytest.approx(here.objective_, rel=2 * here.tol)
