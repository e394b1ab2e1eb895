"""Unusual but usable input: every container, layout, type and scale has a right answer."""

import enum
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from linsep import PassiveAggressive, Perceptron, VotedPerceptron
from linsep.data.check.arrays import check_rows
from linsep.data.toys import separated, three_classes
from linsep.errors import DataError, NotConverged
from linsep.train.problem import Problem

LEARNERS = [Perceptron, PassiveAggressive, VotedPerceptron]
every_learner = pytest.mark.parametrize("kind", LEARNERS)

X = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0], [4.0, 2.0, 1.0], [5.0, 1.0, 2.0]])
Y = np.array([0, 0, 1, 1, 1])


def fit(learner, X, y, **more):
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y, **more)


def scores(kind, rows, y=Y):
    return fit(kind(max_iter=20), rows, y).decision_function(rows)


def memmap(rows, folder, mode):
    path = folder / f"rows-{mode}"
    rows.tofile(path)
    return np.memmap(path, rows.dtype, mode, shape=rows.shape)


def unsorted_with_duplicates():
    """The same matrix with entries split in two and out of order, and a zero written out."""
    data, indices, indptr = [], [], [0]
    for row in X:
        for j in reversed(range(3)):
            data += [row[j] - 1.0, 1.0]
            indices += [j, j]
        indptr.append(len(data))
    return sp.csr_array((data, indices, indptr), shape=X.shape)


def long_indices():
    rows = sp.csr_array(X)
    rows.indices = rows.indices.astype(np.int64)
    rows.indptr = rows.indptr.astype(np.int64)
    return rows


def with_explicit_zeros():
    full = sp.csr_array(np.where(X == 0, 9.0, X))
    full.data[full.data == 9.0] = 0.0
    return full


CONTAINERS = {
    "list": lambda: X.tolist(),
    "integers": lambda: X.astype(int),
    "int8": lambda: X.astype(np.int8),
    "float16": lambda: X.astype(np.float16),
    "longdouble": lambda: X.astype(np.longdouble),
    "object": lambda: X.astype(object),
    "big-endian": lambda: X.astype(">f8"),
    "Fortran": lambda: np.asfortranarray(X),
    "negative strides": lambda: X[::-1, ::-1].copy()[::-1, ::-1],
    "every second row": lambda: np.repeat(X, 2, axis=0)[::2],
    "csr_array": lambda: sp.csr_array(X),
    "csr_matrix": lambda: sp.csr_matrix(X),
    "csc": lambda: sp.csc_array(X),
    "coo": lambda: sp.coo_array(X),
    "lil": lambda: sp.lil_array(X),
    "dok": lambda: sp.dok_array(X),
    "dia": lambda: sp.dia_array(X),
    "bsr": lambda: sp.bsr_array(X),
    "sparse integers": lambda: sp.csr_array(X.astype(int)),
    "int64 indices": long_indices,
    "duplicates": unsorted_with_duplicates,
    "explicit zeros": with_explicit_zeros,
    "pandas": lambda: pd.DataFrame(X),
    "pandas nullable": lambda: pd.DataFrame(X).astype("Float64"),
    "pandas Int64": lambda: pd.DataFrame(X).astype("Int64"),
    "pandas sparse": lambda: pd.DataFrame(X).astype(pd.SparseDtype(float, 0.0)),
    "polars": lambda: pl.DataFrame(X),
    "polars integers": lambda: pl.DataFrame(X.astype(int)),
    "pyarrow": lambda: pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}),
}


@every_learner
@pytest.mark.parametrize("name", CONTAINERS)
def test_the_container_of_the_rows_does_not_matter(kind, name):
    rows = CONTAINERS[name]()
    if kind is PassiveAggressive:  # whose fractions are rounded otherwise in sparse sums
        np.testing.assert_allclose(scores(kind, rows), scores(kind, X), rtol=1e-12)
    else:
        assert scores(kind, rows).tolist() == scores(kind, X).tolist()


