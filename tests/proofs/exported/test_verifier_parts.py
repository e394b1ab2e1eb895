"""The parts of the verifier, each by itself: what they read, and in which sentence they refuse."""

import io
import json
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import linsep
from proofs.exported.duel import VERIFIER, verdict
from proofs.exported.test_verifier import judged, objective

Ending = VERIFIER.Ending


def ends(code, said):
    """An Ending with this exit code, whose sentence has these words."""
    return pytest.raises(Ending, match=rf"\({code}, .*{said}")


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(None, None), (3, 3), (0.5, Fraction(1, 2)), ("-0x1.8p-1", Fraction(-3, 4)), ("0x0.0p+0", 0),
     ("-12/8", Fraction(-3, 2)), ("0xff/0x10", Fraction(255, 16)), ("0x10", 16), ("10", 10),
     ("7" * 4000, int("7" * 4000))],
)  # fmt: skip
def test_numbers_are_read_exactly(value, wanted):
    assert VERIFIER.number(value) == wanted


def test_hexadecimal_numbers_may_be_long():
    assert VERIFIER.number("0x" + "f" * 40_000) == (1 << 160_000) - 1


@pytest.mark.parametrize("value", ["7" * 4001, "0x" + "f" * 40_001, "0x2p0", "0x1.00000000000000p0",
                                   "0x1p+12345", "1/", "0x1p0/2"])  # fmt: skip
def test_numbers_beyond_the_format_are_not_read(value):
    with ends(2, "is no number"):
        VERIFIER.number(value)


def test_lists_have_their_length_and_width():
    assert VERIFIER.numbers([1, "1/2"], 2) == [1, Fraction(1, 2)]
    assert VERIFIER.numbers([[1, 2], [3, 4]], 2, 2) == [[1, 2], [3, 4]]
    for values, length, width, code, said in (
        ("12", 2, None, 2, "is no list"), ((1, 2), 2, None, 2, "is no list"),
        ([1], 2, None, 1, "1 entries stand where 2 belong"),
        ([[1]], 1, 2, 1, "1 entries stand where 2"), ([1], 1, 1, 2, "is no list"),
    ):  # fmt: skip
        with ends(code, said):
            VERIFIER.numbers(values, length, width)


def test_counts_are_whole_and_from_zero():
    assert VERIFIER.count(0) == 0 and VERIFIER.count(7) == 7
    for value in (-1, True, 1.0, "1", None):
        with ends(2, "is no count"):
            VERIFIER.count(value)


def test_fractions_are_brought_over_one_denominator():
    assert VERIFIER.over_one([Fraction(1, 2), Fraction(-1, 3), Fraction(4)]) == ([3, -2, 24], 6)
    assert VERIFIER.over_one([]) == ([], 1)
    assert VERIFIER.over_one([Fraction(3, 4), Fraction(1, 2)]) == ([3, 2], 4)


def test_json_has_no_nan_and_no_two_million_brackets():
    assert VERIFIER.parse('{"a": [1]}') == {"a": [1]}
    assert len(VERIFIER.parse("[" + "[]," * 1_999_998 + "0]")) == 1_999_999
    with ends(2, "too many brackets"):
        VERIFIER.parse("[" + "[]," * 2_000_000 + "0]")
    for text in ("NaN", "[Infinity]"):
        with ends(2, "is no count"):
            VERIFIER.parse(text)


def test_files_are_regular_and_no_larger_than_may_be(tmp_path):
    (tmp_path / "f").write_bytes(b"12345")
    assert VERIFIER.content(tmp_path / "f", 5) == b"12345"
    for path, most in ((tmp_path / "f", 4), ("/dev/null", 10), (tmp_path, 1 << 20)):
        with ends(2, "is too large, or odd"):
            VERIFIER.content(str(path), most)


@pytest.mark.parametrize(("text", "value"), [("1", 1.0), (" -1.5e3 ", -1500.0), (".5", 0.5),
                                             ("5.", 5.0), ("+1E-2", 0.01)])  # fmt: skip
def test_decimal_cells_are_floats(text, value):
    assert VERIFIER.decimal(text, "here") == value


