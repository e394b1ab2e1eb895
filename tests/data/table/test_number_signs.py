"""Points and commas in numbers: judged where cells are clear, asked about where they are not."""

import warnings

import numpy as np
import pandas as pd
import pytest

import linsep
from linsep.data.sources.read import read
from linsep.data.table.number_signs import decimal_of, doubts, is_clear
from linsep.errors import DataError, ParameterError
from linsep.model.files.store import from_bytes, to_bytes

THOUSANDS = "a;b;y\n1.234;1;ja\n999;2;nein\n12.345;3;ja\n"


def first_column(content, **how):
    return read(content.encode(), **how).load()[0][:, 0].tolist()


def test_a_point_before_three_digits_beside_whole_numbers_is_asked_about_by_name():
    asked = r"column 'a' holds 1\.234 beside 999.*decimal='\.' or thousands='\.'"
    with pytest.raises(DataError, match=asked):
        read(THOUSANDS.encode())
    with pytest.raises(DataError, match=r"column 'a' holds 1,234 beside 999.*thousands=','"):
        read(THOUSANDS.replace(".", ",").encode())
    with pytest.raises(DataError, match=r"column 'a' holds 1\.234 € beside 999 €"):
        read(b"a;b;y\n1.234 \xe2\x82\xac;1;ja\n999 \xe2\x82\xac;2;nein\n")


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ({"thousands": "."}, [1234.0, 999.0, 12345.0]),
        ({"decimal": ",", "thousands": "."}, [1234.0, 999.0, 12345.0]),
        ({"decimal": "."}, [1.234, 999.0, 12.345]),
        ({"thousands": ","}, [1.234, 999.0, 12.345]),
        ({"thousands": "'"}, [1.234, 999.0, 12.345]),
    ],
)
def test_the_answer_is_taken_from_either_sign(how, wanted):
    assert first_column(THOUSANDS, **how) == wanted


@pytest.mark.parametrize(
    "other",
    ["0.125", "3.5", "-0.250", "1234.567"],
)
def test_a_clear_number_anywhere_in_the_file_settles_the_sign(other):
    content = THOUSANDS.replace(";1;", f";{other};")
    with warnings.catch_warnings(action="error"):
        assert first_column(content) == [1.234, 999.0, 12.345]


def test_twenty_thousands_beside_whole_numbers_are_asked_about_whatever_others_hold():
    rows = [f"{k}.{k:03},0.5,{'pq'[k % 2]}\n" for k in range(1, 30)]
    with pytest.raises(DataError, match=r"column 'a' holds 1\.001 beside 7"):
        read(("a,b,y\n" + "".join(rows) + "7,0.5,p\n").encode())
    with_shorter = "a,b,y\n" + "".join(rows) + "7,0.5,p\n1.25,0.5,q\n"
    assert first_column(with_shorter)[-2:] == [7.0, 1.25]


def test_three_decimals_throughout_are_read_as_such_with_a_warning():
    content = "a;y\n12.345;p\n13.100;q\n99.999;p\n"
    with pytest.warns(UserWarning, match="column 'a' holds three digits behind the point in every"):
        chunks = read(content.encode())
    assert chunks.load()[0][:, 0].tolist() == [12.345, 13.1, 99.999]
    assert any("thousands='.'" in note for note in chunks.notes)
    with warnings.catch_warnings(action="error"):  # with commas between cells it is no question
        first_column(content.replace(";", ","))
        first_column(content, decimal=".")


def test_points_and_commas_in_one_cell_settle_delimiter_and_sign():
    content = "a;b;y\n52.514,60;86;ja\n1.200,00;7;nein\n999,10;1;ja\n"
    assert first_column(content) == [52514.6, 1200.0, 999.1]
    assert first_column("a;y\n1,5;ja\n2,5;nein\n") == [1.5, 2.5]
    assert first_column('a,y\n"1,5",ja\n"52.514,6",nein\n') == [1.5, 52514.6]


