"""What an exported `model.py` holds beside its numbers: standard library alone, and no more.

The text of this module, and that of `linsep.data.table.cells` where columns are to be read, is
copied into the file. `MODEL` is put before it.
"""

import hashlib
import math
from datetime import date, datetime, time, timedelta
from typing import Any

MODEL: dict[str, Any] = {}


def _read_number(cell: Any, column: dict[str, Any]) -> float:
    """The number in a cell, NaN for a missing one."""
    if cell is None or cell != cell:
        return math.nan
    if isinstance(cell, str):
        text = cell.strip()
        if text in MODEL["missing_numbers"]:
            return math.nan
        value = parser(column["reading"])(text)  # type: ignore[name-defined]  # noqa: F821
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
    return made


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
        return table[:, 0] if len(weights) == 1 else table
    scores = []
    for row in rows:
        x = [value - c for value, c in zip(_mapped(features(row)), centre, strict=True)]
        own = [
            math.fsum(map(float.__mul__, w, x)) + b for w, b in zip(weights, intercept, strict=True)
        ]
        scores.append(own[0] if len(own) == 1 else own)
    return scores


def predict(rows: Any) -> list[Any]:
    """The label of each row, or for a regression its number."""
    scores, classes = decision_function(rows), MODEL["classes"]
    if classes is None:
        return [float(s) if MODEL["single"] else list(s) for s in scores]
    if len(MODEL["weights"]) > 1:
        return [classes[max(range(len(classes)), key=lambda k: s[k])] for s in scores]
    return [classes[int(s > 0 or (s == 0 and not MODEL["first_at_zero"]))] for s in scores]


def predict_proba(rows: Any) -> list[list[float]]:
    """The probability of each class, for models that have them."""
    if not MODEL["log_odds"]:
        raise ValueError("this model has no probabilities")
    chances = []
    for s in decision_function(rows):
        every = [0.0, float(s)] if len(MODEL["weights"]) == 1 else [float(one) for one in s]
        top = max(every)
        powers = [math.exp(one - top) for one in every]
        chances.append([power / sum(powers) for power in powers])
    return chances


def main() -> None:
    """Labels of the rows of a CSV file with a header (named, or standard input), one a line."""
    import csv
    import sys

    source = open(sys.argv[1], newline="") if len(sys.argv) > 1 else sys.stdin  # noqa: PTH123, SIM115
    named = bool(MODEL["columns"]) and MODEL["header"]
    rows: Any = csv.DictReader(source) if named else csv.reader(source)
    for row in rows:
        positions = {str(j): cell for j, cell in enumerate(row)}
        given = positions if MODEL["columns"] and not named else row
        print(predict([given])[0])
