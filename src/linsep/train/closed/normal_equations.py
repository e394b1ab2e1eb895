"""Least squares from the normal equations, refined until nothing but rounding is left.

With Z the rows about their mean and columns in units of their spread, S = ZᵀZ takes one pass, and

    a = S⁻¹Zᵀy,    a ← a + S⁻¹Zᵀ(y − Za)

solves ½‖Za − y‖². The first a has lost about κ(S)·2⁻⁵³ of its digits. Each further pass computes
what is left from the rows themselves and takes away the same share of it (Björck, 1987): the size
of one correction shows how far off the next one can be. Where the share is no longer small, or a
direction has hardly any spread, the answer is None, and an orthogonal factor is asked instead.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import kernel
from linsep._scipy import linalg as sl
from linsep.data.blocks.blocks import spans
from linsep.data.blocks.page_release import rows_of
from linsep.data.check.arrays import frozen
from linsep.data.check.fingerprint import spread_rows
from linsep.parallel import sum_over
from linsep.rows.rows import CSR
from linsep.train.closed.empty_directions import LEAST, empty_directions
from linsep.train.closed.moments import Floats
from linsep.train.closed.pieces import ALONE, CACHED, sum_pieces
from linsep.train.problem import Block, Problem

U = 2.0**-53
FUSED = 4  # columns of weights up to which one walk over a row serves both products
SHARPEST = 1e-12  # relative error of the weights below which no pass is made to lower it
REFINEMENTS = 3
SAMPLE = 64  # rows whose mean is subtracted
FEW = 16  # columns of sparse rows that are written out to see whether they are constant
WIDEST_SPARSE = 2048  # columns of sparse rows whose products are summed entry by entry


class Gram(NamedTuple):
    """Σ wᵢ zzᵀ for the rows z = (x − shift, y − level, 1).

    Attributes
    ----------
    matrix : (d + t + 1, d + t + 1)
    shift : (d,) near the mean of x; zero without an intercept, and for sparse rows
    level : (t,) near the mean of y
    """

    matrix: Floats
    shift: Floats
    level: Floats


class Centred(NamedTuple):
    """The normal equations of rows about their mean, columns in units of their spread.

    Attributes
    ----------
    centre : (d,) the mean of x, rounded, or zero without an intercept
    mean : (t,) the mean of y, rounded, or zero
    lost : (d + t,) by how much both are too small
    total : the weight of all rows
    alive : which columns have spread
    spread : (alive,) the root of Σ w (x − centre)²
    noise : (alive,) rounding errors of a column's entries, in units of the spread
    S : (alive, alive) correlations
    right : (alive, t) ZᵀY
    squares : (t,) Σ w (y − mean)²
    """

    centre: Floats
    mean: Floats
    lost: Floats
    total: float
    alive: npt.NDArray[np.bool_]
    spread: Floats
    noise: Floats
    S: Floats
    right: Floats
    squares: Floats


class Answer(NamedTuple):
    """Weights (d, t), how many directions have spread, and Σ w (y − ŷ)² for each target.

    `vectors` are the orthonormal directions with spread, None where all have; `least` is the
    smallest singular value of Z.
    """

    weights: Floats
    rank: int
    squares: Floats
    least: float
    vectors: Floats | None = None


def products_suit(X: Any) -> bool:
    """Whether the products of these columns with each other are cheap to make."""
    n, d = X.shape
    if not sp.issparse(X):
        return True
    return bool(d <= WIDEST_SPARSE and X.nnz / max(1, n) * X.nnz <= 1e10)


def gram(problem: Problem, Y: Floats, fit_intercept: bool) -> Gram:
    """One pass over the rows; entries that are not finite leave the matrix not finite."""
    n, d = problem.X.shape
    shift, level = np.zeros(d), np.zeros(Y.shape[1])
    if fit_intercept:
        some = spread_rows(n, max(1, -(-256 * n // SAMPLE)))[:: max(1, min(n, 256) // SAMPLE)]
        level = _middle(np.asarray(Y[some], np.float64))
        if not sp.issparse(problem.X):
            shift = _middle(np.asarray(rows_of(problem.X, some), np.float64))
    if sp.issparse(problem.X):
        many = float(problem.entries) * problem.entries / n > ALONE
        parts = _parts(n) if many else [(0, n)]
        lower = sum_over(
            lambda span: _sparse_part(problem, Y - level, span),
            parts,
            _add,
            problem.n_jobs if many else 1,
        )
        matrix = np.tril(lower) + np.tril(lower, -1).T
    else:
        width = d + Y.shape[1] + 1

        def of(block: Block, first: int, last: int) -> Floats:
            return _dense_part(block, first, last, Y, shift, level)

        matrix = sum_pieces(problem, of, _add, width, float(n) * width**2)
    return Gram(matrix, shift, level)


def _middle(values: Floats) -> Floats:
    """A mean that is a constant column's own number, to the last digit."""
    return np.asarray(values[0] + (values - values[0]).mean(axis=0))


