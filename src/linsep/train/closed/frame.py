"""Units in which no column and no weight of a problem overflows, and rows in these units.

Each column is divided by the power of two next to its largest entry, each weight by that next to
the largest: both are exact.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import DataError, OverflowedError
from linsep.kernels import closed
from linsep.rows.rows import CSR, Dense
from linsep.train.closed.pieces import ALONE
from linsep.train.problem import Block, Problem

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

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
        Z = scaled(part.X, power(-np.where(top > 0, exponents, 0)))
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
    codes = np.ascontiguousarray(block.codes, np.int32)
    closed.sizes_and_sums(X, codes, weights, top, sums, counts)
    if not ((top < 1e200) & ((top > 1e-200) | (top == 0))).all():
        return None
    exponents = np.where(top > 0, np.frexp(top)[1], EMPTY)
    return top, exponents, counts, sums * power(-np.where(top > 0, exponents, 0))


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
    return np.maximum(X.max(axis=0), -X.min(axis=0))


def scaled(X: Any, scale: Floats) -> Any:
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
