"""Rows of mapped files: pages that were read are given back, and nothing read changes."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.data.blocks.page_release import PageRelease, maps_of, room_for, rows_of, widened


@pytest.fixture
def mapped(tmp_path):
    rows = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    np.save(tmp_path / "X.npy", rows)
    return rows, np.load(tmp_path / "X.npy", mmap_mode="r")


def test_rows_anywhere_are_those_of_the_array(mapped):
    rows, X = mapped
    places = np.array([49, 0, 7, 7, 12, 3, 4, 5, 6, 30])
    np.testing.assert_array_equal(rows_of(X, places), rows[places])
    np.testing.assert_array_equal(rows_of(rows, places), rows[places])
    sparse = sp.csr_array(rows)
    np.testing.assert_array_equal(rows_of(sparse, places).toarray(), rows[places])


def test_slices_of_scattered_rows_cover_each_once_and_are_short_in_a_file(mapped):
    rows, X = mapped
    for data, longest in ((rows, 21), (X, 8)):
        slices = list(PageRelease(data).scattered(21))
        assert [i for part in slices for i in range(21)[part]] == list(range(21))
        assert max(part.stop - part.start for part in slices) == longest


def test_room_and_wider_copies_lie_in_a_file_where_the_rows_do(mapped):
    rows, X = mapped
    assert maps_of(X) and not maps_of(rows)
    for data in (rows, X):
        room = room_for(data, data)
        assert room.shape == rows.shape and bool(maps_of(room)) == bool(maps_of(data))
        wide = widened(data, np.float64)
        assert wide.dtype == np.float64 and bool(maps_of(wide)) == bool(maps_of(data))
        np.testing.assert_array_equal(wide, rows)
    assert widened(rows, np.float32) is rows
