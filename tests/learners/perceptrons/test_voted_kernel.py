"""The voted perceptron in a kernel's feature space."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_rows import CACHES, integers, quadratic

import reference
from linsep import KernelPerceptron, VotedPerceptron
from linsep.errors import DataError, NotConverged, ParameterError
from linsep.rows.kernels import Kernel

DECISIONS = ["vote", "average", "last"]


def assert_same_run(one, other):
    assert one.mistakes_per_epoch_ == other.mistakes_per_epoch_
    assert one.survival_.tolist() == other.survival_.tolist()
    assert one.n_vectors_ == other.n_vectors_


@pytest.mark.parametrize("cache_size", CACHES)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("decide", DECISIONS)
@pytest.mark.parametrize("classes", [2, 4])
def test_the_linear_kernel_is_no_kernel(classes, decide, layout, cache_size):
    X, y = integers(classes, classes)
    weights = np.random.default_rng(0).choice([0, 1, 2, 2.5], len(X))
    plain = VotedPerceptron(3, decide=decide).fit(X, y, weights)
    dual = VotedPerceptron(3, decide=decide, kernel="linear", cache_size=cache_size)
    dual.fit(layout(X), y, weights)
    assert_same_run(plain, dual)
    new = integers(99, 2, n=50)[0]
    expected = plain.decision_function(new)
    np.testing.assert_allclose(dual.decision_function(layout(new)), expected, atol=1e-9)
    if decide != "average":  # only whole numbers
        assert (dual.predict(new) == plain.predict(new)).all()


@pytest.mark.parametrize("cache_size", CACHES)
@pytest.mark.parametrize("decide", DECISIONS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_polynomial_is_the_vote_on_the_explicit_features(classes, decide, cache_size):
    X, y = integers(classes + 10, classes)
    plain = VotedPerceptron(3, decide=decide).fit(quadratic(X), y)
    polynomial = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
    dual = VotedPerceptron(3, decide=decide, cache_size=cache_size, **polynomial).fit(X, y)
    assert_same_run(plain, dual)
    new = integers(99, 2, n=50)[0]
    expected = plain.decision_function(quadratic(new))
    np.testing.assert_allclose(dual.decision_function(new), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_every_separator_in_the_feature_space_has_its_say(classes):
    X, y = integers(3, classes, n=40, d=2)
    run = reference.lives(
        reference.online(
            quadratic(X).astype(int).tolist(), y.tolist(), 1 if classes == 2 else 3, 2
        ),
        reference.zeros(1 if classes == 2 else 3, 9),
    )
    dual = VotedPerceptron(2, kernel="poly", degree=2, gamma=1, coef0=1, shuffle=False).fit(X, y)
    assert dual.survival_.tolist() == [c for _, c in run]
    votes = [reference.vote(run, x, 1) for x in quadratic(X).astype(int).tolist()]
    expected = np.array(votes) / sum(c for _, c in run)
    assert dual.decision_function(X).tolist() == expected.tolist()


@pytest.mark.parametrize("decide", ["last", "average"])
def test_a_single_separator_of_a_kernel_run_has_no_weights_to_show(decide):
    X, y = integers(4, 2)
    assert not hasattr(VotedPerceptron(2, decide=decide, kernel="rbf").fit(X, y), "coef_")
    assert VotedPerceptron(2, decide=decide).fit(X, y).coef_.shape == (1, 3)


def test_the_last_separator_is_that_of_the_kernel_perceptron():
    X, y = integers(5, 3)
    voted = VotedPerceptron(60, decide="last", kernel="poly", gamma=1.0).fit(X[:50], y[:50])
    plain = KernelPerceptron("poly", gamma=1.0, max_iter=60)
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        plain.fit(X[:50], y[:50])
    assert voted.mistakes_per_epoch_ == plain.mistakes_per_epoch_
    assert (voted.decision_function(X) == plain.decision_function(X)).all()


@pytest.mark.parametrize("size", [1, 41, 300])
@pytest.mark.parametrize("kernel", [None, "linear", "poly"])
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_in_parts_teach_what_one_pass_over_them_teaches(classes, kernel, size):
    X, y = integers(6, classes, n=300)
    parameters = {"kernel": kernel, "degree": 2, "gamma": 1.0}
    whole = VotedPerceptron(1, shuffle=False, **parameters).fit(X, y)
    parts = VotedPerceptron(**parameters)
    for start in range(0, len(X), size):
        some = slice(start, start + size)
        parts.partial_fit(X[some], y[some], classes=range(classes))
    assert parts.survival_.tolist() == whole.survival_.tolist()
    assert parts.decision_function(X).tolist() == whole.decision_function(X).tolist()


def test_a_function_votes_as_its_name_does():
    X, y = integers(7, 3)
    named = VotedPerceptron(2, kernel="rbf", gamma=0.1).fit(X, y)
    asked = VotedPerceptron(2, kernel=Kernel("rbf", gamma=0.1)).fit(X, y)
    assert_same_run(named, asked)
    assert (named.decision_function(X) == asked.decision_function(X)).all()


def test_threads_do_not_change_a_vote():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2500, 4))
    y = (X**2).sum(axis=1) > 3
    runs = [
        VotedPerceptron(2, kernel="rbf", n_jobs=jobs, cache_size=1).fit(X, y) for jobs in (1, 3)
    ]
    assert_same_run(*runs)
    scores = [run.decision_function(X).tobytes() for run in runs]
    assert scores[0] == scores[1]


def test_listeners_can_predict_after_every_pass():
    X, y = integers(8, 3)
    learner = VotedPerceptron(3, kernel="rbf")
    told = []
    learner.fit(X, y, callback=lambda done: told.append(learner.n_vectors_))
    assert told == [1 + sum(corrected(X, y, passes)) for passes in (1, 2, 3)]


def corrected(X, y, passes):
    """Rows corrected in each pass."""
    seen = []
    VotedPerceptron(passes, kernel="rbf").fit(
        X, y, callback=lambda done: seen.append(done.mistakes)
    )
    return seen


def test_a_function_that_is_no_kernel_is_named():
    X, y = integers(9, 2)
    with pytest.raises(DataError, match="kernel <lambda> is not symmetric"):
        VotedPerceptron(kernel=lambda A, B: A[:, :1] - B[:, 0]).fit(X, y)


def test_a_kernel_without_a_name_is_refused():
    with pytest.raises(ParameterError, match="kernel is 'gaussian'"):
        VotedPerceptron(kernel="gaussian").fit([[0.0], [1.0]], [0, 1])
