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
from scipy import linalg as sl

from linsep.data.blocks.blocks import spans
from linsep.train.closed.empty_directions import LEAST, empty_directions
from linsep.train.closed.gram import Border, Gram
from linsep.train.closed.moments import Floats
from linsep.train.closed.pieces import add_both, sum_pieces
from linsep.train.problem import Block, Problem

U = 2.0**-53
SHARPEST = 1e-12  # relative error of the weights below which no pass is made to lower it
REFINEMENTS = 3
SMALL = 1 << 16  # entries below which a pass for the last digits costs next to nothing
SINGLE = 1e-4  # the least eigenvalue of correlations in single precision that are gone on with
PASSES = 12  # corrections of weights from such correlations
NO_PRODUCTS = np.empty((0, 0))
FEW = 16  # columns of sparse rows that are written out to see whether they are constant


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


def centred(X: Any, products: Gram, fit_intercept: bool) -> Centred | None:
    """Move the origin to the mean; None where that, or their size, costs too many digits."""
    given = about_mean(X, products.border, fit_intercept)
    if given is None:
        return None
    d = len(products.shift)
    S, first = products.matrix[:d, :d], products.matrix[-1, :d]
    if fit_intercept:
        S = S - first[:, None] * (first / given.total)
    if len(given.spread) < d:
        S = S[np.ix_(given.alive, given.alive)]
    return given._replace(S=S / given.spread / given.spread[:, None])


def about_mean(X: Any, sums: Border, fit_intercept: bool) -> Centred | None:
    """`centred` without the correlations."""
    d, total = len(sums.shift), sums.total
    rounding = float(np.finfo(X.dtype).eps) / 2
    own = sums.own[:d]
    if not (np.isfinite(sums.own).all() and total > 0):
        return None
    middle = sums.first / total if fit_intercept else np.zeros(len(sums.first))
    squares = sums.own - sums.first * middle
    length2 = squares[:d]
    alive = own > 0
    if not alive.all() and not _without_spread(X, np.flatnonzero(~alive), sums.shift):
        return None
    if fit_intercept and sp.issparse(X):
        alive &= ~_constant(X, np.flatnonzero(alive & (length2 <= 1e-3 * own)))
    kept: Any = slice(None) if alive.all() else alive
    sizes, own = length2[kept], own[kept]
    if not ((sizes > 1e-3 * own).all() and _tame(sizes) and _tame(squares[d:], True)):
        return None
    spread = np.sqrt(sizes)
    noise = rounding * (np.sqrt(own) + np.abs(sums.shift[kept]) * math.sqrt(total)) / spread
    if (noise > 1e-3).any():
        return None
    right = (sums.cross - sums.first[:d, None] * middle[d:])[kept] / spread[:, None]
    about = np.concatenate([sums.shift, sums.level])
    mean = about + middle
    lost = (about - mean) + middle
    left = np.maximum(squares[d:], 0.0)
    return Centred(mean[:d], mean[d:], lost, total, alive, spread, noise, NO_PRODUCTS, right, left)


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
    """Solve and refine; None where an orthogonal factor is needed.

    Correlations in single precision are taken for what they are: rougher, so that weights are
    refined until single precision cannot be told from double, or not at all (None).
    """
    if not len(given.S):
        return Answer(np.zeros((len(given.alive), Y.shape[1])), 0, given.squares, 1.0)
    V, rank = None, len(given.S)
    single = given.S.dtype == np.float32
    full = cholesky(given.S, SINGLE if single else LEAST, float(given.noise.max()))
    if full is not None:
        inverse, least = full
    elif single:
        return None
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
    if single or doubt > SHARPEST or close or problem.entries < SMALL:
        refined = _refine(problem, Y, given, inverse, a)
        if refined is None:
            return None
        a, squares = refined
    weights = np.zeros((len(given.alive), Y.shape[1]))
    weights[given.alive] = a / given.spread[:, None]
    return Answer(weights, rank, np.maximum(squares, 0.0), math.sqrt(least), V)


Inverse = Callable[[Floats], Floats]


def cholesky(S: Floats, smallest: float, noise: float) -> tuple[Inverse, float] | None:
    """S⁻¹ and the least eigenvalue of S, about; None where that is too small to go on with."""
    potrf, pocon, potrs = sl.get_lapack_funcs(("potrf", "pocon", "potrs"), (S,))
    R, failed = potrf(S, lower=1, clean=0)
    if failed:
        return None
    norm = float(np.abs(S).sum(axis=0).max())
    share, _ = pocon(R, norm, uplo="L")
    least = float(share) * norm  # 1/‖S⁻¹‖₁, not above the least eigenvalue
    if not least >= smallest or math.sqrt(least) < 32 * noise:
        return None
    return (lambda right: np.asarray(potrs(R, right, lower=1)[0], np.float64)), least


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
    single = given.S.dtype == np.float32
    sharpest = max(SHARPEST, float(np.finfo(problem.X.dtype).eps) / 256)  # of the weights' own type
    before = 1.0
    for _ in range(PASSES if single else REFINEMENTS):
        slope, squares = _against(problem, given, a, Y)
        change = inverse(slope)
        size = np.abs(a).max(axis=0)
        size = np.where(size > 0, size, 1.0)
        share = float((np.abs(change).max(axis=0) / size).max())
        factor = share / before  # the next correction would be smaller by about the same
        if not factor < (1e-1 if single else 1e-3):
            return None
        a = a + change
        if share * factor <= sharpest if single else share <= 1e-7:
            return a, squares
        before = share if single else 1.0
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

    def of(block: Block, first: int, last: int) -> Any:
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

    width, work = problem.entries // problem.n_rows + t, 2.0 * problem.entries * t
    products, squares = sum_pieces(problem, of, add_both, width, work)
    return products.T[given.alive] / given.spread[:, None], squares
