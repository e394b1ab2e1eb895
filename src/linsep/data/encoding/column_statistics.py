"""What a pass over all rows settles: categories, means, and the classes."""

from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.data.blocks.page_release import release, room_for
from linsep.data.blocks.store import blocks
from linsep.data.table.cells import number, words_of
from linsep.data.table.column import Column, Texts, Wanted, planned, wanted
from linsep.data.table.target import Target
from linsep.errors import DataError

Array = npt.NDArray[Any]

MOST_TEXTS = 1000  # texts of a column that may become features
MOST_CLASSES = 1 << 16
FEWEST = 20  # rows below which texts that are all different may be chance
FEW = 10  # classes that are looked for one by one
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
        from linsep.data.encoding.column_sums import (
            add_up,  # compiled code, and rows to predict need none
        )

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
            "them, 'text:50' for the 50 commonest, 'words' to count the words in them, or 'drop'."
        )


class EncodedLabels(NamedTuple):
    """Labels that were numbered while a file was read: codes[i] is row i's place in `classes`."""

    classes: Array
    codes: Array

    def labels(self) -> Array:
        """One label for each row, in a file where the codes lie in one."""
        labels = room_for(np.broadcast_to(self.classes[:1], self.codes.shape), self.codes)
        for part in blocks(self.codes):
            labels[part] = self.classes[self.codes[part]]
            release(labels)
        return np.asarray(labels)


class ProgressiveLoss(NamedTuple):
    """Rows that a fit took as they came and did not keep, each judged before it was learnt from."""

    rows: int
    mistakes: int
    class_counts: list[int]


class Labels(NamedTuple):
    """What the labels turned out to be: `classes`, or None where they are numbers to predict.

    `codes` gives the place of a stored label among the classes; `absent` is whether no row had one.
    """

    classes: Array | None
    places: Array | None
    absent: bool = False

    def codes(self, stored: Array) -> Array:
        """Stored labels as places among the classes."""
        assert self.classes is not None
        if self.places is not None:
            return self.places[stored.astype(np.int64)].astype(np.int32)
        values = self.classes.astype(np.float64)
        return np.searchsorted(values, stored).astype(np.int32)


class LabelStatistics:
    """Labels as they come in: numbers as they are, texts by the order of their first coming.

    Parameters
    ----------
    target : a question makes the labels False and True
    keep : labels to keep; rows of others are left out and counted
    """

    def __init__(self, target: Target | None = None, keep: Any = None) -> None:
        self.target = target
        self._keep = None if keep is None else list(np.asarray(keep).tolist())
        self._keep_texts = None if self._keep is None else {str(one) for one in self._keep}
        self.texts: dict[str, int] = {}
        self._numbers: set[float] | None = set()
        self._whole = True
        self.left_out = 0
        self._kinds: set[str] = set()

    def add(self, cells: Any) -> tuple[Array, Array | None]:
        """Labels to store for some rows, and which of the rows to keep (None: all)."""
        if self.target is not None and self.target.asks:
            stored = self._answers(cells)
        elif isinstance(cells, Texts):
            self._kinds.add("text")
            own = [self.texts.setdefault(text, len(self.texts)) for text in cells.texts]
            stored = np.array([*own, -1], np.float64)[cells.codes]
        else:
            self._kinds.add("number")
            stored = np.asarray(cells, np.float64)
        if self._keep is None:
            self._note(stored)
            return stored, None
        keep = self._kept(stored)
        self.left_out += int(len(keep) - keep.sum())
        stored = stored[keep]
        self._note(stored)
        return stored, keep

    def _answers(self, cells: Any) -> Array:
        assert self.target is not None
        self._kinds.add("answer")
        if isinstance(cells, Texts):
            answers = self.target.answer(np.array(cells.texts, dtype=object).astype(str))
            return np.append(answers, False)[cells.codes].astype(np.float64)
        return self.target.answer(np.asarray(cells)).astype(np.float64)

    def _kept(self, stored: Array) -> Array:
        assert self._keep is not None and self._keep_texts is not None
        if "text" in self._kinds:
            wanted = [place for text, place in self.texts.items() if text in self._keep_texts]
        elif "answer" in self._kinds:
            wanted = [k for k in (0, 1) if str(bool(k)) in self._keep_texts]
        else:
            wanted = [v for v in map(number, self._keep_texts) if v is not None]  # type: ignore[misc]
        return np.isin(stored, wanted)

    def _note(self, stored: Array) -> None:
        if self._numbers is None or self._kinds & {"text", "answer"}:
            return
        if len(self._numbers) <= FEW:  # most often there is nothing new
            for value in self._numbers:
                stored = stored[stored != value]
            if not len(stored):
                return
        values = np.unique(stored)
        if not np.all(values == np.floor(values)) or np.any(np.abs(values) > 2**53):
            self._whole = False
        self._numbers.update(values.tolist())
        if len(self._numbers) > MOST_CLASSES:
            self._numbers = None

    def finish(self) -> Labels:
        """The classes, sorted, and how stored labels are numbered by them."""
        if len(self._kinds) > 1:
            raise DataError(
                "the labels are numbers in one file and texts in another; make them agree."
            )
        if not self._kinds:
            return Labels(None, None, absent=True)
        if "answer" in self._kinds:
            return Labels(np.array([False, True]), None)
        if "text" in self._kinds:
            return self._from_texts()
        if self._numbers is None or not self._whole:
            return Labels(None, None)
        return Labels(np.array(sorted(self._numbers)).astype(np.int64), None)

    def _from_texts(self) -> Labels:
        kept = self._keep_texts
        texts = [text for text in self.texts if kept is None or text in kept]
        numbers = [number(text) for text in texts]
        ordered: list[Any] = sorted(texts)
        classes = np.array(ordered)
        if {text.lower() for text in texts} == {"true", "false"} and len(texts) == 2:
            ordered, classes = sorted(texts, key=str.lower), np.array([False, True])
        whole = all(v is not None and v == int(v) and abs(v) < 2**53 for v in numbers)
        if texts and whole and len(set(numbers)) == len(texts):
            ordered = sorted(texts, key=float)
            classes = np.array([int(float(text)) for text in ordered])
        places = np.zeros(len(self.texts), np.int64)
        for place, text in enumerate(ordered):
            places[self.texts[text]] = place
        return Labels(classes, places)
