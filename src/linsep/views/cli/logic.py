"""`linsep logic "x1 ^ x2"`: one threshold unit for an expression, or the proof and two layers."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from linsep import __version__

if TYPE_CHECKING:
    from linsep.logic import Expression, Impossible, Network, ThresholdUnit

ROWS_SHOWN = 64
HIDDEN_SHOWN = 8


@click.command(
    "logic", short_help="Find a threshold unit for an expression, or prove there is none."
)
@click.argument("expression", metavar="EXPR")
@click.option(
    "--network", "two_layers", is_flag=True, help="Show the two-layer network in any case."
)
@click.option("--table/--no-table", default=True, help="Show the truth table.", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(expression: str, two_layers: bool, table: bool, as_json: bool) -> None:
    """Find one threshold unit that computes EXPR, or prove that there is none.

    When there is none, a network of two layers that computes EXPR follows the proof.

    \b
    EXPR uses   & and     | or     ^ xor     ! not     -> implies     <-> equals
                at_least(2, x1, x3, x4)    at_most(...)    exactly(...)    0    1
    EXPR "-" is read from standard input.

    \b
    Examples:
      linsep logic "x1 & x2 & x4"
      linsep logic "x1 ^ x2"
      linsep logic "at_least(2, x1, x3, x4)" --json
    """
    from linsep.logic import ExpressionError, ThresholdUnit, network, parse, realize

    if expression == "-":
        expression = sys.stdin.read()
    try:
        parsed = parse(expression)
    except ExpressionError as error:
        raise click.BadParameter(str(error), param_hint="EXPR") from None
    answer = realize(parsed)
    needed = two_layers or not isinstance(answer, ThresholdUnit)
    layers = network(parsed) if needed else None
    if as_json:
        click.echo(json.dumps(_record(parsed, answer, layers, table), ensure_ascii=False))
        return
    parts = [_answer_text(parsed, answer)]
    if layers is not None:
        parts.append(f"Two layers compute it:\n{_indented(layers.describe(parsed.names))}")
    if table:
        parts.append(_table_text(parsed, layers))
    click.echo("\n\n".join(parts))


def _answer_text(parsed: "Expression", answer: "ThresholdUnit | Impossible") -> str:
    from linsep.logic import Impossible

    title = " ".join(parsed.text.split())
    if isinstance(answer, Impossible):
        proof = answer.describe(parsed.names)
        checked = "checked in exact arithmetic" if answer.verify() else "NOT CONFIRMED"
        return f"{title}\n{proof}\nA proof of {len(answer.rows)} rows, {checked}."
    weights = ", ".join(map(str, answer.weights))
    return (
        f"{title}\nOne threshold unit computes it:\n"
        f"  {answer.describe(parsed.names)}\n"
        f"Weights {weights or 'none'}; threshold {-answer.bias} (bias {answer.bias})."
    )


def _table_text(parsed: "Expression", layers: "Network | None") -> str:
    values = parsed.truth_table()
    hidden = [] if layers is None or len(layers.hidden) > HIDDEN_SHOWN else list(layers.hidden)
    groups = [list(parsed.names), [f"h{k + 1}" for k in range(len(hidden))], ["y"]]
    columns = [unit.truth_table() for unit in hidden]
    lines = [_line(groups, groups)]
    for row in range(min(len(values), ROWS_SHOWN)):
        cells = [parsed.table.inputs(row), [column[row] for column in columns], [values[row]]]
        lines.append(_line(cells, groups))
    if len(values) > ROWS_SHOWN:
        lines.append(f"... {len(values) - ROWS_SHOWN} of {len(values)} rows left out")
    return "\n".join(lines)


def _line(cells: list[Any], headings: list[list[str]]) -> str:
    groups = [
        " ".join(f"{cell!s:>{len(name)}}" for cell, name in zip(group, names, strict=True))
        for group, names in zip(cells, headings, strict=True)
        if names
    ]
    return " | ".join(groups)


def _record(
    parsed: "Expression",
    answer: "ThresholdUnit | Impossible",
    layers: "Network | None",
    table: bool,
) -> dict[str, Any]:
    from linsep.logic import Impossible

    record: dict[str, Any] = {"command": "logic", "linsep": __version__}
    record |= {"expression": parsed.text, "inputs": list(parsed.names)}
    if isinstance(answer, Impossible):
        record["realizable"] = False
        record["proof"] = {
            "rows": [list(inputs) for inputs in answer.inputs],
            "values": list(answer.values),
            "multipliers": [str(multiplier) for multiplier in answer.multipliers],
            "verified": answer.verify(),
            "text": answer.describe(parsed.names),
        }
    else:
        record["realizable"] = True
        record["unit"] = _unit_record(answer, list(parsed.names))
    if layers is not None:
        names = [f"h{k + 1}" for k in range(len(layers.hidden))]
        record["network"] = {
            "hidden": [_unit_record(unit, list(parsed.names)) for unit in layers.hidden],
            "output": _unit_record(layers.output, names),
        }
    if table:
        record["truth_table"] = parsed.truth_table().tolist()
    return record


def _unit_record(unit: "ThresholdUnit", names: list[str]) -> dict[str, Any]:
    return {"weights": list(unit.weights), "bias": unit.bias, "text": unit.describe(names)}


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
