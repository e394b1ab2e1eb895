"""Two layers compute every Boolean function."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep.errors import DataError, ParameterError
from linsep.logic import AND, NAND, NOT, OR, XOR, Network, ThresholdUnit, network, parse, realize
from linsep.logic.covers import Product, products, rows_of
from linsep.logic.tables import TruthTable

PAIRS = [[0, 0], [0, 1], [1, 0], [1, 1]]


def rows(n):
    return np.array(list(product((0, 1), repeat=n))).reshape(2**n, n)


def test_xor_is_the_and_of_nand_and_or():
    assert Network([NAND(), OR()], AND()) == XOR
    assert XOR(PAIRS).tolist() == [0, 1, 1, 0]


def test_a_network_takes_one_row_or_many():
    assert XOR([0, 1]) == XOR(0, 1) == 1
    assert type(XOR([0, 1])) is int
    assert XOR.truth_table().tolist() == XOR(PAIRS).tolist()


def test_networks_compute_all_65536_functions_of_four_inputs():
    functions = np.arange(1 << 16)
    nets = [network(TruthTable(int(bits), 4)) for bits in functions]
    most = max(len(net.hidden) for net in nets)
    # Missing hidden units get weight 0 in the output, so that all networks run at once.
    W, b = np.zeros((1 << 16, most, 4), int), np.zeros((1 << 16, most), int)
    v, c = np.zeros((1 << 16, most), int), np.zeros(1 << 16, int)
    for k, net in enumerate(nets):
        for j, unit in enumerate(net.hidden):
            W[k, j], b[k, j] = unit.weights, unit.bias
        v[k, : len(net.hidden)], c[k] = net.output.weights, net.output.bias
    for row, x in enumerate(rows(4)):
        hidden = W @ x + b >= 0
        fires = (v * hidden).sum(axis=1) + c >= 0
        assert (fires == (functions >> row & 1)).all()
    assert most <= 5


def test_a_function_one_unit_computes_has_one_hidden_unit():
    net = network(lambda a, b, c: a + b + c >= 2, 3)
    assert net.hidden == (realize(lambda a, b, c: a + b + c >= 2, 3),)


def test_xor_needs_two_hidden_units_and_gets_two():
    net = network(parse("x1 ^ x2"))
    assert len(net.hidden) == 2
    assert net.truth_table().tolist() == [0, 1, 1, 0]


def test_two_conjunctions_are_two_hidden_units_and_an_or():
    net = network(parse("(x1 & x2) | (x3 & x4)"))
    assert net == Network(
        [ThresholdUnit([1, 1, 0, 0], -2), ThresholdUnit([0, 0, 1, 1], -2)],
        ThresholdUnit([1, 1], -1),
    )


def test_two_disjunctions_are_two_hidden_units_and_an_and():
    net = network(parse("(x1 | x2) & (x3 | x4)"))
    assert sorted(unit.weights for unit in net.hidden) == [(0, 0, 1, 1), (1, 1, 0, 0)]
    assert net.output == ThresholdUnit([1, 1], -2)


@pytest.mark.parametrize("n", range(2, 13))
def test_parity_of_n_inputs_takes_at_most_n_hidden_units(n):
    net = network(lambda *inputs: sum(inputs) % 2, n)
    assert len(net.hidden) <= n
    assert net.truth_table().tolist() == (rows(n).sum(axis=1) % 2).tolist()


def test_counting_with_negated_and_idle_inputs_is_recognised():
    def exactly_five(*inputs):
        return inputs[0] + (1 - inputs[2]) + sum(inputs[3:]) == 5

    net = network(exactly_five, 10)
    assert len(net.hidden) == 2
    assert all(unit.weights[1] == 0 for unit in net.hidden)
    assert net.truth_table().tolist() == [int(exactly_five(*row)) for row in rows(10)]


def test_the_complement_of_parity_starts_on():
    net = network(lambda *inputs: sum(inputs) % 2 == 0, 9)
    assert net.truth_table().tolist() == (1 - rows(9).sum(axis=1) % 2).tolist()


@given(st.integers(0, 7), st.data())
@settings(max_examples=80, deadline=None)
def test_any_function_is_computed_by_its_network(n, data):
    values = TruthTable(data.draw(st.integers(0, (1 << (1 << n)) - 1)), n).values()
    net = network(values)
    assert net.truth_table().tolist() == values.tolist()
    assert net(rows(n)).tolist() == values.tolist()


@pytest.mark.parametrize("n", [9, 11])
def test_random_functions_of_many_inputs_are_computed(n):
    values = np.random.default_rng(n).integers(0, 2, 2**n)
    assert network(values).truth_table().tolist() == values.tolist()


@given(st.integers(0, 5), st.data())
def test_products_cover_the_function_and_none_can_be_left_out(n, data):
    bits = data.draw(st.integers(0, (1 << (1 << n)) - 1))
    terms = products(TruthTable(bits, n))
    filled = []
    for ones, zeros in terms:
        filled.append({row for row in range(2**n) if row & ones == ones and not row & zeros})
        assert rows_of(Product(ones, zeros), n) == sum(1 << row for row in filled[-1])
    wanted = {row for row in range(2**n) if bits >> row & 1}
    assert set().union(*filled) == wanted
    for k in range(len(terms)):
        assert set().union(*filled[:k], *filled[k + 1 :]) != wanted


def test_networks_read_line_by_line():
    assert str(network(parse("x1 ^ x2"))).splitlines()[-1] == "y  = [h1 + h2 >= 2]"
    assert XOR.describe(["u", "v"]).splitlines()[0] == "h1 = [-u - v >= -1.5]"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Network([], AND(0)), "one or more threshold units"),
        (lambda: Network([AND(), NOT()], OR()), "read 2, 1 inputs"),
        (lambda: Network([AND(), OR()], NOT()), "output reads 1 inputs"),
        (lambda: Network([AND(), 3], OR()), "threshold units"),
    ],
)
def test_layers_that_do_not_fit_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_a_row_of_the_wrong_length_is_refused():
    with pytest.raises(DataError, match="one row of 2"):
        XOR([1, 0, 1])
