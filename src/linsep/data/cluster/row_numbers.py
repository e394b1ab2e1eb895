"""Arrays with a number for each row (labels, signs, weights) on the workers that have the rows.

An array is sent once, in slices, and asked for where it is. One that is a function of the class
alone, as signs are, is not sent at all: workers make it from their class numbers and a short table.
"""

import hashlib
import warnings
from collections import OrderedDict
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.page_release import PageRelease
from linsep.data.cluster.partition import Partition, Span
from linsep.data.cluster.waiting import key_of

Array = npt.NDArray[Any]

KEPT = 4
"""Arrays that workers keep."""
FEW = 64
"""Classes up to which arrays are compared with a table."""
STEP = 1 << 16
"""Rows compared at a time."""


def near(rows: Partition, numbers: Partition) -> Partition:
    """Numbers of rows; the rows are named so that they go where the rows are."""
    return numbers


def by_class(rows: Partition, codes: Partition, table: Array) -> Partition:
    """table[class] of each row."""
    return Partition(codes.starts, [table[run] for run in codes.runs])


def narrow(codes: Array, n_classes: int) -> Array:
    """Class numbers in a byte each where that is enough."""
    return codes.astype(np.uint8) if n_classes <= 256 else codes


class RowNumbers:
    """Numbers of the rows of some partitions.

    Parameters
    ----------
    client : of Dask
    partitions : futures
    spans : the runs of rows of each partition
    """

    def __init__(self, client: Any, partitions: list[Any], spans: list[list[Span]]) -> None:
        self.client, self.partitions, self.spans = client, partitions, spans
        self._there: OrderedDict[Any, list[Any]] = OrderedDict()
        self._unchanging: dict[Any, tuple[Array, Array | None]] = {}
        self._codes: Array | None = None
        self._codes_there: list[Any] | None = None
        self._firsts: Array = np.empty(0, np.int64)

    def know(self, codes: Array, there: list[Any] | None = None) -> None:
        """Remember the class number of each row, and where workers have those of partitions.

        They are sent at once: workers get them while the client is busy with a sample.
        """
        self._codes, self._codes_there = codes, there
        self._firsts = _firsts(codes)
        self.keep(codes, np.arange(len(self._firsts), dtype=codes.dtype))
        self.of(codes)

    def keep(self, numbers: Array, table: Array | None = None) -> None:
        """Take it that an array does not change, nor what it has for each class."""
        self._unchanging[_place(numbers)] = numbers, table

    def of(self, numbers: Array) -> list[Any]:
        """A future of the numbers of each partition."""
        mark = _place(numbers)
        mark = mark if mark in self._unchanging else _digest(numbers)
        if mark not in self._there:
            self._there[mark] = self._made(numbers)
        self._there.move_to_end(mark)
        while len(self._there) > KEPT:
            self._there.popitem(last=False)
        return self._there[mark]

    def _made(self, numbers: Array) -> list[Any]:
        table = self._table(numbers)
        if table is None:
            parts = [self._part(numbers, own) for own in self.spans]
            return self._map("numbers-of-rows", near, parts)
        if self._codes_there is None:
            assert self._codes is not None
            parts = [self._part(self._codes, own, len(self._firsts)) for own in self.spans]
            self._codes_there = self._map("classes-of-rows", near, parts)
        return self._map("numbers-of-rows", by_class, self._codes_there, [table] * len(self.spans))

    def _map(self, name: str, function: Any, *arguments: list[Any]) -> list[Any]:
        keys = [key_of(name) for _ in self.spans]
        with warnings.catch_warnings():  # what is sent is sent once
            warnings.filterwarnings("ignore", message="Sending large graph")
            made = self.client.map(function, self.partitions, *arguments, key=keys, pure=False)
        return list(made)

    def _part(self, numbers: Array, spans: list[Span], n_classes: int | None = None) -> Partition:
        """Numbers of some runs of rows; of classes, as short as can be."""
        runs = [np.ascontiguousarray(numbers[start:stop]) for start, stop in spans]
        if n_classes is not None:
            runs = [narrow(run, n_classes) for run in runs]
        return Partition([span.start for span in spans], runs)

    def _table(self, numbers: Array) -> Array | None:
        """The number of each class, where a row's number depends on its class alone."""
        codes = self._codes
        if codes is None or numbers.ndim != 1 or len(numbers) != len(codes):
            return None
        if not 0 < len(self._firsts) <= FEW:
            return None
        _, known = self._unchanging.get(_place(numbers), (None, None))
        if known is not None and len(known) == len(self._firsts):
            return known
        table, pages = np.asarray(numbers[self._firsts]), PageRelease(numbers, codes)
        for start in range(0, len(codes), STEP):
            rows = slice(start, start + STEP)
            if not np.array_equal(table[codes[rows]], numbers[rows]):
                return None
            pages.advance(STEP)
        return table


def _firsts(codes: Array) -> Array:
    """The first row of each class; none where some class has no row, or classes are many."""
    firsts: dict[int, int] = {}
    n_classes, pages = 0, PageRelease(codes)
    for start in range(0, len(codes), STEP):
        part = codes[start : start + STEP]
        n_classes = max(n_classes, int(part.max()) + 1)
        if len(firsts) < n_classes <= FEW:
            for k in range(n_classes):
                if k not in firsts and (part == k).any():
                    firsts[k] = start + int(np.argmax(part == k))
        pages.advance(STEP)
    if len(firsts) < n_classes:
        return np.empty(0, np.int64)
    return np.array([firsts[k] for k in range(n_classes)], np.int64)


def _place(numbers: Array) -> Any:
    """Where an array lies in memory: views of the same numbers are alike."""
    return numbers.ctypes.data, numbers.dtype.str, numbers.shape, numbers.strides


def _digest(numbers: Array) -> bytes:
    digest = hashlib.blake2b(f"{numbers.dtype.str}{numbers.shape}".encode(), digest_size=16)
    pages = PageRelease(numbers)
    for start in range(0, len(numbers), STEP):
        part = np.ascontiguousarray(numbers[start : start + STEP])
        digest.update(part.view(np.uint8).data)
        pages.advance(STEP)
    return digest.digest()
