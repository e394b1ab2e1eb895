"""Every learner there is, found by introspection, takes every usable input and names every bad one.

`test_bad_input` and `test_unusual_input` go further for the perceptron family; here a new learner
meets the same rows, labels and weights without being listed anywhere.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import test_bad_input as bad
import test_unusual_input as unusual
from sklearn.base import is_classifier
from test_sklearn_contract import learners

import linsep
from linsep.errors import DataError, LinsepError, NotConverged, ParameterError
from linsep.status import Status

VARIANTS = [
    *(kind() for kind in learners()),
    linsep.LogisticRegression(np.inf),
    linsep.LogisticRegression(l1_ratio=0.5),
    linsep.LogisticRegression(solver="gradient", max_iter=50),
    linsep.LogisticRegression(solver="sgd", max_iter=20),
    linsep.LinearSVC(loss="squared_hinge"),
    linsep.LinearSVC(solver="sgd", max_iter=20),
    linsep.LinearSVC(multiclass="crammer-singer"),
    linsep.LinearRegression("sgd", max_iter=20),
    linsep.Perceptron("batch", max_iter=20),
    linsep.VotedPerceptron(kernel="poly"),
    linsep.Scaled(linsep.LogisticRegression()),
]
every_learner = pytest.mark.parametrize("learner", VARIANTS, ids=repr)
every_classifier = pytest.mark.parametrize(
    "learner", [one for one in VARIANTS if is_classifier(one)], ids=repr
)
X, Y = unusual.X, unusual.Y


def fit(learner, *data, **more):
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(*data, **more)


def answers(learner, rows, y=Y):
    fitted = fit(learner, rows, y)
    return getattr(fitted, "decision_function", fitted.predict)(rows)


def test_a_learner_that_is_added_is_met_here():
    kinds = {type(one).__name__ for one in VARIANTS}
    assert set(linsep._LEARNERS) <= kinds


@every_learner
def test_the_container_of_the_rows_does_not_matter(learner):
    # Dense and sparse rows may have solvers of their own, which agree to their tolerance.
    expected = {False: answers(learner, X), True: answers(learner, sp.csr_array(X))}
    for name, made in unusual.CONTAINERS.items():
        rows = made()
        sparse = sp.issparse(rows) or name == "pandas sparse"
        np.testing.assert_array_equal(answers(learner, rows), expected[sparse], err_msg=name)


@every_learner
def test_rows_that_cannot_be_written_to_are_read(learner, tmp_path):
    expected = answers(learner, X).tobytes()
    assert answers(learner, unusual.memmap(X, tmp_path, "r")).tobytes() == expected
    frozen, labels, weights = X.copy(), Y.copy(), np.ones(5)
    for array in (frozen, labels, weights):
        array.flags.writeable = False
    fit(learner, frozen, labels, sample_weight=weights)
    sparse = sp.csr_array(X)
    expected = answers(learner, sparse).tobytes()
    for part in (sparse.data, sparse.indices, sparse.indptr):
        part.flags.writeable = False
    assert answers(learner, sparse).tobytes() == expected


@every_classifier
def test_labels_of_any_kind_come_back_as_they_were(learner):
    expected = answers(learner, X)
    for name, y in unusual.LABELS.items():
        fitted = fit(learner, X, y)
        plain = y.to_pylist() if hasattr(y, "to_pylist") else list(y)
        classes = sorted(set(plain))
        assert list(fitted.classes_) == classes, name
        said = fitted.predict(X)
        assert [classes.index(one) for one in said] == (expected >= 0).astype(int).tolist(), name
        assert set(fitted.rank(X)[0]) == set(plain), name
        assert fitted.score(X, said) == 1, name


@every_learner
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity"),
                                             (-np.inf, "infinity")])  # fmt: skip
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.csc_array])
def test_a_missing_number_is_named_by_row_and_column(learner, value, name, layout):
    told = f"X contains {name}: row 2, column 1"
    with pytest.raises(DataError, match=told):
        learner.fit(layout(bad.spoiled(value)), bad.Y)
    fitted = fit(learner, bad.X, bad.Y)
    with pytest.raises(DataError, match=told):
        fitted.predict(layout(bad.spoiled(value)))


@every_learner
@pytest.mark.parametrize(
    ("rows", "y", "message"),
    [
        (np.empty((0, 3)), [], "0 sample"),
        (np.empty((4, 0)), bad.Y, "0 feature"),
        (bad.X[0], bad.Y, "Expected 2D array, got 1D"),
        (np.zeros((4, 2, 2)), bad.Y, "dim 3|3D|expected <= 2"),
        (None, bad.Y, "Expected 2D array, got scalar"),
        (bad.X + 1j, bad.Y, "Complex data not supported"),
        (np.array([["a", "b"]] * 4), bad.Y, "could not convert string to float"),
        ([[1.0, 2.0], [1.0]] * 2, bad.Y, "inhomogeneous|Expected|setting an array"),
        (bad.X, bad.Y[:3], "X has 4 rows but y has 3"),
        (bad.X, None, "y is None|requires y"),
        (bad.X, [0, np.nan, 1, 1], "nan"),
        (bad.sparse_with(indices=(0, 3)), bad.Y, "a column index 3, but 3 columns"),
        (bad.sparse_with(indptr=(0, 1, 2, 2, 9)), bad.Y, "X.indptr does not run from 0"),
    ],
    ids=["no rows", "no columns", "flat", "cube", "none", "complex", "text", "ragged", "short y",
         "no y", "nan in y", "index", "pointers"],
)  # fmt: skip
def test_rows_and_labels_no_fit_could_use_are_refused(learner, rows, y, message):
    with pytest.raises(DataError, match=message):
        learner.fit(rows, y)


@every_classifier
def test_one_class_and_strange_labels_are_refused(learner):
    with pytest.raises(DataError, match="y has one class, 'spam'; a separator needs two"):
        learner.fit(bad.X, ["spam"] * 4)
    for y, message in [
        ([None, 0, 1, 1], "y is None at row 0"),
        ([0.5, 1.0, 2.0, 1.0], "y is 0.5 at row 0"),
        ([1, "1", 1, 2], "cannot be sorted"),
        (np.zeros((4, 2)), r"y has shape \(4, 2\)"),
    ]:
        with pytest.raises(DataError, match=message):
            learner.fit(bad.X, y)


@every_learner
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "sample_weight has shape"),
        ([1, 1, np.nan, 1], "sample_weight is nan at row 2"),
        ([1, -1, 1, 1], "sample_weight is -1.0 at row 1"),
        ([0, 0, 0, 0], "zero for every row"),
        (["a", "b", "c", "d"], "sample_weight must be numbers"),
    ],
    ids=str,
)
def test_weights_that_cannot_weigh_are_refused(learner, weights, message):
    with pytest.raises(DataError, match=message):
        learner.fit(bad.X, bad.Y, sample_weight=weights)


@every_learner
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("factor", [1e300, 1e150, 1e-150, 1e-300, np.finfo(float).max / 5])
def test_magnitudes_give_finite_answers_with_a_status_or_a_named_error(learner, factor, layout):
    rows = layout(X * factor)
    try:
        found = answers(learner, rows)
    except LinsepError as problem:
        assert len(str(problem)) > 40
        return
    assert np.isfinite(found).all()
    assert isinstance(learner.status_, Status)


@every_learner
def test_rows_of_another_width_are_refused_after_the_fit(learner):
    fitted = fit(learner, bad.X, bad.Y)
    with pytest.raises(DataError, match=r"2 features, but .* expect"):
        fitted.predict(bad.X[:, :2])


@every_learner
def test_input_is_left_as_it_was(learner):
    sparse = sp.csr_array((np.ones(3), [2, 0, 0], [0, 3, 3, 3, 3]), shape=(4, 3))
    arrays = [bad.X.copy(), np.array(bad.Y), np.ones(4), sparse.data, sparse.indices, sparse.indptr]
    before = [array.tobytes() for array in arrays]
    fit(learner, arrays[0], arrays[1], sample_weight=arrays[2])
    fit(learner, sparse, arrays[1])
    assert [array.tobytes() for array in arrays] == before


WRONG = {
    bool: ["no", None, 3.0],
    int: [-1, "many", None, [3]],
    float: [np.nan, "much", None, True],
    str: ["no such", None, [1]],
}
MORE = {
    "random_state": ["x", 1.5],
    "callback": [3, [3]],
    "class_weight": [7, "equal"],
    "n_jobs": ["two", 0],
    "priors": ["x", [1.0], [-1.0, 2.0]],
    "kernel": ["sigmoid"],
}
MEANT = [
    ("Perceptron", "tol", None),  # scikit-learn's way to ask for all passes
    ("LogisticRegression", "penalty", None),  # and for maximum likelihood
]


@pytest.mark.parametrize("kind", learners(), ids=lambda kind: kind.__name__)
def test_every_parameter_is_checked_and_named(kind):
    asked = 0
    for name, default in kind().get_params(deep=False).items():
        for value in MORE.get(name, WRONG.get(type(default), [])):
            if (kind.__name__, name, value) in MEANT:
                continue
            asked += 1
            with pytest.raises(ParameterError, match=f"{name} is "):
                kind(**{name: value}).fit(bad.X, bad.Y)
    assert asked >= 5


def test_a_callback_that_cannot_be_called_is_refused_before_the_fit():
    for kind in learners():
        with pytest.raises(ParameterError, match="callback is 'x'; give a function of one pass"):
            kind().fit(bad.X, bad.Y, callback="x")