@every_learner
def test_rows_may_lie_in_a_file_and_be_read_only(kind, tmp_path):
    expected = scores(kind, X).tolist()
    assert scores(kind, memmap(X, tmp_path, "r")).tolist() == expected
    frozen = X.copy()
    frozen.flags.writeable = False
    assert scores(kind, frozen).tolist() == expected
    sparse = sp.csr_array(X)
    expected = scores(kind, sparse).tolist()
    for part in (sparse.data, sparse.indices, sparse.indptr):
        part.flags.writeable = False
    assert scores(kind, sparse).tolist() == expected
    labels, weights = Y.copy(), np.ones(5)
    labels.flags.writeable = weights.flags.writeable = False
    assert fit(kind(max_iter=20), frozen, labels, sample_weight=weights).score(X, Y) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_plain_arrays_are_not_copied(dtype, tmp_path):
    dense = X.astype(dtype)
    for rows in (dense, memmap(dense, tmp_path, "r")):
        assert np.shares_memory(Problem(check_rows(rows), Y, None, 2).rows.X, rows)
    for sparse in (sp.csr_array(dense), sp.csr_matrix(dense)):
        seen = Problem(check_rows(sparse), Y, None, 2).rows
        assert np.shares_memory(seen.data, sparse.data)
        assert np.shares_memory(seen.indices, sparse.indices)
        assert seen.indices.dtype == np.uint32


@every_learner
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_single_precision_stays_single(kind, layout):
    parameters = {"decide": "last"} if kind is VotedPerceptron else {}
    learner = fit(kind(max_iter=20, **parameters), layout(X.astype(np.float32)), Y)
    assert learner.coef_.dtype == np.float32
    assert learner.predict(X.astype(np.float32)).tolist() == Y.tolist()


class Order:
    """A label of a class of one's own: hashable, with an order."""

    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        return self.number < other.number

    def __eq__(self, other):
        return self.number == other.number

    def __hash__(self):
        return hash(self.number)


first, second = Order(1), Order(2)

LABELS = {
    "int": [0, 0, 1, 1, 1],
    "negative": [-1, -1, 1, 1, 1],
    "bool": [False, False, True, True, True],
    "numpy bool": np.array([False, False, True, True, True]),
    "str": ["ham", "ham", "spam", "spam", "spam"],
    "case and space": ["Yes ", "Yes ", "yes", "yes", "yes"],
    "composed and decomposed": ["e\u0301", "e\u0301", "\xe9", "\xe9", "\xe9"],
    "bytes": [b"a", b"a", b"b", b"b", b"b"],
    "numpy bytes": np.array([b"a", b"a", b"bc", b"bc", b"bc"]),
    "object str": np.array(["a", "a", "b", "b", "b"], object),
    "variable length str": np.array(["a", "a", "b", "b", "b"], np.dtypes.StringDType()),
    "float": [1.0, 1.0, 2.0, 2.0, 2.0],
    "int8": np.array([-100, -100, 100, 100, 100], np.int8),
    "uint8": np.array([0, 0, 255, 255, 255], np.uint8),
    "beyond 2**53": [2**60, 2**60, 2**60 + 1, 2**60 + 1, 2**60 + 1],
    "uint64 beyond 2**63": np.array([2**63 + 1] * 2 + [2**63 + 3] * 3, np.uint64),
    "far apart": np.array([-(2**63)] * 2 + [2**63 - 1] * 3),
    "beyond int64 both ways": [-1, -1, 2**63 + 1, 2**63 + 1, 2**63 + 1],
    "beyond 2**64": [2**70, 2**70, 2**70 + 1, 2**70 + 1, 2**70 + 1],
    "tuple": [(0, 1), (0, 1), (1, 0), (1, 0), (1, 0)],
    "enum": [enum.IntEnum("Side", "left right")(k) for k in (1, 1, 2, 2, 2)],
    "own class": [first, first, second, second, second],
    "dates": np.array(["2020", "2020", "2021", "2021", "2021"], "M8[Y]"),
    "pandas str": pd.Series(["a", "a", "b", "b", "b"]),
    "pandas category": pd.Series(pd.Categorical(list("aabbb"), categories=["c", "b", "a"])),
    "pandas Int64": pd.Series([0, 0, 1, 1, 1], dtype="Int64"),
    "pandas boolean": pd.Series([False, False, True, True, True], dtype="boolean"),
    "pandas index": pd.Series([0, 0, 1, 1, 1], index=[9, 8, 7, 6, 5]),
    "polars": pl.Series(["a", "a", "b", "b", "b"]),
    "polars category": pl.Series(["a", "a", "b", "b", "b"], dtype=pl.Categorical),
    "pyarrow": pa.array(["a", "a", "b", "b", "b"]),
    "pyarrow dictionary": pa.array(["a", "a", "b", "b", "b"]).dictionary_encode(),
}


