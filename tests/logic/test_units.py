"""Threshold units and gates: the textbook weights, and the laws of Boolean algebra."""

from dataclasses import FrozenInstanceError
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep.errors import DataError, ParameterError
from linsep.logic import AND, NAND, NOR, NOT, OR, ThresholdUnit, at_least, conjunction

PAIRS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def rows(n):
    return np.array(list(product((0, 1), repeat=n))).reshape(2**n, n)


def test_the_gates_carry_the_lecture_weights():
    assert OR() == ThresholdUnit([1, 1], -0.5)
    assert AND() == ThresholdUnit([1, 1], -1.5)
    assert NOT() == ThresholdUnit([-1], 0.5)


@pytest.mark.parametrize(
    ("gate", "values"),
    [(AND, [0, 0, 0, 1]), (OR, [0, 1, 1, 1]), (NAND, [1, 1, 1, 0]), (NOR, [1, 0, 0, 0])],
)
def test_each_gate_of_two_inputs_has_its_truth_table(gate, values):
    assert gate()(PAIRS).tolist() == values
    assert gate().truth_table().tolist() == values


def test_not_turns_its_input_over():
    assert [NOT()([0]), NOT()([1])] == [1, 0]


@pytest.mark.parametrize("n", range(6))
def test_gates_of_n_inputs_are_all_any_and_their_complements(n):
    X = rows(n)
    assert AND(n)(X).tolist() == X.all(axis=1).astype(int).tolist()
    assert OR(n)(X).tolist() == X.any(axis=1).astype(int).tolist()
    assert NAND(n)(X).tolist() == (1 - AND(n)(X)).tolist()
    assert NOR(n)(X).tolist() == (1 - OR(n)(X)).tolist()


@pytest.mark.parametrize("n", range(1, 6))
def test_de_morgan_and_is_not_or_of_the_complements(n):
    X = rows(n)
    assert AND(n)(X).tolist() == NOR(n)(1 - X).tolist()
    assert OR(n)(X).tolist() == NAND(n)(1 - X).tolist()


def test_the_conjunction_of_x1_x2_x4_is_1_1_0_1_at_least_3():
    unit = conjunction([0, 1, 3], 4)
    assert unit == ThresholdUnit([1, 1, 0, 1], -3)
    assert str(unit) == "x1 + x2 + x4 >= 3"


def test_two_of_x1_x3_x4_is_1_0_1_1_at_least_2():
    unit = at_least(2, 4, among=[0, 2, 3])
    assert unit == ThresholdUnit([1, 0, 1, 1], -2)
    assert str(unit) == "x1 + x3 + x4 >= 2"


@pytest.mark.parametrize("m", range(7))
def test_at_least_m_of_five_counts_the_ones(m):
    assert at_least(m, 5)(rows(5)).tolist() == (rows(5).sum(axis=1) >= m).astype(int).tolist()


@pytest.mark.parametrize("m", range(1, 6))
def test_at_least_m_of_n_is_dual_to_at_least_n_minus_m_plus_one(m):
    X = rows(5)
    assert at_least(m, 5)(X).tolist() == (1 - at_least(5 - m + 1, 5)(1 - X)).tolist()


def test_and_is_at_least_all_and_or_is_at_least_one():
    X = rows(4)
    assert AND(4)(X).tolist() == at_least(4, 4)(X).tolist()
    assert OR(4)(X).tolist() == at_least(1, 4)(X).tolist()


def test_a_conjunction_with_negated_inputs_asks_them_to_be_zero():
    X = rows(4)
    wanted = (X[:, 0] == 1) & (X[:, 2] == 0)
    assert conjunction([0], 4, negated=[2])(X).tolist() == wanted.astype(int).tolist()


def test_one_row_gives_an_int_and_many_rows_an_array():
    unit = AND()
    assert type(unit([1, 1])) is int
    assert type(unit(np.array([1, 1]))) is int
    assert unit(1, 1) == 1
    assert isinstance(unit([[1, 1]]), np.ndarray)
    assert unit(np.zeros((0, 2))).shape == (0,)


def test_booleans_are_rows_too():
    assert AND()([True, True]) == 1
    assert AND()(np.array([[True, False]])).tolist() == [0]


