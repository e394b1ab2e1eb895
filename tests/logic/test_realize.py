"""Realising Boolean functions: known counts, smallest weights, and proofs that verify."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep.errors import DataError, ParameterError
from linsep.logic import AND, XOR, Impossible, ThresholdUnit, at_least, conjunction, parse, realize
from linsep.logic.tables import MAX_INPUTS, TruthTable, truth_table, weighted_sums
from linsep.logic.weights import Weights, smallest


def size(unit):
    return sum(abs(weight) for weight in unit.weights)


def as_bits(values):
    return sum(int(value) << row for row, value in enumerate(values))


def vectors_within(n, norm):
    """All integer vectors with Σ|wᵢ| <= norm."""
    if n == 0:
        yield ()
        return
    for first in range(-norm, norm + 1):
        for rest in vectors_within(n - 1, norm - abs(first)):
            yield first, *rest


@cache
def smallest_by_enumeration(n, norm):
    """The least Σ|wᵢ| for every function some unit with Σ|wᵢ| <= norm computes."""
    least = {}
    for weights in vectors_within(n, norm):
        sums = weighted_sums(weights)
        total = sum(map(abs, weights))
        for threshold in [*np.unique(sums).tolist(), total + 1]:
            bits = as_bits(sums >= threshold)
            least[bits] = min(total, least.get(bits, total))
    return least


@cache
def regular_functions(n):
    """All functions in which every input helps or idles, and later inputs help at least as much."""
    if n == 0:
        return [0, 1]
    half, quarter = 1 << (n - 1), 1 << max(n - 2, 0)
    found = []
    for off, on in product(regular_functions(n - 1), repeat=2):
        first_alone, second_alone = on & ((1 << quarter) - 1), off >> quarter
        if not off & ~on and (n == 1 or not first_alone & ~second_alone):
            found.append(off | on << half)
    return found


@pytest.mark.parametrize(("n", "count"), [(0, 2), (1, 4), (2, 14), (3, 104), (4, 1882)])
def test_the_threshold_functions_of_n_inputs_are_as_many_as_known(n, count):
    units = 0
    for bits in range(1 << (1 << n)):
        values = [bits >> row & 1 for row in range(1 << n)]
        answer = realize(values, n)
        if isinstance(answer, ThresholdUnit):
            units += 1
            assert as_bits(answer.truth_table()) == bits
        else:
            assert answer.verify()
            assert len(answer.rows) == 4
    assert units == count


@pytest.mark.parametrize(("n", "count"), [(5, 94572), (6, 15028134)])
def test_ordered_functions_and_their_symmetries_give_the_known_counts(n, count):
    # Flipping relevant inputs and renaming all of them turns one ordered function into
    # 2^relevant n! / Π (equal inputs)! different ones.
    total = 0
    for bits in regular_functions(n):
        answer = realize(TruthTable(bits, n))
        if isinstance(answer, ThresholdUnit):
            alike = Counter(answer.weights)
            relevant = n - alike[0]
            total += 2**relevant * factorial(n) // prod(map(factorial, alike.values()))
        else:
            assert answer.verify()
    assert total == count


@pytest.mark.parametrize(("n", "norm"), [(1, 3), (2, 5), (3, 6), (4, 8)])
def test_no_integer_weights_are_smaller_by_full_enumeration(n, norm):
    least = smallest_by_enumeration(n, norm)
    assert len(least) == {1: 4, 2: 14, 3: 104, 4: 1882}[n]
    for bits, wanted in least.items():
        assert size(realize(TruthTable(bits, n))) == wanted


def ascending_within(n, norm, least=0):
    """All ascending vectors of n integers >= least with sum <= norm."""
    if n == 0:
        yield ()
        return
    for first in range(least, norm // n + 1):
        for rest in ascending_within(n - 1, norm - first, first):
            yield first, *rest


def test_no_weights_of_an_ordered_function_of_five_inputs_are_smaller():
    # Sorting the weights of an ordered function keeps it, so ascending weights are all there is.
    least = {}
    for weights in ascending_within(5, 16):
        sums = weighted_sums(weights)
        for threshold in [*np.unique(sums).tolist(), sum(weights) + 1]:
            bits = as_bits(sums >= threshold)
            least[bits] = min(sum(weights), least.get(bits, 99))
    assert set(least) == set(regular_functions(5))
    for bits, wanted in least.items():
        assert size(realize(TruthTable(bits, 5))) == wanted


def test_smallest_weights_leave_no_threshold_to_choose():
    # With a gap of two, some weight could be lowered by one: smallest weights leave a gap of one.
    for bits in regular_functions(6):
        answer = realize(TruthTable(bits, 6))
        if isinstance(answer, ThresholdUnit) and 0 < bits < 2**64 - 1:
            sums, fires = weighted_sums(answer.weights), answer.truth_table() == 1
            assert sums[fires].min() - sums[~fires].max() == 1


def test_the_lecture_conjunction_is_found_with_its_weights():
    unit = realize(lambda x1, x2, x3, x4: x1 and x2 and x4, 4)
    assert unit == conjunction([0, 1, 3], 4) == ThresholdUnit([1, 1, 0, 1], -3)


def test_the_lecture_two_of_three_is_found_with_its_weights():
    unit = realize(lambda x1, x2, x3, x4: x1 + x3 + x4 >= 2, 4)
    assert unit == at_least(2, 4, among=[0, 2, 3]) == ThresholdUnit([1, 0, 1, 1], -2)


@pytest.mark.parametrize("n", range(2, 13))
def test_nested_and_or_needs_fibonacci_weights(n):
    def nested(*inputs):
        value = inputs[-1]
        for k in range(n - 2, -1, -1):
            value = inputs[k] and value if k % 2 else inputs[k] or value
        return value

    fibonacci = [1, 1]
    while len(fibonacci) < n:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert realize(nested, n).weights == tuple(reversed(fibonacci[:n]))


@pytest.mark.parametrize("name", ["x1 ^ x2", "(x1 & x2) | (x3 & x4)", "x1 <-> x2", "x1 ^ x2 ^ x3"])
def test_the_lecture_functions_no_unit_computes_are_proved_impossible(name):
    proof = realize(parse(name))
    assert isinstance(proof, Impossible)
    assert proof.verify()


def test_the_proof_for_xor_shows_the_four_inequalities():
    text = str(realize(XOR))
    for inequality in ("w2 + b >= 0", "w1 + b >= 0", "b <  0", "w1 + w2 + b <  0", "0 < 0"):
        assert inequality in text


def test_an_input_called_b_is_not_mistaken_for_the_bias():
    proof = realize(parse("a ^ b"))
    assert "w_a + w_b + bias <  0" in proof.describe(["a", "b"])


def test_every_altered_multiplier_row_or_function_fails_to_verify():
    proof = realize(parse("(x1 & x2) | (x3 & x4)"))
    for k in range(len(proof.rows)):
        changed = [list(proof.multipliers) for _ in range(5)]
        for multipliers, wrong in zip(changed, (2, 0, -1, Fraction(1, 2), 1.0), strict=True):
            multipliers[k] = wrong
            assert not replace(proof, multipliers=tuple(multipliers)).verify()
        for row in set(range(16)) - {proof.rows[k]}:
            rows = (*proof.rows[:k], row, *proof.rows[k + 1 :])
            assert not replace(proof, rows=rows).verify()
        flipped = TruthTable(proof.table.bits ^ 1 << proof.rows[k], 4)
        assert not replace(proof, table=flipped).verify()


def test_a_proof_with_no_rows_or_with_rows_out_of_range_fails_to_verify():
    proof = realize(XOR)
    assert not replace(proof, rows=(), multipliers=()).verify()
    assert not replace(proof, rows=proof.rows[:3]).verify()
    assert not replace(proof, rows=(*proof.rows[:3], 4)).verify()
    assert not replace(proof, rows=(*proof.rows[:3], -1)).verify()


def test_a_proof_may_be_scaled_by_any_positive_fraction():
    proof = realize(XOR)
    assert replace(proof, multipliers=(Fraction(2, 3),) * 4).verify()


def semi_magic(*inputs):
    """A function of nine inputs that four rows cannot refute but six can: rows against columns.

    The nine weights have equal row and column sums, 36, which no other subset has; rows are
    on and columns off, and both add up to all inputs once.
    """
    weights = (11, 20, 5, 6, 7, 23, 19, 9, 8)
    total = sum(w * x for w, x in zip(weights, inputs, strict=True))
    lines = [tuple(int(i // 3 == k) for i in range(9)) for k in range(3)]
    return total > 36 or inputs in lines


def test_beyond_eight_inputs_a_proof_may_need_more_than_four_rows():
    proof = realize(semi_magic, 9)
    assert proof.verify()
    assert len(proof.rows) == 6
    assert sorted(proof.multipliers) == [1] * 6


@pytest.mark.parametrize("more", [1, 2, 3])
def test_proofs_of_ten_to_twelve_inputs_have_at_most_n_plus_2_rows(more):
    n = 9 + more
    proof = realize(lambda *inputs: any(inputs[9:]) or semi_magic(*inputs[:9]), n)
    assert proof.verify()
    assert len(proof.rows) <= n + 2


def test_flipping_and_renaming_inputs_keeps_the_proof_of_nine_inputs():
    order = (4, 0, 8, 2, 6, 1, 3, 7, 5)
    flips = (0, 1, 1, 0, 0, 1, 0, 1, 0)

    def renamed(*inputs):
        return semi_magic(*(inputs[i] ^ flip for i, flip in zip(order, flips, strict=True)))

    proof = realize(renamed, 9)
    assert proof.verify()
    assert len(proof.rows) <= 11


@given(st.integers(2, 10), st.data())
@settings(max_examples=60, deadline=None)
def test_functions_made_by_a_unit_are_realised_with_weights_no_larger(n, data):
    weights = data.draw(st.lists(st.integers(-12, 12), min_size=n, max_size=n))
    bias = data.draw(st.integers(-30, 30))
    made = ThresholdUnit(weights, bias)
    found = realize(made)
    assert found.truth_table().tolist() == made.truth_table().tolist()
    if n <= 7:
        assert size(found) <= size(made)


@given(st.integers(0, 8), st.data())
@settings(max_examples=100, deadline=None)
def test_every_answer_computes_the_function_or_verifies_with_few_rows(n, data):
    monotone = data.draw(st.booleans())
    bits = data.draw(st.integers(0, (1 << (1 << n)) - 1))
    values = TruthTable(bits, n).values()
    if monotone:  # the hard cases: no input pulls both ways
        cube = values.reshape((2,) * n)
        for axis in range(n):
            cube = np.maximum.accumulate(cube, axis=axis)
        values = cube.reshape(-1)
    answer = realize(values)
    if isinstance(answer, ThresholdUnit):
        assert answer.truth_table().tolist() == values.tolist()
    else:
        assert answer.verify()
        assert len(answer.rows) == 4


@given(st.integers(0, 2**16 - 1), st.permutations(range(4)), st.integers(0, 15))
def test_renaming_and_flipping_inputs_changes_neither_verdict_nor_size(bits, order, flips):
    values = TruthTable(bits, 4).values().reshape(2, 2, 2, 2)
    moved = np.transpose(values, order)
    for axis in range(4):
        if flips >> axis & 1:
            moved = np.flip(moved, axis)
    first, second = realize(values.reshape(-1)), realize(moved.reshape(-1))
    assert type(first) is type(second)
    if isinstance(first, ThresholdUnit):
        assert Counter(map(abs, first.weights)) == Counter(map(abs, second.weights))


@given(st.integers(0, 2**16 - 1))
def test_the_complement_and_the_dual_have_the_same_verdict_and_size(bits):
    values = TruthTable(bits, 4).values()
    answers = [realize(values), realize(1 - values), realize((1 - values)[::-1])]
    assert len({type(answer) for answer in answers}) == 1
    if isinstance(answers[0], ThresholdUnit):
        assert len({size(answer) for answer in answers}) == 1


def test_all_ways_to_give_a_function_agree():
    unit = realize([0, 0, 0, 1, 0, 1, 1, 1])
    assert unit == ThresholdUnit([1, 1, 1], -2)
    assert realize(lambda a, b, c: a + b + c > 1, 3) == unit
    assert realize(lambda row: sum(row) > 1, 3) == unit
    assert realize(lambda *row: sum(row) > 1, 3) == unit
    assert realize(at_least(2, 3)) == unit
    assert realize(parse("at_least(2, x1, x2, x3)")) == unit
    assert realize(np.array([0, 0, 0, 1, 0, 1, 1, 1], dtype=bool), 3) == unit
    assert realize(truth_table(unit), 3) == unit


def test_functions_of_one_and_no_input_may_take_values_or_rows():
    assert realize(lambda a: 1 - a, 1) == realize(lambda row: row[0] == 0, 1)
    assert str(realize(lambda a: 1 - a, 1)) == "-x1 >= 0"
    assert realize(lambda: 1, 0) == realize(lambda row: 1, 0) == ThresholdUnit([], 0)
    assert realize([0]) == ThresholdUnit([], -1)


def test_builtins_that_tell_no_signature_are_functions_of_n_arguments():
    assert realize(max, 3).truth_table().tolist() == [0] + [1] * 7
    assert realize(all, 3).truth_table().tolist() == [0] * 7 + [1]


def test_constants_need_no_weights_whatever_the_inputs():
    assert realize([1] * 8) == ThresholdUnit([0, 0, 0], 0)
    assert realize([0] * 8) == ThresholdUnit([0, 0, 0], -1)


def test_sixteen_inputs_are_decided_both_ways():
    weights = (3, 14, 15, 9, 26, 5, 35, 8, 9, 7, 9, 3, 2, 38, 4, 6)
    made = ThresholdUnit(weights, -100)
    assert realize(made).truth_table().tolist() == made.truth_table().tolist()
    altered = made.truth_table()
    altered[0] = 1
    proof = realize(altered)
    assert proof.verify()
    assert len(proof.rows) == 4
    assert "TruthTable(bits=0x" in repr(proof)


def test_the_exact_program_refutes_ordered_functions_on_its_own():
    # The sixty ordered functions of six inputs that no unit computes: the ray alone is a proof.
    refuted = 0
    for bits in regular_functions(6):
        table = TruthTable(bits, 6)
        answer = realize(table)
        if isinstance(answer, Impossible):
            ray = smallest(table)
            assert not isinstance(ray, Weights)
            assert Impossible(table, tuple(ray), tuple(ray.values())).verify()
            refuted += 1
    assert refuted == 60


def test_weights_found_for_one_order_of_inputs_serve_all_orders():
    values = realize(lambda a, b, c: a and (b or c), 3).truth_table().reshape(2, 2, 2)
    for order in permutations(range(3)):
        unit = realize(np.transpose(values, order).reshape(-1))
        assert sorted(unit.weights) == [1, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0, 1, 1],), DataError, "f has 3 truth values; n inputs have 2ⁿ rows"),
        (([0, 1, 1, 0], 3), DataError, "f has 4 truth values; n = 3 inputs have 8 rows"),
        (([0, 1, 2, 0],), DataError, r"f\[2\] = .*2.*; a truth value is 0 or 1"),
        (([[0, 1], [1, 0]],), DataError, r"shape \(2, 2\)"),
        (([],), DataError, "0 truth values"),
        ((lambda a, b: a - b, 2), DataError, r"f\(0, 1\) returned -1"),
        ((lambda a, b: None, 2), DataError, r"f\(0, 0\) returned None"),
        ((lambda a, b: [a], 2), DataError, r"f\(0, 0\) returned \[0\]"),
        ((lambda a, b: a,), ParameterError, "n is missing"),
        ((lambda *a: 1, MAX_INPUTS + 1), ParameterError, "n = 17 inputs"),
        ((lambda *a: 1, -1), ParameterError, "n = -1"),
        ((lambda *a: 1, 2.0), ParameterError, "n = 2.0"),
        (("x1 &",), DataError, "x1 &"),
        ((AND(), 3), DataError, "f has 4 truth values; n = 3"),
        ((TruthTable(6, 2), 3), DataError, "f has 2 inputs; n = 3"),
        (([0, [1]],), DataError, "flat list"),
    ],
)
def test_what_is_no_boolean_function_is_refused_by_name(arguments, error, message):
    with pytest.raises(error, match=message):
        realize(*arguments)


def test_an_error_inside_the_function_is_not_hidden():
    def broken(a, b):
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        realize(broken, 2)


@pytest.mark.parametrize("text", ["x1 ^ x2", "x1 & (x2 | x3)", "~x1"])
def test_an_expression_is_realised_as_its_parsed_form(text):
    found, expected = realize(text), realize(parse(text))
    assert type(found) is type(expected) and str(found) == str(expected)


def test_a_function_of_another_number_of_inputs_is_refused_in_words():
    with pytest.raises(DataError, match=r"f\(a, b\) takes neither 3 inputs nor one row"):
        realize(lambda a, b: a & b, 3)
    assert str(realize(lambda row: row[0] & row[1], 2)) == str(realize(lambda a, b: a & b, 2))
