"""Sums of columns with gaps are added in row order; gaps are filled in place."""

import numpy as np
import pytest
from linsep.kernels.tables import add_up, fill

from linsep import read
from linsep.kernels import tables


def table(d, gaps):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(300, d)) * 10.0 ** rng.integers(-8, 8, (300, d))
    X[rng.random(X.shape) < gaps] = np.nan
    return X


@pytest.mark.parametrize("d", [1, 3, 4, 9])
@pytest.mark.parametrize("gaps", [0.0, 0.3, 1.0])
def test_a_sum_is_that_of_its_column_in_row_order(d, gaps):
    X = table(d, gaps)
    total, count = np.full(d, 0.5), np.ones(d, np.int64)
    add_up(X, total, count)
    for j in range(d):
        s = 0.5
        for x in X[:, j].tolist():
            s += x if x == x else 0.0
        assert total[j] == s
        assert count[j] == 1 + np.count_nonzero(~np.isnan(X[:, j]))


def test_gaps_become_means_and_nothing_else_changes():
    X = table(5, 0.3)
    expected = np.where(np.isnan(X), np.arange(5.0), X)
    fill(X, np.arange(5.0))
    assert X.tobytes() == expected.tobytes()


@pytest.mark.parametrize("memory", [1 << 30, 0])
def test_gaps_of_a_file_are_filled_in_memory_and_on_disk(tmp_path, memory):
    X = table(3, 0.2)
    lines = [",".join("" if v != v else repr(v) for v in x) for x in X.tolist()]
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,y\n" + "".join(f"{x},{k % 2}\n" for k, x in enumerate(lines)))
    chunks = read(path, memory=memory)
    found = chunks.gather()
    assert found.on_disk == (memory == 0)
    means = [column.mean for column in chunks.encoding.columns]
    np.testing.assert_allclose(means, np.nanmean(X, axis=0))
    assert np.asarray(found.X).tobytes() == np.where(np.isnan(X), means, X).tobytes()
    assert "a " in chunks.notes[1]


def test_columns_become_rows_with_a_feature_for_each_text():
    numbers, codes = np.array([1.5, np.nan, -2.0]), np.array([1, -1, 0], np.int32)
    columns = [(numbers, 0, 9.0, None), (codes, 1, 0.0, np.array([0, 1, -1], np.int32))]
    odd, X = np.zeros(2, np.int64), np.empty((3, 3))
    tables.dense(columns, odd, X)
    assert X.tolist() == [[1.5, 0, 1], [9, 0, 0], [-2, 1, 0]] and odd.tolist() == [1, 0]
    values, places, ends = np.empty(6), np.empty(6, np.int32), np.empty(3, np.int32)
    assert tables.sparse(columns, odd, values, places, ends) == 5 and ends.tolist() == [2, 3, 5]
    assert values[:5].tolist() == [1.5, 1, 9, -2, 1] and places[:5].tolist() == [0, 2, 0, 0, 1]


@pytest.mark.parametrize(
    ("column", "match"),
    [
        ((np.zeros(2), 0, 0.0, None), "a cell for each row"),
        ((np.zeros(3), 2, 0.0, None), "no such feature"),
        ((np.zeros(3), -1, 0.0, None), "no such feature"),
        ((np.full(3, 2, np.int32), 0, 0.0, np.zeros(2, np.int32)), "a code has no place"),
        ((np.zeros(3, np.int32), 1, 0.0, np.ones(2, np.int32)), "no such feature"),
        ((np.zeros(3, np.float32), 0, 0.0, None), "incompatible"),
        ((np.zeros(3), 0, 0.0, np.zeros(2, np.int32)), "incompatible"),
        ((np.zeros(3), 0.5, 0.0, None), "incompatible"),
    ],
)
def test_columns_that_would_leave_the_rows_are_refused(column, match):
    with pytest.raises((ValueError, TypeError), match=match):
        tables.dense([column], np.zeros(1, np.int64), np.empty((3, 2)))


@pytest.mark.parametrize("low", [-(2**63), -5, 0, 2**63 - 6])
def test_labels_are_numbered_by_their_places(low):
    labels = np.array([5, 0, 5, 3]) + np.int64(low)
    places, codes = np.zeros(6, np.int32), np.empty(4, np.int32)
    tables.number_integers(labels, low, places, codes)
    assert codes.tolist() == [2, 0, 2, 1] and np.flatnonzero(places).tolist() == [0, 3, 5]
    with pytest.raises(ValueError, match="from the least label to the largest"):
        tables.number_integers(labels, low, np.zeros(5, np.int32), codes)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_sum_of_squares_is_finite_only_if_every_number_is(kind):
    for n in (0, 1, 31, 32, 100):
        x = np.arange(n, dtype=kind)
        assert tables.sum_of_squares(x) == float((x * x).sum(dtype=np.float64))
    for bad in (np.nan, np.inf):
        x[70] = bad
        assert not np.isfinite(tables.sum_of_squares(x))