def test_the_boundary_counts_as_firing():
    assert ThresholdUnit([1], -1)([1]) == 1
    assert ThresholdUnit([], 0)([]) == 1


def test_units_decide_exactly_where_floats_would_round():
    assert (1e16 + 1.0) + 1.0 - (1e16 + 2) < 0  # in floats each 1 is lost
    assert ThresholdUnit([1e16, 1.0, 1.0], -(1e16 + 2))([1, 1, 1]) == 1
    assert ThresholdUnit([1e16, 1.0, 1.0], -(1e16 + 2))([1, 1, 0]) == 0
    assert ThresholdUnit([Fraction(1, 3)] * 3, -1)([1, 1, 1]) == 1
    assert ThresholdUnit([2**80, 1], -(2**80) - 1)([[1, 0], [1, 1]]).tolist() == [0, 1]


@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=5),
    st.integers(-20, 20),
)
def test_calling_and_the_truth_table_agree_with_the_formula(weights, bias):
    unit = ThresholdUnit(weights, bias)
    X = rows(len(weights))
    wanted = (X @ np.array(weights) + bias >= 0).astype(int)
    assert unit(X).tolist() == wanted.tolist()
    assert unit.truth_table().tolist() == wanted.tolist()


def test_equal_weights_make_equal_units_that_hash_alike():
    assert ThresholdUnit((1, 2), -1) == ThresholdUnit(np.array([1.0, 2.0]), np.float64(-1))
    assert hash(ThresholdUnit((1, 2), -1)) == hash(ThresholdUnit([1.0, 2.0], -1.0))
    assert ThresholdUnit((1, 2), -1) != ThresholdUnit((2, 1), -1)


def test_a_unit_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        AND().bias = 0


@pytest.mark.parametrize(
    ("weights", "bias", "text"),
    [
        ([1, 0, -1], 0, "x1 - x3 >= 0"),
        ([-2, 1], 1, "-2 x1 + x2 >= -1"),
        ([0, 0], -1, "0 >= 1"),
        ([1.5], -0.5, "1.5 x1 >= 0.5"),
        ([Fraction(-1, 2)], Fraction(1, 3), "-1/2 x1 >= -1/3"),
        ([2.0, 1.0], -3.0, "2 x1 + x2 >= 3"),
    ],
)
def test_units_read_as_inequalities(weights, bias, text):
    assert str(ThresholdUnit(weights, bias)) == text


def test_the_repr_of_a_unit_makes_the_unit_again():
    unit = at_least(2, 3)
    assert eval(repr(unit)) == unit


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([2, 0], "input 0 is .*2.*reads 0 or 1"),
        ([[0, 1], [float("nan"), 1]], "input 0 of row 1 is .*nan"),
        ([0, 1, 1], r"shape \(3,\); wanted one row of 2"),
        (["a", "b"], "0 or 1"),
        (1, "shape"),
    ],
)
def test_inputs_that_are_no_zeros_and_ones_are_refused(inputs, message):
    with pytest.raises(DataError, match=message):
        AND()(inputs)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ThresholdUnit([1, float("nan")], 0), "nan.*finite number"),
        (lambda: ThresholdUnit([1], float("inf")), "bias: found inf"),
        (lambda: ThresholdUnit([[1, 2]], 0), "finite number"),
        (lambda: ThresholdUnit(np.eye(2), 0), "one number for each input"),
        (lambda: ThresholdUnit("12", 0), "one number for each input"),
        (lambda: AND(-1), "n = -1"),
        (lambda: OR(2.5), "n = 2.5"),
        (lambda: conjunction([4], 4), "indices holds 4; the 4 inputs are counted from 0 to 3"),
        (lambda: conjunction([1, 1], 4), "input 1 twice"),
        (lambda: conjunction([1], 4, negated=[1]), "cannot be 1 and 0 at once"),
        (lambda: at_least(-1, 3), "m = -1"),
        (lambda: at_least(2, 3, among=[-1]), "among holds -1"),
        (lambda: AND().describe(["a"]), "names has 1 entries"),
    ],
)
def test_parameters_no_unit_can_have_are_refused_by_name(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
