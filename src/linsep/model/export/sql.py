"""A linear model as one SQL query: a sum of columns, and the class it means.

Only what all databases share is used: quoted names, CASE, COALESCE, CAST, sums. Names and texts are
quoted with their own quotes doubled, so no name of a column or category can end the query.
"""

import math
import sqlite3
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.encoding.encoding import Encoding
from linsep.data.encoding.formula import Formula
from linsep.data.table.column import GAP, Column
from linsep.data.table.memory import MISSING_TEXTS
from linsep.errors import ParameterError
from linsep.model.export.python_source import near
from linsep.model.ordinal import Ordinal, cuts
from linsep.model.pipeline import Mapped
from linsep.model.predictor import Model
from linsep.rows.feature_maps import PairMap

Array = npt.NDArray[Any]

FUNCTIONS = {
    "+": "({} + {})", "-": "({} - {})", "*": "({} * {})", "/": "({} / {})",
    "**": "POWER({}, {})", "log": "LN({})", "log2": "(LN({}) / LN(2e+00))",
    "log10": "(LN({}) / LN(1e+01))", "log1p": "LN(1e+00 + {})", "exp": "EXP({})",
    "expm1": "(EXP({}) - 1e+00)", "sqrt": "SQRT({})", "abs": "ABS({})", "sin": "SIN({})",
    "cos": "COS({})", "tanh": "(1e+00 - 2e+00 / (EXP(2e+00 * {}) + 1e+00))",
}  # fmt: skip
MOST_COLUMNS = 1900  # SQLite takes 2000


def query_of(model: Model, table: str = "data") -> str:
    """The query for the rows of `table`."""
    from linsep.model.export.export import levels_of, planes_of

    planes = planes_of(model, "SQL")
    columns = _columns(model)
    made = getattr(model.encoding_, "formula", None)
    cells = _mapped(model, columns) if isinstance(model.form, Mapped) else None
    cells = cells if made is None else _of_formula(made, columns)
    if len(columns) > MOST_COLUMNS:
        raise ParameterError(
            f"the model reads {len(columns)} columns; tables of a database have at most "
            f"{MOST_COLUMNS}. Use .onnx."
        )
    scores = []
    for weights, intercept in zip(planes.weights, planes.intercept, strict=True):
        terms, first = [number(intercept)], 0
        if cells is not None:
            pairs = zip(weights, cells, planes.centre, strict=True)
            terms += [f"{number(w)} * ({cell} - {number(c)})" for w, cell, c in pairs]
            scores.append(_sum(terms))
            continue
        for column in columns:
            place = slice(first, first + column.width)
            terms.append(_term(column, weights[place], planes.centre[place]))
            first += column.width
        scores.append(_sum(terms))
    names = ["linsep_score"] if len(scores) == 1 else [f"linsep_score_{k}" for k in
                                                         range(len(scores))]  # fmt: skip
    listed = ",\n".join(f"  {score} AS {name}" for score, name in zip(scores, names, strict=True))
    title = f"{model.learner} made by linsep".replace("\n", " ")
    inner = f"SELECT {quoted(table)}.*,\n{listed}\nFROM {quoted(table)}"
    if model.classes_ is None:
        return f"-- {title}: linsep_score is the number predicted.\n{inner}\n"
    levels = levels_of(model)
    label = _label(names, model) if levels is None else _level(levels, model)
    if made is not None:
        label = f"CASE WHEN {names[0]} IS NOT NULL THEN {label} END"
    return (
        f"-- {title}: linsep_label is the class predicted.\n"
        f"SELECT scored.*,\n  {label} AS linsep_label\nFROM (\n{inner}\n) AS scored\n"
    )


def _mapped(model: Model, columns: tuple[Column, ...]) -> list[str]:
    """An expression for each feature after the maps of a pipeline."""
    cells = [f"CAST({quoted(column.table_name)} AS DOUBLE PRECISION)" for column in columns]
    for one in model.form.maps:
        if isinstance(one, PairMap):
            made = [f"({cells[a]} * {cells[b]})" for a, b in one.pairs.tolist()]
        else:
            apart = [[f"({cell} - {number(c)})" for cell, c in zip(cells, centre, strict=True)]
                     for centre in one.centres]  # fmt: skip
            made = [f"({_sum([f'{term} * {term}' for term in terms])})" for terms in apart]
            made = made if one.squared else [f"SQRT({square})" for square in made]
        cells = [*cells, *made] if one.include_input else made
    return cells


