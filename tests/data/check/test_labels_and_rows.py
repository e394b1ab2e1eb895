"""Labels become numbers of classes, rows to predict become plain arrays; what cannot is refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from linsep.data.check.arrays import frozen, require_finite
from linsep.data.check.labels import agree, encode
from linsep.data.check.plain import first_bad, plain_rows, where
from linsep.errors import DataError


@pytest.mark.parametrize(
    "y", [["b", "a", "b"], [2, -7, 2], [True, False, True], np.array([9, 1, 9], np.uint8)]
)
def test_codes_are_places_among_the_sorted_classes(y):
    classes, codes = encode(y, 3)
    assert classes.tolist() == sorted(set(np.asarray(y).tolist()))
    assert classes[codes].tolist() == np.asarray(y).tolist()


def test_rows_are_handed_on_as_they_are_where_nobody_can_write_them():
    X = np.eye(3)
    view = frozen(X)
    assert view.base is X and not view.flags.writeable and X.flags.writeable
    assert frozen(view) is view


@pytest.mark.parametrize("n", [3, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_an_entry_that_is_no_number_is_named(bad, dtype, n):
    X = np.ones((n, 4), dtype)
    require_finite(X)
    X[2, 1] = bad
    with pytest.raises(DataError, match=r"row 2.*column 1"):
        require_finite(X)


def test_codes_follow_the_classes_that_are_given():
    classes, codes = encode(["b", "c"], 2, ["a", "b", "c"])
    assert classes.tolist() == ["a", "b", "c"] and codes.tolist() == [1, 2]
    with pytest.raises(DataError, match="'d'"):
        encode(["b", "d"], 2, ["a", "b", "c"])


def test_numbers_against_texts_are_told_and_not_only_counted_wrong():
    with pytest.warns(UserWarning, match=r"y has '0' \(str\), the model says 0 \(int\)"):
        assert not agree(["0", "1"], np.array([0, 1])).any()
    with pytest.warns(UserWarning, match=r"y has 0 \(int\), the model says '1' \(str\)"):
        assert not agree([0, 1], np.array(["1", "0"])).any()


def test_labels_of_another_type_agree_by_value():
    assert agree([0, 1, 1], np.array([0, 1, 0])).tolist() == [True, True, False]
    assert agree(["x", "y"], np.array(["x", "x"])).tolist() == [True, False]


@pytest.mark.parametrize("low", [-(2**63), -128, -3, 0, 2**63 - 9, 2**64 - 9])
def test_integers_of_any_type_keep_their_values(low):
    for kind in (np.int8, np.uint8, np.int16, np.int64, np.uint64):
        if np.iinfo(kind).min <= low <= np.iinfo(kind).max - 8:
            classes, codes = encode(np.array([low + 8, low, low + 3, low + 8], dtype=kind))
            assert classes.tolist() == [low, low + 3, low + 8]
            assert classes.dtype == kind and codes.tolist() == [2, 0, 1, 2]


def test_rows_to_predict_keep_their_type_and_values():
    rows = np.arange(6.0).reshape(2, 3)
    for given in (
        rows,
        rows.tolist(),
        pd.DataFrame(rows),
        rows.astype(int),
        np.asfortranarray(rows),
    ):
        plain = plain_rows(given, 3)
        assert plain.dtype == np.float64 and plain.flags.c_contiguous
        np.testing.assert_array_equal(plain, rows)
    assert plain_rows(rows.astype(np.float32), 3).dtype == np.float32
    twice = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 3))  # one place, written twice
    assert plain_rows(twice, 3).toarray().tolist() == [[0, 3, 0], [0, 0, 0]]


def test_rows_that_cannot_be_used_are_named():
    with pytest.raises(DataError, match="2 features, but the model expects 3"):
        plain_rows([[1.0, 2.0]], 3)
    with pytest.raises(DataError, match="reshape"):
        plain_rows([1.0, 2.0, 3.0], 3)
    with pytest.raises(DataError, match="real numbers"):
        plain_rows([["a", "b"]], 2)
    bad = np.array([[1.0, 2.0], [np.inf, np.nan]])
    place, kind = first_bad(bad)
    assert (place, kind) == (2, "infinity")
    said = where(bad, place, ["age", "height"])
    assert "row 1" in said and "age" in said
