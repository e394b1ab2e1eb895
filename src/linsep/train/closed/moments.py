"""Class counts, means and within-class scatter from block sums, at any scale and offset.

Columns are brought to |x| ≤ 1 by powers of two inside each block, which costs no digit, so entries
of 1e±300 have squares. The scatter is taken about the class means in a second pass, and what the
first pass lost of the means to rounding is put back: an offset of 1e15 costs only the digits that
the data themselves lost to it.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import strict
from linsep.data.check.arrays import frozen
from linsep.errors import DataError, OverflowedError
from linsep.parallel import Pool
from linsep.rows.rows import CSR, Dense
from linsep.train.closed.pieces import ALONE, sum_pieces
from linsep.train.problem import Block, Problem

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LARGEST = 20_000 * 20_000
"""Entries of the largest square matrix made: 3.2 GB."""

FEW = 16  # classes whose rows are added up by a matrix product
EMPTY = -5000  # the exponent of a column in which nothing but zero has been seen


def power(exponents: Array) -> Floats:
    """2 to these exponents, as far as floats go.

    >>> power(np.array([3, -2000]))[0]
    np.float64(8.0)
    """
    return np.ldexp(1.0, np.clip(exponents, -1074, 1023))


class Part(NamedTuple):
    """The rows of a block that count: as an array or CSR matrix, their classes and weights."""

    X: Any
    codes: Array
    weights: Floats
    even: bool = False
    """Whether every weight is one."""

    @property
    def by_class(self) -> Any:
        """(K, n) matrix that adds up rows, times their weights, by class."""
        n = len(self.codes)
        K = int(self.codes.max(initial=0)) + 1
        return sp.csc_array((self.weights, self.codes, np.arange(n + 1)), shape=(K, n))

    def sums(self, Z: Any, n_classes: int) -> Floats:
        """Σ wᵢ zᵢ over the rows of each class."""
        total = np.zeros((n_classes, Z.shape[1]))
        part = self.by_class @ Z
        total[: part.shape[0]] = part.toarray() if sp.issparse(part) else part
        return total

    def remainders(self, Z: Floats, n_classes: int) -> Floats:
        """`sums` of numbers about zero, whose order does not matter: by a matrix product."""
        if n_classes > FEW:
            return self.sums(Z, n_classes)
        own = np.equal.outer(np.arange(n_classes), self.codes).astype(np.float64)
        return np.asarray((own if self.even else own * self.weights) @ Z)


class Frame(NamedTuple):
    """Units in which every column is tame, and the classes seen in them.

    Attributes
    ----------
    exponents : (d,) column j is counted in units of 2^exponents[j], so that |x| ≤ 1
    top : (d,) the largest |x| of each column, in those units
    rounding : relative rounding error of an entry of X, times the share of it that the scatter
        about the means can show: a row with nearly all the weight of its class is the mean
    total : weight of all rows
    shares : (K,) share of each class in it
    means : (K, d) class means, to working precision
    weight_exponent : weights are counted in units of 2 to this
    """

    exponents: Array
    top: Floats
    rounding: float
    total: float
    shares: Floats
    means: Floats
    weight_exponent: int

    def part(self, block: Block) -> Part:
        """The rows of `block` that have weight."""
        return part_of(block, len(self.top), self.weight_exponent)

    def dense(self, part: Part) -> Floats:
        """xᵢ − mean of its class, in tame units, as an array."""
        X = part.X.toarray() if sp.issparse(part.X) else part.X
        Z = X * power(-self.exponents)
        Z -= self.means[part.codes]
        return Z

    def raw(self, values: Floats) -> Floats:
        """Numbers of the tame units in the units of the data."""
        return values * power(self.exponents)


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

    @property
    def covariance(self) -> Floats:
        """(d, d) shared covariance in the units of the data, 1/N.

        Raises
        ------
        OverflowedError
            Where a variance is too large or too small for a float.
        """
        if self.scatter is None:
            raise DataError("The scatter was not computed; ask moments for it.")
        return in_units(self.scatter, self.frame.exponents)

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
        scale, codes = power(-frame.exponents), frozen(block.codes[rows])
        centred_rows(X.X, codes, weights, scale, frame.means, self.lost, Z)
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


def in_units(scatter: Floats, exponents: Array) -> Floats:
    """A matrix of tame units in the units of the data; refuses what no float can hold."""
    with np.errstate(over="ignore", under="ignore"):
        raw = np.ldexp(np.ldexp(scatter, exponents[:, None]), exponents[None, :])
    own, there = raw.diagonal(), scatter.diagonal() > 0
    if not np.isfinite(raw).all() or (own[there] < np.finfo(float).tiny).any():
        j = int(np.argmax(np.where(there, np.abs(exponents), -1)))
        raise OverflowedError(
            f"The variance of column {j} is about 1e{round(0.602 * int(exponents[j])):+d}, which "
            "no float can hold, although the fit itself is sound. Divide the column by a constant."
        )
    return raw


def part_of(block: Block, d: int, weight_exponent: int = 0) -> Part:
    """The rows of `block` that have weight, without a copy where all do."""
    rows = block.rows
    X: Any
    if isinstance(rows, CSR):
        start, stop = int(rows.indptr[0]), int(rows.indptr[-1])
        X = sp.csr_array(
            (rows.data[start:stop], rows.indices[start:stop].view(np.int32), rows.indptr - start),
            shape=(len(block.codes), d),
        )
    else:
        X = rows.X
    if not block.weights.size:
        return Part(X, block.codes, np.ones(len(block.codes)), True)
    weights = np.ldexp(block.weights, -weight_exponent)
    if weights.all():
        return Part(X, block.codes, weights)
    counts = weights > 0
    return Part(X[counts], block.codes[counts], weights[counts])


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


def frame_of(problem: Problem) -> Frame:
    """First pass: the size of every column, and the class means in units of it."""
    d, K = problem.n_features, problem.n_classes
    largest = problem.weights.max() if problem.weights.size else 1.0
    size = int(np.frexp(largest)[1])
    weight_exponent = size // 2 * 2 if abs(size) > 500 else 0  # even: roots stay the same digits

    def of(block: Block) -> Any:
        if isinstance(block.rows, Dense):
            sums = _ordinary(block.rows.X, block, weight_exponent, K)
            if sums is not None:
                return sums
        part = part_of(block, d, weight_exponent)
        top = _column_size(part.X) if len(part.codes) else 0.0
        top = np.broadcast_to(np.asarray(top, np.float64), d)
        exponents = np.where(top > 0, np.clip(np.frexp(top)[1], -1022, 1023), EMPTY)
        Z = _scaled(part.X, power(-np.where(top > 0, exponents, 0)))
        return top, exponents, np.bincount(part.codes, part.weights, K), part.sums(Z, K)

    def add(a: Any, b: Any) -> Any:
        e = np.maximum(a[1], b[1])
        sums = a[3] * np.ldexp(1.0, a[1] - e) + b[3] * np.ldexp(1.0, b[1] - e)
        return np.maximum(a[0], b[0]), e, a[2] + b[2], sums

    jobs = problem.n_jobs if problem.entries > ALONE or sp.issparse(problem.X) else 1
    top, exponents, counts, sums = problem.sum(of, add, jobs)
    _require_weight(counts)
    exponents = np.where(top > 0, exponents, 0)
    total = float(counts.sum())
    means = sums / counts[:, None]
    rounding = float(np.finfo(problem.X.dtype).eps) / 2
    if problem.weights.size:
        rounding *= _outweighed(problem, weight_exponent, counts, exponents, means)
    return Frame(
        exponents, top * power(-exponents), rounding, total, counts / total, means, weight_exponent
    )


def _ordinary(X: Array, block: Block, weight_exponent: int, K: int) -> Any:
    """What `frame_of` wants of dense rows whose sums stay in range in their own units; or None.

    Powers of two change no digit, so that it is all the same when they are multiplied by.
    """
    d = X.shape[1]
    top, sums, counts = np.zeros(d), np.zeros((K, d)), np.zeros(K)
    weights = np.ldexp(block.weights, -weight_exponent)
    sizes_and_sums(X, frozen(block.codes), weights, top, sums, counts)
    if not ((top < 1e200) & ((top > 1e-200) | (top == 0))).all():
        return None
    exponents = np.where(top > 0, np.frexp(top)[1], EMPTY)
    return top, exponents, counts, sums * power(-np.where(top > 0, exponents, 0))


@strict
def sizes_and_sums(X, codes, weights, top, sums, counts):  # type: ignore[no-untyped-def]
    """The largest |x| of each column, and Σ w x and Σ w of each class; rows without weight apart"""
    for i in range(X.shape[0]):
        w = weights[i] if weights.shape[0] > 0 else 1.0
        if w > 0.0:
            c = codes[i]
            counts[c] += w
            for j in range(X.shape[1]):
                x = X[i, j]
                top[j] = max(top[j], abs(float(x)))
                sums[c, j] += w * x


def _outweighed(
    problem: Problem, weight_exponent: int, counts: Floats, exponents: Array, means: Floats
) -> float:
    """The share of rounding errors that shows about the means, as a root mean square.

    Errors e of the rows give a scatter of Σ wᵢ(eᵢ − mean)², at most 2 Σ(W − w) e² over the classes
    with w the heaviest weight of W: one where weights are even. A class whose heaviest row has all
    but a thousandth of the weight has its mean put on that row, whose part in the scatter is then
    zero exactly, and not what is left of it after rounding.
    """
    codes, weights = problem.codes, np.ldexp(problem.weights, -weight_exponent)
    heaviest = np.zeros(len(counts))
    np.maximum.at(heaviest, codes, weights)
    ties = np.flatnonzero(weights == heaviest[codes])
    first = ties[np.unique(codes[ties], return_index=True)[1]]  # of each class
    weights[first] = 0.0
    rest = np.bincount(codes, weights, len(counts))
    for k in np.flatnonzero(rest < 1e-3 * counts):
        row = problem.X[[first[k]]]
        row = row.toarray() if sp.issparse(row) else np.asarray(row)
        means[k] = row[0] * power(-exponents)
    return min(1.0, float(np.sqrt(2.0 * rest.sum() / counts.sum())))


def _column_size(X: Any) -> Any:
    """max |x| of each column"""
    if sp.issparse(X):
        return abs(X).max(axis=0).toarray().ravel()
    d, at_once = X.shape[1], len(X) // 64
    if d >= 64 or at_once < 2:
        return np.maximum(X.max(axis=0), -X.min(axis=0))
    many = X[: at_once * 64].reshape(at_once, 64 * d)  # numpy is slow on short rows
    most = np.maximum(many.max(axis=0), -many.min(axis=0)).reshape(64, d)
    return np.vstack([most, np.abs(X[at_once * 64 :])]).max(axis=0)


def _scaled(X: Any, scale: Floats) -> Any:
    """X times a number for each column, as float64."""
    if not sp.issparse(X):
        return X * scale
    return sp.csr_array((X.data * scale[X.indices], X.indices, X.indptr), shape=X.shape)


def _require_weight(counts: Floats) -> None:
    if not counts.all():
        raise DataError(
            f"sample_weight leaves class number {int(np.argmin(counts > 0))} (in sorted order) "
            "without any weight; give some row of it a weight, or drop the class from y."
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
        square = None
        if not scatter:
            lost = problem.sum(lambda block: _lost(frame, block), np.add)
        elif sp.issparse(problem.X):
            lost, square = _sparse(problem, frame)
        else:
            d = problem.n_features
            lost, square = sum_pieces(
                problem, partial(_dense, frame), _add_both, d, float(problem.n_rows) * d**2
            )
    lost /= (frame.shares * frame.total)[:, None]
    if square is not None:
        square /= frame.total
        square -= (lost * frame.shares[:, None]).T @ lost
    centre = frame.shares @ frame.means
    return Moments(frame, centre, (frame.means - centre) + lost, lost, square)


def _lost(frame: Frame, block: Block) -> Floats:
    part = frame.part(block)
    return part.remainders(frame.dense(part), len(frame.shares))


def _add_both(a: Any, b: Any) -> Any:
    lost, square = a
    lost += b[0]
    square += b[1]  # in place: a second (d, d) matrix for each level of the tree would be too many
    return lost, square


def _dense(frame: Frame, block: Block, first: int, last: int) -> tuple[Floats, Floats]:
    """Σ wᵢ zᵢ by class, and Σ wᵢ zᵢ zᵢᵀ, for z = x − mean."""
    X: Any = block.rows.X  # type: ignore[union-attr]
    Z, lost = np.empty((last - first, X.shape[1])), np.zeros(frame.means.shape)
    weights = np.ldexp(block.weights[first:last], -frame.weight_exponent)
    codes, scale = frozen(block.codes[first:last]), power(-frame.exponents)
    remainders(X[first:last], codes, weights, scale, frame.means, lost, Z)
    return lost, Z.T @ Z


@strict
def centred_rows(X, codes, weights, scale, means, lost, Z):  # type: ignore[no-untyped-def]
    """zᵢ = √wᵢ ((x·scale − mean) − lost), the latter two those of its class."""
    for i in range(X.shape[0]):
        c = codes[i]
        root = np.sqrt(weights[i]) if weights.shape[0] > 0 else 1.0
        for j in range(X.shape[1]):
            Z[i, j] = root * ((X[i, j] * scale[j] - means[c, j]) - lost[c, j])


@strict
def remainders(X, codes, weights, scale, means, lost, Z):  # type: ignore[no-untyped-def]
    """zᵢ = √wᵢ (x·scale − mean of its class), and what these are without the root, by class."""
    for i in range(X.shape[0]):
        c = codes[i]
        for j in range(X.shape[1]):
            Z[i, j] = X[i, j] * scale[j] - means[c, j]
        if weights.shape[0] == 0:
            for j in range(X.shape[1]):
                lost[c, j] += Z[i, j]
        else:
            root = np.sqrt(weights[i])
            for j in range(X.shape[1]):
                lost[c, j] += weights[i] * Z[i, j]
                Z[i, j] *= root


def _sparse(problem: Problem, frame: Frame) -> tuple[Floats, Floats]:
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
        Z = _scaled(part.X, scale)
        T = Z[:, thin]
        D = Z[:, full].toarray() - frame.means[:, full][part.codes]
        W = part.weights[:, None]
        lost = np.zeros((K, len(scale)))
        lost[:, full] = part.sums(D, K)
        weighted = T.multiply(W).tocsr()
        return lost, part.sums(T, K), weighted.T @ T, weighted.T @ D, (D * W).T @ D

    def add(a: Any, b: Any) -> Any:
        return tuple(x + y for x, y in zip(a, b, strict=True))

    lost, thin_sums, TT, TD, DD = problem.sum(of, add)
    counts = (frame.shares * frame.total)[:, None]
    means = frame.means[:, thin]
    lost[:, thin] = thin_sums - counts * means
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
