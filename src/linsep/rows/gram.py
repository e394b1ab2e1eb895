"""The Gram matrix Kᵢⱼ = κ(xᵢ, xⱼ): as a row layout for kernels, and in bounded memory."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.rows.kernels import PIECE, Each, Kernel, Matrix

Array = npt.NDArray[Any]

ROOM = 1 << 21  # numbers of a Gram matrix held at once, beside the cache


class Gram(NamedTuple):
    """Rows known only by their inner products. The "weights" of class k are its scores f_k(xⱼ)."""

    K: Array


class GramRows:
    """Rows of the Gram matrix of X, computed when asked for; the most used stay in memory.

    Parameters
    ----------
    kernel : κ
    X : checked rows
    cache : bytes that rows kept in memory may take
    each : how to go through pieces of X
    """

    def __init__(self, kernel: Kernel, X: Matrix, cache: float, each: Each = map) -> None:
        self.kernel = kernel
        self.each = each
        self.X = X
        n = X.shape[0]
        self.n_rows = n
        self.room = min(n, int(cache // (8 * n)))  # rows that fit
        self._kept = np.empty((0, n))
        self._owner = np.empty(0, np.int64)  # which row lies in each place
        self._place = np.full(n, -1)
        self._uses = np.zeros(n, np.int64)

    @property
    def fits(self) -> bool:
        """Whether the whole matrix fits into the cache."""
        return self.room == self.n_rows

    def whole(self) -> Array:
        """All rows; a function given as kernel is held to symmetry."""
        if len(self._owner) < self.n_rows:
            everyone = range(self.n_rows)
            K = np.empty((self.n_rows, self.n_rows))
            high = max(1, ROOM // self.n_rows)
            for top in range(0, self.n_rows, high):
                rows = everyone[top : top + high]
                K[top : top + high] = self._rows(slice(top, top + high), rows)
            self._require_symmetric(K)
            self._kept, self._owner = K, np.arange(self.n_rows)
            self._place = self._owner
        return self._kept

    def _rows(self, which: Any, names: Any) -> Array:
        return self.kernel(self.X[which], self.X, names, range(self.n_rows), each=self.each)

    def _require_symmetric(self, K: Array) -> None:
        if isinstance(self.kernel.form, str):
            return
        everyone = range(self.n_rows)
        for top in range(0, self.n_rows, PIECE):
            rows = slice(top, top + PIECE)
            self.kernel.require_symmetric(K[rows], K[:, rows], everyone[rows], everyone)

    def combine(self, rows: Array, steps: Array) -> Array:
        """Σₘ steps[m, k] κ(x_rows[m], xⱼ) for every class k and every row j, shape (K, n)."""
        rows, place = np.unique(rows, return_inverse=True)
        a = np.zeros((len(rows), steps.shape[1]))
        np.add.at(a, place, steps)
        total = np.zeros((steps.shape[1], self.n_rows))
        if self.fits:
            self.whole()
        self._uses[rows] += 1
        known = self._place[rows] >= 0
        high = max(1, ROOM // self.n_rows)
        for here in _pieces(np.flatnonzero(known), high):
            total += a[here].T @ self._kept[self._place[rows[here]]]
        for here in _pieces(np.flatnonzero(~known), high):
            K = self._rows(rows[here], rows[here])
            total += a[here].T @ K
            self._keep(rows[here], K)
        return total

    def _keep(self, rows: Array, K: Array) -> None:
        """Give these rows the free places, then those of rows used less often."""
        if self.room == 0:
            return
        if not len(self._kept):
            self._kept = np.empty((self.room, self.n_rows))
        free = min(self.room - len(self._owner), len(rows))
        if free > 0:
            places = len(self._owner) + np.arange(free)
            self._owner = np.append(self._owner, rows[:free])
            self._settle(places, rows[:free], K[:free])
        wanted = free + np.argsort(-self._uses[rows[free:]], kind="stable")[: self.room]
        places = np.argsort(self._uses[self._owner], kind="stable")[: len(wanted)]
        better = self._uses[rows[wanted]] > self._uses[self._owner[places]]
        wanted, places = wanted[better], places[better]
        self._place[self._owner[places]] = -1
        self._settle(places, rows[wanted], K[wanted])

    def _settle(self, places: Array, rows: Array, K: Array) -> None:
        self._kept[places] = K
        self._owner[places] = rows
        self._place[rows] = places


class Support:
    """Rows that carry a separator, in parts whose sizes shrink fast: one row more costs little."""

    def __init__(self, parts: tuple[Matrix, ...] = ()) -> None:
        self.parts = parts

    def plus(self, rows: Matrix) -> "Support":
        """These rows, and others after them."""
        if not rows.shape[0]:
            return self
        *parts, last = [*self.parts, rows]
        while parts and parts[-1].shape[0] <= 2 * last.shape[0]:
            last = _stack([parts.pop(), last])
        return Support((*parts, last))

    def __len__(self) -> int:
        return sum(int(part.shape[0]) for part in self.parts)

    def all(self, n_features: int) -> Matrix:
        """All rows in one matrix."""
        return _stack(list(self.parts)) if self.parts else np.zeros((0, n_features))

    def products(self, kernel: Kernel, X: Matrix, first: int = 0) -> Array:
        """κ of every row of X (numbered from `first`) with every row here."""
        K = np.empty((X.shape[0], len(self)))
        start = 0
        for part in self.parts:
            stop = start + part.shape[0]
            names = range(first, first + X.shape[0]), range(start, stop)
            K[:, start:stop] = kernel(X, part, *names, second="support row")
            start = stop
        return K

    def expand(self, kernel: Kernel, X: Matrix, a: Array, each: Each = map) -> Array:
        """f_k(x) = Σⱼ a[j, k] κ(xⱼ, x) for every row of X, shape (n, K)."""
        total = np.zeros((X.shape[0], a.shape[1]))

        def add(top: int, K: Array) -> None:
            total[top : top + len(K)] = K @ a

        self.by_blocks(kernel, X, add, each)
        return total

    def by_blocks(
        self, kernel: Kernel, X: Matrix, use: Callable[[int, Array], None], each: Each
    ) -> None:
        """`use` the first row number and the kernel values of every block of X."""
        if not self.parts:
            return
        high = max(1, min(PIECE, ROOM // len(self)))

        def one(top: int) -> None:
            K = self.products(kernel, X[top : top + high], top)
            with np.errstate(over="ignore", invalid="ignore"):  # not handed on to other threads
                use(top, K)

        list(kernel.shared(each)(one, range(0, X.shape[0], high)))


def _pieces(places: Array, size: int) -> list[Array]:
    return [places[start : start + size] for start in range(0, len(places), size)]


def _stack(parts: list[Matrix]) -> Matrix:
    if len(parts) == 1:
        return parts[0]
    if any(sp.issparse(part) for part in parts):
        return sp.vstack(parts, format="csr")
    return np.concatenate(parts)
