"""`linsep.formula`: rows whose features a formula names, as statisticians write it.

The package formulaic takes the text apart, and says which texts of a column a feature is made of;
the features themselves are computed by `linsep.data.encoding.formula`, so that a model keeps them.
"""

import ast
import dataclasses
import re
from functools import reduce
from typing import Any

from linsep.data.encoding.encoding import Encoding
from linsep.data.encoding.formula import FUNCTIONS, Formula, Tree
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.read import read
from linsep.errors import ParameterError

OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
KNOWN = ", ".join(name for name in FUNCTIONS if name.isalnum())


def formula(text: str, source: Any, **how: Any) -> Chunks:
    """Rows and labels for `fit`, with the features that a formula names.

    `"y ~ a + C(region, ref='north') + log(size):b"` has the column y as labels, the numbers a, for
    each region but north whether a row is there, and the product of b with the logarithm of size. A
    model that is fitted on it keeps the formula, also in its file: frames, records and files with
    the columns are all that `predict` asks for. Texts that the fit has not seen are refused.

    Parameters
    ----------
    text : str
        As in R and patsy, with `+ : * / ** ( ) 0 1 .`. Of columns, numbers in `"C(column)"` and
        texts are categories; `ref=` is the one that others are against, the first unless told.
        Functions are log, log2, log10, log1p, exp, expm1, sqrt, abs, sin, cos, tanh and I for
        sums and powers. A formula has an intercept, which is that of the learner; where it begins
        with `0 +`, give the learner `fit_intercept=False`.
    source : frame, dict of columns, records, or files, as for `linsep.read`
        Missing numbers are filled as there, before functions are taken.
    **how : as of `linsep.read`

    Returns
    -------
    Chunks
        What `linsep.read` gives: hand it to `fit`, `score` or `summary`.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep import LogisticRegression, formula
    >>> table = {"paid": ["no", "no", "yes", "yes", "no", "yes"], "size": [1, 2, 3, 4, 5, 6.0],
    ...          "region": ["north", "south", "south", "north", "south", "north"]}
    >>> rows = formula("paid ~ log(size) + C(region, ref='south')", table)
    >>> model = LogisticRegression().fit(rows)
    >>> model.feature_names_in_.tolist()
    ['log(size)', "C(region, ref='south')[north]"]
    >>> model.predict([{"size": 9.0, "region": "north"}]).tolist()
    ['yes']
    """
    if not isinstance(text, str):
        raise ParameterError(f"text is {text!r:.60}; give a formula such as 'y ~ a + b'.")
    if set(how) & {"target", "like"}:
        raise ParameterError("the formula names the labels; leave target and like out.")
    target = _column(text.partition("~")[0].strip())
    opened = read(source, target=target, **how)
    columns = list(opened.source.layout.names) if hasattr(opened.source, "layout") else []
    if not columns:
        raise ParameterError("a formula is for tables, whose columns have names.")
    free = [name for name in columns if name != target]
    terms = _terms(text, free)
    factors = {one: _Factor(one, columns) for term in terms for one in term if one != "1"}
    used = {name for one in factors.values() for name in one.columns}
    if not used or target in used:
        raise ParameterError(f"the formula {text!r} has no columns but the labels on its right.")
    kinds = {name: "drop" for name in free if name not in used}
    kinds |= {one.category: "text" for one in factors.values() if one.category}
    how["columns"] = kinds | dict(how.get("columns") or {})
    encoding = read(source, target=target, **how).encoding
    made = _made(text, terms, factors, encoding)
    known = dataclasses.replace(encoding, formula=made, n_features=len(made.names))
    how.pop("columns")
    return read(source, like=known, **how)


def _terms(text: str, free: list[str]) -> list[list[str]]:
    """The factors of each term on the right, as formulaic reads them; `.` is the columns `free`."""
    try:
        from formulaic import Formula as Parsed
        from formulaic.errors import FormulaicError
    except ImportError:
        raise ParameterError(
            "formulas need the package formulaic; install it with pip install linsep[formula]."
        ) from None
    try:
        parsed = Parsed(text, _context={"__formulaic_variables_available__": free})
        return [[factor.expr for factor in term.factors] for term in parsed.rhs]
    except AttributeError:
        raise ParameterError(f"the formula {text!r} has other parts than y ~ x.") from None
    except (FormulaicError, SyntaxError) as problem:
        said = re.sub(r"\x1b\[[0-9;]*m|[⧛⧚]", "", str(problem)).splitlines()[:1]
        raise ParameterError(f"the formula {text!r} cannot be read: {' '.join(said)}") from None


def _column(left: str) -> str:
    name = left[1:-1] if left[:1] == left[-1:] == "`" else left
    if not name or (name == left and not name.isidentifier()):
        raise ParameterError(f"the formula has {left!r} on its left; give the column of labels.")
    return name


