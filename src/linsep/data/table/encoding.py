"""How columns of a table become numbers: settled once on training rows, kept with the model.

    number   the number itself; a missing one is the mean of the training column
    text     one column of zeros and ones per text, in sorted order; a missing or unknown text
             is zeros only
    hash     a fixed number of such columns, shared by texts that fall into the same one

An `Encoding` is plain data: `to_json` gives a document that a model file can carry, `from_json`
checks every field of it, and `apply` turns columns of new rows into the same features.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.table.assemble import Beside, dense, sparse
from linsep.data.table.target import Target
from linsep.errors import DataError

Array = npt.NDArray[Any]

KINDS = ("number", "text", "hash")
THIN = 8  # features per column of the table from which on rows are kept sparse


class Texts(NamedTuple):
    """A column of texts: for each row a place in `texts`, or -1 where it is missing."""

    codes: Array
    texts: list[str]


@dataclass(frozen=True)
class Column:
    """One column of a table, and what becomes of it.

    Attributes
    ----------
    name : the column's name
    kind : 'number', 'text' or 'hash'
    mean : what a missing number is taken for
    categories : for 'text', the texts that have a feature each
    bins : for 'hash', the number of features
    """

    name: str
    kind: str = "number"
    mean: float = 0.0
    categories: tuple[str, ...] = ()
    bins: int = 0

    @property
    def width(self) -> int:
        """How many features the column becomes."""
        return {"number": 1, "text": len(self.categories)}.get(self.kind, self.bins)

    @property
    def features(self) -> list[str]:
        """Their names: `age`, `color=red`, `city#17`."""
        if self.kind == "number":
            return [self.name]
        if self.kind == "text":
            return [f"{self.name}={text}" for text in self.categories]
        return [f"{self.name}#{place}" for place in range(self.bins)]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {text: place for place, text in enumerate(self.categories)}

    def places(self, texts: list[str]) -> Array:
        """For each text the feature that is one, or -1 where none is; and -1 for a missing one."""
        if self.kind == "hash":
            places = [bin_of(text, self.bins) for text in texts]
        else:
            places = [self._places.get(text, -1) for text in texts]
        return np.array([*places, -1], np.int32)


@dataclass(frozen=True)
class Encoding:
    """The features of a table, or of rows of numbers that need no encoding (`columns` empty).

    Attributes
    ----------
    columns : the columns that become features, in order
    n_features : how many features there are
    target : the column of labels, or a question about one; None where labels have their own place
    header : whether columns go by name; otherwise names are positions
    base : for svmlight, the index of the first feature, 0 or 1

    Examples
    --------
    >>> sex = Column("sex", "text", categories=("f", "m"))
    >>> encoding = Encoding.of([Column("age", mean=30.0), sex])
    >>> encoding.apply({"age": [20.0, float("nan")], "sex": ["m", "f"]})
    array([[20.,  0.,  1.],
           [30.,  1.,  0.]])
    >>> Encoding.from_json(encoding.to_json()) == encoding
    True
    """

    columns: tuple[Column, ...] = ()
    n_features: int = 0
    target: Target | None = None
    header: bool = True
    base: int | None = None

    @classmethod
    def of(
        cls, columns: list[Column], target: Target | None = None, header: bool = True
    ) -> "Encoding":
        """The encoding of a table by these columns."""
        return cls(tuple(columns), sum(c.width for c in columns), target, header)

    @property
    def feature_names(self) -> list[str]:
        """The name of every feature; positions where columns have no names."""
        if self.columns:
            return [name for column in self.columns for name in column.features]
        first = self.base or 0
        return [str(first + place) for place in range(self.n_features)]

    @property
    def sparse(self) -> bool:
        """Whether rows are better kept sparse: so many features, so few of them not zero."""
        return self.base is not None or self.n_features > THIN * max(1, len(self.columns))

    def apply(self, table: Mapping[str, Any]) -> Any:
        """Rows of features from columns by name: numbers (NaN is missing) or texts.

        Returns a dense array, or `scipy.sparse.csr_array` where `sparse`.
        """
        return self.looked_at(table)[0]

    def looked_at(self, table: Mapping[str, Any]) -> tuple[Any, Array]:
        """The rows, and for each column whether it has a missing or infinite number."""
        if not self.columns:
            raise DataError("this model was fitted on rows of numbers; it encodes no columns.")
        parts = [self._cells(column, table) for column in self.columns]
        cells = [part.codes if isinstance(part, Texts) else part for part in parts]
        n = len(cells[0])
        if any(len(column) != n for column in cells):
            raise DataError("the columns of the table differ in length; give one cell per row.")
        become = self._become(parts)
        if not self.sparse:
            return dense(cells, become)
        from linsep._scipy import sp

        entries, odd = sparse(cells, become)
        rows = sp.csr_array(entries, shape=(n, self.n_features))
        rows.has_canonical_format = True  # features come in the order of the columns
        return rows, odd

    def _cells(self, column: Column, table: Mapping[str, Any]) -> Any:
        """Numbers, or texts."""
        if column.name not in table:
            known = ", ".join(map(str, list(table)[:20]))
            raise DataError(
                f"the column {column.name!r} is not there; there are {known}. The model was "
                f"fitted on {', '.join(c.name for c in self.columns[:20])}."
            )
        cells = table[column.name]
        if column.kind != "number":
            return cells if isinstance(cells, Texts) else _as_texts(cells)
        if isinstance(cells, Texts):
            raise DataError(
                f"the column {column.name!r} holds texts such as {cells.texts[:1]!r}; the model "
                "was fitted on numbers there."
            )
        return cells if isinstance(cells, np.ndarray) else np.asarray(cells, np.float64)

    def _become(self, parts: list[Any]) -> list[Beside]:
        """What each column becomes."""
        if not any(isinstance(cells, Texts) for cells in parts):
            return self._beside
        coded = []
        for one, column, cells in zip(self._beside, self.columns, parts, strict=True):
            known = isinstance(cells, Texts)
            coded.append(one._replace(places=self._places(column, cells.texts)) if known else one)
        return coded

    @cached_property
    def _beside(self) -> list[Beside]:
        layout, first = [], 0
        for column in self.columns:
            layout.append(Beside(first, column.width, column.mean))
            first += column.width
        return layout

    def _places(self, column: Column, texts: list[str]) -> Array:
        """The places of texts among a column's features: the same list is looked at once."""
        known = self._last.get(column.name)
        if known is None or known[0] is not texts:
            known = self._last[column.name] = (texts, column.places(texts))
        return known[1]

    @cached_property
    def _last(self) -> dict[str, tuple[list[str], Array]]:
        return {}

    def to_json(self) -> dict[str, Any]:
        """A document of plain values: what `json.dumps` takes and `from_json` reads."""
        columns: list[dict[str, Any]] = []
        for column in self.columns:
            one: dict[str, Any] = {"name": column.name, "kind": column.kind}
            if column.kind == "number":
                one["mean"] = column.mean
            elif column.kind == "text":
                one["categories"] = list(column.categories)
            else:
                one["bins"] = column.bins
            columns.append(one)
        target = None if self.target is None else dict(self.target._asdict())
        return {
            "version": 1,
            "columns": columns,
            "n_features": self.n_features,
            "target": target,
            "header": self.header,
            "base": self.base,
        }

    @classmethod
    def from_json(cls, document: Any) -> "Encoding":
        """The encoding a document describes; a DataError names the field that is wrong."""
        fields = _fields(document, {"version", "columns", "n_features", "target", "header", "base"})
        _want(fields["version"] == 1, "version", fields["version"])
        _want(isinstance(fields["columns"], list), "columns", fields["columns"])
        columns = tuple(_column(one) for one in fields["columns"])
        names = [column.name for column in columns]
        _want(len(set(names)) == len(names), "columns (a name twice)", names)
        n, base = fields["n_features"], fields["base"]
        _want(_whole(n) and 0 < n < 2**31, "n_features", n)
        _want(not columns or n == sum(c.width for c in columns), "n_features", n)
        _want(base is None or (_whole(base) and base in (0, 1)), "base", base)
        _want(isinstance(fields["header"], bool), "header", fields["header"])
        return cls(columns, n, _target(fields["target"]), fields["header"], base)


