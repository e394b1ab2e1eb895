"""Labels as they are read: numbered, counted, and settled into classes when all are seen."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.page_release import release, room_for
from linsep.data.blocks.store import blocks
from linsep.data.table.cells import number
from linsep.data.table.column import Texts
from linsep.data.table.target import Target
from linsep.errors import DataError

Array = npt.NDArray[Any]

MOST_CLASSES = 1 << 16
FEW = 10  # classes that are looked for one by one


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

    def decoded(self, stored: Array, labels: Labels | None) -> Array:
        """Labels as they were written, of one type in all blocks where the classes are known."""
        if labels is not None and labels.classes is not None:
            return labels.classes[labels.codes(stored)]
        if self.target is not None and self.target.asks:
            return stored.astype(bool)
        if self.texts:
            return np.array(list(self.texts))[stored.astype(np.int64)]
        whole = labels is None and np.all(stored == np.floor(stored))
        return stored.astype(np.int64) if whole else stored

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
