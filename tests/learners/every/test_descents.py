"""Gradient, minibatch and sgd: the lectures' steps, on the objective that is certified."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_sklearn_contract import expected_failures

import linsep
from degenerate import CASES
from linsep import LinearSVC, LogisticRegression, Status
from linsep.errors import LinsepError, NotConverged, ParameterError

STEPPING = [
    LogisticRegression(solver="gradient", max_iter=200),
    LogisticRegression(solver="minibatch", max_iter=50),
    LogisticRegression(solver="sgd", max_iter=50),
    LinearSVC(solver="sgd", max_iter=50),
    LinearSVC(loss="squared_hinge", solver="sgd", max_iter=50),
]
NEWTON = LinearSVC(loss="squared_hinge", solver="newton")


def fitted(learner, X, y, **more):
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y, **more)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, y


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("solver", ["gradient", "minibatch", "sgd"])
def test_every_solver_is_as_near_the_optimum_as_it_says(cancer, solver, layout):
    X, y = cancer
    best = LogisticRegression(tol=1e-12).fit(X, y)
    learner = fitted(LogisticRegression(solver=solver, max_iter=100), layout(X), y)
    assert learner.objective_ - best.objective_ <= learner.gap_ * learner.objective_ + 1e-9
    assert learner.gap_ < 0.01
    certificate = linsep.gap(learner, X, y)
    assert certificate.primal == pytest.approx(learner.objective_, rel=1e-9)
    assert certificate.relative <= 1.01 * learner.gap_ + 1e-9


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_descent_with_a_line_search_reaches_the_gap_asked_for(iris, cancer, C):
    for X, y in (iris, cancer):
        learner = LogisticRegression(C, solver="gradient").fit(X, y)
        exact = LogisticRegression(C, tol=1e-12).fit(X, y)
        assert learner.status_ is Status.converged
        assert learner.gap_ <= 1e-6
        np.testing.assert_allclose(learner.predict_proba(X), exact.predict_proba(X), atol=3e-3)


def test_single_rows_take_exactly_the_steps_of_the_delta_rule():
    """Without penalty and scaling, in order: w ← w + η(t − σ)x, b ← b + η(t − σ)."""
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    plain = {"solver": "sgd", "eta0": 0.3, "schedule": "constant", "scale": False, "shuffle": False}
    learner = LogisticRegression(np.inf, max_iter=1, trace=True, **plain)
    fitted(learner, X, t)
    w, b, steps = np.zeros(3), 0.0, []
    for x, target in zip(X, t, strict=True):
        pull = target - 1 / (1 + np.exp(-(x @ w + b)))
        w, b = w + 0.3 * pull * x, b + 0.3 * pull
        steps.append(w)
    told = [update["w"][0] for update in learner.trace_.updates]
    np.testing.assert_allclose(told, steps, atol=1e-14)
    assert [update["row"] for update in learner.trace_.updates] == list(range(30))
    streamed = LogisticRegression(np.inf, **plain)
    for part in range(0, 30, 7):
        streamed.partial_fit(X[part : part + 7], t[part : part + 7], classes=[0, 1])
    np.testing.assert_allclose(streamed.coef_[0], w, atol=1e-14)
    np.testing.assert_allclose(streamed.intercept_, b, atol=1e-14)
    assert streamed.status_ is Status.streaming


STREAMS = [
    LogisticRegression(solver="sgd"),
    LogisticRegression(solver="minibatch", batch_size=7, schedule="1/sqrt(t)"),
    LogisticRegression(solver="minibatch", batch_size=5000, l1_ratio=0.5, eta0=0.1),
    LinearSVC(solver="sgd"),
]


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(STREAMS), st.sampled_from([2, 3]), st.sampled_from(["f4", "f8"]), st.booleans(),
    st.booleans(), st.sampled_from([60, 9000]), st.lists(st.floats(0, 1), max_size=6),
)  # fmt: skip
def test_steps_do_not_depend_on_how_rows_are_cut(
    learner, classes, dtype, sparse, weighted, n, cuts
):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)).astype(dtype), rng.integers(0, classes, n)
    X = sp.csr_array(X) if sparse else X
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    ends = sorted({0, n, *(int(cut * n) for cut in cuts)})
    whole, parts = (type(learner)(**learner.get_params()) for _ in range(2))
    whole.partial_fit(X, y, sample_weight=weights)
    for start, stop in pairwise(ends):
        some = None if weights is None else weights[start:stop]
        parts.partial_fit(X[start:stop], y[start:stop], np.arange(classes), sample_weight=some)
        parts = pickle.loads(pickle.dumps(parts))
    assert parts.coef_.tobytes() == whole.coef_.tobytes()
    assert parts.intercept_.tobytes() == whole.intercept_.tobytes()


def test_a_part_that_is_refused_leaves_the_stream_as_it_was():
    X, y = np.array([[1.0], [-1.0], [2.0]]), [1, 0, 1]
    stream, other = (LogisticRegression(solver="minibatch", batch_size=4) for _ in range(2))
    stream.partial_fit(X, y)
    with pytest.raises(LinsepError):
        stream.partial_fit([[1e300], [-1e300]], [0, 1])
    stream.partial_fit(X, y)
    other.partial_fit(X, y).partial_fit(X, y)
    assert stream.coef_.tobytes() == other.coef_.tobytes()


def test_a_fold_steps_by_the_mean_of_its_rows():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 2)), rng.integers(0, 3, 20)
    learner = LogisticRegression(
        np.inf, solver="minibatch", batch_size=20, eta0=0.5, schedule="constant", scale=False,
    )  # fmt: skip
    learner.partial_fit(X, y)
    pull = np.eye(3)[y] - 1 / 3
    np.testing.assert_allclose(learner.coef_, 0.5 * pull.T @ X / 20, atol=1e-14)
    np.testing.assert_allclose(learner.intercept_, 0.5 * pull.mean(axis=0), atol=1e-14)


def test_more_passes_lead_nearer_and_the_budget_is_named(cancer):
    X, y = cancer
    few = fitted(LogisticRegression(solver="sgd", max_iter=3), X, y)
    with pytest.warns(NotConverged, match="above tol"):
        many = LogisticRegression(solver="sgd", max_iter=60).fit(X, y)
    assert many.status_ is Status.gap_left
    assert many.gap_ < few.gap_
    assert many.n_iter_ == 60


def test_steps_that_are_too_long_are_called_diverged_and_the_best_weights_kept(cancer):
    X, y = cancer
    learner = LogisticRegression(solver="gradient", eta0=1e9, schedule="constant", C=1e6)
    with pytest.warns(NotConverged, match="grew without bound|above tol"):
        learner.fit(X, y)
    assert learner.objective_ <= 1e6 * len(y) * np.log(2) * (1 + 1e-9)


@pytest.mark.parametrize("learner", STEPPING, ids=str)
def test_callbacks_and_traces_hear_of_every_pass(cancer, learner):
    X, y = cancer
    heard = []
    told = type(learner)(**(learner.get_params() | {"trace": True, "max_iter": 6, "tol": 1e-15}))
    fitted(told, X, y, callback=lambda done: heard.append(done.epoch))
    assert heard == [1, 2, 3, 4, 5, 6]
    assert len(told.trace_.passes) == 6
    assert told.trace_.count > 0
    last = told.trace_.updates[-1]["w"]
    assert last.shape == told.coef_.shape


@pytest.mark.parametrize("learner", STEPPING, ids=str)
def test_the_number_of_threads_changes_no_byte(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 4))
    y = rng.integers(0, 3, 9000)
    ends = []
    for n_jobs in (1, 2):
        one = type(learner)(**(learner.get_params() | {"n_jobs": n_jobs, "max_iter": 3}))
        ends.append(fitted(one, X, y).coef_.tobytes())
    assert ends[0] == ends[1]


def test_weight_k_is_k_copies_for_the_gradient_and_for_newton(cancer):
    X, y = cancer[0][:120], cancer[1][:120]
    times = np.random.default_rng(0).integers(0, 4, len(y))
    for learner in (LogisticRegression(0.1, solver="gradient", tol=1e-9), NEWTON):
        weighted = learner.fit(X, y, sample_weight=times).coef_.copy()
        repeated = learner.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).coef_
        np.testing.assert_allclose(weighted, repeated, atol=2e-5)


def test_newton_and_the_dual_find_the_same_machine(cancer):
    X, y = cancer
    newton = LinearSVC(loss="squared_hinge", solver="newton", tol=1e-9).fit(X, y)
    dual = LinearSVC(loss="squared_hinge", solver="dual", tol=1e-13).fit(X, y)
    sparse = LinearSVC(loss="squared_hinge", solver="newton", tol=1e-13).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(newton.coef_, dual.coef_, atol=1e-7)
    np.testing.assert_allclose(newton.coef_, sparse.coef_, atol=1e-9)
    assert newton.n_iter_ < 20
    sgd = fitted(LinearSVC(loss="squared_hinge", solver="sgd", max_iter=30), X, y)
    assert newton.objective_ >= (1 - sgd.gap_) * sgd.objective_
    assert newton.objective_ <= sgd.objective_


def test_wide_sparse_rows_are_solved_by_conjugate_gradients():
    X = sp.random_array((1600, 1700), density=0.01, rng=np.random.default_rng(0), format="csr")
    y = X @ np.random.default_rng(1).normal(size=1700) > 0
    newton = LinearSVC(loss="squared_hinge", solver="newton", tol=1e-9).fit(X, y)
    assert newton.status_ is Status.converged
    assert linsep.gap(newton, X, y).relative < 1e-8


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_features_of_very_different_scale_cost_few_steps(loss):
    """Columns of the raw table range from 1e-3 to 4e3."""
    X, y = load_breast_cancer(return_X_y=True)
    learner = LinearSVC(loss=loss).fit(X, y)
    assert learner.status_ is Status.converged
    assert learner.n_iter_ <= 60  # passes of descent included, where these come first
    assert linsep.gap(learner, X, y).relative < 1e-4


@pytest.mark.parametrize("max_iter", [1, 7, 45])
def test_a_budget_of_passes_is_kept(cancer, max_iter):
    X, y = cancer
    learner = fitted(LinearSVC(100.0, solver="dual", max_iter=max_iter, tol=1e-12), X, y)
    assert learner.n_iter_ <= max_iter


def test_rows_that_come_later_leave_no_older_diagnosis(cancer):
    X, y = cancer
    learner = LogisticRegression(solver="sgd", max_iter=1, tol=1e-12)
    with pytest.warns(NotConverged):
        learner.fit(X, y)
    assert "gap" in learner.diagnosis_
    learner.partial_fit(X[:50], y[:50])
    assert learner.diagnosis_ is None
    assert not hasattr(learner, "gap_")


def test_what_a_solver_cannot_do_is_said(cancer):
    X, y = cancer
    with pytest.raises(ParameterError, match="has a corner"):
        LinearSVC(solver="newton").fit(X, y)
    with pytest.raises(ParameterError, match="l1_ratio is 2"):
        LogisticRegression(l1_ratio=2).fit(X, y)
    with pytest.raises(ParameterError, match="schedule is '1/n'"):
        LogisticRegression(solver="sgd", schedule="1/n").fit(X, y)
    assert not hasattr(LogisticRegression(), "partial_fit")
    assert not hasattr(LinearSVC(), "partial_fit")


@parametrize_with_checks(
    [
        LogisticRegression(solver="gradient"),
        LogisticRegression(solver="minibatch", max_iter=10),
        LinearSVC(solver="sgd", max_iter=10),
        LinearSVC(loss="squared_hinge", solver="newton"),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
def test_scikit_learns_own_checks_of_the_solvers(estimator, check):
    check(estimator)


@pytest.mark.parametrize("learner", [*STEPPING, NEWTON, LinearSVC()], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_every_fit_ends_in_a_finite_model_or_in_a_named_refusal(learner, case):
    X, y = CASES[case]
    learner = type(learner)(**(learner.get_params() | {"max_iter": 30}))
    try:
        fitted(learner, X, y)
    except LinsepError as refusal:
        assert "X" in str(refusal)
        return
    assert np.isfinite(learner.coef_).all()
    assert np.isfinite(learner.intercept_).all()
    assert 0 <= learner.gap_ <= 1 + 1e-9
    assert isinstance(learner.status_, Status)
