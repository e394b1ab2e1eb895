"""Shapes × learners × tolerances: every fit ends as asked, or says why it did not.

A fit ends `converged` with `gap_ <= tol`. The one way out is rounding: columns so large that no
count in floats proves more, which the diagnosis then names. Two classes and three, dense and
sparse, raw columns and columns of one scale.
"""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LinearSVC, LogisticRegression
from linsep.errors import NotConverged
from linsep.learners import logistic
from linsep.status import Status

RAW = np.array([1.0, 1e3, 0.01, 50.0, 7.0])  # columns as tables have them: shares, money, ages

LEARNERS = {
    "logistic": lambda **asked: LogisticRegression(**asked),
    "weak logistic": lambda **asked: LogisticRegression(100.0, **asked),
    "through the origin": lambda **asked: LogisticRegression(fit_intercept=False, **asked),
    "sparse weights": lambda **asked: LogisticRegression(l1_ratio=1.0, **asked),
    "hinge": lambda **asked: LinearSVC(**asked),
    "hinge, no intercept": lambda **asked: LinearSVC(fit_intercept=False, **asked),
    "squared hinge": lambda **asked: LinearSVC(loss="squared_hinge", **asked),
    "joint": lambda **asked: LinearSVC(multiclass="crammer-singer", **asked),
}
SHAPES = {
    "tall": (2000, 6, 1.0),
    "square": (120, 120, 1.0),
    "wide": (50, 400, 1.0),
    "table": (800, 82, 0.14),
    "short rows": (500, 300, 0.02),
    "wide and sparse": (80, 800, 0.03),
}


