"""Boolean expressions: what they mean, how inputs are ordered, and where reading fails."""

import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep.errors import DataError, ParameterError
from linsep.logic import ExpressionError, ThresholdUnit, parse, realize


def values(text):
    return parse(text).truth_table().tolist()


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("a & b", [0, 0, 0, 1]),
        ("a | b", [0, 1, 1, 1]),
        ("a ^ b", [0, 1, 1, 0]),
        ("a -> b", [1, 1, 0, 1]),
        ("a <-> b", [1, 0, 0, 1]),
        ("!a & b", [0, 1, 0, 0]),
        ("a & !b", [0, 0, 1, 0]),
        ("!a", [1, 0]),
        ("!!a", [0, 1]),
        ("1", [1]),
        ("false", [0]),
        ("a | 1", [1, 1]),
    ],
)
def test_each_operator_has_its_truth_table(text, table):
    assert values(text) == table


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a & b", "a and b"),
        ("a && b", "a ∧ b"),
        ("a | b", "a or b"),
        ("a || b", "a ∨ b"),
        ("a ^ b", "a xor b"),
        ("a ⊕ b", "a XOR b"),
        ("!a & b", "not a and b"),
        ("~a & b", "¬a ∧ b"),
        ("a -> b", "a => b"),
        ("a <-> b", "a == b"),
        ("a<=>b", "a <-> b"),
        ("a AND NOT b", "a & !b"),
    ],
)
def test_every_spelling_means_the_same(one, other):
    assert values(one) == values(other)


@pytest.mark.parametrize(
    ("loose", "grouped"),
    [
        ("a | b & c", "a | (b & c)"),
        ("a | b ^ c", "a | (b ^ c)"),
        ("a ^ b & c", "a ^ (b & c)"),
        ("!a & b", "(!a) & b"),
        ("a -> b | c", "a -> (b | c)"),
        ("a -> b -> c", "a -> (b -> c)"),
        ("a <-> b -> c", "a <-> (b -> c)"),
        ("a & b | c & d", "(a & b) | (c & d)"),
    ],
)
def test_operators_bind_not_and_xor_or_implies_equals(loose, grouped):
    assert values(loose) == values(grouped)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("!(a & b)", "!a | !b"),
        ("!(a | b)", "!a & !b"),
        ("a -> b", "!a | b"),
        ("a ^ b", "(a | b) & !(a & b)"),
        ("a & (b | c)", "a & b | a & c"),
        ("at_least(2, a, b, c)", "a & b | a & c | b & c"),
        ("at_most(1, a, b, c)", "!at_least(2, a, b, c)"),
        ("exactly(1, a, b)", "a ^ b"),
        ("exactly(2, a, b, c)", "at_least(2, a, b, c) & at_most(2, a, b, c)"),
        ("at_least(0, a, b) & c", "(a | !a) & (b | !b) & c"),
        ("at_least(4, a, b, c)", "a & !a & b & c"),
        ("exactly(5, a, b)", "a & b & 0"),
        ("at_least(2, a & b, b ^ c, !a)", "at_least(2, (a & b), (b ^ c), (!a))"),
    ],
)
def test_identities_of_boolean_algebra_hold(one, other):
    assert values(one) == values(other)


def test_inputs_are_sorted_as_people_sort_them():
    assert parse("x10 | x2 | x1").names == tuple(f"x{k}" for k in range(1, 11))
    assert parse("b & a").names == ("a", "b")
    assert parse("p10 & p9 & q").names == ("p9", "p10", "q")


def test_numbers_left_out_are_inputs_of_weight_zero():
    expression = parse("x1 & x2 & x4")
    assert expression.names == ("x1", "x2", "x3", "x4")
    assert realize(expression) == ThresholdUnit([1, 1, 0, 1], -3)


def test_numbering_may_start_at_zero():
    assert parse("x0 | x2").names == ("x0", "x1", "x2")
    assert parse("x2").names == ("x1", "x2")


def test_an_expression_is_callable_on_rows():
    expression = parse("x1 ^ x2")
    assert expression([0, 1]) == expression(1, 0) == 1
    assert expression([[0, 0], [1, 1], [1, 0]]).tolist() == [0, 0, 1]
    assert parse("1")([]) == 1


