"""One column of a table, what stands in its cells, and the features that become of it.

A column is asked for by a word, perhaps with a detail and with additions:

    number · truth · date · date:dmy     one feature; a missing cell is the mean of the column
    parts · parts:dmy                    year, month, day, weekday and hour of a date
    text · text:50                       one feature per text; or for the 50 most frequent, and one
                                         for all others together
    hash · hash:64                       a fixed number of features, shared by texts
    words · words:500                    how often each of the 500 most frequent words (1000 by
                                         default) is in the cell
    words+hash · words:64+hash           the same of all words, which share 64 features
    …+gap                                one feature more: whether the number is missing
    …+fold                               texts that differ in case alone are the same
    drop                                 nothing
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.table.cells import ORDERS, PARTS, words_of
from linsep.errors import ParameterError

Array = npt.NDArray[Any]

KINDS = ("number", "truth", "date", "text", "hash", "words")
NUMERIC = ("number", "truth", "date", "parts")
"""Words of kinds whose cells are read as numbers."""
GAP = "gap"
OTHER = "(other)"
BINS = 1024
WORDS = 1000
CHOICES = (
    "number, truth, date, parts, text, text:50, hash, hash:64, words, words:500, words+hash or "
    "drop, perhaps with +gap or +fold"
)


class Texts(NamedTuple):
    """A column of texts: for each row a place in `texts`, or -1 where it is missing."""

    codes: Array
    texts: list[str]


class Wanted(NamedTuple):
    """A kind as it is asked for, taken apart."""

    word: str
    detail: str = ""
    gap: bool = False
    fold: bool = False
    hashed: bool = False

    @property
    def numeric(self) -> bool:
        """Whether cells are read as numbers."""
        return self.word in NUMERIC

    @property
    def reading(self) -> str:
        """How cells are read: 'text', 'drop', or what `cells.parser` takes."""
        if self.word in ("date", "parts"):
            return f"date:{self.detail or 'ymd'}"
        return self.word if self.word in ("number", "truth", "drop") else "text"


def wanted(kind: str) -> Wanted:
    """A kind taken apart.

    >>> wanted("text:50+fold")
    Wanted(word='text', detail='50', gap=False, fold=True, hashed=False)
    """
    word, *more = kind.split("+")
    word, _, detail = word.partition(":")
    return Wanted(word, detail, GAP in more, "fold" in more, "hash" in more)


def reading(kind: str) -> str:
    """How the cells of a column of this kind are read."""
    return wanted(kind).reading


def settle_kinds(names: list[str], kinds: list[str], wanted_kinds: Mapping[str, str]) -> list[str]:
    """The kinds that were judged, where what is asked for may say otherwise."""
    unknown = [name for name in wanted_kinds if name not in names]
    if unknown:
        raise ParameterError(
            f"columns names {unknown[0]!r}, which is no column; there are {', '.join(names[:20])}."
        )
    for name, kind in wanted_kinds.items():
        if not _valid(str(kind)):
            raise ParameterError(f"columns says {kind!r} for {name!r}; choose {CHOICES}.")
    settled = []
    for name, judged in zip(names, kinds, strict=True):
        kind = str(wanted_kinds.get(name, judged))
        want = wanted(kind)
        if want.word == "hash" and not want.detail:
            kind = kind.replace("hash", f"hash:{BINS}")
        elif want.word == "words" and not want.detail:
            kind = kind.replace("words", f"words:{BINS if want.hashed else WORDS}")
        elif want.word in ("date", "parts") and not want.detail:
            order = wanted(judged).detail if wanted(judged).word == "date" else "ymd"
            kind = kind.replace(want.word, f"{want.word}:{order}")
        settled.append(kind)
    return settled


def _valid(kind: str) -> bool:
    want = wanted(kind)
    word, *more = kind.split("+")
    _, colon, detail = word.partition(":")
    counted = detail.isdigit() and 0 < int(detail) < 2**31
    details = {
        "text": counted,
        "hash": counted,
        "words": counted,
        "date": detail in ORDERS,
        "parts": detail in ORDERS,
    }
    plain = want.word in (*NUMERIC, "text", "hash", "words", "drop")
    additions = {"drop": set(), "words": {"hash"}}.get(want.word, {"fold"})
    fits = set(more) <= ({GAP} if want.numeric else additions)
    return plain and fits and (not colon or details.get(want.word, False))


@dataclass(frozen=True)
class Column:
    """What becomes of one column of a table.

    Attributes
    ----------
    name : of the features; that of the column, unless `source` says otherwise
    kind : 'number', 'truth', 'date', 'text', 'hash' or 'words'
    mean : what a missing number is taken for
    categories : for 'text' the texts, and for 'words' the words, that have a feature each
    bins : for 'hash', and for 'words' that are hashed, the number of features
    order : for 'date', which of day, month and year comes first
    part : for 'date' the year, month, day, weekday or hour alone; or 'gap': whether it is missing
    fold : whether texts that differ in case alone are the same
    other : whether texts of no category share one more feature
    source : the column of the table, where it is not `name`
    """

    name: str
    kind: str = "number"
    mean: float = 0.0
    categories: tuple[str, ...] = ()
    bins: int = 0
    order: str = ""
    part: str = ""
    fold: bool = False
    other: bool = False
    source: str = ""

    @property
    def table_name(self) -> str:
        """The column of the table that it is made of."""
        return self.source or self.name

    @property
    def numeric(self) -> bool:
        """Whether it is one feature, a number."""
        return self.kind in NUMERIC

    @property
    def reading(self) -> str:
        """How its cells are read."""
        if self.kind == "date":
            return f"date:{self.order}"
        return self.kind if self.numeric else "text"

    @property
    def width(self) -> int:
        """How many features the column becomes."""
        if self.numeric:
            return 1
        return self.bins or len(self.categories) + self.other

    @property
    def features(self) -> list[str]:
        """Their names: `age`, `color=red`, `city#17`, `note:price`."""
        if self.numeric:
            return [self.name]
        if self.kind == "text":
            last = [OTHER] if self.other else []
            return [f"{self.name}={text}" for text in (*self.categories, *last)]
        if self.bins:
            return [f"{self.name}#{place}" for place in range(self.bins)]
        return [f"{self.name}:{word}" for word in self.categories]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {text: place for place, text in enumerate(self.categories)}

    def place(self, text: str) -> int:
        """The feature of this text, or of this word, -1 where none is."""
        text = text.casefold() if self.fold else text
        if self.bins:
            return bin_of(text, self.bins)
        return self._places.get(text, len(self.categories) if self.other else -1)

    def places(self, texts: list[str]) -> Array:
        """For each text the feature that is one, or -1 where none is; and -1 for a missing one."""
        return np.array([*map(self.place, texts), -1], np.int32)

    def counts(self, text: str) -> Counter[int]:
        """For a column of words, how often each feature is met in a text."""
        met = Counter(map(self.place, words_of(text)))
        met.pop(-1, None)
        return met

    def derived(self, cells: Array) -> Array:
        """The numbers that become of the column's own, NaN where they are missing."""
        if not self.part:
            return cells
        values = np.asarray(cells, np.float64)
        if self.part == GAP:
            return np.isnan(values).astype(np.float64)
        return part_of(values, self.part)


