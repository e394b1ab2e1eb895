"""What an exported `model.py` holds beside its numbers: standard library alone, and no more.

The text of this module, and that of `linsep.data.table.cells` where columns are to be read, is
copied into the file. `MODEL` is put before it.
"""

import hashlib
import itertools
import math
import operator
from datetime import date, datetime, time, timedelta
from typing import Any

MODEL: dict[str, Any] = {}
FUNCTIONS: dict[str, Any] = {"+": operator.add, "-": operator.sub, "*": operator.mul,
             "/": operator.truediv, "**": operator.pow, "abs": abs}  # fmt: skip


def _read_number(cell: Any, column: dict[str, Any]) -> float:
    """The number in a cell, NaN for a missing one."""
    if cell is None or cell != cell:
        return math.nan
    if isinstance(cell, str):
        text = cell.strip()
        if text in MODEL["missing_numbers"]:
            return math.nan
        value = parser(column["reading"], MODEL["decimal"])(text)  # type: ignore[name-defined]  # noqa: F821
        if value is None:
            raise ValueError(f"column {column['source']!r} holds {cell!r}")
        return float(value)
    if isinstance(cell, (datetime, date, time)):
        return float(days_of(cell))  # type: ignore[name-defined]  # noqa: F821
    return float(cell)


def _part(value: float, part: str) -> float:
    """Whether a number is missing, or a part of a date."""
    if part == "gap":
        return float(value != value)
    if value != value:
        return value
    day = math.floor(value)
    if part == "weekday":
        return float((day + 3) % 7 + 1)
    if part == "hour":
        return float(math.floor((value - day) * 24 + 1e-9))
    when = date(1970, 1, 1) + timedelta(days=day)
    return float({"year": when.year, "month": when.month, "day": when.day}[part])


def _text(cell: Any) -> str | None:
    """A cell as a text, None for a missing one."""
    if cell is None or cell != cell:
        return None
    whole = isinstance(cell, float) and cell.is_integer()
    text = str(int(cell)) if whole else str(cell).strip()
    return None if text in MODEL["missing_texts"] else text


def _place(text: str, column: dict[str, Any]) -> int:
    """The feature of a text or a word, -1 for none."""
    text = text.casefold() if column["fold"] else text
    if column["bins"]:
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % int(column["bins"])
    places = column["places"]
    return int(places.get(text, len(places) if column["other"] else -1))


def features(row: Any) -> list[float]:
    """The features of one row: a dict by columns, or a list of numbers."""
    if not MODEL["columns"]:
        return [float(value) for value in (row.values() if isinstance(row, dict) else row)]
    made: list[float] = []
    for column in MODEL["columns"]:
        if column["source"] not in row:
            raise ValueError(f"column {column['source']!r} is not there")
        cell = row[column["source"]]
        if column["width"] == 1 and column["numeric"]:
            value = _read_number(cell, column)
            value = _part(value, column["part"]) if column["part"] else value
            made.append(column["mean"] if value != value else value)
            continue
        own = [0.0] * column["width"]
        text = _text(cell)
        met = [] if text is None else [text]
        if text is not None and column["words"]:
            met = words_of(text)  # type: ignore[name-defined]  # noqa: F821
        for one in met:
            place = _place(one, column)
            if place >= 0:
                own[place] += 1.0
        made += own
    return made if MODEL["formula"] is None else _of_formula(made)


def _of_formula(x: list[float]) -> list[float]:
    """The features of a formula of those of the columns."""
    for name, first, width in MODEL["formula"]["texts"]:
        if not sum(x[first : first + width]):
            raise ValueError(f"column {name!r} holds a text that was not in the fit, or none")
    return [_tree(tree, x) for tree in MODEL["formula"]["trees"]]


def _tree(tree: Any, x: list[float]) -> float:
    """The value of a tree of functions."""
    if not isinstance(tree, (list, tuple)):
        return float(tree)
    if tree[0] == "x":
        return x[tree[1]]
    parts = [_tree(part, x) for part in tree[1:]]
    function: Any = FUNCTIONS.get(tree[0]) or getattr(math, tree[0])
    return float(function(*parts))


def _mapped(x: list[float]) -> list[float]:
    """Features after the maps of a pipeline: products of pairs, or distances from centres."""
    for one in MODEL["maps"]:
        if "pairs" in one:
            made = [x[a] * x[b] for a, b in one["pairs"]]
        else:
            squares = [sum((a - b) ** 2 for a, b in zip(x, c, strict=True)) for c in one["centres"]]
            made = squares if one["squared"] else [math.sqrt(square) for square in squares]
        x = [*x, *made] if one["include_input"] else made
    return x