@pytest.mark.parametrize("text", ["", ".", "1e", "e1", "inf", "nan", "0x1", "1_0", "1e400", "1 2",
                                  "1" * 401, "1e12345"])  # fmt: skip
def test_other_cells_are_no_finite_numbers(text):
    with ends(2, "here: .* is no finite number"):
        VERIFIER.decimal(text, "here")


def test_labels_that_mean_the_same_are_the_same():
    alike = VERIFIER.meaning
    assert alike("1") == alike("+1") == alike("1.0") == 1
    assert alike("True") == alike("true") == "true" and alike("FALSE") == "false"
    assert alike("a") == "a" and alike("A") == "A" and alike("-2") == -2
    assert alike("9007199254740993") == 9007199254740993
    assert alike("0.1") == Fraction(0.1) and alike("1e2") == 100


@pytest.mark.parametrize(
    ("text", "about", "wanted"),
    [
        ("1,2,a\n3,0,b\n", {}, ([[(0, 1.0), (1, 2.0)], [(0, 3.0)]], ["a", "b"], 2)),
        ("x,y\n1,a\n2,b\n", {}, ([[(0, 1.0)], [(0, 2.0)]], ["a", "b"], 1)),
        ("y;x\na;1\nb;2\n", {"target": 0}, ([[(0, 1.0)], [(0, 2.0)]], ["a", "b"], 1)),
        ("1\ta\n\n2\tb", {}, ([[(0, 1.0)], [(0, 2.0)]], ["a", "b"], 1)),
        ("1,a\n2,b\n", {"header": True}, ([[(0, 2.0)]], ["b"], 1)),
        ("1|a\n2|b\n", {"delimiter": "|"}, ([[(0, 1.0)], [(0, 2.0)]], ["a", "b"], 1)),
        ('1,"a, b"\n2, c \n', {"header": False}, ([[(0, 1.0)], [(0, 2.0)]], ["a, b", "c"], 1)),
        ("3,1\n4,2\n", {}, ([[(0, 3.0)], [(0, 4.0)]], ["1", "2"], 1)),
        ("1,2,3\n4,5,6\n", {"target": 1}, ([[(0, 1.0), (1, 3.0)], [(0, 4.0), (1, 6.0)]],
                                           ["2", "5"], 2)),
    ],
)  # fmt: skip
def test_tables_are_read(text, about, wanted):
    assert VERIFIER.read_csv(text, about) == wanted


@pytest.mark.parametrize(
    ("text", "about", "said"),
    [
        ("1,a\n2\n", {}, "record 2 has 1 cells, not 2"), ("a\n1\n", {}, "there are 1 columns"),
        ("x,y\n1,a\n2,b,c\n", {}, "record 3 has 3 cells"), ("1,a\n", {"target": 2}, "no column 2"),
        ("x,y\n1,a\nz,b\n", {}, "record 3, cell 1: 'z'"), ("1,a\n", {"target": -1}, "is no count"),
        ("1,a\n2,b\nz,b\n", {}, "record 3, cell 1"),
    ],
)  # fmt: skip
def test_tables_that_are_none_are_refused(text, about, said):
    with ends(2, said):
        VERIFIER.read_csv(text, about)


@pytest.mark.parametrize(
    ("text", "about", "wanted"),
    [
        ("a 1:1 3:.5\nb 2:2 # c\n\n# d\n", {}, ([[(0, 1.0), (2, 0.5)], [(1, 2.0)]], [*"ab"], 3)),
        ("a 0:1\nb 2:2\n", {}, ([[(0, 1.0)], [(2, 2.0)]], ["a", "b"], 3)),
        ("a 1:1\nb\n", {"base": 0}, ([[(1, 1.0)], []], ["a", "b"], 2)),
        ("a\nb\n", {}, ([[], []], ["a", "b"], 0)),
        ("a 5:1\nb 6:1", {}, ([[(4, 1.0)], [(5, 1.0)]], ["a", "b"], 6)),
        ("a 3:1\nb 4:1", {"base": 2}, ([[(1, 1.0)], [(2, 1.0)]], ["a", "b"], 3)),
    ],
)  # fmt: skip
def test_svmlight_is_read(text, about, wanted):
    assert VERIFIER.read_svmlight(text, about) == wanted


