"""Rows gathered from a file: in memory while they are few, else in a binary copy on disk.

The copy is memory-mapped, so that every learner reads it like an array, pass after pass at memory
speed. While a fit runs, pages that were read are given back (`Gathered` is a context manager), so
that the process stays small however large the copy is.
"""

import contextlib
import json
import mmap
import tempfile
import threading
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.data.blocks.page_release import PageRelease, maps_of, release, room_for
from linsep.data.files import atomic, disk
from linsep.data.files.system_errors import storing, temporary_folder

Array = npt.NDArray[Any]

MEMORY = 48_000_000
"""Bytes of rows that are kept in memory before they go to disk."""

SWEEP = 0.003


LARGEST_ROOM = 1 << 28


class Growing:
    """A one-dimensional array that grows: in memory, or a file once told to `spill`.

    Up to `reserve` bytes are put side by side as they come, in memory that is not there before it
    is written to. More are kept in pieces, and are there twice while they are joined.
    """

    def __init__(self, name: str, dtype: Any, reserve: int = 0) -> None:
        self.name, self.dtype = name, np.dtype(dtype)
        self.reserve = reserve if reserve <= LARGEST_ROOM else 0
        self.size = 0
        self.held = 0  # bytes in memory
        self._pieces: list[Array] = []
        self._room: Array | None = None
        self._file: Any = None
        self._beside: atomic.Beside | None = None

    def add(self, values: Array) -> None:
        values = np.ascontiguousarray(values, self.dtype).reshape(-1)
        self.size += values.size
        if self._file is not None:
            self._write(values)
            return
        self.held += values.nbytes
        if self._pieces and self.held <= self.reserve:
            self._join(values)
        else:
            self._pieces.append(values)

    def _join(self, values: Array) -> None:
        begin = self.size - values.size
        if self._room is None:
            self._room = np.empty(self.reserve // self.dtype.itemsize, self.dtype)
            self._room[:begin] = self._pieces[0]
        self._room[begin : self.size] = values
        self._pieces = [self._room[: self.size]]

    def _write(self, values: Array) -> None:
        rest = values.view(np.uint8).data
        while rest:  # the system takes what it can
            rest = rest[disk.DISK.write(self._file.fileno(), rest) :]

    def spill(self, folder: Path | None) -> None:
        """From now on in a file of this folder; without one, in a file that has no name."""
        if self._file is None:
            if folder is None:
                file: Any = tempfile.TemporaryFile(buffering=0, prefix="linsep-")  # noqa: SIM115
            else:  # under a name of its own: others may read, or write, the copy there now
                self._beside = atomic.Beside(folder / self.name)
                file = open(self._beside.file, "w+b", buffering=0, closefd=False)  # noqa: SIM115
            self._file = file
            for piece in self._pieces:
                self._write(piece)
            self._pieces, self._room, self.held = [], None, 0

    def close(self) -> None:
        """Let go of the file, whatever state it is in."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
        if self._beside is not None:
            self._beside.discard()

    def finish(self) -> Array:
        """The whole array, memory-mapped and open for changes where it is a file."""
        if self._file is None:
            pieces, self._pieces = self._pieces, []
            if len(pieces) == 1:
                return pieces[0]
            return np.concatenate([np.empty(0, self.dtype), *pieces])
        with self._file:
            array = mapped(self._file, self.dtype, self.size)
        if self._beside is not None:
            self._beside.settle(flush=False)  # the manifest has a digest of each file
            self._beside = None
        return array


def mapped(file: Any, dtype: Any, size: int, mode: Any = "r+") -> Array:
    """A file as an array."""
    return np.memmap(file, dtype, mode, shape=(size,)) if size else np.empty(0, dtype)


class Gathered:
    """Rows and labels of a file, as arrays.

    Attributes
    ----------
    X : (n, d) array or CSR matrix, in memory or memory-mapped
    codes : place of each row's class in `classes`; None where labels are numbers to predict
    y : labels as numbers, where there are no classes; None where there are no labels
    classes : sorted classes, or None
    on_disk : whether the rows are a binary copy on disk
    """

    def __init__(
        self, X: Any, codes: Array | None, y: Array | None, classes: Array | None,
        maps: list[Array], on_disk: bool,
    ) -> None:  # fmt: skip
        self.X, self.codes, self.y, self.classes = X, codes, y, classes
        self.on_disk = on_disk
        self._maps = [one for one in maps if isinstance(one, np.memmap)]
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def labels(self) -> Array | None:
        """One label per row, where there are labels."""
        if self.codes is None or self.classes is None:
            return self.y
        return self.classes[self.codes]

    def blocks(self, size: int) -> Iterator[tuple[Any, Array | None]]:
        """(X, y) with `size` rows each, the last with what is left."""
        beside = self.y if self.codes is None else self.codes
        pages, n = PageRelease(self.X, beside), self.X.shape[0]
        for first in range(0, n, size):
            rows = slice(first, min(n, first + size))
            X = self.X[rows]
            if self.codes is None or self.classes is None:
                y = None if self.y is None else np.asarray(self.y[rows])
            else:
                y = self.classes[self.codes[rows]]
            yield (np.asarray(X) if isinstance(X, np.ndarray) else X), y
            pages.advance(size)

    def __enter__(self) -> Self:
        if self._maps and hasattr(mmap, "MADV_DONTNEED"):
            self._stop.clear()
            self._thread = threading.Thread(target=self._sweep, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        for one in self._maps:
            release(one)

    def _sweep(self) -> None:
        while not self._stop.wait(SWEEP):
            for one in self._maps:
                release(one)


class Store:
    """Takes in rows and their labels, piece by piece.

    Parameters
    ----------
    memory : bytes kept in memory; more goes to disk
    folder : where the copy is to stay; None for files without names, which go with the arrays,
        or with the process, whatever ends it
    """

    def __init__(self, memory: int = MEMORY, folder: Path | None = None) -> None:
        self.memory, self.folder = memory, folder
        self.n = 0
        self.arrays: dict[str, Growing] = {}
        self.spilled = False
        self._array("labels", np.float64)
        if folder is not None:
            self._spill()

    def add_dense(self, X: Array, labels: Array) -> None:
        """Take in rows of a dense array."""
        with writing(self.folder):
            self._array("rows", X.dtype).add(X)
            self._took(labels)

    def add_sparse(self, values: Array, places: Array, counts: Array, labels: Array) -> None:
        """Take in sparse rows: their entries, one after the other, and how many each has."""
        with writing(self.folder):
            self._array("values", np.float64).add(values)
            self._array("places", np.int32).add(places)
            self._array("counts", np.int32).add(counts)
            self._took(labels)

    def _array(self, name: str, dtype: Any) -> Growing:
        if name not in self.arrays:
            self.arrays[name] = Growing(name, dtype, self.memory)
            if self.spilled:
                self.arrays[name].spill(self.folder)
        return self.arrays[name]

    def _took(self, labels: Array) -> None:
        self.n += len(labels)
        self.arrays["labels"].add(labels)
        if not self.spilled and sum(a.held for a in self.arrays.values()) > self.memory:
            self._spill()

    def _spill(self) -> None:
        with writing(self.folder):
            if self.folder is not None:
                self.folder.mkdir(parents=True, exist_ok=True)
            self.spilled = True
            for array in self.arrays.values():
                array.spill(self.folder)

    def close(self) -> None:
        """Give up: let go of what was written."""
        for array in self.arrays.values():
            array.close()

    def finish(self) -> dict[str, Array]:
        """All arrays; those on disk may be changed in place until `settle`."""
        with writing(self.folder), ThreadPoolExecutor(2) as pool:  # long copies side by side
            finished = pool.map(Growing.finish, self.arrays.values())
            return dict(zip(self.arrays, finished, strict=True))


def writing(folder: Path | None) -> AbstractContextManager[None]:
    """Where the system refuses something here, it is the binary copy that could not be written."""
    return storing(
        f"the binary copy of the rows in {folder or temporary_folder()} could not be written",
        "For another folder pass cache= or set TMPDIR.",
    )


def pointers(counts: Array) -> Array:
    """Where each row begins among the entries: 0 and the running sums of `counts`.

    In a file where the counts are.

    >>> pointers(np.array([2, 0, 3]))
    array([0, 2, 2, 5], dtype=int32)
    """
    entries = sum(int(counts[part].sum(dtype=np.int64)) for part in blocks(counts))
    kind = np.int32 if entries <= np.iinfo(np.int32).max else np.int64
    begins = room_for(np.broadcast_to(kind(0), (len(counts) + 1,)), counts)
    begins[0] = last = 0
    for part in blocks(counts):
        ends = np.cumsum(counts[part], dtype=np.int64) + last
        begins[part.start + 1 : part.start + 1 + len(ends)] = ends
        last = int(ends[-1])
        release(begins)
    return np.asarray(begins)


def blocks(array: Array, step: int = 64 * BLOCK) -> Iterator[slice]:
    """Slices of an array, one after the other; pages of a file are given back behind them."""
    maps = maps_of(array)
    for first in range(0, len(array), step):
        yield slice(first, first + step)
        for one in maps:
            release(one)


def write_manifest(
    folder: Path, about: dict[str, Any], results: dict[str, Any], arrays: dict[str, Array]
) -> None:
    """Say what a folder holds: last of all, so that a broken copy has none."""
    described = {
        name: {"dtype": array.dtype.str, "size": int(array.size), "crc32": _crc32(array)}
        for name, array in arrays.items()
    }
    document = {"version": 1, "about": about, "found": results, "arrays": described}
    atomic.replace(folder / "manifest.json", [json.dumps(document).encode()])


def read_manifest(
    folder: Path, about: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Array]] | None:
    """What was found and the arrays, if the folder holds a whole copy of just this, else None."""
    try:
        document = json.loads((folder / "manifest.json").read_bytes())
        if document["version"] != 1 or document["about"] != json.loads(json.dumps(about)):
            return None
        arrays = {}
        for name, one in document["arrays"].items():
            file = folder / name
            array = mapped(file, np.dtype(one["dtype"]), one["size"], "r")
            if _crc32(array) != one["crc32"]:
                return None
            arrays[name] = array
        return document["found"], arrays
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _crc32(array: Array) -> int:
    digest = 0
    for part in blocks(array):
        digest = zlib.crc32(np.ascontiguousarray(array[part]).view(np.uint8).data, digest)
    return digest
