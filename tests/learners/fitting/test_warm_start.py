"""warm_start=True: the same answer from nearer by."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from linsep import LinearSVC, LogisticRegression


def rows(classes, layout):
    X, y = (load_iris if classes == 3 else load_breast_cancer)(return_X_y=True)
    return layout(StandardScaler().fit_transform(X)), y


CASES = [
    (LogisticRegression(solver="newton", tol=1e-9), 2, np.asarray),
    (LogisticRegression(solver="newton", tol=1e-9), 3, np.asarray),
    (LogisticRegression(solver="dual", tol=1e-7), 2, np.asarray),
    (LogisticRegression(solver="gradient", tol=1e-6), 2, np.asarray),
    (LogisticRegression(l1_ratio=0.5, tol=1e-9), 2, np.asarray),
    (LogisticRegression(l1_ratio=1.0, tol=1e-9), 3, sp.csr_array),
    (LinearSVC(), 2, np.asarray),
    (LinearSVC(), 3, np.asarray),
    (LinearSVC(solver="dual"), 2, np.asarray),
    (LinearSVC(loss="squared_hinge", solver="newton"), 2, np.asarray),
]


@pytest.mark.parametrize(("learner", "classes", "layout"), CASES, ids=str)
def test_a_warm_start_ends_at_the_same_optimum_with_less_work(learner, classes, layout):
    X, y = rows(classes, layout)
    learner = type(learner)(**(learner.get_params() | {"warm_start": True}))
    cold = learner.fit(X, y).n_iter_
    weights = learner.coef_.copy()
    again = learner.fit(X, y).n_iter_
    assert again <= max(2, cold // 2)
    np.testing.assert_allclose(learner.coef_, weights, atol=1e-2)
    learner.set_params(C=1.1)
    near = learner.fit(X, y)
    fresh = type(learner)(**(learner.get_params() | {"warm_start": False})).fit(X, y)
    assert near.objective_ == pytest.approx(fresh.objective_, rel=2 * learner.tol)
    assert near.n_iter_ <= fresh.n_iter_ + 1


def test_a_start_that_does_not_fit_is_left_aside():
    X, y = rows(3, np.asarray)
    for learner in (LogisticRegression(warm_start=True), LinearSVC(warm_start=True)):
        learner.fit(X, y)
        cold = type(learner)().fit(X[:, :2], y == 1)
        np.testing.assert_allclose(learner.fit(X[:, :2], y == 1).coef_, cold.coef_, atol=1e-6)


def test_sparse_rows_without_a_penalty_start_warm_too():
    rng = np.random.default_rng(0)
    X = sp.random_array((1500, 1500), density=0.003, rng=rng, format="csr")
    y = rng.integers(0, 3, 1500)
    learner = LogisticRegression(0.1, warm_start=True).fit(X, y)
    cold = learner.n_iter_
    assert learner.solver_ == "lbfgs"
    assert learner.fit(X, y).n_iter_ < cold


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(solver="sgd"),
        LogisticRegression(solver="minibatch"),
        LinearSVC(solver="sgd"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
def test_fits_of_one_pass_come_as_far_as_one_of_many(learner, classes):
    X, y = rows(classes, np.asarray)
    whole = clone(learner).set_params(max_iter=30).fit(X, y).objective_
    parts = clone(learner).set_params(max_iter=1, warm_start=True)
    objectives = [parts.fit(X, y).objective_ for _ in range(30)]
    assert np.diff(objectives).max() <= 1e-9 * objectives[0]  # never worse than before
    assert objectives[-1] - whole < 0.25 * (objectives[0] - whole)
    assert parts.n_iter_ == 1


def short_text(classes):
    rng = np.random.default_rng(1)
    X = sp.random_array((1200, 9000), density=0.003, format="csr", rng=rng)
    lengths = np.asarray(X.sum(axis=1)).ravel()
    return X, np.searchsorted(np.quantile(lengths, [0.5, 0.8][: classes - 1]), lengths)


def tall(classes):
    X = np.random.default_rng(2).normal(size=(66_000, 3))
    return X, (X[:, 0] + np.random.default_rng(3).normal(size=len(X)) > 0).astype(int)


STILL = [
    (LogisticRegression(), lambda k: rows(k, np.asarray), 2),
    (LogisticRegression(), lambda k: rows(k, np.asarray), 3),
    (
        LogisticRegression(C=np.inf),
        lambda k: (rows(k, np.asarray)[0][:, :2], rows(k, np.asarray)[1]),
        3,
    ),
    (LogisticRegression(solver="dual"), lambda k: rows(k, np.asarray), 2),
    (LogisticRegression(), short_text, 2),
    (LogisticRegression(), short_text, 3),
    (LinearSVC(), short_text, 3),
    (LinearSVC(), tall, 2),
    (LinearSVC(loss="squared_hinge", solver="newton"), tall, 2),
]


@pytest.mark.parametrize(("learner", "data", "classes"), STILL, ids=map(str, range(len(STILL))))
@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
def test_fits_of_one_pass_move_until_they_are_there(learner, data, classes):
    X, y = data(classes)
    optimum = clone(learner).fit(X, y).objective_
    parts = clone(learner).set_params(max_iter=1, warm_start=True)
    objectives = [parts.fit(X, y).objective_ for _ in range(12)]
    assert objectives[-1] - optimum < 0.05 * (objectives[0] - optimum)
    assert parts.n_iter_ <= 1
    assert parts.max_iter == 1