class _Factor:
    """One factor of a term: a category, or a number that is computed.

    Attributes
    ----------
    columns : that it uses
    category : the column whose texts it is made of; None for a number
    reference : the text that others are against, if told
    """

    def __init__(self, text: str, columns: list[str]) -> None:
        self.text = text
        self.category: str | None = None
        self.reference: str | None = None
        self.tree: ast.expr | None = None
        self.columns = {text}
        if text in columns:
            return
        try:
            self.tree = ast.parse(text, mode="eval").body
        except SyntaxError:
            raise ParameterError(f"the formula has {text!r}, which cannot be read.") from None
        call = self.tree if isinstance(self.tree, ast.Call) else None
        if call is not None and isinstance(call.func, ast.Name) and call.func.id == "C":
            self._of_category(call)
        nodes = list(ast.walk(self.tree))
        calls = [one.func for one in nodes if isinstance(one, ast.Call)]
        names = {one.id for one in nodes if isinstance(one, ast.Name) and one not in calls}
        self.columns = names - {"np"}
        unknown = sorted(self.columns - set(columns))
        if unknown:
            raise ParameterError(
                f"the formula names {unknown[0]!r}, which is no column; there are "
                f"{', '.join(columns[:20])}."
            )

    def _of_category(self, call: ast.Call) -> None:
        told = {one.arg: one.value for one in call.keywords}
        fine = len(call.args) == 1 and isinstance(call.args[0], ast.Name) and set(told) <= {"ref"}
        ref = told.get("ref", ast.Constant(None))
        if not fine or not isinstance(ref, ast.Constant):
            raise ParameterError(
                f"{self.text} cannot be read; write C(column), or C(column, ref='text')."
            )
        self.category = call.args[0].id  # type: ignore[attr-defined]
        self.reference = None if ref.value is None else str(ref.value)


def _made(
    text: str, terms: list[list[str]], factors: dict[str, _Factor], encoding: Encoding
) -> Formula:
    """The features of all terms; formulaic says which texts of a category are left out.

    It is asked about columns f0, f1, … that stand for the factors, with the numbers of texts in
    place of texts.
    """
    import pandas as pd
    from formulaic import model_matrix

    places, first = {}, 0
    for column in encoding.columns:
        places[column.table_name], first = (column, first), first + column.width
    names = {one: f"f{k}" for k, one in enumerate(factors)}
    cells: dict[str, Any] = {}
    levels: dict[str, list[tuple[str, Tree]]] = {}
    texts = {}
    for one, name in names.items():
        column, at = places.get(factors[one].category or one, (encoding.columns[0], -1))
        if at >= 0 and column.kind == "text" and not column.other:
            found = [(category, ("x", at + k)) for k, category in enumerate(column.categories)]
            levels[name] = _from_reference(found, factors[one])
            cells[name] = pd.Categorical([0], range(len(found)))
            texts[column.table_name] = (column.table_name, at, column.width)
        else:
            levels[name] = [("", _tree(factors[one].tree or ast.Name(one), places, one))]
            cells[name] = [1.0]
    right = " + ".join("1" if term == ["1"] else ":".join(names[one] for one in term)
                       for term in terms) or "0"  # fmt: skip
    frame = pd.DataFrame(cells)
    written = {name: one for one, name in names.items()}
    made = {}
    for feature in model_matrix(right if ["1"] in terms else f"0 + {right}", frame).columns:
        if feature != "Intercept":
            parts = re.findall(r"(f\d+)(?:\[(?:T\.)?(\d+)\])?", feature)
            chosen = [(written[name], *levels[name][int(k or 0)]) for name, k in parts]
            label = ":".join(f"{one}[{level}]" if level else one for one, level, _ in chosen)
            trees = [tree for *_, tree in chosen]
            made[label] = reduce(lambda one, other: ("*", one, other), trees)
    intercept = ["1"] in terms
    return Formula(text, tuple(made), tuple(made.values()), tuple(texts.values()), intercept)


def _from_reference(found: list[tuple[str, Tree]], factor: _Factor) -> list[tuple[str, Tree]]:
    """Texts with the one that others are against first."""
    if factor.reference is None:
        return found
    known = [text for text, _ in found]
    if factor.reference not in known:
        raise ParameterError(
            f"{factor.text} is against {factor.reference!r}; the texts are {', '.join(known[:20])}."
        )
    at = known.index(factor.reference)
    return [found[at], *found[:at], *found[at + 1 :]]


def _tree(node: ast.expr, places: dict[str, Any], text: str) -> Tree:
    """An expression as a tree of functions; anything else is refused."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in places:
        column, first = places[node.id]
        if not column.numeric or column.width != 1:
            raise ParameterError(f"{text} takes the column {node.id!r} for a number; it has texts.")
        return "x", first
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        sides = (_tree(side, places, text) for side in (node.left, node.right))
        return OPERATORS[type(node.op)], *sides
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "*", -1.0, _tree(node.operand, places, text)
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        name = ast.unparse(node.func).removeprefix("np.")
        inner = _tree(node.args[0], places, text)
        if name == "I":
            return inner
        if name.isalnum() and name in FUNCTIONS:
            return name, inner
    raise ParameterError(f"{text} cannot be computed; there are numbers, + - * / ** and {KNOWN}.")