def part_of(days: Array, part: str) -> Array:
    """Year, month, day, weekday (Monday is 1) or hour of days since 1970.

    >>> [float(part_of(np.array([19782.75]), part)[0]) for part in PARTS]
    [2024.0, 2.0, 29.0, 4.0, 18.0]
    """
    whole = np.floor(days)
    if part == "weekday":
        return (whole + 3) % 7 + 1
    if part == "hour":
        return np.floor((days - whole) * 24 + 1e-9)
    there = np.isfinite(days)
    dates = np.where(there, whole, 0).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    if part == "year":
        values = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    elif part == "month":
        values = months.astype(np.int64) % 12 + 1
    else:
        values = (dates - months.astype("datetime64[D]")).astype(np.int64) + 1
    return np.where(there, values.astype(np.float64), np.nan)


def planned(name: str, kind: str) -> list[Column]:
    """The columns of features that a column of numbers becomes, their means not yet known.

    >>> [column.name for column in planned("paid", "number+gap")]
    ['paid', 'paid is missing']
    """
    want = wanted(kind)
    known: dict[str, Any] = {"kind": want.word}
    if want.word in ("date", "parts"):
        known = {"kind": "date", "order": want.detail or "ymd"}
    if want.word == "parts":
        columns = [Column(f"{name}.{part}", part=part, source=name, **known) for part in PARTS]
    else:
        columns = [Column(name, **known)]
    if want.gap:
        columns.append(Column(f"{name} is missing", part=GAP, source=name, **known))
    return columns


def bin_of(text: str, bins: int) -> int:
    """The bin a text falls into: the first eight bytes of its BLAKE2b digest, modulo `bins`.

    >>> bin_of("SFO", 64)
    55
    """
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % bins