def _add(a: Floats, b: Floats) -> Floats:
    a += b
    return a


def _parts(n: int) -> list[tuple[int, int]]:
    return spans(n, max(1, -(-n // 8)))


def _dense_part(
    block: Block, first: int, last: int, Y: Floats, shift: Floats, level: Floats
) -> Floats:
    X: Any = block.rows.X  # type: ignore[union-attr]
    Z = np.empty((last - first, len(shift) + len(level) + 1))
    rows = slice(block.start + first, block.start + last)
    weights = block.weights[first:last] if block.weights.size else block.weights
    fill(X[first:last], frozen(Y[rows]), shift, level, weights, Z)
    return np.asarray(Z.T @ Z)


@kernel
def fill(X, Y, shift, level, weights, Z):  # type: ignore[no-untyped-def]
    """zᵢ = √wᵢ (x − shift, y − level, 1)"""
    d, t = X.shape[1], Y.shape[1]
    for i in range(X.shape[0]):
        for j in range(d):
            Z[i, j] = X[i, j] - shift[j]
        for k in range(t):
            Z[i, d + k] = Y[i, k] - level[k]
        Z[i, d + t] = 1.0
        if weights.shape[0] > 0:
            root = np.sqrt(weights[i])
            for j in range(d + t + 1):
                Z[i, j] *= root


def _sparse_part(problem: Problem, Y: Floats, span: tuple[int, int]) -> Floats:
    d, t = problem.n_features, Y.shape[1]
    G = np.zeros((d + t + 1, d + t + 1))
    rows = problem.rows
    assert isinstance(rows, CSR)
    weights = problem.weights if problem.weights.size else np.empty(0)
    sparse_products(
        rows.data, rows.indices, rows.indptr, *span, weights, np.ascontiguousarray(Y), G
    )
    return G


@kernel
def sparse_products(data, indices, indptr, first, last, weights, Y, G):  # type: ignore[no-untyped-def]
    """The lower triangle of Σ wᵢ zzᵀ for z = (x, y, 1); the entries of a row are in order."""
    d, t = G.shape[0] - Y.shape[1] - 1, Y.shape[1]
    for i in range(first, last):
        w = weights[i] if len(weights) else 1.0
        for e in range(indptr[i], indptr[i + 1]):
            j, a = indices[e], w * data[e]
            for f in range(indptr[i], e + 1):
                G[j, indices[f]] += a * data[f]
            for k in range(t):
                G[d + k, j] += a * Y[i, k]
            G[d + t, j] += a
        for k in range(t):
            for m in range(k + 1):
                G[d + k, d + m] += w * Y[i, k] * Y[i, m]
            G[d + t, d + k] += w * Y[i, k]
        G[d + t, d + t] += w


def centred(X: Any, found: Gram, fit_intercept: bool) -> Centred | None:
    """Move the origin to the mean; None where that, or their size, costs too many digits."""
    G, d = found.matrix, len(found.shift)
    rounding = float(np.finfo(X.dtype).eps) / 2
    total = float(G[-1, -1])
    own = G.diagonal()[:d]
    if not (np.isfinite(G.diagonal()).all() and total > 0):
        return None
    middle = G[-1, :-1] / total if fit_intercept else np.zeros(len(G) - 1)
    S = G[:-1, :-1] - total * np.outer(middle, middle)
    length2 = S.diagonal()[:d]
    alive = own > 0
    if not alive.all() and not _without_spread(X, np.flatnonzero(~alive), found.shift):
        return None
    if fit_intercept and sp.issparse(X):
        alive &= ~_constant(X, np.flatnonzero(alive & (length2 <= 1e-3 * own)))
    sizes = length2[alive]
    if not ((sizes > 1e-3 * own[alive]).all() and _tame(sizes) and _tame(S.diagonal()[d:], True)):
        return None
    spread = np.sqrt(sizes)
    size = np.sqrt(own[alive]) + np.abs(found.shift[alive]) * math.sqrt(total)
    noise = rounding * size / spread
    if (noise > 1e-3).any():
        return None
    Z = S[:d, :d][np.ix_(alive, alive)] if not alive.all() else S[:d, :d]
    Z = Z / spread / spread[:, None]
    right = S[:d, d:][alive] / spread[:, None]
    squares = np.maximum(S.diagonal()[d:], 0.0)
    about = np.concatenate([found.shift, found.level])
    mean = about + middle
    lost = (about - mean) + middle
    return Centred(mean[:d], mean[d:], lost, total, alive, spread, noise, Z, right, squares)


def _without_spread(X: Any, columns: Any, shift: Floats) -> bool:
    """Whether these columns hold one number only, and not others whose squares vanish."""
    if sp.issparse(X):
        stored = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
        return not stored[columns].any()
    return all(bool((X[i:j, columns] == shift[columns]).all()) for i, j in spans(len(X)))


def _constant(X: Any, columns: Any) -> npt.NDArray[np.bool_]:
    """Which of these few columns hold one number only; of many, none is looked at."""
    same = np.zeros(X.shape[1], np.bool_)
    if 0 < len(columns) <= FEW:
        some = X[:, columns].toarray()
        same[columns] = (some == some[0]).all(axis=0)
    return same


def _tame(squares: Floats, empty: bool = False) -> bool:
    """Whether numbers are far enough from the ends of the range of floats."""
    if empty:
        squares = squares[squares != 0]
    return bool((squares < 1e200).all() and (squares > 1e-200).all())


def solve(problem: Problem, Y: Floats, given: Centred) -> Answer | None:
    """Solve and refine; None where an orthogonal factor is needed."""
    if not len(given.S):
        return Answer(np.zeros((len(given.alive), Y.shape[1])), 0, given.squares, 1.0)
    V, rank = None, len(given.S)
    full = _by_cholesky(given)
    if full is not None:
        inverse, least = full
    else:
        split = _by_eigenvectors(problem, given)
        if split is None:
            return None
        inverse, least, V = split
        rank = V.shape[1]
    a = inverse(given.right)
    squares = given.squares - np.einsum("ij,ij->j", a, given.right)
    doubt = 16 * U / least
    explained = given.squares > 0
    close = bool((squares[explained] < 1e-3 * given.squares[explained]).any())
    if doubt > SHARPEST or close or problem.entries < CACHED:
        refined = _refine(problem, Y, given, inverse, a)
        if refined is None:
            return None
        a, squares = refined
    weights = np.zeros((len(given.alive), Y.shape[1]))
    weights[given.alive] = a / given.spread[:, None]
    return Answer(weights, rank, np.maximum(squares, 0.0), math.sqrt(least), V)


Inverse = Callable[[Floats], Floats]


def _by_cholesky(given: Centred) -> tuple[Inverse, float] | None:
    """S⁻¹ and the least eigenvalue of S, about; None where S is nearly singular."""
    R, failed = sl.lapack.dpotrf(given.S, lower=1, clean=0)
    if failed:
        return None
    norm = float(np.abs(given.S).sum(axis=0).max())
    share, _ = sl.lapack.dpocon(R, norm, uplo="L")
    least = float(share) * norm  # 1/‖S⁻¹‖₁, not above the least eigenvalue
    if least < LEAST or math.sqrt(least) < 32 * float(given.noise.max()):
        return None
    return (lambda right: np.asarray(sl.lapack.dpotrs(R, right, lower=1)[0])), least


def _by_eigenvectors(problem: Problem, given: Centred) -> tuple[Inverse, float, Floats] | None:
    """S⁺, its least eigenvalue and the directions with spread."""

    def against(N: Floats, back: bool) -> tuple[Floats, Floats]:
        return _against(problem, given, N, back=back)

    def limit(N: Floats) -> Floats:
        return np.asarray(2 * np.sqrt(np.square(given.noise) @ np.square(N)) + 8 * len(N) * U)

    least = max(1e3 * LEAST, (32 * float(given.noise.max())) ** 2)
    split = empty_directions(given.S, against, limit, least)
    if split is None:
        return None
    inverse = partial(_pseudo_inverse, split.vectors, split.values)
    return inverse, float(split.values.min()), split.vectors


def _pseudo_inverse(V: Floats, values: Floats, right: Floats) -> Floats:
    return np.asarray(V @ ((V.T @ right) / values[:, None]))


def _refine(
    problem: Problem, Y: Floats, given: Centred, inverse: Inverse, a: Floats
) -> tuple[Floats, Floats] | None:
    """Correct the weights by what is left of the rows, until that is rounding."""
    share = 1.0
    for _ in range(REFINEMENTS):
        slope, squares = _against(problem, given, a, Y)
        change = inverse(slope)
        size = np.abs(a).max(axis=0)
        size = np.where(size > 0, size, 1.0)
        share = float((np.abs(change).max(axis=0) / size).max())
        if not share < 1e-3:
            return None
        a = a + change
        if share <= 1e-7:  # the next correction would be about its square
            return a, squares
    return None


def _against(
    problem: Problem, given: Centred, a: Floats, Y: Floats | None = None, back: bool = True
) -> tuple[Floats, Floats]:
    """Zᵀr (nothing without `back`) and Σ w r² for r = y − Za, or for r = Za without targets."""
    d, t = problem.n_features, a.shape[1]
    raw = np.zeros((d, t))
    raw[given.alive] = a / given.spread[:, None]
    sparse = sp.issparse(problem.X)
    offset = -(given.lost[:d] @ raw)
    if sparse:
        offset -= given.centre @ raw

    mean = given.mean + given.lost[d:]

    def narrow(block: Block, first: int, last: int) -> Any:
        products, squares = np.zeros((t if back else 0, d)), np.zeros(t)
        rows = slice(block.start + first, block.start + last)
        weights = block.weights[first:last] if block.weights.size else block.weights
        targets = np.empty((0, t)) if Y is None else Y[rows]
        X: Any = block.rows.X  # type: ignore[union-attr]
        residuals(
            X[first:last], frozen(targets), given.centre, mean, weights,
            np.ascontiguousarray(raw.T), offset, np.empty(d), products, squares,
        )  # fmt: skip
        return products, squares

    def wide(block: Block, first: int, last: int) -> Any:
        rows = slice(block.start + first, block.start + last)
        weights = block.weights[first:last] if block.weights.size else block.weights
        Z = problem.X[rows] if sparse else problem.X[rows] - given.centre
        r = np.asarray(Z @ raw)
        r += offset
        if Y is not None:
            r = (Y[rows] - mean) - r
        squares = np.einsum("ij,ij->j", r, r * weights[:, None] if weights.size else r)
        if not back:
            return np.zeros((0, d)), squares
        if weights.size:
            r = r * weights[:, None]
        products = np.asarray(Z.T @ r)
        if sparse:
            products -= np.outer(given.centre, r.sum(axis=0))
        return products.T, squares

    of = wide if sparse or t > FUSED else narrow
    width = problem.entries // problem.n_rows + t
    products, squares = sum_pieces(problem, of, _add_both, width, 2.0 * problem.entries * t)
    return products.T[given.alive] / given.spread[:, None], squares


@kernel
def residuals(X, Y, centre, mean, weights, a, offset, z, back, squares):  # type: ignore[no-untyped-def]
    """back += Zᵀr and squares += Σ w r² for r = y − Za, or for r = Za without targets.

    An empty `back` is left alone. Each row z is written down first: so nothing of it can be taken
    apart by reordered sums.
    """
    for i in range(X.shape[0]):
        w = weights[i] if weights.shape[0] > 0 else 1.0
        for j in range(X.shape[1]):
            z[j] = X[i, j] - centre[j]
        for k in range(a.shape[0]):
            r = 0.0
            for j in range(X.shape[1]):
                r += z[j] * a[k, j]
            r += offset[k]
            if Y.shape[0] > 0:
                r = (Y[i, k] - mean[k]) - r
            squares[k] += w * r * r
            if back.shape[0] > 0:
                for j in range(X.shape[1]):
                    back[k, j] += z[j] * (w * r)


def _add_both(a: Any, b: Any) -> Any:
    return a[0] + b[0], a[1] + b[1]