def test_an_expression_keeps_its_text():
    assert str(parse("  x1 ^ x2 ")) == "x1 ^ x2"


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b", "c", "True", "False"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&", "|", "^"]), inner).map(
            lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
        ),
        inner.map(lambda part: f"(not {part})"),
    ),
    max_leaves=12,
)


@given(EXPRESSIONS)
def test_python_agrees_on_what_an_expression_means(text):
    # The oracle evaluates text that this test made itself.
    expression = parse(text)
    for row in product((False, True), repeat=expression.n):
        meaning = eval(text, {}, dict(zip(expression.names, row, strict=True)))
        assert expression(row) == bool(meaning)


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("", 1, "found the end; wanted an input"),
        ("   ", 1, "found the end; wanted an input"),
        ("x1 &", 5, "found the end; wanted an input"),
        ("x1 & & x2", 6, "found '&'; wanted an input"),
        ("x1 x2", 4, "found 'x2'; wanted an operator or the end"),
        ("x1 + x2", 4, r"found '\+', which no expression uses"),
        ("(x1 | x2", 1, r"this '\(' is never closed"),
        ("x1 | x2)", 8, r"found '\)'; wanted an operator or the end"),
        ("(x1 x2)", 5, r"found 'x2'; wanted an operator or '\)'"),
        ("x1 & 2", 6, "found '2'; wanted an input"),
        ("2x & y", 1, "found '2x'"),
        ("at_least(x1, x2)", 10, r"found 'x1'; wanted how many: at_least\(2, x1"),
        ("at_least(2 x1)", 12, "found 'x1'"),
        ("most(2, x1)", 1, "found 'most' before '\\('; known are at_least, at_most, exactly"),
        ("x1 and\tor x2", 8, "found 'or'"),
        ("x1 & x99", 6, "'x99' makes 99 inputs; at most 16"),
        ("__import__('os')", 12, 'found "\'", which no expression uses'),
        ("x1.real", 3, "found '.'"),
    ],
)
def test_errors_show_the_place_and_what_was_wanted(text, position, reason):
    with pytest.raises(ExpressionError, match=f"character {position}: .*{reason}") as caught:
        parse(text)
    assert caught.value.position == position
    _, shown, caret = str(caught.value).splitlines()
    assert caret.index("^") == 4 + position - 1
    assert shown[4:].split() == text.split()


def test_the_caret_stays_under_its_character_in_long_text():
    text = " | ".join(["x1"] * 100) + " ? " + " | ".join(["x1"] * 100)
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    _, shown, caret = str(caught.value).splitlines()
    assert shown[caret.index("^")] == "?"
    assert len(shown) < 80


def test_an_expression_error_is_a_data_error_and_a_value_error():
    assert issubclass(ExpressionError, DataError)
    assert issubclass(ExpressionError, ValueError)


def test_text_that_is_no_text_is_refused():
    with pytest.raises(ParameterError, match="text = 3"):
        parse(3)


def test_deep_nesting_is_refused_before_python_runs_out_of_stack():
    depth = sys.getrecursionlimit()
    assert values("(" * 150 + "a" + ")" * 150) == [0, 1]
    with pytest.raises(ExpressionError, match="nested deeper than 200 levels"):
        parse("(" * depth + "a" + ")" * depth)
    with pytest.raises(ExpressionError, match="nested deeper"):
        parse(" -> ".join(["a"] * depth))


def test_long_chains_and_many_negations_are_fine():
    assert values(" & ".join(["a", "b"] * 5000)) == [0, 0, 0, 1]
    assert values("!" * 10001 + "a") == [1, 0]


@given(st.text(alphabet="ab01&|^!~()<->=, x2at_least\t\n", max_size=30))
def test_any_text_is_read_or_refused_with_a_place_inside_it(text):
    try:
        expression = parse(text)
    except ExpressionError as error:
        assert 1 <= error.position <= len(text) + 1
    else:
        assert len(expression.truth_table()) == 2**expression.n


def test_reading_sixteen_inputs_gives_all_rows():
    text = " ^ ".join(f"x{k}" for k in range(1, 17))
    parity = np.array([bin(row).count("1") % 2 for row in range(2**16)])
    assert (parse(text).truth_table() == parity).all()