@pytest.mark.parametrize(
    ("text", "about", "said"),
    [
        ("a x:1\n", {}, "line 1: no index"), ("a 1\n", {}, "line 1: '' is no finite number"),
        ("a 1:1\nb 2:1 2:1\n", {}, "line 2: indices do not rise"), ("a 3:1 2:1", {}, "do not rise"),
        ("a 1234567890123456789:1", {}, "no index"), ("a 1:z", {}, "line 1: 'z' is no finite"),
        ("a 0:1\n", {"base": 1}, "an index 0, and features count from 1"), ("a :1", {}, "no index"),
        ("a 1:1", {"base": -1}, "is no count"),
    ],
)  # fmt: skip
def test_svmlight_that_is_none_is_refused(text, about, said):
    with ends(2, said):
        VERIFIER.read_svmlight(text, about)


@pytest.mark.parametrize("kind", ["<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2",
                                  "|u1", "|b1"])  # fmt: skip
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_read_in_every_type_and_order(kind, order):
    file, values = io.BytesIO(), np.array([[1, 0, 1], [0, 1, 0]]).astype(kind)
    np.save(file, np.asarray(values, order=order))
    rows, labels, d = VERIFIER.read_npy(file.getvalue(), {})
    assert rows == [[(0, 1.0)], [(1, 1.0)]] and list(map(int, labels)) == [1, 0] and d == 2
    rows, labels, _ = VERIFIER.read_npy(file.getvalue(), {"target": 0})
    assert rows == [[(1, 1.0)], [(0, 1.0)]] and list(map(int, labels)) == [1, 0]


def test_arrays_of_other_kinds_or_of_another_length_are_refused():
    file = io.BytesIO()
    np.save(file, np.zeros((2, 3)))
    whole = file.getvalue()
    with ends(2, "there are 5 numbers, not 2x3"):
        VERIFIER.read_npy(whole[:-8], {})
    with ends(2, "there are 7 numbers, not 2x3"):
        VERIFIER.read_npy(whole + bytes(8), {})
    for odd in (whole.replace(b"<f8", b">f8"), whole.replace(b"(2, 3)", b"(2,)  ")):
        with ends(2, "not that of plain little-endian"):
            VERIFIER.read_npy(odd, {})
    with ends(2, "is no count"):
        VERIFIER.read_npy(whole, {"target": -1})


def data(tmp_path, text, classes=("a", "b"), shape=(2, 1), about=None):
    (tmp_path / "d").write_text(text)
    return VERIFIER.Data(str(tmp_path / "d"), about or {}, list(classes), list(shape))


def test_rows_are_whole_numbers_over_a_power_of_two(tmp_path):
    found = data(tmp_path, "0.5,-3,a\n0,0.25,b\n", shape=(2, 2))
    assert (found.rows, found.unit, found.codes) == ([[(0, 2), (1, -12)], [(1, 1)]], 4, [0, 1])
    assert (found.n, found.d, found.K) == (2, 2, 2)
    sparse = data(tmp_path, "b 1:2\na\n", shape=(2, 4))  # the last features may be missing
    assert (sparse.rows, sparse.unit, sparse.codes, sparse.d) == ([[(0, 2)], []], 1, [1, 0], 4)
    moved = found.combine({0: {0: 2, 1: -1}, 1: {0: 0, 1: 3}})
    assert moved == {0: {0: 4, 1: -24}, 1: {0: -2, 1: 15}}


@pytest.mark.parametrize(
    ("text", "classes", "shape", "code", "said"),
    [
        ("1,a\n2,b\n", "ab", (3, 1), 1, "2 rows in 1 columns, the certificate"),
        ("1,a\n2,b\n", "ab", (2, 2), 1, "2 rows in 1 columns"),
        ("a 1:1 2:1\nb 1:1\n", "ab", (2, 1), 1, "2 rows in 2 columns"),
        ("1,a\n2,b\n", "ac", (2, 1), 1, "other classes"),
        ("1,a\n2,a\n", "a", (2, 1), 2, "fewer than two classes"),
        ("1,a\n2,a\n", "ab", (2, 1), 1, "other classes"),
        ("1,1\n2,2\n", ["1", "1.0", "2"], (2, 1), 2, "or one twice"),
        ("1,a\n2,b\n", "ab", (-2, 1), 2, "is no count"),
    ],
)  # fmt: skip
def test_data_that_are_not_those_of_the_certificate_are_refused(
    tmp_path, text, classes, shape, code, said
):
    with ends(code, said):
        data(tmp_path, text, classes, shape)


