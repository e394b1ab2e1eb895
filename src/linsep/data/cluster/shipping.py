"""Functions of row blocks, packed for a journey to the workers.

A function of a solver refers to rows and to numbers of rows (labels, weights, multipliers) by
global row numbers. Packed, it refers to them by name: each worker puts its own partition there, and
the task brings the numbers of those rows along. What belongs to a process (threads, locks, mapped
pages) is made anew. Functions inside functions are sent as code, to run with the globals of the
same module there: compiled kernels are never sent.

Long vectors, such as the weights of many features, travel beside the function. One that is new goes
along with every task, in one message, where that is not much to send: nothing waits for anything.
One that comes again, or that is too long for that, is given to one worker; others fetch it there
once, and later tasks find it.
"""

import functools
import hashlib
import importlib
import io
import marshal
import threading
import types
from collections import OrderedDict
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt

from linsep.data.blocks.page_release import PageRelease
from linsep.data.cluster.partition import Partition
from linsep.data.cluster.waiting import key_of
from linsep.parallel import Pool

Array = npt.NDArray[Any]

SLICED = 1 << 16
"""Rows from which numbers of rows are sent in slices, not whole."""
LONG = 1 << 14
"""Bytes from which a vector, such as the weights of many features, travels beside the function."""
TOGETHER = 1 << 23
"""Bytes of a vector, times the tasks of a round, up to which each task carries it."""
KEPT = 4
"""Vectors that workers keep, and marks of others that are remembered."""

_here = threading.local()


class NotOnClusterError(AttributeError, TypeError):
    """Something that needs all rows in one place was asked of rows on a cluster."""