def bin_of(text: str, bins: int) -> int:
    """The bin a text falls into: the first eight bytes of its BLAKE2b digest, modulo `bins`.

    >>> bin_of("SFO", 64)
    55
    """
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % bins


def _as_texts(cells: Any) -> Texts:
    texts: dict[str, int] = {}
    codes = [-1 if c is None or c != c else texts.setdefault(str(c), len(texts)) for c in cells]
    return Texts(np.array(codes, np.int32), list(texts))


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


def _column(document: Any) -> Column:
    kind = document.get("kind") if isinstance(document, dict) else None
    _want(kind in KINDS, "columns.kind", kind)
    own = {"number": "mean", "text": "categories", "hash": "bins"}[str(kind)]
    fields = _fields(document, {"name", "kind", own})
    _want(isinstance(fields["name"], str), "columns.name", fields["name"])
    if own == "mean":
        _want(_finite(fields["mean"]), "columns.mean", fields["mean"])
        return Column(fields["name"], mean=float(fields["mean"]))
    if own == "bins":
        _want(_whole(fields["bins"]) and 0 < fields["bins"] < 2**31, "columns.bins", fields["bins"])
        return Column(fields["name"], "hash", bins=fields["bins"])
    texts = fields["categories"]
    _want(isinstance(texts, list) and all(isinstance(t, str) for t in texts),
          "columns.categories", texts)  # fmt: skip
    _want(len(set(texts)) == len(texts), "columns.categories (a text twice)", texts)
    return Column(fields["name"], "text", categories=tuple(texts))


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
