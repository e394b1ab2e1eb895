"""The kernel perceptron: the perceptron itself, in another space."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_rows import CACHES, integers, quadratic
from sklearn.utils.estimator_checks import parametrize_with_checks

from linsep import KernelPerceptron, Perceptron, Status
from linsep.data.toys import rings
from linsep.errors import DataError, NotConverged, OverflowedError, ParameterError
from linsep.rows.kernels import Kernel
from linsep.train.voted.kernel_perceptron import WINDOW

KEEPS = ["last", "average", "pocket"]


def fitted(learner, X, y, weights=None):
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y, weights)


@pytest.mark.parametrize("cache_size", CACHES)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("classes", [2, 4])
def test_with_the_linear_kernel_it_is_the_perceptron(classes, keep, layout, cache_size):
    X, y = integers(classes, classes)
    plain = fitted(Perceptron(keep=keep, max_iter=4), X, y)
    dual = fitted(
        KernelPerceptron("linear", keep=keep, max_iter=4, cache_size=cache_size), layout(X), y
    )
    assert dual.mistakes_per_epoch_ == plain.mistakes_per_epoch_
    weights = dual.dual_coef_ @ X[dual.support_]
    np.testing.assert_allclose(weights, plain.coef_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(dual.intercept_, plain.intercept_, rtol=1e-10, atol=1e-10)
    if keep != "average":  # only whole numbers
        assert (weights == plain.coef_).all()


@pytest.mark.parametrize("cache_size", CACHES)
@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("classes", [2, 3])
def test_with_a_polynomial_it_is_the_perceptron_on_the_explicit_features(classes, keep, cache_size):
    X, y = integers(classes + 10, classes)
    plain = fitted(Perceptron(keep=keep, max_iter=3), quadratic(X), y)
    parameters = {"degree": 2, "gamma": 1.0, "coef0": 1.0, "cache_size": cache_size}
    dual = fitted(KernelPerceptron("poly", keep=keep, max_iter=3, **parameters), X, y)
    assert dual.mistakes_per_epoch_ == plain.mistakes_per_epoch_
    new = integers(99, 2, n=50)[0]
    np.testing.assert_allclose(
        dual.decision_function(new), plain.decision_function(quadratic(new)), rtol=1e-10
    )


@pytest.mark.parametrize("cache_size", CACHES)
@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_order_and_intercept_mean_what_they_mean_to_the_perceptron(
    classes, fit_intercept, shuffle, cache_size
):
    X, y = integers(classes, classes, n=400)
    weights = np.random.default_rng(0).choice([0, 1, 2, 2.5], len(X))
    same = {"max_iter": 3, "fit_intercept": fit_intercept, "shuffle": shuffle}
    same["class_weight"] = {0: 1.5}
    plain = fitted(Perceptron(**same), X, y, weights)
    dual = fitted(KernelPerceptron("linear", cache_size=cache_size, **same), X, y, weights)
    assert dual.mistakes_per_epoch_ == plain.mistakes_per_epoch_
    assert (dual.decision_function(X) == plain.decision_function(X)).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_it_makes_no_more_mistakes_than_novikoff_allows_in_the_feature_space(kernel, seed):
    """R² and the margin are those of φ(x) with its constant feature, known through κ alone."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (300, 2))
    radius = np.hypot(*X.T)
    X, radius = X[np.abs(radius - 0.7) > 0.1], radius[np.abs(radius - 0.7) > 0.1]
    y = np.where(radius > 0.7, 1, -1)
    learner = KernelPerceptron(kernel, degree=2, gamma=1.0, coef0=1.0, max_iter=10_000).fit(X, y)
    assert learner.status_ is Status.separated

    K = Kernel(kernel, 2, 1.0, 1.0)(X, X) + 1
    alpha = np.zeros(len(X))
    alpha[learner.support_] = learner.dual_coef_[0]
    margin = (y * (K @ alpha)).min() / np.sqrt(alpha @ K @ alpha)
    assert learner.mistakes_ <= np.diag(K).max() / margin**2


@pytest.mark.parametrize("classes", [2, 3])
def test_rbf_separates_any_distinct_points_whatever_their_labels(classes):
    """Its Gram matrix is positive definite, so every labelling is realised (Micchelli)."""
    rng = np.random.default_rng(0)
    X = rng.permutation(np.stack(np.meshgrid(np.arange(7.0), np.arange(7.0)), -1).reshape(-1, 2))
    y = np.arange(49) % classes
    learner = KernelPerceptron(gamma=1.0, max_iter=10_000).fit(X, y)
    assert learner.status_ is Status.separated
    assert (learner.predict(X) == y).all()


def test_every_correction_is_in_one_coefficient_and_every_row_at_most_once():
    X, y = integers(5, 2)
    learner = fitted(KernelPerceptron("linear", max_iter=5), X, y)
    signs = np.where(y == 1, 1, -1)[learner.support_]
    assert (np.diff(learner.support_) > 0).all()
    assert (learner.dual_coef_[0] * signs >= 1).all()
    assert np.abs(learner.dual_coef_).sum() == learner.mistakes_ > len(learner.support_)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("keep", KEEPS)
