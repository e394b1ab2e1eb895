"""A training problem: rows in fixed blocks, with the class and the weight of each row."""

from collections.abc import Callable, Iterator
from functools import cached_property
from threading import Event
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK, on_cluster, spans
from linsep.data.blocks.page_release import PageRelease, maps_of, release, room_for
from linsep.data.check.fingerprint import sampled
from linsep.errors import DataError, OverflowedError
from linsep.kernels.tables import sum_of_squares
from linsep.parallel import sum_over, threads
from linsep.rows.radius import largest_square, squares
from linsep.rows.rows import Rows, as_rows
from linsep.train.order import Order, block_order, row_order, whole_order

Array = npt.NDArray[Any]
T = TypeVar("T")

NO_WEIGHTS = np.empty(0)
ONE_CALL = 1 << 24  # numbers in rows that are walked through in one call: a tenth of a second


class Block(NamedTuple):
    """Consecutive rows: `number` counts blocks, `start` is the first row's place in the whole."""

    number: int
    start: int
    rows: Rows
    codes: Array
    weights: Array

    @property
    def signs(self) -> npt.NDArray[np.int8]:
        """+1 for rows of the second class, −1 for the others."""
        return np.where(self.codes == 1, np.int8(1), np.int8(-1))


class FarRows(NamedTuple):
    """The layout of rows on a cluster, of which some are fetched at a time."""

    X: Any

    def part(self, start: int, stop: int) -> Rows:
        """Rows start..stop, here."""
        return as_rows(self.X[start:stop])

    def weights(self, n_classes: int, n_features: int) -> Array:
        """Zero weights in the layout's own order."""
        return self.part(0, 0).weights(n_classes, n_features)


class OnBlocks(NamedTuple):
    """A function of a block as one of its number, to be run by the worker that has its rows."""

    inner: Callable[[Block], Any]
    X: Any
    codes: Array
    weights: Array
    positive: int | None

    def __call__(self, number: int) -> Any:
        start = number * BLOCK
        rows = self.X[start : min(len(self.X), start + BLOCK)]
        part = slice(start, start + rows.shape[0])
        codes = self.codes[part]
        if self.positive is not None:
            codes = (codes == self.positive).astype(np.int32)
        weights = self.weights[part] if self.weights.size else NO_WEIGHTS
        return self.inner(Block(number, start, as_rows(rows), codes, weights))


