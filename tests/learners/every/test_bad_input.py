"""Input that cannot be used is refused by an error that names the place and the way out."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from linsep import (
    FisherDiscriminant,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
)
from linsep.errors import DataError, LinsepError, OverflowedError, ParameterError

LEARNERS = [Perceptron, PassiveAggressive, VotedPerceptron]
every_learner = pytest.mark.parametrize("kind", LEARNERS)

X = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0], [4.0, 2.0, 1.0]])
Y = [0, 0, 1, 1]


def spoiled(value, row=2, column=1):
    bad = X.copy()
    bad[row, column] = value
    return bad


@every_learner
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity"),
                                             (-np.inf, "infinity")])  # fmt: skip
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array])
def test_a_missing_number_is_named_by_row_and_column(kind, value, name, layout):
    with pytest.raises(DataError, match=f"X contains {name}: row 2, column 1"):
        kind().fit(layout(spoiled(value)), Y)
    with pytest.raises(DataError, match=f"X contains {name}: row 2, column 1"):
        kind().partial_fit(layout(spoiled(value)), Y)
    fitted = kind(max_iter=50).fit(X, Y)
    for ask in (fitted.predict, fitted.decision_function, fitted.rank):
        with pytest.raises(DataError, match=f"X contains {name}: row 2, column 1"):
            ask(layout(spoiled(value)))


@every_learner
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_missing_number_in_single_precision_is_named_too(kind, value):
    with pytest.raises(DataError, match="row 2, column 1"):
        kind().fit(spoiled(value).astype(np.float32), Y)


@every_learner
@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(spoiled(np.nan), columns=["a", "b", "c"]),
        pl.DataFrame(spoiled(np.nan), schema=["a", "b", "c"]),
        pd.DataFrame({"a": pd.array([1, 2, 3, 4], dtype="Int64"),
                      "b": pd.array([1, 2, None, 4], dtype="Int64"),
                      "c": pd.array([1, 2, 3, 4], dtype="Float64")}),
        pl.DataFrame({"a": [1, 2, 3, 4], "b": [1, 2, None, 4], "c": [1.0, 2.0, 3.0, 4.0]}),
    ],
    ids=["pandas", "polars", "nullable", "null"],
)  # fmt: skip
def test_a_missing_number_in_a_frame_is_told_by_the_name_of_its_column(kind, frame):
    with pytest.warns(UserWarning, match=r"missing numbers in 'b' \(1\)"):
        kind().fit(frame, Y)


@every_learner
def test_one_class_is_not_a_question(kind):
    with pytest.raises(DataError, match="y has one class, 'spam'; a separator needs two"):
        kind().fit(X, ["spam"] * 4)
    with pytest.raises(DataError, match="pass all labels in classes="):
        kind().partial_fit(X, [7, 7, 7, 7])
    with pytest.raises(DataError, match="one class"):
        kind().fit(X[:1], [1])


@every_learner
@pytest.mark.parametrize("rows", [np.empty((0, 3)), sp.csr_array((0, 3)), [], np.empty((4, 0)),
                                  sp.csr_array((4, 0))], ids=str)  # fmt: skip
def test_no_rows_or_no_columns_are_refused(kind, rows):
    with pytest.raises(DataError, match=r"0 sample|0 feature|Expected 2D"):
        kind().fit(rows, Y)


@every_learner
def test_shapes_that_disagree_are_told(kind):
    with pytest.raises(DataError, match="X has 4 rows but y has 3 labels"):
        kind().fit(X, Y[:3])
    with pytest.raises(DataError, match=r"y has shape \(4, 2\)"):
        kind().fit(X, np.zeros((4, 2)))
    with pytest.raises(DataError, match="Expected 2D array, got 1D"):
        kind().fit(X[0], Y[:3])
    for swapped in (Y, np.reshape(Y, (-1, 1))):
        with pytest.raises(DataError, match=r"X and y are swapped: call fit\(X, y\)"):
            kind().fit(swapped, X)
    with pytest.raises(DataError, match="sample_weight has shape"):
        kind().fit(X, Y, sample_weight=[1, 2])
    fitted = kind(max_iter=50).fit(X, Y)
    with pytest.raises(DataError, match=r"2 features, but .* is expecting 3 features"):
        fitted.predict(X[:, :2])
    with pytest.raises(DataError, match=r"2 features, but .* is expecting 3 features"):
        fitted.partial_fit(X[:, :2], Y)


@every_learner
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y is None"),
        ([None, 0, 1, 1], "y is None at row 0"),
        (np.array(["a", None, "b", "b"], object), "y is None at row 1"),
        ([0.0, 1.0, np.nan, 1.0], "y is nan at row 2"),
        ([0.0, 1.0, np.inf, 1.0], "y is inf at row 2"),
        (np.array(["a", "b", np.nan, "b"], object), "y is nan at row 2"),
        (pd.Series([0, 1, None, 1], dtype="Int64"), "y is .* at row 2"),
        (pd.Series(["a", "b", None, "b"], dtype="category"), "y is nan at row 2"),
        (pd.Series(["a", "b", None, "b"]), "y is .* at row 2"),
        (pl.Series(["a", "b", None, "b"]), "y is None at row 2"),
        (np.array(["2020", "NaT", "2021", "2021"], "M8[Y]"), "y is NaT at row 1"),
        ([0.5, 1.0, 2.0, 1.0], "y is 0.5 at row 0; labels name classes"),
        ([1, "1", 1, 2], "type int and str, which cannot be sorted"),
        ([{1}, {2}, {1}, {2}], "not hashable"),
        ([[0], [0, 1], [1], [1]], "one label per row"),
        (np.array([1j, 2, 1j, 2]), "Complex data not supported"),
        (3, r"y has shape \(\)"),
        ("spam", r"y has shape \(\)"),
    ],
    ids=repr,
)
def test_labels_that_are_missing_or_no_labels_are_refused(kind, y, message):
    with pytest.raises(DataError, match=message):
        kind().fit(X, y)


@every_learner
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X + 1j, "Complex data not supported"),
        (np.array([["a", "b"]] * 4), "could not convert string to float.*OneHotEncoder"),
        (np.array([[1.0, None]] * 4, object), "NaN: row 0, column 1|convert"),
        ([[1.0, 2.0], [1.0]] * 2, "2 in row 0, 1 in row 1 .*Give every row as many numbers"),
        (np.zeros((4, 2, 2)), "dim 3|3D|expected <= 2"),
        (3.0, "Expected 2D array, got scalar"),
        (None, "Expected 2D array, got scalar"),
    ],
    ids=["complex", "text", "none", "ragged", "cube", "number", "nothing"],
)
def test_rows_that_are_no_numbers_are_refused(kind, rows, message):
    with pytest.raises(DataError, match=message):
        kind().fit(rows, Y)


@every_learner
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, np.nan, 1], "sample_weight is nan at row 2"),
        ([1, 1, np.inf, 1], "sample_weight is inf at row 2"),
        ([1, -1, 1, 1], "sample_weight is -1.0 at row 1"),
        ([0, 0, 0, 0], "zero for every row"),
        (["a", "b", "c", "d"], "sample_weight must be numbers"),
        ([1e300, 1, 1, 1], "sample_weight reaches 1e\\+300"),
        ([1e9, 1, 1, 1], "sample_weight reaches 1e\\+09"),
    ],
    ids=str,
)
def test_weights_that_cannot_weigh_are_refused(kind, weights, message):
    with pytest.raises(DataError, match=message):
        kind().fit(X, Y, sample_weight=weights)


@every_learner
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({7: 2.0}, "names 7, which is not a class"),
        ({0: -1.0}, "must be finite, >= 0"),
        ({0: np.nan}, "must be finite, >= 0"),
        ({0: 0.0, 1: 0.0}, "leaves no row any weight"),
        ("equal", "give None, 'balanced' or a dict"),
        (3.0, "give None, 'balanced' or a dict"),
    ],
    ids=str,
)
def test_class_weights_that_cannot_weigh_are_refused(kind, asked, message):
    with pytest.raises(ParameterError, match=message):
        kind(class_weight=asked).fit(X, Y)


@every_learner
def test_rows_in_parts_know_their_classes_from_the_first_part_on(kind):
    learner = kind().partial_fit(X[:2], [0, 1], classes=[0, 1])
    with pytest.raises(DataError, match=r"the label 2, which is not among the classes \[0, 1\]"):
        learner.partial_fit(X[2:], [0, 2])
    with pytest.raises(DataError, match=r"classes is \[0, 1, 2\], but the first call settled on"):
        learner.partial_fit(X[2:], [0, 1], classes=[0, 1, 2])
    learner.partial_fit(X[2:3], [0])  # a class may be absent from a later part
    with pytest.raises(ParameterError, match="'balanced', which needs all rows"):
        kind(class_weight="balanced").partial_fit(X, Y)


@every_learner
def test_a_failed_first_part_leaves_nothing_behind(kind):
    learner = kind()
    with pytest.raises(DataError):
        learner.partial_fit(X, Y, classes=[0, 1], sample_weight=[-1, 1, 1, 1])
    learner.partial_fit(X[:, :2], Y, classes=[0, 1])
    assert learner.predict(X[:, :2]).shape == (4,)


@every_learner
def test_asking_before_learning_is_told(kind):
    for ask in ("predict", "decision_function", "rank"):
        with pytest.raises(NotFittedError):
            getattr(kind(), ask)(X)
    failed = kind()
    with pytest.raises(DataError):
        failed.fit(X, [1, 1, 1, 1])
    with pytest.raises(NotFittedError):
        failed.predict(X)


@every_learner
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_numbers_whose_products_leave_the_range_are_refused(kind, dtype, layout):
    large, small = (1e300, 1e-300) if dtype is np.float64 else (1e30, 1e-30)
    with pytest.raises(
        OverflowedError, match=r"row 3, column 0.* overflow in float\d\d. Divide X by"
    ):
        kind().fit(layout((X * large).astype(dtype)), Y)
    with pytest.raises(
        OverflowedError, match=r"row 3, column 0.* vanish in float\d\d. Divide X by"
    ):
        kind().fit(layout((X * small).astype(dtype)), Y)
    with pytest.raises(OverflowedError, match="largest entry"):
        kind().fit(layout((X / 4 * np.finfo(dtype).max).astype(dtype)), Y)


@every_learner
def test_following_the_advice_on_large_numbers_works(kind):
    with pytest.raises(OverflowedError, match=r"Divide X by 1e\+300"):
        kind().fit(X * 1e300 / 4, Y)
    assert kind(max_iter=50).fit(X * 1e300 / 4 / 1e300, Y).score(X, Y) == 1


def test_scores_of_new_rows_that_leave_the_range_are_refused():
    learner = Perceptron().fit(X * 1e10, Y)
    with pytest.raises(OverflowedError, match="scores of X leave the range"):
        learner.decision_function(X * 1e307)
    voted = VotedPerceptron(50).fit(X * 1e10, Y)
    with pytest.raises(DataError, match=r"infinity for row 0.*Divide X by"):
        voted.decision_function(X * 1e307)


def test_steps_that_drive_the_weights_out_of_range_are_told():
    with pytest.raises(OverflowedError, match="The weights reached"):
        Perceptron(eta0=1e308).fit(X * 1e3, Y)


def sparse_with(data=(1.0, 2.0), indices=(0, 1), indptr=(0, 1, 2, 2, 2)):
    """A matrix whose parts were changed after it was built, which no constructor checks."""
    rows = sp.csr_array((np.ones(2), [0, 1], [0, 1, 2, 2, 2]), shape=(4, 3))
    rows.data = np.array(data)
    rows.indices = np.array(indices, np.int32)
    rows.indptr = np.array(indptr, np.int32)
    return rows


@every_learner
@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"indices": (0, 3)}, "a column index 3, but 3 columns"),
        ({"indices": (0, -1)}, "a column index -1, but 3 columns"),
        ({"indptr": (0, 2, 1, 2, 2)}, "X.indptr does not run from 0"),
        ({"indptr": (0, 1, 2, 2, 9)}, "X.indptr does not run from 0"),
        ({"indptr": (1, 1, 2, 2, 2)}, "X.indptr does not run from 0"),
    ],
    ids=str,
)
def test_a_broken_sparse_matrix_is_refused_before_any_kernel_sees_it(kind, parts, message):
    with pytest.raises(DataError, match=message):
        kind().fit(sparse_with(**parts), Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rule": "onlime"}, "rule is 'onlime'; choose one of 'online', 'batch', 'minibatch'"),
        ({"step": "median"}, "step is 'median'"),
        ({"keep": "best"}, "keep is 'best'"),
        ({"schedule": "1/n"}, "schedule is '1/n'"),
        ({"bias_step": -2}, "bias_step is -2"),
        ({"multiclass": "ovo"}, "multiclass is 'ovo'"),
        ({"eta0": 0}, "eta0 is 0; give a finite number > 0"),
        ({"eta0": np.nan}, "eta0 is nan"),
        ({"eta0": "1"}, "eta0 is '1'"),
        ({"margin": -1}, "margin is -1; give a finite number >= 0"),
        ({"tol": "none"}, "tol is .none."),
        ({"max_iter": 0}, "max_iter is 0; give a whole number > 0"),
        ({"max_iter": 1.5}, "max_iter is 1.5; give a whole number"),
        ({"batch_size": True}, "batch_size is True"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"n_jobs": 1.5}, "n_jobs is 1.5"),
        ({"schedule": "line-search"}, "set rule='batch'"),
        ({"init": [1.0, 2.0]}, "init has 1 rows of 2 weights"),
        ({"init": np.zeros((2, 3))}, "init has 2 rows of 3 weights"),
        ({"init": [np.nan, 0.0, 0.0]}, "init .* finite"),
        ({"init": "zero"}, "init .* numbers"),
        ({"init": ([1.0, 2.0, 3.0], [1.0, 2.0])}, "2 intercepts"),
    ],
    ids=str,
)
def test_parameters_no_fit_could_honour_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Perceptron(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (PassiveAggressive(0), "C is 0; give a finite number > 0"),
        (PassiveAggressive(np.inf), "C is inf"),
        (PassiveAggressive(variant="PA-III"), "choose one of 'PA-I', 'PA-II'"),
        (PassiveAggressive(keep="pocket"), "keep is 'pocket'"),
        (VotedPerceptron(0), "max_iter is 0"),
        (VotedPerceptron(decide="toss"), "decide is 'toss'"),
    ],
    ids=repr,
)
def test_the_other_learners_check_their_parameters(learner, message):
    with pytest.raises(ParameterError, match=message):
        learner.fit(X, Y)


def test_a_batch_cannot_be_gone_on_with():
    assert not hasattr(Perceptron("batch"), "partial_fit")


def test_every_refusal_is_a_linsep_error_and_a_value_error():
    for trial in (lambda: Perceptron().fit(X, [1] * 4), lambda: Perceptron(eta0=-1).fit(X, Y)):
        with pytest.raises(LinsepError) as caught:
            trial()
        assert isinstance(caught.value, ValueError)


@every_learner
def test_input_is_left_as_it_was(kind):
    rows, labels, weights = X.copy(), np.array(Y), np.ones(4)
    sparse = sp.csr_array((np.ones(3), [2, 0, 0], [0, 3, 3, 3, 3]), shape=(4, 3))
    parts = [a.tobytes() for a in (sparse.data, sparse.indices, sparse.indptr)]
    with warnings.catch_warnings(action="ignore"):
        kind(max_iter=2).fit(rows, labels, sample_weight=weights)
        kind(max_iter=2).fit(sparse, labels)
    assert rows.tobytes() == X.tobytes()
    assert labels.tolist() == Y
    assert weights.tolist() == [1.0] * 4
    assert [a.tobytes() for a in (sparse.data, sparse.indices, sparse.indptr)] == parts


@pytest.mark.parametrize(
    ("learner", "name", "message"),
    [
        (Perceptron(), "trace_", r"Perceptron\(trace=True\)"),
        (LinearRegression(), "trace_", r"LinearRegression\(trace=True\)"),
        (Perceptron(), "predict_proba", "Use LogisticRegression.*CalibratedClassifierCV"),
        (LinearSVC(), "predict_proba", "give probability=True"),
        (LogisticRegression(), "partial_fit", "give solver='sgd' or 'minibatch'"),
        (LinearSVC(), "partial_fit", "give solver='sgd'"),
        (Perceptron(rule="batch"), "partial_fit", "give rule='online'"),
        (FisherDiscriminant(), "partial_fit", "needs all rows at once. Use"),
        (LinearRegression(), "wieghts_", "has no attribute 'wieghts_'"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_a_learner_lacks_is_missed_with_the_way_to_have_it(learner, name, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(X, Y)
    assert not hasattr(learner, name)
    with pytest.raises(AttributeError, match=message):
        getattr(learner, name)