def test_the_published_parts_make_the_decision(keep, layout):
    X, y = integers(6, 3)
    learner = fitted(KernelPerceptron(keep=keep, max_iter=3), layout(X), y)
    rows = learner.support_vectors_
    rows = rows.toarray() if sp.issparse(rows) else rows
    assert (rows == X[learner.support_]).all()
    K = Kernel("rbf", gamma=learner.gamma_)(X, rows)
    scores = K @ learner.dual_coef_.T + learner.intercept_
    np.testing.assert_allclose(learner.decision_function(layout(X)), scores, atol=1e-9)
    assert (learner.predict(X) == scores.argmax(axis=1)).all()
    assert (learner.rank(X)[:, 0] == learner.predict(X)).all()


@pytest.mark.parametrize("size", [1, 37, 300])
@pytest.mark.parametrize("keep", ["last", "average"])
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_in_parts_teach_what_one_pass_over_them_teaches(classes, keep, size):
    X, y = integers(7, classes, n=500)
    whole = fitted(
        KernelPerceptron("poly", degree=2, gamma=1, keep=keep, max_iter=1, shuffle=False), X, y
    )
    parts = KernelPerceptron("poly", degree=2, gamma=1, keep=keep)
    for number, start in enumerate(range(0, len(X), size)):
        layout = sp.csr_array if number % 2 else np.asarray
        some = slice(start, start + size)
        parts.partial_fit(layout(X[some]), y[some], classes=range(classes))
    assert parts.status_ is Status.streaming
    assert parts.mistakes_ == whole.mistakes_
    assert parts.support_.tolist() == whole.support_.tolist()
    assert parts.dual_coef_.tolist() == whole.dual_coef_.tolist()
    assert parts.decision_function(X).tolist() == whole.decision_function(X).tolist()


def test_rows_after_a_fit_are_numbered_on():
    X, y = integers(8, 2, n=100)
    learner = fitted(KernelPerceptron("linear", max_iter=2), X, y)
    learner.partial_fit(X, 1 - y)
    assert learner.support_.max() >= 100
    assert learner.n_iter_ == 3


@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_a_function_learns_what_its_name_learns(kernel):
    X, y = integers(9, 3, n=300)
    named = fitted(KernelPerceptron(kernel, gamma=0.1, max_iter=3), X, y)
    asked = fitted(KernelPerceptron(Kernel(kernel, gamma=0.1), max_iter=3), X, y)
    assert asked.mistakes_per_epoch_ == named.mistakes_per_epoch_
    assert asked.support_.tolist() == named.support_.tolist()


@pytest.mark.parametrize("cache_size", [200, 1])
def test_threads_do_not_change_a_bit(cache_size):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2500, 5)).astype(np.float32)
    y = (X**2).sum(axis=1) > 4
    scores = []
    for n_jobs in (1, 2, 3):
        learner = KernelPerceptron(max_iter=2, n_jobs=n_jobs, cache_size=cache_size)
        scores.append(fitted(learner, X, y).decision_function(X).tobytes())
    assert scores[0] == scores[1] == scores[2]


def test_listeners_can_predict_after_every_pass_and_end_the_run():
    X, y = integers(10, 3)
    learner = KernelPerceptron("linear", max_iter=50)
    told = []

    def listener(done):
        told.append((done.updates, len(learner.predict(X)), learner.n_iter_))
        return done.epoch == 3

    with pytest.warns(NotConverged, match="a callback asked for it"):
        learner.fit(X, y, callback=listener)
    assert learner.status_ is Status.stopped
    assert told == [(m, len(X), k + 1) for k, m in enumerate(learner.mistakes_per_epoch_)]
    same = fitted(KernelPerceptron("linear", max_iter=3), X, y)
    assert learner.dual_coef_.tolist() == same.dual_coef_.tolist()


@pytest.mark.parametrize("cache_size", CACHES)
def test_a_fit_interrupted_after_a_pass_is_that_of_the_passes_made(cache_size):
    X, y = integers(11, 3)

    def interrupt(done):
        if done.epoch == 2:
            raise KeyboardInterrupt

    learner = fitted(KernelPerceptron("linear", callback=interrupt, cache_size=cache_size), X, y)
    assert learner.status_ is Status.interrupted
    same = fitted(KernelPerceptron("linear", max_iter=2), X, y)
    assert learner.dual_coef_.tolist() == same.dual_coef_.tolist()


def test_a_fit_interrupted_within_a_pass_is_that_of_the_rows_shown():
    X, y = integers(11, 2)
    calls = []

    def dots(A, B):
        calls.append(len(A))
        if len(calls) == 5:  # a window and the sum after it take two calls
            raise KeyboardInterrupt
        return A @ B.T

    learner = fitted(KernelPerceptron(dots, cache_size=0, shuffle=False), X, y)
    assert learner.status_ is Status.interrupted
    shown = KernelPerceptron("linear").partial_fit(X[: 2 * WINDOW], y[: 2 * WINDOW])
    assert learner.dual_coef_.tolist() == shown.dual_coef_.tolist()


