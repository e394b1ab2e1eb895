"""The columns of a file in memory as they were read, before anything was learnt from them.

What fills gaps and which texts have features can then be settled over some of the rows alone: those
that a model may see.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.encoding.column_statistics import ColumnStatistics
from linsep.data.encoding.encoding import Encoding
from linsep.data.table.column import Texts, wanted
from linsep.data.table.parquet import rows_of

Array = npt.NDArray[Any]


class RawTable(NamedTuple):
    """Columns of n rows: `numbers` (n, p) side by side with NaN for gaps, and `texts` by name."""

    source: Any
    numbers: Array
    texts: dict[str, Texts]
    labels: list[Any]
    n: int

    def settled(self, rows: Array) -> Encoding:
        """How columns become features, by these rows alone."""
        statistics = ColumnStatistics(self.source.features)
        some = {name: compact(rows_of(cells, rows)) for name, cells in self.texts.items()}
        statistics.add(some, self.numbers[rows])
        encoding: Encoding = self.source.settled(statistics)
        return encoding

    def features(self, encoding: Encoding, rows: Array) -> Any:
        """Some rows as features."""
        place = iter(range(self.numbers.shape[1]))
        parts = [
            self.numbers[rows, next(place)]
            if column.numeric
            else rows_of(self.texts[column.table_name], rows)
            for column in encoding.columns
        ]
        return encoding.assembled(parts)[0]

    def part(self, rows: Array) -> "RawTable":
        """Some of the rows."""
        texts = {name: rows_of(cells, rows) for name, cells in self.texts.items()}
        return RawTable(self.source, self.numbers[rows], texts, [], len(rows))

    def split(self, train: Array, test: Array) -> tuple[Any, Any]:
        """Features of rows to learn from and of others, by what the first alone hold."""
        encoding = self.settled(train)
        return self.features(encoding, train), self.features(encoding, test)


class Slices(NamedTuple):
    """Rows of numbers from which no encoding is learnt."""

    X: Any

    def part(self, rows: Array) -> "Slices":
        """Some of the rows."""
        return Slices(self.X[rows])

    def split(self, train: Array, test: Array) -> tuple[Any, Any]:
        """Rows to learn from, and others."""
        return self.X[train], self.X[test]


def splittable(chunks: Any, X: Any) -> RawTable | Slices:
    """The rows X of a data set so that they can be split before anything is learnt from them."""
    source: Any = getattr(chunks, "source", None)
    if not hasattr(source, "statistics") or source.given is not None:
        return Slices(X)
    plain = all(wanted(kind).numeric for kind in source.features.values())
    if plain and not any(source.missing.values()):
        return Slices(X)
    raw = raw_table(source, chunks.bad_rows)
    kept = chunks.kept_rows(raw.labels)
    if kept is None:
        return raw
    return raw.part(np.flatnonzero(kept))


class Collector:
    """Keeps pieces of a source of tables as they are read, `most` rows of them or a few more."""

    def __init__(self, source: Any, most: int | None = None) -> None:
        self.source, self.most, self.n = source, most, 0
        self.numbers: list[Array] = []
        self.texts: dict[str, list[Texts]] = {}
        self.labels: list[Any] = []

    def __call__(self, piece: Any, cells: Any) -> None:
        """Take in a piece and its labels."""
        if self.most is not None and self.n >= self.most:
            return
        if self.source.statistics.numbers:
            self.numbers.append(np.array(piece.rows))
        for name, column in piece.items():
            if isinstance(column, Texts) and name in self.source.features:
                self.texts.setdefault(name, []).append(column)
        self.labels.append(cells)
        rows = self.numbers[-1] if self.numbers else next(iter(piece.values())).codes
        self.n += len(rows)

    def table(self) -> RawTable:
        """All that was taken in."""
        whole = np.concatenate(self.numbers) if self.numbers else np.empty((self.n, 0))
        texts = {name: joined(parts) for name, parts in self.texts.items()}
        return RawTable(self.source, whole, texts, self.labels, self.n)


def raw_table(source: Any, bad_rows: Any) -> RawTable:
    """The rows of a source of tables; what it has learnt of them before is left as it is."""
    before = source.statistics, source.known
    source.begin()
    collect = Collector(source)
    for piece, cells in source.raw(bad_rows):
        collect(piece, cells)
    source.statistics, source.known = before
    return collect.table()


def joined(parts: list[Texts]) -> Texts:
    """Pieces of a column of texts as one."""
    places: dict[str, int] = {}
    codes = []
    for part in parts:
        own = np.array([*(places.setdefault(t, len(places)) for t in part.texts), -1], np.int64)
        codes.append(own[part.codes])
    return Texts(np.concatenate(codes) if codes else np.empty(0, np.int64), list(places))


def compact(cells: Texts) -> Texts:
    """The same cells, without texts that none of them holds.

    >>> compact(Texts(np.array([2, -1, 2]), ["a", "b", "c"]))
    Texts(codes=array([ 0, -1,  0]), texts=['c'])
    """
    met = np.unique(cells.codes[cells.codes >= 0])
    places = np.full(len(cells.texts) + 1, -1, np.int64)
    places[met] = np.arange(len(met))
    return Texts(places[cells.codes], [cells.texts[k] for k in met.tolist()])