def test_a_first_row_of_such_numbers_is_no_header():
    content = "52.514,60;86;ja\n1.200,00;7;nein\n999,10;1;ja\n"
    assert first_column(content) == [52514.6, 1200.0, 999.1]
    percent = "25%;75%;y\n1,5;2,5;ja\n0,5;4,5;nein\n"
    assert read(percent.encode()).encoding.feature_names == ["25%", "75%"]


def test_a_column_of_the_other_sign_does_not_become_hundreds_of_texts():
    rows = [f"{k},5;0.{k};0.{k}1;{'pq'[k % 2]}\n" for k in range(1, 40)]
    content = ("a;b;c;y\n" + "".join(rows)).encode()
    with pytest.raises(DataError, match="column 'a' holds numbers with a decimal comma"):
        read(content)
    assert read(content, columns={"a": "text"}).n_features == 41


def test_thousands_below_a_leading_zero_are_none():
    assert first_column("a;y\n0,125;p\n1,250;q\n") == [0.125, 1.25]


def test_a_model_reads_new_rows_by_the_signs_of_its_fit(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.integers(1, 30_000, 80)
    rows = [f"{v:,}".replace(",", ".") + f";{'ja' if v > 9_000 else 'nein'}" for v in values]
    (tmp_path / "t.csv").write_text("a;y\n" + "\n".join(rows) + "\n")
    fitted = linsep.Scaled(linsep.LogisticRegression()).fit(
        linsep.read(tmp_path / "t.csv", thousands=".")
    )
    model = from_bytes(to_bytes(fitted))
    assert model.encoding_.decimal == ","
    few = b"a;y\n1.234;nein\n12.345;ja\n"
    wanted = ["nein", "ja"]
    assert model.predict(few).tolist() == wanted
    assert model.predict([{"a": "1.234"}, {"a": "12.345"}]).tolist() == wanted
    assert model.predict(pd.DataFrame({"a": ["1.234", "12.345"]})).tolist() == wanted
    assert model.score(linsep.read(few, like=model)) == 1.0


def test_frames_of_texts_are_asked_about_and_told_as_files_are():
    frame = pd.DataFrame({"a": ["1.234", "999", "12.345"], "y": ["p", "q", "p"]})
    with pytest.raises(DataError, match=r"column 'a' holds 1\.234 beside 999"):
        read(frame, target="y")
    with pytest.raises(DataError, match=r"column 'a' holds 1\.234 beside 999"):
        linsep.Perceptron().fit(frame[["a"]], frame["y"])
    assert read(frame, target="y", thousands=".").load()[0].ravel().tolist() == [1234, 999, 12345]


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"decimal": ",", "thousands": ","}, "both ','"),
        ({"decimal": "x"}, "decimal is 'x'; give '.' or ','"),
        ({"thousands": "_"}, "thousands is '_'; give"),
    ],
)
def test_signs_that_cannot_be_meant_are_refused(how, told):
    with pytest.raises(ParameterError, match=told):
        read(THOUSANDS.encode(), **how)


@pytest.mark.parametrize(
    ("cell", "point", "comma"),
    [("1.5", True, False), ("0,125", False, True), ("52.514,60", False, True)]
    + [(doubtful, False, False) for doubtful in ("1.234", "1,234", "999", "ja", "")],
)
def test_a_cell_is_clear_if_it_is_a_number_with_one_sign_only(cell, point, comma):
    assert (is_clear(cell, "."), is_clear(cell, ",")) == (point, comma)


def test_one_clear_cell_settles_the_sign_of_all_columns():
    thousands, clear = ("a", "number", ["1.234", "999"]), ("b", "number", ["2.5"])
    assert set(doubts([thousands], ".", ";")) == {"a"}
    assert doubts([thousands, clear], ".", ";") == {}
    assert decimal_of(["1.234", "2,5"]) == ","