def test_a_failed_part_leaves_the_model_as_it_was():
    X, y = integers(12, 2, n=300)
    fail = []

    def dots(A, B):
        K = A @ B.T
        return K * np.nan if fail else K

    learner = KernelPerceptron(dots, cache_size=0).partial_fit(X[:200], y[:200])
    scores, mistakes = learner.decision_function(X), learner.mistakes_
    fail.append(True)
    with pytest.raises(DataError, match="kernel dots gives NaN for row 0 and support row 0"):
        learner.partial_fit(X[200:], y[200:])
    fail.clear()
    assert (learner.decision_function(X) == scores).all()
    assert learner.mistakes_ == mistakes
    whole = KernelPerceptron(dots).partial_fit(X, y)
    assert learner.partial_fit(X[200:], y[200:]).mistakes_ == whole.mistakes_


def test_a_pickled_learner_decides_and_learns_on():
    X, y = integers(13, 3)
    learner = fitted(KernelPerceptron(max_iter=2), X, y)
    again = pickle.loads(pickle.dumps(learner))
    assert (again.decision_function(X) == learner.decision_function(X)).all()
    again.partial_fit(X, y)
    learner.partial_fit(X, y)
    assert again.dual_coef_.tolist() == learner.dual_coef_.tolist()


def test_a_later_fit_forgets_the_earlier_one():
    X, y = integers(14, 2)
    learner = fitted(KernelPerceptron(max_iter=2), X, y)
    first = learner.dual_coef_.tolist()
    assert fitted(learner, X, y).dual_coef_.tolist() == first


def test_the_average_says_when_it_makes_mistakes_that_the_last_does_not():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1]
    learner = KernelPerceptron("linear", keep="average", max_iter=1000).fit(X, y)
    assert learner.status_ is Status.averaged
    assert learner.predict(X).tolist() != y
    assert KernelPerceptron("linear", max_iter=1000).fit(X, y).predict(X).tolist() == y


def test_labels_may_be_words():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "other", "other", "same"]
    learner = KernelPerceptron(gamma=1.0).fit(X, y)
    assert learner.predict(X).tolist() == y
    assert learner.rank([[0, 0]]).tolist() == [["same", "other"]]


@pytest.mark.parametrize("cache_size", [200, 0])
def test_a_function_that_is_no_kernel_is_named(cache_size):
    X, y = integers(15, 2)

    def lopsided(A, B):
        return A[:, :1] - B[:, 0]

    with pytest.raises(DataError, match="kernel lopsided is not symmetric"):
        KernelPerceptron(lopsided, cache_size=cache_size).fit(X, y)


@pytest.mark.parametrize("cache_size", [200, 0])
def test_values_that_only_together_leave_the_range_are_told(cache_size):
    X, y = integers(17, 6)

    def huge(A, B):
        return np.full((len(A), len(B)), 1e308)

    with pytest.raises(OverflowedError, match="although every value of kernel huge is finite"):
        KernelPerceptron(huge, cache_size=cache_size).fit(X, y)


def test_rows_to_predict_are_refused_with_the_words_of_every_learner():
    X, y = integers(16, 2)
    learner = fitted(KernelPerceptron(max_iter=2), X, y)
    with pytest.raises(DataError, match="X contains NaN: row 1, column 2"):
        learner.predict([[0.0, 0.0, 0.0], [0.0, 0.0, np.nan]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "cosine"}, "kernel is 'cosine'"),
        ({"keep": "best"}, "keep is 'best'"),
        ({"gamma": -1.0}, "gamma is -1.0"),
        ({"cache_size": -1}, "cache_size is -1"),
        ({"max_iter": 0}, "max_iter is 0"),
    ],
)
def test_parameters_that_no_fit_could_honour_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        KernelPerceptron(**parameters).fit([[0.0], [1.0]], [0, 1])


ORDER = (
    "An online rule depends on the order of rows: one of weight 2 is presented twice in a row, "
    "which is another run than the two copies shuffled apart."
)


@parametrize_with_checks(
    [KernelPerceptron()],
    expected_failed_checks=lambda learner: {
        "check_sample_weight_equivalence_on_dense_data": ORDER,
        "check_sample_weight_equivalence_on_sparse_data": ORDER,
    },
)
@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


def test_rows_may_be_drawn_and_a_drawn_pass_without_corrections_is_looked_into():
    X, y = rings(60)
    drawn = KernelPerceptron("rbf", gamma=1.0, shuffle="draw").fit(X, y)
    assert drawn.status_.name == "separated" and drawn.score(X, y) == 1.0
    shuffled = KernelPerceptron("rbf", gamma=1.0).fit(X, y)
    assert (drawn.decision_function(X) != shuffled.decision_function(X)).any()
