"""Where rows come from: files of one format, opened the same way whatever the format.

A source gives `raw` pieces in file order, each with its labels; studies them; and turns a raw piece
into rows of numbers.
"""

import dataclasses
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.data.blocks.store import Store, blocks
from linsep.data.encoding.assemble import Beside, dense
from linsep.data.encoding.column_statistics import ColumnStatistics
from linsep.data.encoding.drift import Drift
from linsep.data.encoding.encoding import Encoding
from linsep.data.files.bad_rows import BadRows
from linsep.data.files.compression import Version, about
from linsep.data.table import delimited
from linsep.data.table import parquet as columnar
from linsep.data.table.cells import number
from linsep.data.table.column import Column, reading, settle_kinds, wanted
from linsep.data.table.dialect import Layout, missing_words, sniff
from linsep.data.table.memory import MISSING
from linsep.data.table.table_part import Columns, TablePart
from linsep.data.table.target import Target, find_target
from linsep.errors import DataError, ParameterError
from linsep.kernels.tables import fill

Array = npt.NDArray[Any]


class Source:
    """Files of one format. `direct`: rows can be stored before all have been seen."""

    summary = ""
    target: Target | None = None
    direct = True
    rounded: frozenset[str] = frozenset()
    """Columns of features with whole numbers that had to be rounded."""
    doubts: Sequence[str] = ()
    """What is not sure about numbers of its columns, in sentences."""
    numbers: Any = None
    """The line, or row, of each row of the piece that was given last, where that was asked for."""

    def __init__(self, paths: list[Path], n_jobs: int | None = None) -> None:
        self.paths = paths
        self.path = paths[0]  # the one that is being read
        self.n_jobs = n_jobs
        self.version = Version()

    def raw(self, bad: BadRows) -> Iterator[tuple[Any, Any]]:
        """(piece, its labels or None) in file order; what cannot be read goes to `bad`."""
        bad.begin()
        try:
            for path in self.paths:
                self.path = path
                self.version.check(path)
                yield from self._raw(path, bad)
                self.version.check(path)
        finally:
            bad.close()

    def _raw(self, path: Path, bad: BadRows) -> Iterator[tuple[Any, Any]]:
        raise NotImplementedError

    def number_lines(self) -> None:
        """Keep the line of every row, counted as bad rows are."""
        self.numbered = True

    numbered = False
    unit = "line"
    """What rows are counted in: lines from 1, or rows from 0."""

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
        self.drift = Drift()
        self.passed: list[str] = []
        self.given = encoding  # how a model knows columns to become features
        self.known = encoding  # how they do in this pass; None while that is studied
        self.csv = options["format"] == "csv"
        self.unit = "line" if self.csv else "row"
        self.layout = self._layout(paths[0], options, encoding)
        names = self.layout.names
        self.header = self.layout.header
        self.width = None if self.header else len(names)
        if encoding is None:
            target = options["target"]
            self.target = None if target is False else find_target(target, names)
            kinds = settle_kinds(names, self.layout.kinds, options["columns"])
            self._settle_doubts(kinds, options["columns"])
            self._by_kind(kinds, options["fill"])
        else:
            self._by_encoding(encoding, options["target"])
        self.summary = self.layout.summary() if self.csv else f"Columns: {', '.join(names[:30])}."
        self.begin()

    def _layout(self, path: Path, options: dict[str, Any], encoding: Encoding | None) -> Layout:
        if self.csv:
            given = options["layout"]
            if encoding is None:
                return sniff(path, options["target"], given)
            # Whether there is a header, and which words mean nothing, is as it was in the fit.
            known: dict[str, Any] = {"header": encoding.header, "empty": True}
            if encoding.missing is not None:
                known["missing_only"] = encoding.missing
            if encoding.decimal != ".":
                known["decimal"] = encoding.decimal
            else:  # as in the fit, unless cells of this file are clear
                known["usual_decimal"] = "."
            return _without_header(sniff(path, None, known | given), encoding, path, given)
        names, kinds = columnar.kinds_of(path)
        given = {k: v for k, v in options["layout"].items() if k.startswith("missing")}
        decimal = options["layout"].get("decimal") or (
            "." if encoding is None else encoding.decimal
        )
        return Layout(",", decimal=decimal, names=names, kinds=kinds, missing=missing_words(given))

    def _settle_doubts(self, kinds: list[str], chosen: Any) -> None:
        """Refuse numbers that may mean either of two, unless `chosen` says what the column is."""
        now = dict(zip(self.layout.names, kinds, strict=True))
        for name, (grave, sentence) in self.layout.doubts.items():
            if name in chosen and wanted(now[name]).word != "number":
                continue
            if grave:
                raise DataError(f"{self.paths[0]}: {sentence}")
            self.doubts = [*self.doubts, sentence]
            warnings.warn(f"{self.paths[0]}: {sentence}", UserWarning, stacklevel=5)

    def _by_kind(self, kinds: list[str], fill: str) -> None:
        target, names = self.target, self.layout.names
        self.kinds = dict(zip(names, kinds, strict=True))
        if target is None:
            self.features = {n: k for n, k in self.kinds.items() if k != "drop"}
            self._read_as(frozenset())
            return
        place = names.index(target.column)
        if target.asks:
            kinds[place] = "text" if isinstance(target.value, str) else "number"
        elif kinds[place] == "drop":
            raise ParameterError(f"columns drops {target.column!r}, which is the target.")
        else:
            kinds[place] = _label_kind(kinds[place])
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
        own = {column.table_name: _kind(column) for column in encoding.columns}
        if set(own) - set(names):
            strange = self.csv and self.header and not set(encoding.table) & set(names)
            other = " Pass header=False if its first row names no columns." if strange else ""
            raise encoding.lacking(names, str(self.paths[0]), other)
        self.layout.names, self.layout.settled = names, True
        target = encoding.target if target_wanted is None else find_target(target_wanted, names)
        known = {*encoding.table} if encoding.header else {*names}  # others would be too many
        self.drift.extra = [name for name in names if name not in known]
        self.target = target if target is not None and target.column in names else None
        self.kinds = {name: own.get(name, "drop") for name in names}
        if self.target is not None:
            old = dict(zip(names, self.layout.kinds, strict=True))[self.target.column]
            if self.target.asks:
                old = "text" if isinstance(self.target.value, str) else "number"
            self.kinds[self.target.column] = own.get(self.target.column) or _label_kind(old)
        self.features = own
        self._read_as(frozenset({self.target.column} if self.target else ()))

    def without_labels(self) -> None:
        if self.target is not None and self.given is not None:
            self.kinds[self.target.column] = self.features.get(self.target.column, "drop")
            self.target = None
            self._read_as(frozenset())

    def pass_on(self, names: list[str]) -> None:
        """Read these columns too, and hand them on with the rows."""
        absent = [name for name in names if name not in self.kinds]
        if absent:
            raise ParameterError(
                f"keep names {absent[0]!r}, which is no column; there are "
                f"{', '.join(self.layout.names[:20])}."
            )
        self.passed = names
        self.drift.extra = [name for name in self.drift.extra if name not in names]
        for name in names:
            self.kinds[name] = "text" if self.kinds[name] == "drop" else self.kinds[name]
        self._read_as(self.layout.required)

    def number_lines(self) -> None:
        super().number_lines()
        self.layout.numbered = True

    def _positions(self, encoding: Encoding) -> list[str]:
        width = len(self.layout.names)
        names = [str(j) for j in range(width)]
        known = set(encoding.table_columns)
        target = encoding.target.column if encoding.target else None
        whole = encoding.width
        short = str(width) in known if whole is None else width == whole - 1
        if target is not None and short:  # the column of labels is not there
            return [str(j) for j in range(width + 1) if str(j) != target]
        if whole is not None and width != whole:
            raise DataError(
                f"{self.paths[0]} has {width} columns; the model was fitted on {whole}"
                + (f", {whole - 1} without the labels." if target is not None else ".")
            )
        return names

    def _read_as(self, required: frozenset[str]) -> None:
        self.layout.required = required
        self.layout.kinds = [self.kinds[name] for name in self.layout.names]
        self.direct = all(wanted(kind).numeric for kind in self.features.values())

    def _raw(self, path: Path, bad: BadRows) -> Iterator[tuple[Any, Any]]:
        if self.csv:
            self._note_rounded(self.layout.rounded)
        for part in self._parts(path):
            self._note_rounded(part.columns.rounded)
            bad.take(path, part.bad, self.unit)
            self.numbers = part.columns.lines
            if part.n:
                label = self.target and part.columns[self.target.column]
                yield part.columns, label

    def _note_rounded(self, names: Iterable[str]) -> None:
        numbers = {name for name, kind in self.features.items() if reading(kind) == "number"}
        self.rounded |= numbers & set(names)

    def _parts(self, path: Path) -> Iterator[TablePart]:
        make = self._encoded if self.known else self._beside
        if not self.csv:
            required, words = self.layout.required, self.layout.words
            if path != self.paths[0] and self.known is None:
                self._require_same(path, columnar.schema(path).names)
            return columnar.parts(path, self.kinds, required, self.n_jobs, make, words)
        layout = self.layout
        if path != self.paths[0] and layout.header:
            layout = self._same_columns(path)
        return delimited.parts(path, layout, self.n_jobs, make=make)

    def _same_columns(self, path: Path) -> Layout:
        """The layout of a further file: the same columns, perhaps in another order."""
        first = self.layout
        given = {"delimiter": first.delimiter, "quote": first.quote, "decimal": first.decimal,
                 "header": True, "skip": first.skip, "empty": True}  # fmt: skip
        other = sniff(path, None, given)
        self._require_same(path, other.names)
        kinds = [self.kinds[name] for name in other.names]
        return Layout(first.delimiter, first.quote, first.decimal, True, other.names, kinds,
                      first.skip, other.encoding, first.missing, first.required,
                      loose=first.loose | other.loose, numbered=first.numbered)  # fmt: skip

    def _require_same(self, path: Path, names: list[str]) -> None:
        """Refuse a further file that has other columns than the first."""
        odd = sorted(set(names) ^ set(self.layout.names))
        if not self.csv:  # columns are found by their names
            odd = [name for name in odd if self.kinds.get(name) != "drop"]
        if odd:
            which = "has" if odd[0] in names else "lacks"
            raise DataError(
                f"{path} and {self.paths[0]} differ in the column {odd[0]!r}, which the former "
                f"{which}; give files of the same columns, or each kind by a pattern of its own."
            )

    def size(self) -> int:
        return sum(about(path).st_size for path in self.paths)  # about as many, or more

    def begin(self) -> None:
        self.statistics = ColumnStatistics(self.features)
        self.known = self.given

    def encode(self, encoding: Encoding) -> None:
        self.known = encoding
        self.drift.unknown.clear()

    def note(self, piece: Any) -> None:
        self.statistics.add(piece, None if self.known else piece.rows)

    def settled(self, statistics: ColumnStatistics | None = None) -> Encoding:
        missing = None if self.layout.missing == MISSING else self.layout.missing
        columns = (statistics or self.statistics).finish()
        decimal = "," if self.layout.decimal == "," else "."
        return Encoding.of(columns, self.target, self.header, width=self.width, missing=missing,
                           decimal=decimal, unused=self._unused(columns))  # fmt: skip

    def _unused(self, columns: list[Column]) -> tuple[tuple[int, str], ...] | None:
        """Columns that no feature is made of, unless it is the target alone, at the end."""
        used, names = {column.table_name for column in columns}, self.layout.names
        unused = tuple((place, name) for place, name in enumerate(names) if name not in used)
        last = () if self.target is None else ((len(names) - 1, self.target.column),)
        return None if not self.header or unused == last else unused

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
        plan = self.statistics.numbers
        if plan:
            become = [Beside(j, 1) for j in range(len(plan))]
            rows, odd = dense([one.derived(columns[one.table_name]) for one in plan], become)
            columns.made(rows, [one.table_name for one in plan], odd)

    def _encoded(self, columns: Columns) -> None:
        """Rows by an encoding, made there too."""
        assert self.known is not None
        rows, odd = self.known.looked_at(columns)
        self.drift.note(self.known, columns)
        columns.passed = {name: columns[name] for name in self.passed}
        columns.made(rows, [one.table_name for one in self.known.columns], odd, self.known)

    def finish(self, arrays: dict[str, Array], n: int, encoding: Encoding) -> None:
        if not any(self.missing.values()):
            return
        X = arrays["rows"].reshape(n, -1)
        means = np.array([column.mean for column in encoding.columns])
        for part in blocks(X, 4 * BLOCK):
            fill(np.asarray(X[part]), means)