class Slice:
    """Numbers of some rows, to be asked for by the numbers that rows have in the whole."""

    def __init__(self, part: Partition, n_rows: int) -> None:
        self.part, run = part, part.runs[0]
        self.dtype, self.ndim, self.size = run.dtype, run.ndim, n_rows
        self.shape = (n_rows, *run.shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(self.shape[0])
        return self.part.slice(start, stop)  # type: ignore[no-any-return]

    def __setitem__(self, rows: Any, values: Any) -> None:
        raise NotOnClusterError("numbers of rows are written where rows are not")


class Parcel:
    """A function packed once for all partitions of some rows.

    Attributes
    ----------
    content : bytes of the function
    beside : arrays with a number for each row, of which a task gets its slice
    vectors : long arrays of other numbers, which every task gets whole
    """

    def __init__(self, function: Any, rows: Any) -> None:
        self.beside: list[Array] = []
        self.vectors: list[Array] = []
        buffer = io.BytesIO()
        _Pickler(buffer, rows, self).dump(function)
        self.content = buffer.getvalue()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def __init__(self, buffer: Any, rows: Any, parcel: Parcel) -> None:
        super().__init__(buffer, protocol=5)
        self.rows, self.parcel = rows, parcel
        n, d = rows.shape
        self._sliced = n if n >= SLICED and n not in (d, d + 1, d + 2) else -1

    def reducer_override(self, one: Any) -> Any:
        if one is self.rows:
            return _rows_here, ()
        if isinstance(one, np.ndarray) and one.ndim and len(one) == self._sliced:
            return _slice_here, (_place_in(self.parcel.beside, one),)
        if isinstance(one, np.memmap):
            return _plain, (np.asarray(one).view(np.ndarray).copy(),)
        if type(one) is np.ndarray and one.nbytes >= LONG and one.flags.c_contiguous:
            return _vector_here, (_place_in(self.parcel.vectors, one),)
        if isinstance(one, types.FunctionType) and _inside(one):
            return _function, _described(one)
        for kind, make in _REMADE.items():
            if isinstance(one, kind):
                return make, ()
        return super().reducer_override(one)


def _place_in(arrays: list[Array], one: Array) -> int:
    """The place of an array in a list, which takes it in."""
    for place, other in enumerate(arrays):
        if other is one:
            return place
    arrays.append(one)
    return len(arrays) - 1


def unpacked(content: bytes, rows: Any, slices: list[Slice], vectors: list[Array]) -> Any:
    """The function again, with these rows, numbers of rows and vectors."""
    _here.rows, _here.slices, _here.vectors = rows, slices, vectors
    try:
        return cloudpickle.loads(content)
    finally:
        del _here.rows, _here.slices, _here.vectors


def _rows_here() -> Any:
    return _here.rows


def _slice_here(place: int) -> Slice:
    return _here.slices[place]  # type: ignore[no-any-return]


def _vector_here(place: int) -> Array:
    """A copy: what other tasks have too, and kernels take for read-only, is not to be written."""
    return np.array(_here.vectors[place])


def _plain(array: Array) -> Array:
    return array


def _inside(function: types.FunctionType) -> bool:
    local = "<locals>" in function.__qualname__ or "<lambda>" in function.__qualname__
    return local and (function.__module__ or "").split(".")[0] == "linsep"


def _described(function: types.FunctionType) -> tuple[Any, ...]:
    cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
    code = marshal.dumps(function.__code__)
    return (
        function.__module__, code, function.__name__, function.__defaults__,
        function.__kwdefaults__, cells,
    )  # fmt: skip


def _function(
    module: str, code: bytes, name: str, defaults: Any, kwdefaults: Any, cells: tuple[Any, ...]
) -> types.FunctionType:
    there = importlib.import_module(module).__dict__
    closure = tuple(types.CellType(one) for one in cells)
    made = types.FunctionType(marshal.loads(code), there, name, defaults, closure)
    made.__kwdefaults__ = kwdefaults
    return made


def _pool() -> Pool:
    return Pool(1)


def _pages() -> PageRelease:
    return PageRelease(np.empty((0, 1)))


def _settled() -> Any:
    """A check that was made before rows came to the workers."""
    return _no_check


def _no_check() -> None:
    return None


_REMADE: dict[Any, Any] = {
    functools._lru_cache_wrapper: _settled,
    Pool: _pool,
    PageRelease: _pages,
    type(threading.Lock()): threading.Lock,
    threading.Event: threading.Event,
}


def held(vector: Any) -> Any:
    """A vector that is sent to one worker; others fetch it there."""
    return vector


class Vectors:
    """What tasks get in place of vectors: themselves, or futures of them.

    Parameters
    ----------
    client : of Dask
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._there: OrderedDict[bytes, Any] = OrderedDict()
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    def sent(self, vector: Any, tasks: int) -> Any:
        """A vector, an array or bytes, as so many tasks of one round get it."""
        size = memoryview(vector).nbytes
        if size < LONG:
            return vector
        mark = hashlib.blake2b(vector, digest_size=16).digest()
        if mark in self._there:
            self._there.move_to_end(mark)
            return self._there[mark]
        if mark not in self._seen and size * tasks <= TOGETHER:
            self._seen[mark] = None
            _forget(self._seen)
            return vector
        self._there[mark] = self.client.submit(held, vector, key=key_of("weights"), pure=False)
        _forget(self._there)
        return self._there[mark]


def _forget(known: OrderedDict[bytes, Any]) -> None:
    while len(known) > KEPT:
        known.popitem(last=False)


def rows_in(function: Any, kind: type) -> Any:
    """The object of class `kind` that a function reaches by its closure or its arguments; or None.

    Looks into closures, methods, partial calls and the attributes of linsep's own objects.
    """
    seen: set[int] = set()
    waiting = [(function, 0)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, kind):
            return one
        if depth > 6 or id(one) in seen or isinstance(one, (str, bytes, int, float, np.ndarray)):
            continue
        seen.add(id(one))
        waiting += [(other, depth + 1) for other in _held(one)]
    return None


def _held(one: Any) -> list[Any]:
    if isinstance(one, types.FunctionType):
        cells = [c.cell_contents for c in one.__closure__ or () if _filled(c)]
        return [*cells, *(one.__defaults__ or ())]
    if isinstance(one, types.MethodType):
        return [one.__self__, one.__func__]
    if isinstance(one, (tuple, list)):
        return list(one) if len(one) <= 64 else []
    if hasattr(one, "func") and hasattr(one, "keywords"):  # functools.partial
        return [one.func, *one.args, *one.keywords.values()]
    own = type(one).__module__.split(".")[0] == "linsep"
    return list(vars(one).values()) if own and hasattr(one, "__dict__") else []


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