def decision_function(rows: Any) -> Any:
    """Scores of rows: one for two classes or a number to predict, else one for each class."""
    weights, intercept, centre = MODEL["weights"], MODEL["intercept"], MODEL["centre"]
    if (
        not MODEL["columns"] and not MODEL["maps"] and hasattr(rows, "shape")
    ):  # an array of NumPy, all rows at once
        import numpy

        table = (rows - numpy.array(centre)) @ numpy.array(weights).T + numpy.array(intercept)
        if MODEL["thresholds"]:
            return [_levels(s) for s in table[:, 0].tolist()]
        return table[:, 0] if len(weights) == 1 else table
    scores = []
    for row in rows:
        x = [value - c for value, c in zip(_mapped(features(row)), centre, strict=True)]
        own = [
            math.fsum(map(float.__mul__, w, x)) + b for w, b in zip(weights, intercept, strict=True)
        ]
        if MODEL["thresholds"]:
            own = _levels(own[0])
        scores.append(own[0] if len(own) == 1 else own)
    return scores


def _levels(s: float) -> list[float]:
    """Logarithms of the probabilities of ordered classes: log(σ(high − s) − σ(low − s))."""
    edges = [-math.inf, *MODEL["thresholds"], math.inf]
    levels = []
    for low, high in itertools.pairwise(edges):
        room = -math.expm1(low - high)
        apart = max(math.log(room), -700.0) if room > 0.0 else -700.0
        levels.append(apart - _softplus(s - high) - _softplus(low - s))
    return [levels[rank] for rank in MODEL["ranks"]]


def _softplus(z: float) -> float:
    """log(1 + eᶻ)"""
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


def predict(rows: Any) -> list[Any]:
    """The label of each row, or for a regression its number."""
    scores, classes = decision_function(rows), MODEL["classes"]
    if classes is None:
        return [float(s) if MODEL["single"] else list(s) for s in scores]
    if len(MODEL["weights"]) > 1 or MODEL["thresholds"]:
        return [classes[max(range(len(classes)), key=lambda k: s[k])] for s in scores]
    return [classes[int(s > 0 or (s == 0 and not MODEL["first_at_zero"]))] for s in scores]


def predict_proba(rows: Any) -> list[list[float]]:
    """The probability of each class, for models that have them."""
    if not MODEL["log_odds"]:
        raise ValueError("this model has no probabilities")
    chances, classes = [], MODEL["classes"]
    for s in decision_function(rows):
        every = [float(one) for one in s] if len(classes) > 2 else [0.0, float(s)]
        top = max(every)
        powers = [math.exp(one - top) for one in every]
        chances.append([power / sum(powers) for power in powers])
    return chances


def main() -> None:
    """Labels of the rows of a CSV file (named, or standard input), one a line."""
    import csv
    import sys

    path = sys.argv[1] if len(sys.argv) > 1 else 0
    with open(path, newline="", encoding="utf-8-sig") as source:  # noqa: PTH123
        text = source.readline()
        wanted = {column["source"] for column in MODEL["columns"]}
        heads = {sign: [cell.strip() for cell in next(csv.reader([text], delimiter=sign), [])]
                 for sign in ",;\t| "}  # fmt: skip
        sign = max(heads, key=lambda sign: (len(wanted & {*heads[sign]}), len(heads[sign])))
        names = heads[sign]
        named = bool(wanted) and MODEL["header"]
        rows = csv.reader(source if named else _with_first(text, source), delimiter=sign)
        try:
            for row in rows:
                if row and named:
                    print(predict([dict(zip(names, row, strict=True))])[0])
                elif row:
                    print(predict([_by_place(row) if wanted else row])[0])
        except ValueError as problem:
            sys.exit(f"line {rows.line_num + named}: {problem}")


def _with_first(text: str, source: Any) -> Any:
    """Lines of a source the first of which was read."""
    yield text
    yield from source


def _by_place(row: list[str]) -> dict[str, str]:
    """The cells of a row by column; the label may be left out."""
    places = [str(j) for j in range(MODEL["width"] or len(row))]
    if len(row) == len(places) - 1 and MODEL["target"] in places:
        places.remove(MODEL["target"])
    return dict(zip(places, row, strict=True))