def _kind(column: Column) -> str:
    """The kind of a column of the table, as far as reading it goes."""
    return f"hash:{column.bins}" if column.kind == "hash" else column.reading


def _label_kind(kind: str) -> str:
    """Truth values and dates are labels by their texts."""
    return kind if wanted(kind).word in ("number", "text") else "text"


def _without_header(layout: Layout, encoding: Encoding, path: Path, given: Any) -> Layout:
    """The layout of rows for a model; where the first line names none of its columns but has as
    many cells, it is taken for a row."""
    if not encoding.header or given.get("header"):
        return layout
    known, table, width = encoding.table_columns, encoding.table, len(layout.names)
    target = None if encoding.target is None else encoding.target.column
    unlabelled = [name for name in table if name != target]
    names = next((some for some in (table, unlabelled, known) if len(some) == width), None)
    if layout.header:
        named = all(number(name) is None for name in known)  # else either may be a name
        if not named or set(table) & set(layout.names) or names is None:
            return layout
        layout = sniff(path, None, {"header": False} | given)
    elif names is None:
        counts = " or ".join(map(str, sorted({len(table), len(unlabelled), len(known)})))
        raise DataError(f"{path} has {width} columns without names; the model takes {counts}.")
    return dataclasses.replace(layout, names=list(names))
