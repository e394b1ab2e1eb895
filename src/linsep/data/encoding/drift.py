"""How new rows differ from those of the fit: texts that were not there, columns too many."""

import sys
import threading
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from linsep.data.encoding.encoding import Encoding

SHOWN = 5


class Drift:
    """What was met that the model does not know.

    Attributes
    ----------
    extra : columns that no feature is made of
    unknown : by column, how often each text was met that has no feature
    """

    def __init__(self) -> None:
        self.extra: list[str] = []
        self.unknown: dict[str, Counter[str]] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """What was met, with counts of its own; a lock belongs to its process."""
        return {
            "extra": list(self.extra),
            "unknown": {name: Counter(met) for name, met in self.unknown.items()},
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def note(self, encoding: Encoding, columns: Any) -> None:
        """Count texts of some rows that have no feature of their own."""
        for column in encoding.columns:
            if column.kind != "text":
                continue
            cells = columns[column.table_name]
            known = len(column.categories)
            places = [column.place(text) for text in cells.texts]
            strange = [k for k, place in enumerate(places) if not 0 <= place < known]
            if not strange or column.other:  # rare texts are grouped: new ones belong to them
                continue
            counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(places))
            met = {cells.texts[k]: int(counts[k]) for k in strange if counts[k]}
            if met:
                with self._lock:
                    self.unknown.setdefault(column.table_name, Counter()).update(met)

    def add(self, other: "Drift") -> None:
        """Count what another has met, in other rows of the same files."""
        for name, met in other.unknown.items():
            self.unknown.setdefault(name, Counter()).update(met)

    def sentences(self) -> list[str]:
        """In words, the commonest first."""
        sentences = []
        for name, met in self.unknown.items():
            some = ", ".join(f"{text!r} ({n:,})" for text, n in met.most_common(SHOWN))
            more = ", …" if len(met) > SHOWN else ""
            sentences.append(
                f"Column {name!r} holds texts that were not in the fit, in {rows_in(met.total())}: "
                f"{some}{more}. They count as missing."
            )
        if self.extra:
            names = ", ".join(map(repr, self.extra[:SHOWN]))
            more = ", …" if len(self.extra) > SHOWN else ""
            sentences.append(f"Columns that the model does not know: {names}{more}.")
        return sentences


def tell(sentences: Iterable[str]) -> None:
    """Warn of what was met, once, where linsep was called."""
    text = " ".join(sentences)
    if not text:
        return
    frame, depth = sys._getframe(), 1
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in (
        "linsep",
        "contextlib",
    ):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, UserWarning, stacklevel=depth)


def rows_in(count: int) -> str:
    """A number of rows, in words."""
    return "1 row" if count == 1 else f"{count:,} rows"