def test_labels_are_matched_as_they_stand_and_else_by_what_they_mean(tmp_path):
    assert data(tmp_path, "1,1.0\n2,+2\n", [1, 2]).codes == [0, 1]
    assert data(tmp_path, "1,True\n2,false\n", [False, True]).codes == [1, 0]
    assert data(tmp_path, "1,01\n2,1\n", ["1", "01"]).codes == [1, 0]
    assert data(tmp_path, "1, a\n2,b \n", [" a", "b"]).codes == [0, 1]


def separable(**changes):
    """The plane x = 0 between −1 and 1: margin 1."""
    claim = {
        "claim": "separability", "separable": True, "quasi_separable": False, "fit_intercept": True,
        "weights": [1], "bias": 0, "plane": None, "margin": 1, "margin_upper": 1,
        "bound_rows": [0, 1], "bound_rivals": None, "bound_multipliers": ["1/2", "1/2"],
        "rows": None, "rivals": None, "multipliers": None,
    }  # fmt: skip
    return claim | changes


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({}, 0, "with a margin of 1."), ({"margin_upper": "inf", "bound_rows": None}, 0, "margin"),
        ({"margin": "100000001/100000000"}, 1, "the margin is less than 1.00000001"),
        ({"margin": -1}, 1, "the margin is less"), ({"margin": 0}, 0, "PROVED"),
        ({"margin_upper": "999999999/1000000000"}, 1, "margin_upper is too small"),
        ({"margin_upper": -1}, 1, "margin_upper is too small"), ({"margin_upper": 2}, 0, "PROVED"),
        ({"weights": [-1]}, 1, "row 0 .from 0. is not on its side"),
        ({"bias": 1}, 1, "row 0"), ({"bias": -1}, 1, "row 1 .from 0. is not"),
        ({"weights": [2], "bias": "1/2", "margin": "3/4"}, 0, "PROVED"),
        ({"weights": [2], "bias": "1/2", "margin": "4/5"}, 1, "the margin is less"),
        ({"plane": [["1/3", 0]], "weights": None}, 0, "PROVED"),
        ({"plane": [[1]]}, 1, "1 entries stand where 2"), ({"weights": [1, 1]}, 1, "2 entries"),
        ({"fit_intercept": False}, 0, "separable through the origin, with"),
        ({"fit_intercept": False, "bias": "1/2", "margin": "1/2"}, 1, "a bias, of planes through"),
        ({"fit_intercept": 1}, 2, "undecided"), ({"separable": None}, 2, "says undecided"),
        ({"bound_multipliers": ["1/2", "1/3"]}, 1, "not of sum one"),
        ({"bound_multipliers": ["3/2", "-1/2"]}, 1, "negative, or not of sum one"),
        ({"bound_multipliers": ["1/2"]}, 1, "1 entries stand where 2"),
        ({"bound_rows": [0, 2]}, 1, "one that the data do not have"),
        ({"bound_rows": [0, -1]}, 2, "is no count"),
        ({"bound_rows": [0, 0]}, 1, "a row is listed twice"),
        ({"bound_rows": [], "bound_multipliers": []}, 1, "no row"),
        ({"bound_rivals": [1, 0]}, 1, "rivals belong to more than two"),
        ({"bound_multipliers": ["1/3", "2/3"]}, 1, "do not balance"),
        ({"bound_multipliers": ["1/3", "2/3"], "fit_intercept": False}, 0, "PROVED"),
        ({"bound_rows": [1], "bound_multipliers": [1], "fit_intercept": False}, 0, "PROVED"),
    ],
)  # fmt: skip
def test_claims_of_a_separator(tmp_path, changes, code, said):
    found = data(tmp_path, "-1,a\n1,b\n")
    if code:
        with ends(code, said):
            VERIFIER.check_separability(separable(**changes), found)
    else:
        assert said in "PROVED " + VERIFIER.check_separability(separable(**changes), found)


