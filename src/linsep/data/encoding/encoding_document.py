"""An `Encoding` as a document of plain values, and back with every field checked.

Version 1 knows columns of numbers, texts and hashed texts. Where an encoding is more than that, its
document has version 2: two fields more, and of columns those that are not as usual. Version 3 is
version 2 with columns of words, version 4 has the decimal sign and the columns that are not used,
version 5 a formula.
"""

import math
from typing import Any

from linsep.data.encoding.encoding import Encoding
from linsep.data.encoding.formula import Formula
from linsep.data.table.cells import ORDERS, PARTS
from linsep.data.table.column import GAP, KINDS, Column
from linsep.data.table.target import Target
from linsep.errors import DataError

OWN = {"number": "mean", "truth": "mean", "date": "mean", "text": "categories", "hash": "bins",
       "words": "categories"}  # fmt: skip
LATEST = 5
MORE = ("order", "part", "fold", "other", "source")
FIELDS = {"version", "columns", "n_features", "target", "header", "base"}
MORE_FIELDS = {"width", "missing"}
TABLE_FIELDS = {"decimal", "unused"}


def write(encoding: Encoding) -> dict[str, Any]:
    """The document of an encoding."""
    columns = [_written(column) for column in encoding.columns]
    target = None if encoding.target is None else dict(encoding.target._asdict())
    plain = all(len(one) == 3 and one["kind"] in ("number", "text", "hash") for one in columns)
    document = {
        "version": 1,
        "columns": columns,
        "n_features": encoding.n_features,
        "target": target,
        "header": encoding.header,
        "base": encoding.base,
    }
    made = encoding.formula
    of_table = encoding.decimal != "." or encoding.unused is not None or made is not None
    if plain and encoding.width is None and encoding.missing is None and not of_table:
        return document
    missing = None if encoding.missing is None else list(encoding.missing)
    version = 3 if any(column.kind == "words" for column in encoding.columns) else 2
    document |= {"version": version, "width": encoding.width, "missing": missing}
    if not of_table:
        return document
    unused = None if encoding.unused is None else [list(one) for one in encoding.unused]
    document |= {"version": 4, "decimal": encoding.decimal, "unused": unused}
    return document if made is None else document | {"version": 5, "formula": made.to_json()}


def _written(column: Column) -> dict[str, Any]:
    own = "bins" if column.bins else OWN[column.kind]
    value = getattr(column, own)
    one: dict[str, Any] = {"name": column.name, "kind": column.kind}
    one[own] = list(value) if own == "categories" else value
    return one | {name: getattr(column, name) for name in MORE if getattr(column, name)}


def read(document: Any) -> Encoding:
    """The encoding a document describes; a DataError names the field that is wrong."""
    version = document.get("version") if isinstance(document, dict) else None
    _want(_whole(version) and version in range(1, LATEST + 1), "version", version)
    more = MORE_FIELDS if version != 1 else set()
    fields = _fields(document, FIELDS | more | (TABLE_FIELDS if version in (4, 5) else set())
                     | ({"formula"} if version == 5 else set()))  # fmt: skip
    _want(isinstance(fields["columns"], list), "columns", fields["columns"])
    columns = tuple(_column(one, int(version or 1)) for one in fields["columns"])
    names = [column.name for column in columns]
    _want(len(set(names)) == len(names), "columns (a name twice)", names)
    n, base = fields["n_features"], fields["base"]
    _want(_whole(n) and 0 < n < 2**31, "n_features", n)
    given, made = sum(c.width for c in columns), None
    if version == 5:
        made = Formula.from_json(fields["formula"], given)
    _want(not columns or n == (given if made is None else len(made.names)), "n_features", n)
    _want(base is None or (_whole(base) and base in (0, 1)), "base", base)
    _want(isinstance(fields["header"], bool), "header", fields["header"])
    width, missing = fields.get("width"), fields.get("missing")
    _want(width is None or (_whole(width) and 0 < width < 2**31), "width", width)
    _want(missing is None or _texts(missing), "missing", missing)
    words = None if missing is None else tuple(missing)
    target = _target(fields["target"])
    decimal, unused = fields.get("decimal", "."), fields.get("unused")
    _want(decimal in (".", ","), "decimal", decimal)
    places = _unused(unused, {column.table_name for column in columns})
    return Encoding(columns, n, target, fields["header"], base, width, words, decimal, places,
                    made)  # fmt: skip