class Problem:
    """Rows, classes and weights of an array, cut into blocks without a copy.

    Whoever shares out passes among threads sets `halt` to have them end at the next block. A check
    of the entries that may still be going on is waited for by `settle` at the end of each pass.

    Parameters
    ----------
    X : checked array or CSR matrix
    codes : class number of each row
    weights : weight of each row, or None where each counts once
    n_classes : how many classes there are
    n_jobs : threads that may share a sum; never changes its bytes
    positive : make this a problem of two classes, this one against all others
    """

    def __init__(
        self,
        X: Any,
        codes: Array,
        weights: Array | None,
        n_classes: int,
        n_jobs: int | None = None,
        positive: int | None = None,
    ) -> None:
        self.X = X
        self.on_cluster = type(X) is not np.ndarray and on_cluster(X)
        self.rows: Rows = FarRows(X) if self.on_cluster else as_rows(X)  # type: ignore[assignment]
        self._codes = codes
        self._positive = positive
        self._given_weights = weights
        self.weights = NO_WEIGHTS if weights is None else weights
        self.n_rows, self.n_features = X.shape
        self.n_classes = n_classes
        self.n_jobs = threads(n_jobs)
        self.settle: Callable[[], None] = lambda: None
        self.told: Any = None  # offsets, weights of penalties and bounds

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """The first and last-plus-one row of each block."""
        return spans(self.n_rows)

    @cached_property
    def _pages(self) -> PageRelease:
        """Gives the pages of rows that lie in a file back."""
        return PageRelease(self.X, getattr(self.rows, "indptr", None))

    @cached_property
    def _mapped(self) -> bool:
        """Whether the rows lie in a file."""
        base = self.X.base if type(self.X) is np.ndarray else self.X
        in_memory = base is None or (type(base) is np.ndarray and base.flags.owndata)
        return not in_memory and bool(maps_of(self.X))

    @cached_property
    def halt(self) -> Event:
        """Set to have passes end at the next block."""
        return Event()

    def widen(self, dtype: Any) -> None:
        """Bring the rows to the precision of the weights: kernels are made for equal ones only."""
        if self.X.dtype != dtype:
            self.X = self.X.astype(dtype)
            self.rows = as_rows(self.X)

    def digest(self) -> Callable[[], dict[str, Any]]:
        """What tells these rows, classes and weights from others, worked out when asked for."""
        return sampled(self.X, self._codes, self._given_weights)

    @property
    def codes(self) -> Array:
        """The class number of each row."""
        return self._numbers(0, self.n_rows)

    @property
    def signs(self) -> Array:
        """+1 for rows of the second class, −1 for the others; in a file where the rows are."""
        if not (self.on_cluster or self._mapped):
            return np.where(self.codes == 1, np.int8(1), np.int8(-1))
        beside = self._codes if self.on_cluster else self.X
        signs = room_for(np.broadcast_to(np.int8(0), (self.n_rows,)), beside)
        step, pages = 16 * BLOCK, PageRelease(self._codes, signs)
        for start in range(0, self.n_rows, step):
            part = slice(start, start + step)
            np.multiply(self._numbers(start, start + step) == 1, np.int8(2), out=signs[part])
            signs[part] -= 1
            pages.advance(step)
        release(signs)
        signs = np.asarray(signs)
        if self.on_cluster:
            own = 1 if self._positive is None else self._positive
            self.X.keep(signs, np.where(np.arange(self.n_classes) == own, np.int8(1), np.int8(-1)))
        return signs

    def _numbers(self, start: int, stop: int) -> Array:
        codes = self._codes[start:stop]
        return codes if self._positive is None else (codes == self._positive).astype(np.int32)

    @property
    def binary(self) -> bool:
        """Whether one hyperplane is enough."""
        return self.n_classes == 2

    @property
    def entries(self) -> int:
        """How many numbers the rows hold."""
        return int(self.X.nnz if sp.issparse(self.X) else self.X.size)

    @property
    def total(self) -> float:
        """The total weight of all rows."""
        return float(self.weights.sum()) if self.weights.size else float(self.n_rows)

    @cached_property
    def radius(self) -> float:
        """R = max ‖xᵢ‖"""
        if self.on_cluster:
            return float(np.sqrt(self.sum(_largest, max)))
        return float(np.sqrt(largest_square(self)))

    def one_vs_rest(self) -> list["Problem"]:
        """One two-class problem per class, over the same rows."""
        parts = [
            Problem(self.X, self._codes, self._given_weights, 2, 1, positive=k)
            for k in range(self.n_classes)
        ]
        for part in parts:
            part.halt, part.settle = self.halt, self.settle
        return parts

    def block(self, number: int) -> Block:
        start, stop = self._spans[number]
        self._pages.advance(stop - start)
        weights = self.weights[start:stop] if self.weights.size else NO_WEIGHTS
        rows = self.rows.part(start, stop)
        return Block(number, start, rows, self._numbers(start, stop), weights)

    def blocks(self) -> Iterator[Block]:
        """All blocks, in row order."""
        return (self.block(k) for k in range(len(self._spans)))

    def in_order(self, seed: int, epoch: int, shuffle: bool | str) -> Iterator[tuple[Block, Order]]:
        """All blocks, each with the order of its rows, as pass number `epoch` meets them."""
        for k in block_order(len(self._spans), seed, epoch, shuffle):
            if self.halt.is_set():
                return
            block = self.block(int(k))
            yield block, row_order(len(block.codes), seed, epoch, block.number, shuffle)
        self.settle()

    def in_one(self, seed: int, epoch: int, shuffle: bool | str) -> Iterator[tuple[Block, Order]]:
        """`in_order`, with all rows as one block where a pass over them takes no time to speak of.

        The rows come in the same order. Rows with weights, and rows in files, come in blocks.
        """
        small = self.entries <= ONE_CALL and not self.weights.size
        if not small or shuffle == "draw" or self.on_cluster or self._mapped:
            yield from self.in_order(seed, epoch, shuffle)
            return
        if not self.halt.is_set():
            order = whole_order(self.n_rows, seed, epoch, bool(shuffle))
            yield Block(0, 0, self.rows, self.codes, NO_WEIGHTS), order
        self.settle()

    def require_in_range(self, W: Array, b: Array) -> None:
        """Raise where scores of these weights could leave the range of floats."""
        limit = float(np.finfo(W.dtype).max)
        # No BLAS here: its threads would wait for more work in a loop, and take the core of ours.
        squares = sum_of_squares(W.reshape(-1))
        if squares < limit and all(bias * bias < limit for bias in b.tolist()):
            return  # |⟨w, x⟩| ≤ ‖w‖‖x‖, and rows are shorter than √limit by `check_rows`
        largest = np.max([W.max(), -W.min(), b.max(), -b.min()])
        reach = float(largest) * np.sqrt(self.n_features)  # |⟨w, x⟩| ≤ max|w| √d ‖x‖
        if not 2.0 * reach * max(1.0, self.radius) < limit:
            raise OverflowedError(
                f"The weights reached {largest:g}, where scores leave the range of {W.dtype}, "
                "although X is finite. Divide X by abs(X).max(), or take smaller steps."
            )

    def sum(
        self, function: Callable[[Block], T], add: Callable[[T, T], T], n_jobs: int | None = None
    ) -> T:
        """The sum of `function` over blocks, the same bytes for any number of threads."""
        if self.on_cluster:
            on_blocks = OnBlocks(function, self.X, self._codes, self.weights, self._positive)
            return self.X.sum(on_blocks, range(len(self._spans)), add)  # type: ignore[no-any-return]
        total = sum_over(function, self.blocks(), add, n_jobs or self.n_jobs)
        self.settle()
        return total


def _largest(block: Block) -> float:
    return float(squares(block.rows, len(block.codes)).max())


def presentations(block: Block, order: Order) -> tuple[Order, Array]:
    """Turn weights into presentations: weight 2.5 is two in a row and one with half a step."""
    if not block.weights.size:
        return order, NO_WEIGHTS
    c = block.weights[order]
    if c.sum() > 1_000_000 + 100 * len(order):
        raise DataError(
            f"sample_weight reaches {c.max():g}; an online rule presents a row once per unit of "
            "weight. Divide the weights by a constant, or use rule='batch'."
        )
    times = np.ceil(c).astype(np.int64)
    repeated = np.repeat(order, times)
    scale = np.ones(len(repeated))
    last = np.cumsum(times) - 1
    whole = times > 0
    scale[last[whole]] = (c - times + 1)[whole]
    return repeated, scale