def inseparable(**changes):
    """−1 and 1 of one class, 0 of the other: half of each outer row is the inner one."""
    claim = separable(separable=False, quasi_separable=None, weights=None, bias=None)
    return claim | {"rows": [0, 1, 2], "multipliers": ["1/4", "1/2", "1/4"]} | changes


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({}, 0, "No plane separates the classes: 3 rows rule every one out."),
        ({"fit_intercept": False}, 0, "No plane through the origin separates"),
        ({"rows": [1], "multipliers": [1], "fit_intercept": False}, 0, "1 rows rule"),
        ({"multipliers": ["1/2", "1/2", 0]}, 1, "do not annihilate"),
        ({"multipliers": ["1/4", "1/4", "1/2"]}, 1, "do not balance"),
        ({"rows": [0, 1]}, 1, "3 entries stand where 2"),
        ({"quasi_separable": True, "weights": [0], "bias": 0}, 1, "or every row on the plane"),
        ({"quasi_separable": True, "weights": [1], "bias": 0}, 1, "a row is on the wrong side"),
    ],
)  # fmt: skip
def test_claims_that_there_is_no_separator(tmp_path, changes, code, said):
    found = data(tmp_path, "-1,a\n0,b\n1,a\n", shape=(3, 1))
    if code:
        with ends(code, said):
            VERIFIER.check_separability(inseparable(**changes), found)
    else:
        assert said in VERIFIER.check_separability(inseparable(**changes), found)


def test_a_plane_with_rows_on_it_and_one_off_it_is_quasi_separating(tmp_path):
    found = data(tmp_path, "0,a\n0,b\n1,b\n", shape=(3, 1))
    claim = inseparable(rows=[0, 1], multipliers=["1/2", "1/2"], quasi_separable=True)
    sentence = VERIFIER.check_separability(claim | {"weights": [1], "bias": 0}, found)
    assert sentence == "No plane separates the classes: 2 rows rule every one out."


def test_rivals_of_three_classes(tmp_path):
    found = data(tmp_path, "-3,a\n0,b\n3,c\n", "abc", (3, 1))
    claim = separable(weights=[[-3], [0], [3]], bias=[0, 4, 0], margin="1/2", margin_upper="inf")
    # leads: 9 − 4 = 5, 4 − 0 = 4; ‖W‖² = 18: margin 4/√36 = 2/3
    assert "margin of 0.666667" in VERIFIER.check_separability(claim | {"margin": "2/3"}, found)
    with ends(1, "the margin is less"):
        VERIFIER.check_separability(claim | {"margin": "666667/1000000"}, found)
    least = {"bound_rows": [0, 1], "bound_rivals": [1, 0], "bound_multipliers": ["1/2", "1/2"]}
    assert VERIFIER.check_separability(claim | least | {"margin_upper": "3/2"}, found)
    with ends(1, "margin_upper is too small"):
        VERIFIER.check_separability(claim | least | {"margin_upper": "149/100"}, found)
    for rivals, code, said in (
        ([0, 0], 1, "a rival is no other class"), ([1, 3], 1, "a rival is no other class"),
        ([1, -1], 2, "is no count"), (None, 1, "rivals belong to more than two"),
        ([2, 0], 1, "do not balance"),
    ):  # fmt: skip
        with ends(code, said):
            VERIFIER.check_separability(
                claim | least | {"margin_upper": 2, "bound_rivals": rivals}, found
            )


