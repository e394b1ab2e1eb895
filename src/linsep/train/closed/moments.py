"""Class counts, means and within-class scatter from block sums, at any scale and offset.

Columns are brought to |x| ≤ 1 by powers of two inside each block, which costs no digit, so entries
of 1e±300 have squares. The scatter is taken about the class means in a second pass, and what the
first pass lost of the means to rounding is put back: an offset of 1e15 costs only the digits that
the data themselves lost to it.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import DataError
from linsep.kernels import closed
from linsep.parallel import Pool
from linsep.rows.rows import CSR
from linsep.train.closed.frame import Frame, Part, frame_of, power, scaled
from linsep.train.closed.pieces import add_both, sum_pieces
from linsep.train.closed.tsqr import triangle
from linsep.train.problem import Block, Problem

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LARGEST = 20_000 * 20_000
"""Entries of the largest square matrix made: 3.2 GB."""


class Moments(NamedTuple):
    """A frame, the class means to full precision, and the scatter about them.

    Attributes
    ----------
    frame : Frame
    centre : (d,) mean of all rows in tame units, to working precision
    offsets : (K, d) class means minus centre, with the digits that an offset would hide
    lost : (K, d) what the means of the frame are too small by
    scatter : (d, d) Σ wᵢ (xᵢ − mean)(xᵢ − mean)ᵀ / Σ wᵢ in tame units, or None where not wanted
    """

    frame: Frame
    centre: Floats
    offsets: Floats
    lost: Floats
    scatter: Floats | None

    @property
    def means(self) -> Floats:
        """(K, d) class means in the units of the data."""
        return self.frame.raw(self.centre + self.offsets)

    def rows(self, part: Part) -> Floats:
        """xᵢ − mean of its class, to full precision, in tame units, as an array."""
        Z = self.frame.dense(part)
        Z -= self.lost[part.codes]
        return Z

    def weighted_rows(self, block: Block, first: int, last: int) -> Floats:
        """Rows first..last of a block, times the roots of their weights; those without are zero."""
        frame, rows = self.frame, slice(first, last)
        weights = np.ldexp(block.weights[rows], -frame.weight_exponent)
        X: Any = block.rows.part(first, last)
        if isinstance(X, CSR):
            some = block._replace(rows=X, codes=block.codes[rows], weights=block.weights[rows])
            part = frame.part(some)
            return self.rows(part) * np.sqrt(part.weights)[:, None]
        Z = np.empty((last - first, len(frame.top)))
        scale = power(-frame.exponents)
        codes = np.ascontiguousarray(block.codes[rows], np.int32)
        closed.centred_rows(X.X, codes, weights, scale, frame.means, self.lost, np.empty((0, 0)), Z)
        return Z

    def apart(self, k: int) -> Floats:
        """Rows z with Σ zzᵀ the covariance of all means but that of class k about their mean."""
        rest = np.arange(len(self.offsets)) != k
        share = self.frame.shares[rest]
        middle = share @ self.offsets[rest] / share.sum()
        return np.asarray(np.sqrt(share)[:, None] * (self.offsets[rest] - middle))

    def against_rest(self, k: int) -> "Moments":
        """The moments of two classes: all others together, and class k."""
        share, apart = self.frame.shares, self.apart(k)
        rest = np.arange(len(share)) != k
        middle = share[rest] @ self.offsets[rest] / share[rest].sum()
        scatter = None if self.scatter is None else self.scatter + apart.T @ apart
        frame = self.frame._replace(shares=np.array([share[rest].sum(), share[k]]))
        return self._replace(
            frame=frame, offsets=np.stack([middle, self.offsets[k]]), scatter=scatter
        )


def factor_of(moments: Moments, problem: Problem) -> Floats:
    """R with RᵀR the covariance within classes, in tame units."""
    R = triangle(problem, lambda block: moments.weighted_rows(block, 0, len(block.codes)))
    return R / math.sqrt(moments.frame.total)


def has_room(n: int, d: int) -> bool:
    """Whether a matrix of min(n, d) × d entries fits."""
    return min(n, d) * d <= LARGEST


def require_room(n: int, d: int) -> None:
    """Refuse a problem whose matrix of min(n, d) × d entries would not fit."""
    if not has_room(n, d):
        raise DataError(
            f"X has {d} columns; this fit needs a matrix of {min(n, d)} x {d} numbers, and "
            f"{LARGEST} is the most. Reduce the columns first (scikit-learn's TruncatedSVD or "
            "SelectKBest), or use LogisticRegression, LinearSVC or Perceptron, which need none."
        )


def moments(problem: Problem, scatter: bool = True) -> Moments:
    """Counts, means and within-class scatter of the rows of `problem`, in two passes.

    Parameters
    ----------
    problem : rows, classes and weights
    scatter : whether the (d, d) scatter is wanted, or only the means

    Examples
    --------
    >>> X = np.array([[1e15, 1.0], [1e15 + 2, 3.0], [1e15 + 4, 5.0]])
    >>> both = moments(Problem(X, np.array([0, 0, 1]), None, 2))
    >>> both.offsets[1] - both.offsets[0] == np.array([3 / 2**50, 3 / 2**3])
    array([ True,  True])
    """
    require_room(problem.n_rows if not scatter else problem.n_features, problem.n_features)
    with Pool(1):  # one thread inside each matrix product, so that bytes do not depend on them
        frame = frame_of(problem)
        square: Floats | None = None
        if sp.issparse(problem.X):
            lost, square = _sparse(problem, frame, scatter)
        elif not scatter:
            lost = problem.sum(lambda block: _lost(frame, block), np.add)
        else:
            d = problem.n_features
            lost, square = sum_pieces(
                problem, partial(_dense, frame), add_both, d, float(problem.n_rows) * d**2
            )
    lost /= (frame.shares * frame.total)[:, None]
    if square is not None:
        square /= frame.total
        square -= (lost * frame.shares[:, None]).T @ lost
    centre = frame.shares @ frame.means
    return Moments(frame, centre, (frame.means - centre) + lost, lost, square)


def _lost(frame: Frame, block: Block) -> Floats:
    part = frame.part(block)
    return part.sums(frame.dense(part), len(frame.shares))


def _dense(frame: Frame, block: Block, first: int, last: int) -> tuple[Floats, Floats]:
    """Σ wᵢ zᵢ by class, and Σ wᵢ zᵢ zᵢᵀ, for z = x − mean."""
    X: Any = block.rows.X  # type: ignore[union-attr]
    Z, lost = np.empty((last - first, X.shape[1])), np.zeros(frame.means.shape)
    weights = np.ldexp(block.weights[first:last], -frame.weight_exponent)
    scale = power(-frame.exponents)
    codes = np.ascontiguousarray(block.codes[first:last], np.int32)
    none = np.empty((0, 0))
    closed.centred_rows(X[first:last], codes, weights, scale, frame.means, none, lost, Z)
    return lost, Z.T @ Z


def _sparse(problem: Problem, frame: Frame, scatter: bool) -> tuple[Floats, Floats | None]:
    """The same for a CSR matrix, in time that grows with its entries.

    A column that is mostly zero within every class needs no shift: its variance is at least half
    its mean square, and Σ xxᵀ − n mmᵀ loses no more than one bit. Columns that are mostly filled
    are shifted like dense ones.
    """
    K = len(frame.shares)
    full = _filled(problem, frame)
    thin = ~full
    scale = power(-frame.exponents)

    def of(block: Block) -> Any:
        part = frame.part(block)
        Z = scaled(part.X, scale)
        T = Z[:, thin]
        D = Z[:, full].toarray() - frame.means[:, full][part.codes]
        W = part.weights[:, None]
        lost = np.zeros((K, len(scale)))
        lost[:, full] = part.sums(D, K)
        if not scatter:
            return lost, part.sums(T, K)
        weighted = T.multiply(W).tocsr()
        return lost, part.sums(T, K), weighted.T @ T, weighted.T @ D, (D * W).T @ D

    def add(a: Any, b: Any) -> Any:
        return tuple(x + y for x, y in zip(a, b, strict=True))

    lost, thin_sums, *products = problem.sum(of, add)
    counts = (frame.shares * frame.total)[:, None]
    means = frame.means[:, thin]
    lost[:, thin] = thin_sums - counts * means
    if not scatter:
        return lost, None
    TT, TD, DD = products
    square = np.empty((len(scale), len(scale)))
    # about the frame's means m: Σ(x − m)(x − m)ᵀ = Σ xxᵀ − Σ x mᵀ − m Σ xᵀ + n m mᵀ by class
    cross = thin_sums.T @ means
    square[np.ix_(thin, thin)] = TT.toarray() - cross - cross.T + (counts * means).T @ means
    square[np.ix_(thin, full)] = TD - means.T @ lost[:, full]
    square[np.ix_(full, thin)] = square[np.ix_(thin, full)].T
    square[np.ix_(full, full)] = DD
    return lost, (square + square.T) / 2


def _filled(problem: Problem, frame: Frame) -> npt.NDArray[np.bool_]:
    """Whether more than half of a column's entries are stored, within some class."""
    K, d = len(frame.shares), len(frame.top)

    def of(block: Block) -> Floats:
        part = frame.part(block)
        X = part.X
        stored = sp.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
        return part.sums(stored, K)

    stored = problem.sum(of, np.add) if d else np.zeros((K, 0))
    return np.asarray((stored > 0.5 * (frame.shares * frame.total)[:, None]).any(axis=0))
