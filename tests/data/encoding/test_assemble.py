"""Columns turned into rows, dense and sparse."""

import gc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from linsep.data.blocks import buffer_pool as lending
from linsep.data.encoding.assemble import Beside, dense, sparse

PLACES = np.array([2, 0, -1, 1, -1], np.int32)  # of four texts; the last is for none
NUMBERS = st.floats(width=64) | st.just(float("nan")) | st.just(-0.0)


@st.composite
def tables(draw):
    n = draw(st.sampled_from([1, 2, 7, 63, 64, 65, 200]))
    columns, become, first = [], [], 0
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["float", "whole", "text"]))
        if kind == "whole":
            dtype = draw(st.sampled_from([np.int32, np.int64, np.int8]))
            columns.append(draw(arrays.arrays(dtype, n)))
            become.append(Beside(first, 1, 0.5))
        elif kind == "float":
            columns.append(draw(arrays.arrays(np.float64, n, elements=NUMBERS)))
            become.append(Beside(first, 1, draw(st.sampled_from([np.nan, 0.5]))))
        else:
            columns.append(draw(arrays.arrays(np.int32, n, elements=st.integers(-1, 3))))
            become.append(Beside(first, 3, places=PLACES))
        first += become[-1].width
    return columns, become


def by_hand(columns, become):
    """Row by row, feature by feature."""
    rows = np.zeros((len(columns[0]), sum(one.width for one in become)))
    for cells, one in zip(columns, become, strict=True):
        for i, cell in enumerate(cells):
            if one.places is None:
                rows[i, one.first] = one.fill if cell != cell else cell
            elif PLACES[cell] >= 0:
                rows[i, one.first + PLACES[cell]] = 1.0
    return rows


@given(tables())
def test_dense_rows_have_the_features_of_every_column(table):
    expected = by_hand(*table)
    odd = [one.places is None and not np.isfinite(cells).all()
           for cells, one in zip(*table, strict=True)]  # fmt: skip
    rows, seen = dense(*table)
    assert seen.tolist() == odd
    np.testing.assert_array_equal(rows, expected)
    assert (np.signbit(rows) == np.signbit(expected))[~np.isnan(rows)].all()


@given(tables())
def test_sparse_rows_are_the_dense_ones_with_an_entry_for_every_number(table):
    columns, become = table
    (values, places, pointers), odd = sparse(*table)
    assert (values.dtype, places.dtype, pointers.dtype) == (np.float64, np.int32, np.int32)
    rows = np.zeros((len(columns[0]), sum(one.width for one in become)))
    for i in range(len(rows)):
        mine = slice(pointers[i], pointers[i + 1])
        assert (np.diff(places[mine]) > 0).all()
        rows[i, places[mine]] = values[mine]
    expected, seen = dense(*table)
    np.testing.assert_array_equal(rows, expected)
    assert odd.tolist() == seen.tolist()


def test_columns_of_any_type_and_step_stand_side_by_side():
    columns = [np.arange(5, dtype=np.int8), np.arange(10.0)[::2], np.arange(5, dtype=np.float32)]
    rows, _ = dense(columns, [Beside(j, 1) for j in range(3)])
    np.testing.assert_array_equal(rows, np.column_stack(columns).astype(float))


def test_memory_is_lent_again_only_when_nobody_looks_at_it():
    lending.forget()
    rows = lending.lent(1000, 30)
    rows[:] = 1.0
    where, part = rows.ctypes.data, rows[10:20]
    del rows
    other = lending.lent(1000, 30)
    assert other.ctypes.data != where
    other[:] = 2.0
    assert (part == 1.0).all()
    del part
    gc.collect()
    assert lending.lent(1000, 30).ctypes.data == where
    del other


def test_no_more_memory_is_held_ready_than_was_said():
    many = [lending.lent(1 << 16, 8) for _ in range(12)]  # 4 MB each
    assert len({rows.ctypes.data for rows in many}) == 12
    del many
    gc.collect()
    assert sum(one.nbytes for one in lending._free) <= lending.KEPT
    lending.forget()
    assert lending._free == []
    assert lending.lent(0, 3).shape == (0, 3)
