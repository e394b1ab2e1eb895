"""Rows that come once and in parts: step and penalty follow the rows so far."""

import numpy as np
import scipy.sparse as sp

from linsep.train.convex.losses import Logistic
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.steps.score_losses import Planes
from linsep.train.convex.steps.stream_steps import StreamMethod, StreamSteps
from linsep.train.online.method import SCHEDULES
from linsep.train.problem import Problem


def by_hand(X, t, weights, method):
    """The formulas of the module, row by row and fold by fold, in plain Python."""
    w, b = np.zeros(X.shape[1]), 0.0
    total = lengths = longest = 0.0
    for start in range(0, len(X), method.batch_size):
        rows = range(start, min(start + method.batch_size, len(X)))
        pulls = [t[i] - 1 / (1 + np.exp(-(X[i] @ w + b))) for i in rows]
        for i in rows:
            length = weights[i] * (X[i] @ X[i] + 1)
            total, lengths, longest = total + weights[i], lengths + length, max(longest, length)
        B = method.batch_size
        eta = method.eta0 or 1 / (0.25 * (lengths / (rows[-1] + 1) + longest / B))
        for i, pull in zip(rows, pulls, strict=True):
            w = w + eta / B * weights[i] * pull * X[i]
            b += eta / B * weights[i] * pull
        due = eta / (method.C * total)
        w = np.sign(w) * np.maximum(np.abs(w) - due * method.penalty.l1, 0)
        w = w / (1 + due * method.penalty.l2)
    return w, b


def test_steps_are_those_of_the_formulas():
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(50, 3)), rng.integers(0, 2, 50).astype(np.int32)
    weights = rng.integers(1, 4, 50).astype(float)
    for size, eta0, penalty in (
        (1, None, Elastic(0.0, 1.0)), (7, None, Elastic(0.5, 0.5)), (1, 0.2, Elastic(1.0, 0.0)),
    ):  # fmt: skip
        method = StreamMethod(Planes(Logistic()), penalty, 3.0, True, size, eta0, None, 0)
        w, b = by_hand(X, t, weights, method)
        for rows in (X, sp.csr_array(X)):
            steps = StreamSteps(np.zeros((1, 3)), np.zeros(1))
            steps.part_pass(Problem(rows, t, weights, 2), method, None)
            W, intercept = steps.kept(method)
            np.testing.assert_allclose(W[0], w, rtol=1e-10, atol=1e-14)
            np.testing.assert_allclose(intercept, b, rtol=1e-10)


def test_a_penalty_that_is_due_is_in_what_is_kept():
    """Sparse rows of many features meet the penalty now and then: what is kept has all of it."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 200)) * (rng.random((40, 200)) < 0.05)
    t = rng.integers(0, 2, 40).astype(np.int32)
    method = StreamMethod(
        Planes(Logistic()), Elastic(0.0, 1.0), 0.1, True, 1, 0.1, SCHEDULES["constant"], 0
    )
    dense, sparse = (StreamSteps(np.zeros((1, 200)), np.zeros(1)) for _ in range(2))
    dense.part_pass(Problem(X, t, None, 2), method, None)
    sparse.part_pass(Problem(sp.csr_array(X[:38]), t[:38], None, 2), method, None)
    assert sparse.n_rows == 38
    before = sparse.W.copy()
    assert np.abs(sparse.kept(method)[0]).sum() < np.abs(before).sum()
    sparse.part_pass(Problem(sp.csr_array(X[38:]), t[38:], None, 2), method, None)
    # the share of a few rows is taken at once, not one by one
    np.testing.assert_allclose(sparse.kept(method)[0], dense.kept(method)[0], atol=5e-2)