def bounded(**changes):
    """−1 and 1: radius² = 2 with the constant feature; w = 1, b = 0: margin 1; two mistakes."""
    return {"fit_intercept": True, "bias_step": "unit", "radius": "3/2", "margin": 1, "bound": 2,
            "weights": [1], "bias": [0], "plane": None} | changes  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({}, 0, "at most 2 mistakes."), ({"bound": 1}, 1, "there may be 2 mistakes"),
        ({"bound": 10**15}, 0, "at most 1000000000000000.0 mistakes"),
        ({"radius": "7/5"}, 1, "longer than the"),
        ({"radius": -2}, 1, "longer than"), ({"margin": "11/10"}, 1, "smaller than claimed"),
        ({"margin": -1}, 1, "smaller than claimed"), ({"bias_step": "one"}, 2, "neither unit nor"),
        ({"fit_intercept": 1}, 2, "neither"), ({"fit_intercept": False, "radius": 1}, 0, "most 2"),
        ({"fit_intercept": False, "radius": 1, "bound": 0}, 1, "there may be 1 mistakes"),
        ({"fit_intercept": False, "radius": 1, "bound": 1}, 0, "at most 1 mistakes"),
        ({"bias_step": "radius"}, 0, "at most 2 mistakes"), ({"weights": [-1]}, 1, "not on its"),
        ({"bias": ["1/2"], "margin": "2/5", "bound": 10}, 0, "at most 10 mistakes"),
        ({"bias": ["1/2"], "margin": "2/5", "bound": 9}, 1, "there may be 10 mistakes"),
        ({"bias": ["1/2"], "margin": "1/2", "bound": 10}, 1, "smaller than claimed"),
    ],
)  # fmt: skip
def test_claims_of_a_mistake_bound(tmp_path, changes, code, said):
    found = data(tmp_path, "-1,a\n1,b\n")
    if code:
        with ends(code, said):
            VERIFIER.check_bound(bounded(**changes), found)
    else:
        assert re.search(said, VERIFIER.check_bound(bounded(**changes), found))


def test_a_radius_that_is_longer_than_one_changes_the_bound(tmp_path):
    found = data(tmp_path, "-2,a\n2,b\n")  # radius² = 4 + 4, margin² of (1, 1/4): (3/2)²/(1 + 1/64)
    claim = bounded(bias_step="radius", radius=3, bias=["1/4"], margin=1, bound=10)
    gamma2 = Fraction(49, 16) / (1 + Fraction(1, 16) / 4)
    assert VERIFIER.check_bound(claim | {"bound": int(8 / gamma2)}, found)
    with ends(1, "there may be"):
        VERIFIER.check_bound(claim | {"bound": int(8 / gamma2) - 1}, found)
    zero = data(tmp_path, "0,a\n0,b\n")
    with ends(1, "a constant feature that is zero"):
        VERIFIER.check_bound(bounded(bias_step="radius", bias=[1]), zero)


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"against_rest": 0, "weights": [[-1]],
          "multipliers": [["1/2", 0], [0, "1/2"]]}, 0, "PROVED"),
        ({"against_rest": 1}, 0, "PROVED"),
        ({"against_rest": 2}, 1, "REFUTED"), ({"against_rest": -1}, 2, "is no count"),
        ({"C": [1]}, 1, "1 entries stand where 2"), ({"l2": -1}, 1, "negative"),
        ({"l1": -1}, 1, "negative"), ({"penalty_weights": [-1]}, 1, "negative"),
        ({"intercept": 1}, 2, "another form"), ({"loss": "squared hinge", "C": 2,
         "dual": "7/16"}, 0, "PROVED"),
        ({"loss": "squared hinge", "C": 2, "dual": "1/2"}, 1, "less than claimed"),
        ({"C": 0, "multipliers": [[0, 0], [0, 0]], "dual": 0}, 0, "PROVED"),
        ({"C": 0, "loss": "squared hinge"}, 1, "exceed its weight"),
        ({"offset": [[1], [1]], "bias": ["-1"]}, 0, "PROVED"),
        ({"offset": [[1], [2]], "dual": 0, "primal": 3}, 0, "PROVED"),
        ({"lower": [[1]], "upper": [[1]]}, 0, "PROVED"),
        ({"lower": [["3/2"]], "weights": [["3/2"]], "primal": "9/8", "dual": "9/8",
          "multipliers": [[0, 0], [0, 0]]}, 0, "PROVED"),
        ({"primal": None}, 2, "CANNOT TELL"), ({"multipliers": [[0, 1]]}, 1, "1 entries stand"),
        ({"l1": 2, "l2": 0, "primal": 2, "dual": 1}, 0, "PROVED"),
        ({"l1": "1/2", "l2": 0}, 1, "column 0 .from 0. adds up to 1"),
        ({"weights": [[-1]], "primal": "9/2", "dual": "1/2"}, 0, "a gap of 4."),
    ],
)  # fmt: skip
def test_more_claims_of_a_gap(tmp_path, changes, code, said):
    found, told = judged(tmp_path, objective(**changes))
    assert found == code and re.search(said, told), told


