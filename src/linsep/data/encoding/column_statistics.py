"""What a pass over all rows settles of its columns: categories, words and means."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.data.table.cells import words_of
from linsep.data.table.column import Column, Wanted, planned, wanted
from linsep.errors import DataError
from linsep.kernels.tables import add_up

Array = npt.NDArray[Any]

MOST_TEXTS = 1000  # texts of a column that may become features
FEWEST = 20  # rows below which texts that are all different may be chance
_ENOUGH = 1 << 20  # texts after which it is no use to go on counting


class Means:
    """Means of columns of numbers with gaps: sums over fixed blocks of rows, so that the way the
    rows come in does not change a digit."""

    def __init__(self, width: int) -> None:
        self._waiting: list[Array] = []
        self._held = 0
        self._sum = np.zeros(width)
        self._count = np.zeros(width, np.int64)
        self.n = 0

    def add(self, numbers: Array) -> None:
        """Take in some rows."""
        self.n += len(numbers)
        if self._held:
            short = BLOCK - self._held  # rows that complete the block begun before
            self._waiting.append(numbers[:short].copy())
            self._held += len(self._waiting[-1])
            if self._held < BLOCK:
                return
            self._block(np.concatenate(self._waiting))
            numbers = numbers[short:]
        rows = numbers
        full = len(rows) // BLOCK * BLOCK
        for first in range(0, full, BLOCK):
            self._block(rows[first : first + BLOCK])
        rest = rows[full:]
        self._waiting, self._held = ([rest.copy()] if len(rest) else []), len(rest)

    def _block(self, rows: Array) -> None:
        total = np.zeros_like(self._sum)
        add_up(np.ascontiguousarray(rows), total, self._count)
        self._sum += total

    def finish(self) -> tuple[Array, Array]:
        """The means, zero for a column without any number, and how many numbers were missing."""
        if self._held:
            self._block(np.concatenate(self._waiting))
            self._waiting, self._held = [], 0
        means = np.divide(self._sum, self._count, out=np.zeros_like(self._sum),
                          where=self._count > 0)  # fmt: skip
        return means, self.n - self._count


class ColumnStatistics:
    """Categories and means of the columns of a table."""

    def __init__(self, kinds: dict[str, str]) -> None:
        self.kinds = kinds
        self.numbers = [
            column
            for name, kind in kinds.items()
            if wanted(kind).numeric
            for column in planned(name, kind)
        ]
        self._means = Means(len(self.numbers))
        self._texts: dict[str, Counter[str]] = {
            name: Counter() for name, kind in kinds.items() if wanted(kind).word == "text"
        }
        self._words: dict[str, Counter[str]] = {
            name: Counter()
            for name, kind in kinds.items()
            if wanted(kind).word == "words" and not wanted(kind).hashed
        }
        self._last: dict[str, list[str]] = {}
        self.missing: dict[str, int] = {n: 0 for n, k in kinds.items() if not wanted(k).numeric}
        self._rows = 0

    def add(self, columns: dict[str, Any], rows: Array | None = None) -> None:
        """Take in some rows: texts, and the columns of numbers side by side where means count."""
        if rows is not None:
            self._means.add(rows)
        for name in list(self.missing)[:1]:
            self._rows += len(columns[name].codes)
        for name in self.missing:
            self.missing[name] += int(np.count_nonzero(columns[name].codes < 0))
        for name, seen in self._texts.items():
            texts = columns[name].texts
            if wanted(self.kinds[name]).detail:  # which are the commonest
                codes = columns[name].codes
                counts = np.bincount(codes[codes >= 0], minlength=len(texts)).tolist()
                seen.update(dict(zip(texts, counts, strict=True)))
            elif self._last.get(name) is not texts:  # not the same dictionary as before
                self._last[name] = texts
                seen.update(texts)
            if len(seen) > _ENOUGH:
                self._too_many(name, len(seen))
        for name, seen in self._words.items():
            cells = columns[name]
            times = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.texts))
            for text, count in zip(cells.texts, times.tolist(), strict=True):
                for word in words_of(text) if count else ():
                    seen[word] += count
            if len(seen) > _ENOUGH:
                raise DataError(
                    f"column {name!r} holds {len(seen)} different words, too many to count each. "
                    f"Pass columns={{{name!r}: 'words+hash'}} to share 1024 features among them."
                )

    def merge(self, other: "ColumnStatistics") -> None:
        """Take in what was counted of other rows; their means are not."""
        self._rows += other._rows
        for name, count in other.missing.items():
            if name in self.missing:  # columns of numbers come with the means
                self.missing[name] += count
        for own, seen in ((self._texts, other._texts), (self._words, other._words)):
            for name, counts in seen.items():
                own[name].update(counts)

    def unique(self) -> dict[str, int]:
        """Columns with a feature for nearly every row, and how many texts they hold."""
        met = {name: self._rows - self.missing[name] for name in self._texts}
        return {
            name: len(seen)
            for name, seen in self._texts.items()
            if not wanted(self.kinds[name]).detail and met[name] >= FEWEST
            and len(seen) >= 0.9 * met[name]
        }  # fmt: skip

    def finish(self) -> list[Column]:
        """The columns as they are to be encoded."""
        means, gaps = self._means.finish()
        made: dict[str, list[Column]] = {}
        for column, mean, gap in zip(self.numbers, means.tolist(), gaps.tolist(), strict=True):
            name = column.table_name
            made.setdefault(name, []).append(replace(column, mean=mean))
            self.missing[name] = max(self.missing.get(name, 0), gap)
        columns = []
        for name, kind in self.kinds.items():
            want = wanted(kind)
            if want.numeric:
                columns += made[name]
            elif want.word == "text":
                columns.append(self._text(name, want))
            elif want.word == "words" and not want.hashed:
                columns.append(Column(name, "words", categories=self._commonest(name, want)))
            elif want.word == "words":
                columns.append(Column(name, "words", bins=int(want.detail)))
            else:
                columns.append(Column(name, "hash", bins=int(want.detail), fold=want.fold))
        return columns

    def _text(self, name: str, want: Wanted) -> Column:
        seen = self._texts[name]
        if want.fold:
            seen = Counter()
            for text, count in self._texts[name].items():
                seen[text.casefold()] += count
        kept = list(seen)
        if want.detail and len(kept) > int(want.detail):
            kept = sorted(kept, key=lambda text: (-seen[text], text))[: int(want.detail)]
            texts = tuple(sorted(kept))
            return Column(name, "text", categories=texts, fold=want.fold, other=True)
        if len(seen) > MOST_TEXTS:
            self._too_many(name, len(seen))
        return Column(name, "text", categories=tuple(sorted(seen)), fold=want.fold)

    def _commonest(self, name: str, want: Wanted) -> tuple[str, ...]:
        seen = self._words[name]
        if not seen:
            raise DataError(f"column {name!r} holds no words; pass columns={{{name!r}: 'drop'}}.")
        first = sorted(seen, key=lambda word: (-seen[word], word))[: int(want.detail)]
        return tuple(sorted(first))

    @staticmethod
    def _too_many(name: str, count: int) -> None:
        raise DataError(
            f"column {name!r} holds {count} different texts; at most {MOST_TEXTS} become columns "
            f"of zeros and ones. Pass columns={{{name!r}: 'hash'}} to share 1024 columns among "
            "them, 'text:50' for the 50 most frequent, 'words' to count the words in them, or "
            "'drop'."
        )
