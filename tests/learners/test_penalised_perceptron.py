"""Perceptron(penalty=...) takes the steps of a plain loop, which are scikit-learn's."""

from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Perceptron as Peer

import linsep
from linsep import Perceptron, Status
from linsep.errors import DataError, ParameterError


def rows(n=120, d=5, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    S = X @ rng.normal(size=(d, classes)) + rng.normal(size=(n, classes))
    return X, S.argmax(axis=1)


def plain(X, signs, passes, eta, alpha, share, sparse):
    """Row by row, as the head of `linsep.train.online.penalised` has it."""
    w, b, due, taken = np.zeros(X.shape[1]), 0.0, 0.0, np.zeros(X.shape[1])
    for _ in range(passes):
        for x, y in zip(X, signs, strict=True):
            wrong = y * (w @ x + b) <= 0
            w *= max(0.0, 1 - eta * alpha * (1 - share))
            if wrong:
                w, b = w + eta * y * x, b + eta * y
            if share > 0:
                due += eta * alpha * share
                for j in np.flatnonzero(x) if sparse else range(len(w)):
                    before = w[j]
                    if w[j] > 0:
                        w[j] = max(0.0, w[j] - (due + taken[j]))
                    elif w[j] < 0:
                        w[j] = min(0.0, w[j] + (due - taken[j]))
                    taken[j] += w[j] - before
    return w, b


PENALTIES = [("l2", 0.0), ("l1", 1.0), ("elasticnet", 0.3)]


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("penalty", "share"), PENALTIES)
def test_the_steps_are_those_of_a_plain_loop(penalty, share, layout):
    X, y = rows()
    given = {"penalty": penalty, "alpha": 0.02, "l1_ratio": 0.3, "eta0": 0.5}
    learner = Perceptron(shuffle=False, max_iter=7, tol=None, **given).fit(layout(X), y)
    sparse = layout is not np.asarray
    w, b = plain(X, np.where(y == 1, 1, -1), 7, 0.5, 0.02, share, sparse)
    np.testing.assert_allclose(learner.coef_[0], w, atol=1e-12)
    assert learner.intercept_[0] == pytest.approx(b, abs=1e-12)
    assert learner.status_ is Status.penalised and learner.n_iter_ == 7
    assert (learner.coef_ == 0).any() == (w == 0).any()


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(("penalty", "share"), PENALTIES)
def test_dense_rows_in_their_order_give_the_weights_of_scikit_learn(penalty, share, classes):
    X, y = rows(classes=classes)
    given = {"penalty": penalty, "alpha": 0.01, "l1_ratio": 0.3, "max_iter": 5, "tol": None}
    peer = Peer(shuffle=False, **given).fit(X, y)
    learner = Perceptron(shuffle=False, multiclass="ovr", **given).fit(X, y)
    np.testing.assert_allclose(learner.coef_, peer.coef_, atol=1e-9)
    np.testing.assert_allclose(learner.intercept_, peer.intercept_, atol=1e-9)


def test_without_strength_a_penalty_leaves_the_plain_rule():
    X, y = rows(classes=3)
    for multiclass in ("kesler", "ovr"):
        given = {"multiclass": multiclass, "max_iter": 4, "tol": None}
        drawn = Perceptron(penalty="l2", alpha=0.0, **given).fit(X, y)
        bare = Perceptron(**given)
        with pytest.warns(linsep.errors.NotConverged):
            bare.fit(X, y)
        np.testing.assert_allclose(drawn.coef_, bare.coef_, atol=1e-12)


def test_passes_end_when_the_loss_falls_no_more_and_rows_may_come_in_parts():
    X, y = rows()
    learner = Perceptron(penalty="l2", alpha=0.01, n_iter_no_change=3).fit(X, y)
    assert learner.status_ is Status.penalised and learner.n_iter_ < 1000
    part = Perceptron(penalty="l1", alpha=0.01)
    part.partial_fit(X[:50], y[:50], classes=[0, 1]).partial_fit(X[50:], y[50:])
    whole = Perceptron(penalty="l1", alpha=0.01, shuffle=False, max_iter=1).fit(X, y)
    np.testing.assert_allclose(part.coef_, whole.coef_, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("penalty", "share"), PENALTIES)
def test_rows_in_parts_give_the_same_bytes_however_they_are_cut(penalty, share, classes):
    X, y = rows(classes=classes)
    for multiclass in ("kesler", "ovr"):
        ends = set()
        for size in (120, 50, 7, 1):
            part = Perceptron(penalty=penalty, alpha=0.01, l1_ratio=0.3, multiclass=multiclass)
            for first in range(0, 120, size):
                block = slice(first, first + size)
                part.partial_fit(X[block], y[block], classes=range(classes))
            ends.add(part.coef_.tobytes() + part.intercept_.tobytes())
        assert len(ends) == 1


def test_separable_rows_may_still_be_separated():
    X, y = [[0.0, 1.0], [1.0, 2.0], [0.0, -1.0], [1.0, -2.0]], [1, 1, 0, 0]
    learner = Perceptron(penalty="l2", alpha=1e-6).fit(X, y)
    assert learner.status_ is Status.separated and learner.score(X, y) == 1.0


@pytest.mark.parametrize("more", [{}, {"penalty": "l2", "alpha": 1e-3}, {"keep": "average"}])
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_held_out_end_a_fit_early_and_are_not_learned_from(classes, more):
    X, y = rows(n=300, classes=classes)
    learner = Perceptron(early_stopping=True, n_iter_no_change=2, random_state=3, **more).fit(X, y)
    assert learner.status_ is Status.held_out and 2 < learner.n_iter_ < 1000
    few = Perceptron(early_stopping=True, validation_fraction=0.999, max_iter=1, **more)
    with pytest.warns() if not more or "keep" in more else nullcontext():
        few.fit(X, y)  # one row of each class is left to learn from
    assert few.mistakes_ <= 2 * classes


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"penalty": "l3"}, "penalty"),
        ({"penalty": "l2", "rule": "batch"}, "rule='online'"),
        ({"penalty": "l2", "keep": "pocket"}, "keep='last'"),
        ({"penalty": "l2", "trace": True}, "trace=False"),
        ({"alpha": -1.0}, "alpha"),
        ({"l1_ratio": 2.0}, "l1_ratio"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"n_iter_no_change": 0}, "n_iter_no_change"),
    ],
)
def test_what_has_no_meaning_is_refused_in_words(given, said):
    with pytest.raises(ParameterError, match=said):
        Perceptron(**given).fit(*rows())


def test_a_class_of_one_row_cannot_be_held_out():
    with pytest.raises(DataError, match="early_stopping=False"):
        Perceptron(early_stopping=True).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