def test_a_claim_within_the_error_of_logarithms_cannot_be_told(tmp_path):
    """log(1 + e⁻¹)·2 + ½ in 60 digits: as far as 10⁻⁴⁰ from it everything is told."""
    with mpmath.workdps(60):
        least = 2 * mpmath.log1p(mpmath.exp(-1)) + mpmath.mpf(1) / 2
        for shift, code in ((1e-40, 0), (-1e-40, 1), (0, 2)):
            value = int(mpmath.floor((least + mpmath.mpf(shift)) * mpmath.mpf(10) ** 55))
            claim = objective(loss="logistic", primal=f"{value}/1{'0' * 55}", dual=0)
            assert judged(tmp_path, claim)[0] == code
        half = 2 * (mpmath.log(2)) - mpmath.mpf(1) / 2  # two entropies of ½, less ½·1²
        for shift, code in ((-1e-40, 0), (1e-40, 1), (0, 2)):
            value = int(mpmath.floor((half + mpmath.mpf(shift)) * mpmath.mpf(10) ** 55))
            claim = objective(loss="logistic", primal=9, dual=f"{value}/1{'0' * 55}")
            assert judged(tmp_path, claim)[0] == code


def test_a_model_has_to_have_the_weights_of_the_certificate(tmp_path):
    X, y = np.array([[-1.0], [1.0]]), np.array(["a", "b"])
    learner = linsep.LinearSVC(loss="hinge", tol=1e-9).fit(X, y)
    linsep.save(learner, tmp_path / "m")
    body = {"format": "linsep proof", "version": 1, "data": {}, "shape": [2, 1],
            "classes": ["a", "b"]}  # fmt: skip
    (tmp_path / "d.csv").write_text("-1,a\n1,b\n")
    own = {"weights": learner.coef_.tolist(), "bias": learner.intercept_.tolist(), "primal": 1}
    for change, code in (({}, 0), ({"weights": [[0.75]]}, 1), ({"bias": [0.25]}, 1)):
        claim = objective(**(own | change | {"primal": 9, "dual": 0}))
        (tmp_path / "c.json").write_text(json.dumps(body | {"claims": [claim]}))
        assert verdict(tmp_path / "d.csv", tmp_path / "c.json", tmp_path / "m")[0] == code
    for change, code in (({"version": 2}, 2), ({"format": "proof"}, 2), ({"claims": []}, 2)):
        claims = {"claims": [objective(**own)]}
        (tmp_path / "c.json").write_text(json.dumps(body | claims | change))
        assert verdict(tmp_path / "d.csv", tmp_path / "c.json")[0] == code


def test_models_are_read_with_all_their_planes_and_no_others_than_plain_ones(tmp_path):
    X, y = np.array([[0.0, 1.0], [4.0, 0.0], [0.0, 9.0]]), np.array([b"a", b"b", b"c"])
    learner = linsep.Perceptron(max_iter=1000).fit(X, y)
    linsep.save(learner, tmp_path / "m")
    _, W, b = VERIFIER.read_model((tmp_path / "m").read_bytes())
    assert learner.coef_.tolist() == W
    assert learner.intercept_.tolist() == b
    (tmp_path / "d.csv").write_text("0,1,a\n4,0,b\n0,9,c\n")
    assert verdict(tmp_path / "d.csv", tmp_path / "m")[0] == 0
    linsep.save(linsep.Scaled(linsep.Perceptron()).fit(X, y), tmp_path / "s")
    code, told = verdict(tmp_path / "d.csv", tmp_path / "s")
    assert code == 2 and "the model maps its rows" in told
    linsep.save(linsep.LogisticRegression().fit(X, y), tmp_path / "l")
    code, told = verdict(tmp_path / "d.csv", tmp_path / "l")
    assert code == 2 and "a model alone does not tell" in told
