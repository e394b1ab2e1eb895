"""Few rows of many features: the problem in coordinates of the space that the rows span.

Penalised weights are a combination of the rows, less any one vector where the bias is free. With A
the rows less their mean, and a Cholesky factor of the products of rows with each other,

    K = AAᵀ = LLᵀ,    w = AᵀL⁻ᵀu:    Aw = Lu,    ‖w‖ = ‖u‖,

so that the rows of L, at most n long, stand for those of X; no copy of X is made. Pivoting leaves
out rows that others span. Whether they do is seen from the rows themselves, for K holds half of
their digits only: where a row lies near the span of others and not in it, there is no answer.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy import linalg as sl

from linsep.data.blocks.blocks import spans
from linsep.parallel import Pool
from linsep.train.convex.drive import Candidate, Solver
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WIDTH = 1024
"""Columns that are read at a time."""
SPANNED = 1e-8
"""Part of the largest ‖x‖² below which what others leave of a row is taken for none."""
ROUNDING = 1e-10
"""Part of the largest ‖x‖ that rounding may leave of a row that is spanned by others."""


class RowSpace(NamedTuple):
    """Rows Z for the rows of X, with Z · u the scores of AᵀL⁻ᵀu.

    Attributes
    ----------
    Z : (n, r) the factor L, its rows in the order of X
    X : the rows
    shift : (d,) their mean, or zeros
    kept : (r,) the rows that span the others
    factor : (r, r) rows of L that belong to them, lower triangular

    Examples
    --------
    >>> X = np.array([[2.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, 1.0]])
    >>> space = RowSpace.of(X, centre=False)
    >>> w, b = space.outside(np.array([1.0, 1.0]), 0.5)
    >>> bool(np.allclose(X @ w + b, space.Z @ [1.0, 1.0] + 0.5)), round(float(w @ w), 9)
    (True, 2.0)
    """

    Z: Floats
    X: Array
    shift: Floats
    kept: npt.NDArray[np.intp]
    factor: Floats
    n_jobs: int | None = None

    @classmethod
    def of(cls, X: Array, centre: bool, n_jobs: int | None = None) -> Self | None:
        """None where rows are so near the span of others that too many digits would be lost."""
        n, d = X.shape
        shift = np.zeros(d)
        with Pool(n_jobs) as pool, np.errstate(all="ignore"):
            K = pool.sum(lambda columns: _products(X, columns, centre, shift), spans(d, WIDTH))
            size = float(K.diagonal().max(initial=0.0))
            if not 1e-200 < size < 1e200 or not np.isfinite(K).all():
                return None
            L, order, rank, _ = sl.lapack.dpstrf(K, tol=SPANNED * size, lower=1)
            L, order = np.tril(L)[:, :rank], order.astype(np.intp) - 1
            Z = np.empty((n, rank))
            Z[order] = L
            space = cls(Z, X, shift, order[:rank], np.ascontiguousarray(L[:rank]), n_jobs)
            left_out = order[rank:]
            if len(left_out) > (1 if centre else 0):  # of rows less their mean, one always is
                weights = np.zeros((len(left_out), n))
                weights[:, space.kept] = -_solved(space.factor, L[rank:], back=True)
                weights[np.arange(len(left_out)), left_out] = 1.0
                left = pool.sum(lambda columns: space._squares(weights, columns), spans(d, WIDTH))
                if not left.max() <= ROUNDING**2 * size:
                    return None
        return space

    def _rows(self, columns: tuple[int, int]) -> Floats:
        part = slice(*columns)
        return np.asarray(self.X[:, part] - self.shift[part])

    def _squares(self, weights: Floats, columns: tuple[int, int]) -> Floats:
        return np.asarray(np.square(weights @ self._rows(columns)).sum(axis=1))

    def inside(self, w: Array, b: Any) -> tuple[Floats, Any]:
        """Weights for X as weights for Z; what no row can see is left out."""
        w = np.asarray(w, np.float64)
        with Pool(self.n_jobs) as pool:
            scores = pool.sum(
                lambda columns: w[..., slice(*columns)] @ self._rows(columns).T,
                spans(w.shape[-1], WIDTH),
            )
        return _solved(self.factor, scores[..., self.kept]), b + w @ self.shift

    def outside(self, u: Floats, b: Any) -> tuple[Floats, Any]:
        """Weights for Z as weights for X."""
        a = np.zeros((*u.shape[:-1], self.X.shape[0]))
        a[..., self.kept] = _solved(self.factor, u, back=True)
        with Pool(self.n_jobs) as pool:
            parts = pool.map(lambda columns: a @ self._rows(columns), spans(self.X.shape[1], WIDTH))
        w = np.concatenate(parts, axis=-1)
        return w, b - w @ self.shift


def _products(X: Array, columns: tuple[int, int], centre: bool, shift: Floats) -> Floats:
    """AAᵀ over some columns, whose means are noted."""
    A = X[:, slice(*columns)].astype(np.float64)
    with np.errstate(all="ignore"):  # of this thread
        if centre:
            # About the first row: a constant column has its own value as mean, to the last digit.
            mean = A[0] + (A - A[0]).mean(axis=0)
            shift[slice(*columns)] = mean
            A -= mean
        return np.asarray(A @ A.T)


def _solved(L: Floats, right: Floats, back: bool = False) -> Floats:
    """L⁻¹ of each row of `right`, or L⁻ᵀ to go `back`."""
    flat = np.atleast_2d(right)
    solved = sl.solve_triangular(L, flat.T, lower=True, trans=int(back), check_finite=False)
    return np.asarray(solved.T.reshape(right.shape))


class InRowSpace:
    """A solver of the problem in coordinates of the row space, or in another basis, as one of the
    problem itself."""

    def __init__(self, inner: Solver, space: Any) -> None:
        self._inner, self._space = inner, space

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def pool(self) -> Pool:
        return self._inner.pool

    @pool.setter
    def pool(self, pool: Pool) -> None:
        self._inner.pool = pool

    @property
    def tol(self) -> float:
        return self._inner.tol

    @tol.setter
    def tol(self, tol: float) -> None:
        self._inner.tol = tol

    def candidates(self) -> Iterator[Candidate]:
        return self._inner.candidates()

    def solution(self) -> Solution:
        at = self._inner.solution()
        w, b = self._space.outside(at.w, at.b)
        return replace(at, w=w, b=b)

    def rescaled(self) -> "InRowSpace | None":
        other = self._inner.rescaled()
        return None if other is None else InRowSpace(other, self._space)
