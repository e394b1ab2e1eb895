"""How columns of a table become numbers: settled once on training rows, kept with the model.

`linsep.data.table.column` says which kinds of columns there are. An `Encoding` is plain data:
`to_json` gives a document that a model file can carry, `from_json` checks every field of it, and
`apply` turns columns of new rows into the same features.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.encoding.assemble import Beside, dense, sparse
from linsep.data.encoding.formula import Formula
from linsep.data.table.column import Column, Texts
from linsep.data.table.memory import Words, column_of
from linsep.data.table.target import Target
from linsep.errors import DataError

Array = npt.NDArray[Any]

SHOWN = 8  # absent columns that are named
THIN = 8  # features per column of the table from which on rows are kept sparse


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
    width : how many columns a table without a header has, the target among them
    missing : words that stand for a missing cell, where others than usual do
    decimal : the decimal sign of numbers that are written as texts
    unused : columns of the table that no feature is made of, the target among them, each with its
        place; None where that is the target alone, in the last place
    formula : what makes the features of those of the columns, where a formula was given

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
    width: int | None = None
    missing: tuple[str, ...] | None = None
    decimal: str = "."
    unused: tuple[tuple[int, str], ...] | None = None
    formula: Formula | None = None

    @classmethod
    def of(
        cls, columns: list[Column], target: Target | None = None, header: bool = True, **more: Any
    ) -> "Encoding":
        """The encoding of a table by these columns."""
        names = [column.name for column in columns]
        for name in names:
            if names.count(name) > 1 and len(names) < 10_000:
                raise DataError(
                    f"two features would be called {name!r}; rename one of the columns they are "
                    "made of."
                )
        return cls(tuple(columns), sum(c.width for c in columns), target, header, **more)

    @property
    def feature_names(self) -> list[str]:
        """The name of every feature; positions where columns have no names."""
        if self.formula is not None:
            return list(self.formula.names)
        if self.columns:
            return [name for column in self.columns for name in column.features]
        first = self.base or 0
        return [str(first + place) for place in range(self.n_features)]

    @property
    def sparse(self) -> bool:
        """Whether rows are better kept sparse: so many features, so few of them not zero."""
        if self.formula is not None:
            return False
        return self.base is not None or self.n_features > THIN * max(1, len(self.columns))

    def apply(self, table: Mapping[str, Any]) -> Any:
        """Rows of features from columns by name: numbers (NaN is missing) or texts.

        Returns a dense array, or `scipy.sparse.csr_array` where `sparse`.
        """
        return self.looked_at(table)[0]

    def looked_at(self, table: Mapping[str, Any], drift: Any = None) -> tuple[Any, Array]:
        """The rows, and for each column whether it has a missing or infinite number; texts without
        a feature are noted by `drift`."""
        if not self.columns:
            raise DataError("this model was fitted on rows of numbers; it encodes no columns.")
        parts = self._parts(table)
        if drift is not None:
            drift.note(
                self, {c.table_name: part for c, part in zip(self.columns, parts, strict=True)}
            )
        return self.assembled(parts)

    def assembled(self, parts: list[Any]) -> tuple[Any, Array]:
        """The same of cells by column of features: texts, or numbers as `Column.derived` gives."""
        cells = [part.codes if isinstance(part, Texts) else part for part in parts]
        n = len(cells[0])
        if any(len(column) != n for column in cells):
            raise DataError("the columns of the table differ in length; give one cell per row.")
        become = self._become(parts)
        if self.formula is not None:
            rows, odd = dense(cells, become)
            return self.formula.apply(rows), odd
        if any(column.kind == "words" for column in self.columns):
            from linsep.data.encoding.words import beside_words

            rows, odd = beside_words(self.columns, parts, become)
            return rows if self.sparse else rows.toarray(), odd
        if not self.sparse:
            return dense(cells, become)
        import scipy.sparse as sp

        entries, odd = sparse(cells, become)
        rows = sp.csr_array(entries, shape=(n, self.n_features))
        rows.has_canonical_format = True  # features come in the order of the columns
        return rows, odd

    def _parts(self, table: Mapping[str, Any]) -> list[Any]:
        """Numbers or texts for every column of features."""
        read: dict[str, Any] = {}
        parts = []
        for column in self.columns:
            name = column.table_name
            if name not in read:
                read[name] = self._cells(column, table)
            parts.append(column.derived(read[name]) if column.numeric else read[name])
        return parts

    def gaps(self, table: Mapping[str, Any]) -> dict[str, int]:
        """How many cells are missing in each column that has some, of columns by name."""
        counts = {}
        for column in self.columns:
            cells = self._cells(column, table)
            lost = cells.codes < 0 if isinstance(cells, Texts) else np.isnan(cells)
            counts[column.table_name] = int(lost.sum())
        return {name: count for name, count in counts.items() if count}

    def _cells(self, column: Column, table: Mapping[str, Any]) -> Any:
        name = column.table_name
        if name not in table:
            raise self.lacking(table)
        cells = table[name]
        if isinstance(cells, Texts) and column.numeric:
            raise DataError(
                f"the column {name!r} holds texts such as {cells.texts[:1]!r}; the model "
                "was fitted on numbers there."
            )
        if isinstance(cells, Texts) or (column.numeric and isinstance(cells, np.ndarray)
                                        and cells.dtype.kind in "iuf"):  # fmt: skip
            return cells
        return column_of(name, cells, column.reading, self.words)

    @cached_property
    def words(self) -> Words:
        """Words that stand for a missing cell, and the decimal sign."""
        return Words.of(self.missing, self.decimal)

    @cached_property
    def table_columns(self) -> list[str]:
        """The columns of a table that features are made of."""
        return list(dict.fromkeys(column.table_name for column in self.columns))

    @cached_property
    def table(self) -> list[str]:
        """All columns of the table of the fit, in its order."""
        names = list(self.table_columns)
        if self.unused is None:
            return names if self.target is None else [*names, self.target.column]
        for place, name in self.unused:
            names.insert(place, name)
        return names

    def lacking(self, there: Iterable[Any], where: str = "the table", more: str = "") -> DataError:
        """That columns of the model are not among those that are there."""
        there = list(map(str, there))
        absent = [name for name in self.table_columns if name not in there]
        named = ", ".join(map(repr, absent[:SHOWN]))
        named += f" and {len(absent) - SHOWN:,} others" if len(absent) > SHOWN else ""
        shown = ", ".join(there[:20]) + (", …" if len(there) > 20 else "")
        noun, them = ("column", "it") if len(absent) == 1 else ("columns", "them")
        return DataError(
            f"{where} has no {noun} {named}; there are {shown}. The model was fitted on {them}."
            + more
        )

    def _become(self, parts: list[Any]) -> list[Beside]:
        """What each column becomes."""
        if not any(isinstance(cells, Texts) for cells in parts):
            return self._beside
        coded = []
        for one, column, cells in zip(self._beside, self.columns, parts, strict=True):
            known = isinstance(cells, Texts) and column.kind != "words"
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
        from linsep.data.encoding.encoding_document import write

        return write(self)

    @classmethod
    def from_json(cls, document: Any) -> "Encoding":
        """The encoding a document describes; a DataError names the field that is wrong."""
        from linsep.data.encoding.encoding_document import read

        return read(document)