def rows(shape, raw, n_classes, dtype=np.float64):
    """Rows with part of their entries, and labels that a plane gets right for the most part."""
    n, d, part = SHAPES[shape]
    rng = np.random.default_rng(n + d)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    X = np.where(rng.random((n, d)) < part, X, 0.0)
    scores = X @ rng.standard_normal((d, n_classes)) / np.sqrt(d * part)
    codes = (2 * scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    codes[:n_classes] = np.arange(n_classes)
    X = X * np.resize(RAW, d) + (10.0 if part == 1.0 else 0.0) if raw else X
    return X.astype(dtype), codes


def check(learner, X, y):
    """The ending of a fit, judged by what the learner says of it."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", NotConverged)
        learner.fit(X, y)
    assert not heard and learner.status_ is Status.converged, learner.diagnosis_
    if learner.gap_ > learner.tol:  # then rounding must be why, and must be told
        assert "rounding lets no less than a gap" in learner.diagnosis_
        assert learner.gap_ <= 1e-3
    return learner


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("raw", [False, True], ids=["scaled", "raw"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", LEARNERS)
def test_two_classes_end_as_asked(kind, shape, raw, tol):
    X, y = rows(shape, raw, 2)
    learner = check(LEARNERS[kind](tol=tol), X, y)
    if SHAPES[shape][2] < 1.0:
        other = check(LEARNERS[kind](tol=tol), sp.csr_array(X), y)
        assert other.objective_ == pytest.approx(learner.objective_, rel=2.1 * tol)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", LEARNERS)
def test_three_classes_end_as_asked(kind, shape):
    X, y = rows(shape, False, 3)
    check(LEARNERS[kind](tol=1e-4), X if SHAPES[shape][2] == 1.0 else sp.csr_array(X), y)


@pytest.mark.parametrize("kind", ["logistic", "hinge", "squared hinge"])
@pytest.mark.parametrize("shape", ["tall", "square", "wide"])
def test_single_precision_ends_as_asked(kind, shape):
    X, y = rows(shape, False, 2, np.float32)
    check(LEARNERS[kind](tol=1e-3), X, y)


@pytest.mark.parametrize("kind", LEARNERS)
def test_too_few_passes_are_told_with_the_gap_they_left(kind):
    X, y = rows("tall", True, 3 if kind == "joint" else 2)
    learner = LEARNERS[kind](tol=1e-9, max_iter=1)
    with pytest.warns(NotConverged):
        learner.fit(X, y)
    assert learner.status_ is Status.gap_left and learner.gap_ > 1e-9
    assert "of at most 1 passes" in learner.diagnosis_


def table(n, seed):
    """A table as people have them: money, ages, rare gains, and categories as flags."""
    rng = np.random.default_rng(seed)
    gains = np.where(rng.random(n) < 0.08, rng.lognormal(8, 1.5, n), 0.0)
    numbers = [rng.integers(17, 90, n), rng.lognormal(12, 0.6, n), gains, rng.integers(1, 99, n)]
    flags = [np.eye(m)[rng.integers(0, m, n)] for m in (8, 16, 14, 20, 20)]
    X = np.column_stack([*numbers, *flags])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, (0.5 * Z @ rng.standard_normal(X.shape[1]) + rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize("kind", ["logistic", "hinge", "squared hinge"])
def test_a_sparse_table_ends_as_its_dense_copy_does(kind):
    X, y = table(3000, 0)
    dense = check(LEARNERS[kind](tol=1e-4), X, y)
    sparse = check(LEARNERS[kind](tol=1e-4), sp.csr_array(X), y)
    assert sparse.gap_ <= 1e-4 and dense.gap_ <= 1e-4
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=2.1e-4)


def word_counts(n=4000, d=20_000, topics=8):
    """Words of texts as they are counted: few are common, rows differ in length a thousandfold."""
    rng = np.random.default_rng(0)
    shares = rng.lognormal(0, 1.5, (topics, d)) / np.arange(1, d + 1)
    shares = 0.7 * shares + 0.3 * shares.mean(axis=0)
    lengths = rng.lognormal(4.8, 0.9, n).astype(int) + 10
    topic = rng.integers(0, topics, n)
    rows = np.repeat(np.arange(n), lengths)
    words = np.empty(len(rows), int)
    for k in range(topics):
        own = topic[rows] == k
        words[own] = rng.choice(d, own.sum(), p=shares[k] / shares[k].sum())
    X = sp.coo_array((rng.geometric(0.6, len(rows)) * 1.0, (rows, words)), (n, d)).tocsr()
    return X, (topic < topics // 2) ^ (rng.random(n) < 0.03)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("kind", ["logistic", "hinge", "hinge, no intercept", "squared hinge"])
def test_counts_of_words_end_as_asked(kind, tol):
    learner = check(LEARNERS[kind](tol=tol), *word_counts())
    assert learner.gap_ <= tol


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_descent_leaves_passes_for_the_steps_that_take_over(loss):
    """As many passes as features were allowed to descent before, and all there were at most."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((1700, 250))
    X[:, 1:125] += 0.7 * X[:, :1]
    scores = X @ rng.standard_normal(250)
    y = 2 * scores / scores.std() + rng.logistic(size=1700) > 0
    learner = check(LinearSVC(loss=loss, max_iter=100), X, y)
    assert learner.gap_ <= learner.tol


def test_a_fit_goes_on_until_the_second_count_agrees(monkeypatch):
    """A solver that says it is there with weights that are one per cent too long."""
    asked = []

    def boastful(learner, problem, listeners, tol, max_iter, start):
        asked.append(tol)
        solution = honest(learner, problem, listeners, tol, max_iter, start)
        if len(asked) > 1:
            return solution
        return replace(solution, w=1.01 * solution.w, certificate=None)

    honest = logistic.solve
    monkeypatch.setattr(logistic, "solve", boastful)
    X, y = rows("tall", False, 2)
    learner = check(LogisticRegression(tol=1e-5), sp.csr_array(X), y)
    assert learner.gap_ <= 1e-5
    assert asked[0] == 1e-5 and len(asked) > 1
    assert all(later <= 0.1 * before for before, later in pairwise(asked))