def _unused(value: Any, used: set[str]) -> tuple[tuple[int, str], ...] | None:
    """Columns that are not used: places that grow, names that differ."""
    if value is None:
        return None
    fine = isinstance(value, list) and all(
        isinstance(one, list) and len(one) == 2 and _whole(one[0]) and isinstance(one[1], str)
        for one in value
    )
    _want(fine, "unused", value)
    places, names = [place for place, _ in value], [name for _, name in value]
    _want(places == sorted(set(places)) and not (places and places[0] < 0), "unused", value)
    _want(not places or places[-1] < len(used) + len(places), "unused", value)
    _want(len(set(names)) == len(names) and not used & set(names), "unused (a name twice)", names)
    return tuple((place, name) for place, name in value)


def _want(right: bool, field: str, value: Any) -> None:
    if not right:
        raise DataError(f"the encoding's field {field} is {str(value)[:80]!r}, which is not valid.")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _fields(document: Any, names: set[str]) -> dict[str, Any]:
    _want(isinstance(document, dict) and set(document) == names, " and ".join(sorted(names)),
          sorted(map(str, document)) if isinstance(document, dict) else document)  # fmt: skip
    return dict(document)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _column(document: Any, version: int) -> Column:
    kind = document.get("kind") if isinstance(document, dict) else None
    known = {1: ("number", "text", "hash"), 2: KINDS[:-1]}.get(version, KINDS)
    _want(isinstance(kind, str) and kind in known, "columns.kind", kind)
    own = "bins" if kind == "words" and "bins" in document else OWN[str(kind)]
    more = {name for name in MORE if version > 1 and name in document}
    fields = _fields(document, {"name", "kind", own} | more)
    _want(isinstance(fields["name"], str), "columns.name", fields["name"])
    added = {name: _added(name, fields[name], str(kind)) for name in more}
    _want((kind == "date") == ("order" in added), "columns.order", fields.get("order"))
    _want(("part" in added) == ("source" in added), "columns.source", fields.get("source"))
    value = fields[own]
    if own == "mean":
        _want(_finite(value), "columns.mean", value)
        return Column(fields["name"], str(kind), mean=float(value), **added)
    if own == "bins":
        _want(_whole(value) and 0 < value < 2**31, "columns.bins", value)
        return Column(fields["name"], str(kind), bins=value, **added)
    _want(_texts(value), "columns.categories", value)
    _want(len(set(value)) == len(value), "columns.categories (a text twice)", value)
    _want(kind == "text" or bool(value), "columns.categories", value)
    return Column(fields["name"], str(kind), categories=tuple(value), **added)


def _added(name: str, value: Any, kind: str) -> Any:
    """A field that is written only where it is not as usual."""
    numeric = OWN[kind] == "mean"
    parts = (GAP, *PARTS) if kind == "date" else (GAP,)
    fine = {
        "order": kind == "date" and value in ORDERS,
        "part": numeric and value in parts,
        "fold": kind in ("text", "hash") and value is True,
        "other": kind == "text" and value is True,
        "source": numeric and isinstance(value, str) and value != "",
    }[name]
    _want(fine, f"columns.{name}", value)
    return value


def _target(document: Any) -> Target | None:
    if document is None:
        return None
    fields = _fields(document, {"column", "operator", "value"})
    column, operator, value = fields["column"], fields["operator"], fields["value"]
    _want(isinstance(column, str), "target.column", column)
    _want(operator is None or operator in ("<", "<=", ">", ">=", "==", "!="), "target.operator",
          operator)  # fmt: skip
    valid = isinstance(value, str) or _finite(value)
    _want(valid if operator is not None else value is None, "target.value", value)
    return Target(column, operator, value)