@every_learner
@pytest.mark.parametrize("name", LABELS)
def test_labels_of_any_kind_come_back_as_they_were(kind, name):
    y = LABELS[name]
    learner = fit(kind(max_iter=20), X, y)
    plain = y.to_pylist() if hasattr(y, "to_pylist") else list(y)
    assert len(learner.classes_) == 2
    assert list(learner.predict(X)) == plain
    assert learner.score(X, learner.predict(X)) == 1
    assert set(learner.rank(X)[0]) == set(plain)
    assert scores(kind, X).tolist() == learner.decision_function(X).tolist()


@every_learner
def test_labels_of_a_part_are_understood_by_those_of_the_first(kind):
    whole, stream = kind(max_iter=1, shuffle=False), kind()
    fit(whole, X, ["no", "no", "yes", "yes", "yes"])
    stream.partial_fit(X[:1], ["no"], classes=["yes", "no"])
    stream.partial_fit(X[1:], np.array(["no", "yes", "yes", "yes"], object))
    assert stream.decision_function(X).tolist() == whole.decision_function(X).tolist()
    with pytest.raises(DataError, match="'maybe'"):
        stream.partial_fit(X[1:], ["no", "yes", "yes", "maybe"])
    assert stream.decision_function(X).tolist() == whole.decision_function(X).tolist()


@every_learner
def test_a_bad_part_leaves_what_was_learned_before(kind):
    learner = kind().partial_fit(X, Y)
    before = learner.decision_function(X).tolist()
    large = np.ones((400_000, 3))
    large[-1, 0] = np.nan
    with pytest.raises(DataError, match="row 399999, column 0"):
        learner.partial_fit(large, np.arange(len(large)) % 2)
    assert learner.decision_function(X).tolist() == before
    learner.partial_fit(X, Y)


@every_learner
def test_a_missing_number_is_found_in_large_data_too(kind):
    large = np.ones((400_000, 3))
    large[123_456, 2] = np.inf
    with pytest.raises(DataError, match="infinity: row 123456, column 2"):
        kind().fit(large, np.arange(len(large)) % 2)


@every_learner
@pytest.mark.parametrize("factor", [1e150, 1e-150, 5e-324 * 2.0**600])
def test_scales_far_from_one_give_finite_weights_and_a_status(kind, factor):
    rows = np.column_stack([X, np.ones(5)]) * factor
    learner = fit(kind(max_iter=50, fit_intercept=False), rows, Y)
    assert np.isfinite(learner.decision_function(rows)).all()
    assert learner.status_ is not None
    if kind is Perceptron:
        assert learner.score(rows, Y) == 1


@every_learner
@pytest.mark.parametrize("offset", [1e6, 1e9, 1e12, 1e15])
def test_rows_far_from_the_origin_end_in_good_time(kind, offset):
    learner = fit(kind(max_iter=100), X + offset, Y)
    assert np.isfinite(learner.decision_function(X + offset)).all()


@every_learner
def test_columns_of_very_different_scales_and_an_outlier(kind):
    mixed = X * np.array([1e-8, 1.0, 1e8])
    outlier = X.copy()
    outlier[4, 0] = 1e12
    for rows in (mixed, outlier):
        learner = fit(kind(max_iter=200), rows, Y)
        assert np.isfinite(learner.decision_function(rows)).all()


@every_learner
def test_negative_zeros_and_denormals_count_as_what_they_are(kind):
    negative = np.where(X == 0, -0.0, X)
    assert scores(kind, negative).tolist() == scores(kind, X).tolist()
    tiny = np.column_stack([X, np.full(5, 5e-324)])
    parameters = {"decide": "last"} if kind is VotedPerceptron else {}
    assert fit(kind(max_iter=50, **parameters), tiny, Y).score(tiny, Y) == 1


@every_learner
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_rows_of_zeros_alone_leave_only_the_intercept(kind, layout):
    learner = fit(kind(max_iter=20), layout(np.zeros((5, 3))), Y)
    assert len(set(learner.predict(np.zeros((5, 3))).tolist())) == 1