def _of_formula(made: Formula, columns: tuple[Column, ...]) -> list[str]:
    """An expression for each feature of a formula; NULL where a text was not in the fit."""
    cells = []
    for column in columns:
        name = quoted(column.table_name)
        if column.numeric:
            cells.append(_cell(column, name))
            continue
        cell = f"TRIM({name})" if _trimmed(column.categories) else name
        cell = f"LOWER({cell})" if column.fold else cell
        known = ", ".join(map(text, column.categories))
        cells += [f"CASE WHEN {cell} = {text(one)} THEN 1e+00 WHEN {cell} IN ({known}) "
                  "THEN 0e+00 END" for one in column.categories]  # fmt: skip
    return [_tree(tree, cells) for tree in made.trees]


def _tree(tree: Any, cells: list[str]) -> str:
    if not isinstance(tree, tuple):
        return number(tree)
    if tree[0] == "x":
        return cells[tree[1]]
    return FUNCTIONS[tree[0]].format(*(_tree(part, cells) for part in tree[1:]))


def _columns(model: Model) -> tuple[Column, ...]:
    encoding = model.encoding_
    if isinstance(encoding, Encoding) and encoding.columns:
        dated = [column.table_name for column in encoding.columns if column.kind == "date"]
        if dated:
            raise ParameterError(
                f"column {dated[0]!r} is a date, which every database writes in its own way; fit "
                "with it as a number of days, or export model.py."
            )
        hashed = [column.name for column in encoding.columns if column.kind == "hash"]
        if hashed:
            raise ParameterError(
                f"column {hashed[0]!r} is hashed, which SQL cannot compute; fit with it as text, "
                "or export model.py."
            )
        worded = [column.name for column in encoding.columns if column.kind == "words"]
        if worded:
            raise ParameterError(
                f"the words of column {worded[0]!r} are counted, which SQL cannot do; export "
                "model.py."
            )
        return encoding.columns
    names = model.feature_names_in_
    if names is None:
        names = [f"x{j}" for j in range(model.n_features_in_)]
    return tuple(Column(str(name)) for name in names)


def _term(column: Column, weights: Array, centre: Array) -> str:
    """What a column adds to the score: w(x − c), or the constant of its text."""
    name = quoted(column.table_name)
    if column.numeric:
        cell = _cell(column, name)
        cell = cell if centre[0] == 0 else f"({cell} - {number(centre[0])})"
        return f"{number(weights[0])} * {cell}"
    rest = -float(weights @ centre)  # of a row whose text has no feature
    cases = " ".join(
        f"WHEN {text(category)} THEN {number(rest + w)}"
        for category, w in zip(column.categories, weights.tolist(), strict=True)
    )
    cell = f"TRIM({name})" if _trimmed(column.categories) else name
    cell = f"LOWER({cell})" if column.fold else cell
    term = f"CASE {cell} {cases} ELSE {number(rest)} END" if cases else number(rest)
    if not column.other:
        return term
    gone = ", ".join(text(word) for word in sorted(MISSING_TEXTS) if word)
    others = number(rest + float(weights[-1]))
    none = f"{name} IS NULL OR TRIM({name}) = '' OR TRIM({name}) IN ({gone})"
    return f"CASE WHEN {none} THEN {number(rest)} ELSE CASE {cell} {cases} ELSE {others} END END"


def _cell(column: Column, name: str) -> str:
    """A number in a table, with what stands for a missing one."""
    if column.part == GAP:
        return f"CASE WHEN {name} IS NULL THEN 1e+00 ELSE 0e+00 END"
    if column.kind == "truth":
        said = f"LOWER(CAST({name} AS VARCHAR(5)))"
        return (
            f"CASE WHEN {said} IN ('true', 't', '1') THEN 1e+00 "
            f"WHEN {said} IN ('false', 'f', '0') THEN 0e+00 ELSE {number(column.mean)} END"
        )
    return f"COALESCE(CAST({name} AS DOUBLE PRECISION), {number(column.mean)})"


def _trimmed(categories: tuple[str, ...]) -> bool:
    """Whether blanks around a text are to be left out, as in the fit.

    Not where every text is a number or a truth value: a database may hold such a column in a type
    of its own, which compares with texts but cannot be trimmed.
    """
    if any(category != category.strip(" ") for category in categories):
        return False
    return not all(_typed(category) for category in categories)


def _typed(category: str) -> bool:
    try:
        float(category)
    except ValueError:
        return category.lower() in ("true", "false")
    return True


def _label(scores: list[str], model: Model) -> str:
    classes = model.classes_.tolist()
    if len(scores) == 1:
        low, high = (_literal(label) for label in classes)
        above = ">" if model.first_at_zero else ">="
        return f"CASE WHEN {scores[0]} {above} 0 THEN {high} ELSE {low} END"
    cases = []
    for k, score in enumerate(scores[:-1]):  # the first of equal ones wins
        best = " AND ".join(f"{score} >= {other}" for other in scores[k + 1 :])
        cases.append(f"WHEN {best} THEN {_literal(classes[k])}")
    return f"CASE {' '.join(cases)} ELSE {_literal(classes[-1])} END"


