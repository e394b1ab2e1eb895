"""Where rows come from: files of one format, opened the same way whatever the format.

A source gives `raw` pieces in file order, each with its labels; studies them; and turns a raw piece
into rows of numbers.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.data.blocks.store import Store, blocks
from linsep.data.files.bad_rows import BadRows
from linsep.data.files.compression import Version, about
from linsep.data.table import delimited
from linsep.data.table import parquet as columnar
from linsep.data.table.assemble import Beside, dense
from linsep.data.table.column_statistics import ColumnStatistics
from linsep.data.table.dialect import Layout, settle_kinds, sniff
from linsep.data.table.encoding import Column, Encoding
from linsep.data.table.table_part import Columns, TablePart
from linsep.data.table.target import Target, find_target
from linsep.errors import DataError, ParameterError

Array = npt.NDArray[Any]


class Source:
    """Files of one format. `direct`: rows can be stored before all have been seen."""

    summary = ""
    target: Target | None = None
    direct = True
    rounded: frozenset[str] = frozenset()
    """Columns of features with whole numbers that had to be rounded."""

    def __init__(self, paths: list[Path], n_jobs: int | None = None) -> None:
        self.paths = paths
        self.n_jobs = n_jobs
        self.version = Version()

    def raw(self, bad: BadRows) -> Iterator[tuple[Any, Any]]:
        """(piece, its labels or None) in file order; what cannot be read goes to `bad`."""
        bad.begin()
        try:
            for path in self.paths:
                self.version.check(path)
                yield from self._raw(path, bad)
                self.version.check(path)
        finally:
            bad.close()

    def _raw(self, path: Path, bad: BadRows) -> Iterator[tuple[Any, Any]]:
        raise NotImplementedError

    def begin(self) -> None:
        """Forget what was studied, and any encoding that no model has settled."""

    def without_labels(self) -> None:
        """Nobody asks for labels: where they have a column, what stands in it may be anything."""

    def encode(self, encoding: Encoding) -> None:
        """The pieces of the next pass are to become rows by this encoding."""

    def note(self, piece: Any) -> None:
        """Take in a piece for the encoding."""
        raise NotImplementedError

    def settled(self) -> Encoding:
        """The encoding, after all pieces were noted."""
        raise NotImplementedError

    def rows(self, piece: Any, encoding: Encoding) -> Any:
        """A piece as rows of numbers, dense or CSR."""
        raise NotImplementedError

    @property
    def missing(self) -> dict[str, int]:
        """How many values of each column were missing."""
        return {}

    def size(self) -> int:
        """Bytes that the rows take in memory, where the files tell; zero where they do not."""
        return 0

    def put(
        self, store: Store, piece: Any, labels: Array, keep: Any, encoding: Encoding | None
    ) -> None:
        """Store a piece: encoded, or where that is not settled yet, as far as it can be."""
        X = self.provisional(piece) if encoding is None else self.rows(piece, encoding)
        X = X if keep is None else X[keep]
        if hasattr(X, "indptr"):
            store.add_sparse(X.data, X.indices, np.diff(X.indptr), labels)
        else:
            store.add_dense(X, labels)

    def provisional(self, piece: Any) -> Any:
        """A piece as rows of numbers before all rows have been seen; for `direct` sources."""
        raise NotImplementedError

    def finish(self, arrays: dict[str, Array], n: int, encoding: Encoding) -> None:
        """Bring what was stored provisionally to its final form, in place."""


class TableSource(Source):
    """Tables of named columns: CSV, Parquet or Feather."""

    def __init__(
        self, paths: list[Path], options: dict[str, Any], encoding: Encoding | None,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(paths, n_jobs)
        self.given = encoding  # how a model knows columns to become features
        self.known = encoding  # how they do in this pass; None while that is studied
        self.csv = options["format"] == "csv"
        self.layout = self._layout(paths[0], options, encoding)
        names = self.layout.names
        self.header = self.layout.header
        if encoding is None:
            self.target = find_target(options["target"], names)
            kinds = settle_kinds(names, self.layout.kinds, options["columns"])
            self._by_kind(kinds, options["fill"])
        else:
            self._by_encoding(encoding, options["target"])
        self.summary = self.layout.summary() if self.csv else f"Columns: {', '.join(names[:30])}."
        self.begin()

    def _layout(self, path: Path, options: dict[str, Any], encoding: Encoding | None) -> Layout:
        if self.csv:
            given = options["layout"]
            if encoding is not None:  # whether there is a header is as it was in the fit
                given = {"header": encoding.header} | given
            return sniff(path, options["target"], given)
        names, kinds = columnar.kinds_of(path)
        return Layout(",", names=names, kinds=kinds)

    def _by_kind(self, kinds: list[str], fill: str) -> None:
        target, names = self.target, self.layout.names
        assert target is not None
        place = names.index(target.column)
        if target.asks:
            kinds[place] = "text" if isinstance(target.value, str) else "number"
        elif kinds[place] == "drop":
            raise ParameterError(f"columns drops {target.column!r}, which is the target.")
        self.kinds = dict(zip(names, kinds, strict=True))
        self.features = {n: k for n, k in self.kinds.items() if k != "drop" and n != target.column}
        if not self.features:
            other = "; pass delimiter= if another sign stands between the cells" if self.csv else ""
            raise DataError(
                f"the only column is the target, {target.column!r}; features are wanted{other}."
            )
        needed = set(self.features) if fill == "fail" else set()
        self._read_as(frozenset(needed | {target.column}))

    def _by_encoding(self, encoding: Encoding, target_wanted: Any) -> None:
        """Columns as a model knows them, found by name; the target need not be there.

        Where another target is wanted, it is one of this file's columns.
        """
        names = self.layout.names
        if not encoding.header:
            names = self._positions(encoding)
        own = {column.name: _kind(column) for column in encoding.columns}
        absent = [name for name in own if name not in names]
        if absent:
            first = " in its first row" if self.csv and self.header and encoding.header else ""
            raise DataError(
                f"{self.paths[0]} has no column {absent[0]!r}{first}; there are "
                f"{', '.join(names[:20])}. The model was fitted on it."
            )
        self.layout.names = names
        target = encoding.target if target_wanted is None else find_target(target_wanted, names)
        self.target = target if target is not None and target.column in names else None
        self.kinds = {name: own.get(name, "drop") for name in names}
        if self.target is not None:
            old = dict(zip(names, self.layout.kinds, strict=True))[self.target.column]
            if self.target.asks:
                old = "text" if isinstance(self.target.value, str) else "number"
            self.kinds[self.target.column] = old
        self.features = own
        self._read_as(frozenset({self.target.column} if self.target else ()))

    def without_labels(self) -> None:
        if self.target is not None and self.given is not None:
            self.kinds[self.target.column] = self.features.get(self.target.column, "drop")
            self.target = None
            self._read_as(frozenset())

    def _positions(self, encoding: Encoding) -> list[str]:
        width = len(self.layout.names)
        names = [str(j) for j in range(width)]
        known = {column.name for column in encoding.columns}
        target = encoding.target.column if encoding.target else None
        if target is not None and str(width) in known:  # the column of labels is not there
            names = [str(j) for j in range(width + 1) if str(j) != target]
        return names

    def _read_as(self, required: frozenset[str]) -> None:
        self.layout.required = required
        self.layout.kinds = [self.kinds[name] for name in self.layout.names]
        self.direct = all(kind == "number" for kind in self.features.values())

    def _raw(self, path: Path, bad: BadRows) -> Iterator[tuple[Any, Any]]:
        if self.csv:
            self._note_rounded(self.layout.rounded)
        for part in self._parts(path):
            self._note_rounded(part.columns.rounded)
            bad.take(path, part.bad, "line" if self.csv else "row")
            if part.n:
                label = self.target and part.columns[self.target.column]
                yield part.columns, label

    def _note_rounded(self, names: Iterable[str]) -> None:
        numbers = {name for name, kind in self.features.items() if kind == "number"}
        self.rounded |= numbers & set(names)

    def _parts(self, path: Path) -> Iterator[TablePart]:
        make = self._encoded if self.known else self._beside
        if not self.csv:
            return columnar.parts(path, self.kinds, self.layout.required, self.n_jobs, make)
        layout = self.layout
        if path != self.paths[0] and layout.header:
            layout = self._same_columns(path)
        return delimited.parts(path, layout, self.n_jobs, make=make)

    def _same_columns(self, path: Path) -> Layout:
        """The layout of a further file: the same columns, perhaps in another order."""
        first = self.layout
        given = {"delimiter": first.delimiter, "quote": first.quote, "decimal": first.decimal,
                 "header": True, "skip": first.skip}  # fmt: skip
        other = sniff(path, None, given)
        if set(other.names) != set(first.names):
            odd = sorted(set(other.names) ^ set(first.names))
            raise DataError(f"{path} and {self.paths[0]} differ in the column {odd[0]!r}.")
        kinds = [self.kinds[name] for name in other.names]
        return Layout(first.delimiter, first.quote, first.decimal, True, other.names, kinds,
                      first.skip, other.encoding, first.missing, first.required)  # fmt: skip

    def size(self) -> int:
        return sum(about(path).st_size for path in self.paths)  # about as many, or more

    def begin(self) -> None:
        self.statistics = ColumnStatistics(self.features)
        self.known = self.given

    def encode(self, encoding: Encoding) -> None:
        self.known = encoding

    def note(self, piece: Any) -> None:
        self.statistics.add(piece, None if self.known else piece.rows)

    def settled(self) -> Encoding:
        return Encoding.of(self.statistics.finish(), self.target, self.header)

    def rows(self, piece: Any, encoding: Encoding) -> Any:
        assert piece.by is encoding
        return piece.rows

    @property
    def missing(self) -> dict[str, int]:
        return self.statistics.missing

    def provisional(self, piece: Any) -> Any:
        """Columns of numbers side by side, gaps left open."""
        return piece.rows

    def _beside(self, columns: Columns) -> None:
        """Do that where the columns were read, by several threads."""
        names = [name for name, kind in self.features.items() if kind == "number"]
        if names:
            become = [Beside(j, 1) for j in range(len(names))]
            rows, odd = dense([columns[name] for name in names], become)
            columns.made(rows, names, odd)

    def _encoded(self, columns: Columns) -> None:
        """Rows by an encoding, made there too."""
        assert self.known is not None
        rows, odd = self.known.looked_at(columns)
        columns.made(rows, self.features, odd, self.known)

    def finish(self, arrays: dict[str, Array], n: int, encoding: Encoding) -> None:
        if not any(self.missing.values()):
            return
        from linsep.data.table.column_sums import fill

        X = arrays["rows"].reshape(n, -1)
        means = np.array([column.mean for column in encoding.columns])
        for part in blocks(X, 4 * BLOCK):
            fill(np.asarray(X[part]), means)


def _kind(column: Column) -> str:
    return f"hash:{column.bins}" if column.kind == "hash" else column.kind
