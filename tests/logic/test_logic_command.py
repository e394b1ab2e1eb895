"""`linsep logic EXPR`: the unit, or the proof and the network, and the truth table."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from linsep.logic import Impossible, Network, ThresholdUnit, parse
from linsep.logic.tables import TruthTable
from linsep.views.cli.logic import command


def run(*arguments, text=None):
    return CliRunner().invoke(command, list(arguments), input=text)


def shown(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0
    assert result.stderr == ""
    return result.stdout


def test_xor_shows_the_proof_of_impossibility_then_the_network_then_the_table():
    text = shown("x1 ^ x2")
    proof = text.index("No threshold unit")
    contradiction = text.index("a contradiction")
    layers = text.index("Two layers compute it")
    table = text.index("x1 x2 | h1 h2 | y")
    assert proof < contradiction < layers < table
    assert "checked in exact arithmetic" in text
    assert text.splitlines()[-4:] == [
        " 0  0 |  0  1 | 0",
        " 0  1 |  1  1 | 1",
        " 1  0 |  1  1 | 1",
        " 1  1 |  1  0 | 0",
    ]


def test_the_lecture_conjunction_shows_the_lecture_weights():
    text = shown("x1 & x2 & x4")
    assert "x1 + x2 + x4 >= 3" in text
    assert "Weights 1, 1, 0, 1; threshold 3" in text


def test_two_of_three_shows_the_lecture_weights():
    text = shown("at_least(2, x1, x3, x4)")
    assert "x1 + x3 + x4 >= 2" in text
    assert "Weights 1, 0, 1, 1; threshold 2" in text


def test_the_network_is_shown_on_request_when_one_unit_is_enough():
    assert "Two layers" not in shown("x1 & x2")
    assert "h1 = [x1 + x2 >= 2]" in shown("--network", "x1 & x2")


def test_the_table_can_be_left_out():
    assert "|" not in shown("--no-table", "x1 ^ x2").replace("x1 ^ x2", "")


def test_every_row_of_the_table_is_right():
    text = shown("(a & b) -> c")
    lines = text.splitlines()
    start = lines.index("a b c | y")
    cells = [line.replace("|", "").split() for line in lines[start + 1 :]]
    expression = parse("(a & b) -> c")
    assert len(cells) == 8
    for *inputs, value in cells:
        assert expression([int(x) for x in inputs]) == int(value)


def test_long_tables_say_how_many_rows_were_left_out():
    text = shown("x1 & x8")
    assert text.splitlines()[-1] == "... 192 of 256 rows left out"
    assert sum(line.endswith(("| 0", "| 1")) for line in text.splitlines()) == 64
    assert "left out" not in shown("x1 & x6")


def test_names_are_kept_in_unit_proof_and_network():
    assert "rain - wind >= 1" in shown("rain & !wind")
    text = shown("rain ^ wind")
    assert "w_rain rain + w_wind wind + b >= 0" in text
    assert "h1 = [rain + wind >= 1]" in text


def test_json_carries_a_unit_that_computes_the_table():
    record = json.loads(shown("--json", "x1 & x2 & x4"))
    unit = ThresholdUnit(record["unit"]["weights"], record["unit"]["bias"])
    assert record["realizable"] is True
    assert record["inputs"] == ["x1", "x2", "x3", "x4"]
    assert unit.truth_table().tolist() == record["truth_table"]
    assert "network" not in record


def test_json_carries_a_proof_and_a_network_that_check():
    record = json.loads(shown("--json", "(x1 & x2) | (x3 & x4)"))
    assert record["realizable"] is False
    bits = sum(value << row for row, value in enumerate(record["truth_table"]))
    rows = [int("".join(map(str, inputs)), 2) for inputs in record["proof"]["rows"]]
    multipliers = [int(multiplier) for multiplier in record["proof"]["multipliers"]]
    assert Impossible(TruthTable(bits, 4), tuple(rows), tuple(multipliers)).verify()
    assert [record["truth_table"][row] for row in rows] == record["proof"]["values"]
    units = [ThresholdUnit(u["weights"], u["bias"]) for u in record["network"]["hidden"]]
    output = record["network"]["output"]
    net = Network(units, ThresholdUnit(output["weights"], output["bias"]))
    assert net.truth_table().tolist() == record["truth_table"]


def test_json_without_the_table_leaves_it_out():
    assert "truth_table" not in json.loads(shown("--json", "--no-table", "x1"))


def test_an_expression_may_come_from_standard_input():
    result = run("-", text="x1 &\nx2\n")
    assert result.exit_code == 0
    assert "x1 + x2 >= 2" in result.stdout


@pytest.mark.parametrize("text", ["x1 & & x2", "", "(a", "x1 @ x2"])
def test_a_bad_expression_ends_with_code_2_and_the_place_on_stderr(text):
    result = run(text)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Error: Invalid value for EXPR: character " in result.stderr
    assert result.stderr.rstrip("\n").endswith("^")


def test_constants_are_units_too():
    assert "0 >= 0" in shown("1")
    assert "0 >= 1" in shown("x1 & !x1")


def test_the_command_needs_neither_the_compiler_nor_scikit_learn_nor_scipy():
    code = (
        "import sys; from linsep.views.cli.logic import command\n"
        "command(['x1 ^ x2'], standalone_mode=False)\n"
        "sys.exit(any(name in sys.modules for name in ('sklearn', 'scipy')))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert result.returncode == 0