@every_learner
@pytest.mark.parametrize(
    "rows",
    [
        np.column_stack([X, np.full(5, 7.0)]),
        np.column_stack([X, X]),
        np.column_stack([X, X[:, 0] * 2 + X[:, 1]]),
        np.column_stack([X, np.zeros((5, 40))]),
        X[:, :1],
    ],
    ids=["constant column", "twice", "collinear", "more columns than rows", "one column"],
)
def test_odd_columns_do_not_keep_a_separator_from_being_found(kind, rows):
    parameters = {"decide": "last"} if kind is VotedPerceptron else {}
    assert fit(kind(max_iter=100, **parameters), rows, Y).score(rows, Y) == 1


@every_learner
def test_two_rows_are_enough(kind):
    learner = fit(kind(max_iter=50), [[0.0], [1.0]], ["left", "right"])
    assert learner.predict([[-1.0], [2.0]]).tolist() == ["left", "right"]


@every_learner
def test_the_same_row_with_both_labels_ends_within_its_passes(kind):
    learner = fit(kind(max_iter=30), [[1.0, 2.0]] * 4, [0, 1, 0, 1])
    assert learner.n_iter_ <= 30
    assert learner.status_.name != "separated"


@every_learner
def test_empty_sparse_rows_and_columns_no_row_uses(kind):
    rows = sp.csr_array(([1.0, 2.0], [5, 7], [0, 0, 1, 1, 2, 2]), shape=(5, 1000))
    learner = fit(kind(max_iter=50), rows, [0, 1, 0, 1, 0])
    assert learner.predict(rows).tolist() == [0, 1, 0, 1, 0]


@every_learner
def test_ten_million_columns(kind):
    wide = 10**7
    rows = sp.csr_array((np.ones(4, np.float32), [0, 5, wide - 1, 9], [0, 1, 2, 3, 4]), (4, wide))
    learner = fit(kind(max_iter=20), rows, [0, 0, 1, 1])
    assert learner.predict(rows).tolist() == [0, 0, 1, 1]


@every_learner
def test_one_row_against_a_hundred_thousand(kind):
    X = np.full((100_001, 2), [1.0, 0.0])
    X[77_777] = [-1.0, 0.5]
    y = np.ones(len(X), int)
    y[77_777] = 0
    assert fit(kind(max_iter=50), X, y).score(X, y) == 1


@every_learner
def test_several_classes_and_one_without_weight(kind):
    X, y = three_classes(60, spread=0.2)
    learner = fit(kind(max_iter=50), X, y, sample_weight=(y != 1).astype(float))
    kept = y != 1
    assert learner.score(X[kept], y[kept]) == 1
    assert learner.classes_.tolist() == [0, 1, 2]


def test_a_point_on_the_boundary_is_a_mistake_in_training_and_positive_in_prediction():
    learner = fit(Perceptron(max_iter=1, shuffle=False), [[1.0], [-2.0]], ["no", "yes"])
    assert learner.mistakes_ == 1  # row one scores 0; then w = b = −1, and row two is right
    assert learner.decision_function([[-1.0]]).tolist() == [0.0]
    assert learner.predict([[-1.0]]).tolist() == ["yes"]
    assert learner.rank([[-1.0]]).tolist() == [["yes", "no"]]


def test_ties_between_classes_go_to_the_first():
    learner = fit(Perceptron(), *three_classes(30, spread=0.1))
    learner.coef_[...] = 0
    learner.intercept_[...] = 0
    assert learner.predict([[1.0, 2.0]]).tolist() == [0]
    assert learner.rank([[1.0, 2.0]]).tolist() == [[0, 1, 2]]


def test_rank_orders_the_classes_by_their_scores():
    X, y = three_classes(60, spread=0.2)
    learner = fit(Perceptron(), X, y)
    s = learner.decision_function(X)
    for row, ranked in zip(s, learner.rank(X), strict=True):
        assert (np.diff(row[ranked]) <= 0).all()
    assert (learner.rank(X)[:, 0] == learner.predict(X)).all()


@pytest.mark.parametrize("state", [None, 3, np.random.RandomState(0), np.random.default_rng(0)],
                         ids=["none", "int", "old", "new"])  # fmt: skip
def test_any_kind_of_random_state_will_do(state):
    X, y, _ = separated(seed=0)
    assert Perceptron(random_state=state).fit(X, y).score(X, y) == 1


@pytest.mark.parametrize("batch_size", [1, 3, 10**9])
def test_a_minibatch_may_be_larger_than_the_data(batch_size):
    learner = Perceptron("minibatch", batch_size=batch_size).fit(X, Y)
    assert learner.score(X, Y) == 1