def _level(levels: Ordinal, model: Model) -> str:
    """The likeliest class by where the score lies."""
    at, places = cuts(levels)
    classes = [_literal(model.classes_.tolist()[place]) for place in places]
    cases = [f"WHEN linsep_score <= {number(cut)} THEN {one}"
             for cut, one in zip(at, classes[:-1], strict=True)]  # fmt: skip
    return f"CASE {' '.join(cases)} ELSE {classes[-1]} END" if cases else classes[-1]


def _sum(terms: list[str]) -> str:
    """A sum in brackets of halves: databases limit how deep an expression may be."""
    if len(terms) <= 8:
        return " + ".join(f"({term})" for term in terms)
    half = len(terms) // 2
    return f"({_sum(terms[:half])}) + ({_sum(terms[half:])})"


def _literal(label: Any) -> str:
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, int):
        return str(label)
    if isinstance(label, float):
        return number(label)
    return text(label.decode("latin-1") if isinstance(label, bytes) else str(label))


def number(value: Any) -> str:
    """A float as SQL reads it back, to the last bit; the exponent makes it no decimal.

    >>> number(0.1), number(-3), number(1e-300)
    ('1e-01', '-3e+00', '1e-300')
    """
    value = float(value)
    return next(f"{value:.{n}e}" for n in range(18) if float(f"{value:.{n}e}") == value)


def quoted(name: str) -> str:
    """A name of a table or column, in double quotes.

    >>> quoted('a"b; DROP TABLE x')
    '"a""b; DROP TABLE x"'
    """
    _require_text(name)
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text in single quotes.

    >>> text("it's")
    "'it''s'"
    """
    _require_text(value)
    return "'" + value.replace("'", "''") + "'"


def _require_text(value: str) -> None:
    bad = not value or "\0" in value or any("\ud800" <= c <= "\udfff" for c in value)
    if bad and value:
        raise ParameterError(f"{value!r} holds a character that SQL cannot; rename it before.")


def sample(model: Model, n: int) -> tuple[dict[str, list[Any]], Any]:
    """Rows for the columns a query reads, gaps and unknown texts among them; and their features."""
    rng = np.random.default_rng(0)
    columns: dict[str, list[Any]] = {}
    known = _columns(model)
    gaps = isinstance(model.encoding_, Encoding) and bool(model.encoding_.columns)
    for column in known:
        if column.table_name in columns:
            continue
        if column.kind == "truth":
            cells: list[Any] = [bool(k) for k in rng.integers(0, 2, n)]
        elif column.kind == "number":
            size = abs(column.mean) or 3.0
            cells = (column.mean + size * rng.normal(size=n)).tolist()
        else:
            texts = [*column.categories, "a text nobody has seen"]
            cells = [texts[k] for k in rng.integers(0, len(texts), n)]
        formed = getattr(model.encoding_, "formula", None) is not None
        if formed and column.kind in ("number", "text"):
            cells = near(column, rng, n)
        missing = rng.random(n) < (0.1 if gaps and not formed else 0.0)
        columns[column.table_name] = [None if m else c for m, c in zip(missing, cells, strict=True)]
    if not gaps:
        return columns, np.array(list(columns.values()), np.float64).T
    return columns, model.encoding_.apply(columns)


def answers_of(query: str, table: str, columns: dict[str, list[Any]]) -> tuple[Array, list[Any]]:
    """Scores and labels that SQLite finds by the query."""
    names = list(columns)
    with sqlite3.connect(":memory:") as base:
        for name in ("exp", "sqrt", "sin", "cos"):  # which SQLite has where it was built with them
            base.create_function(name, 1, getattr(math, name))
        base.create_function("ln", 1, math.log)
        base.create_function("power", 2, math.pow)
        listed = ", ".join(quoted(name) for name in names)
        base.execute(f"CREATE TABLE {quoted(table)} ({listed})")
        marks = ", ".join("?" * len(names))
        rows = list(zip(*columns.values(), strict=True))
        base.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", rows)
        cursor = base.execute(query)
        heads = [head[0] for head in cursor.description]
        all_rows = cursor.fetchall()
    base.close()
    scores = [k for k, head in enumerate(heads) if head.startswith("linsep_score")]
    labelled = heads[-1] == "linsep_label"
    labels = [one[-1] for one in all_rows] if labelled else []
    return np.array([[one[k] for k in scores] for one in all_rows], np.float64), labels
