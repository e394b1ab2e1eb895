"""The map that turns the within-class spread of the data into the unit sphere, and what it cannot.

Everything is done on the correlation scale: columns in units of their own spread. So neither units
nor offsets decide which directions count as having no spread, but only the rounding of the data.
"""

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import linalg as sl

from linsep.train.closed.centred_rows import CentredRows, sparse_rows
from linsep.train.closed.empty_directions import Directions, empty_directions
from linsep.train.closed.frame import in_units
from linsep.train.closed.interruptible import factored
from linsep.train.closed.moments import Floats, Moments, factor_of, has_room, require_room
from linsep.train.closed.pieces import add_both, sum_pieces
from linsep.train.closed.row_axes import LostDigitsError, RowAxes, row_axes
from linsep.train.problem import Block, Problem

FLOOR = 1e-8
"""Variance given to a direction without within-class spread, as a share of what is between the
classes there: classes that differ in it are told apart, and nothing overflows."""

LEAST_SHARE = 1e-8
"""A class with less of the weight counts as this much where directions of the means are found."""

FEWEST = 32  # rows from which on their products are tried first
MANY = 8  # sparse rows for each column up to which their products cost less than eigenvectors
ROUGH = 1e-5  # a scatter matrix with smaller eigenvalues than this has lost too many digits

Flags = npt.NDArray[np.bool_]


class Axes(NamedTuple):
    """Principal axes of the within-class spread.

    Attributes
    ----------
    unit : (d,) the unit of each column, in tame units; zero for columns without any use
    noise : (d,) rounding error of the entries of each column, in `unit`
    vectors : (d, r) orthonormal axes with spread, in `unit`
    values : (r,) variance along each
    rest : variance in every other direction; zero without shrinkage
    shrinkage : how far the variances were moved towards their mean
    rough : whether small variances may have lost too many digits to go on with
    blurred : the largest variance that was left out because rounding alone could explain it
    """

    unit: Floats
    noise: Floats
    vectors: Floats
    values: Floats
    rest: float
    shrinkage: float
    rough: bool
    blurred: float = 0.0

    @property
    def rank(self) -> int:
        """How many axes there are."""
        return self.vectors.shape[1]

    def outside(self, B: Floats) -> Floats:
        """Vectors, (k, d), without their parts along the axes."""
        for _ in range(2):  # once leaves rounding errors of the size of B along the axes
            B = B - (B @ self.vectors) @ self.vectors.T
        return B

    def inside(self, B: Floats) -> Floats:
        """The axes as columns, each over the root of its variance."""
        return self.vectors / np.sqrt(self.values)

    def covariance(self, exponents: Any) -> Floats:
        """The covariance of these axes in the units of the data."""
        require_room(len(self.unit), len(self.unit))
        C = (self.vectors * (self.values - self.rest)) @ self.vectors.T
        C.flat[:: len(C) + 1] += self.rest
        return in_units(C * self.unit * self.unit[:, None], exponents)


class Whitening(NamedTuple):
    """Σ⁻¹ = map mapᵀ as far as the class means can tell, with columns in `axes.unit`.

    Attributes
    ----------
    axes : Axes
    map : (d, m)
    means : (K, m) class means minus the centre of the moments, after the map
    floored : in how many directions the classes differ where they have no spread
    rank : how many directions have spread
    inner : how many columns of the map, the first ones, stand for these
    """

    axes: Axes | RowAxes
    map: Floats
    means: Floats
    floored: int
    rank: int
    inner: int

    @property
    def equal(self) -> bool:
        """Whether all classes have the same mean."""
        return not np.ptp(self.means, axis=0).any()

    @property
    def deficient(self) -> bool:
        """Whether some direction of the data has no within-class spread."""
        return self.rank < len(self.axes.unit) and self.axes.rest == 0

    def back(self, whitened: Any, exponents: Any) -> Floats:
        """Weights of whitened columns, (..., m), as weights of the data's columns, (..., d)."""
        unit = self.axes.unit
        inverse = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit > 0)
        with np.errstate(over="ignore"):
            return np.ldexp((whitened @ self.map.T) * inverse, -exponents)


def whiten(moments: Moments, problem: Problem, shrinkage: Any = None) -> Whitening:
    """Find the map for the classes of `problem`.

    Parameters
    ----------
    moments : of the problem, with scatter where there are more rows than columns
    problem : asked for another pass where the scatter matrix has lost too many digits, and for
        fourth powers by shrinkage='auto'
    shrinkage : None, 'auto' (Ledoit and Wolf) or a number from 0 to 1
    """
    quick = None if shrinkage is not None else _full_rank(moments)
    if quick is not None:
        return quick
    n, d = problem.n_rows, problem.n_features
    if FEWEST <= n <= (MANY * d if sp.issparse(problem.X) else d) and has_room(n, n):
        with suppress(LostDigitsError):
            return complete(_few_rows(moments, problem, shrinkage), moments)
    S = moments.scatter
    axes = None if S is None else axes_of(moments, S, shrinkage, problem)
    if axes is None or axes.rough:
        axes = axes_of(moments, factor_of(moments, problem), shrinkage, problem, factor=True)
    return complete(axes, moments)


def _few_rows(moments: Moments, problem: Problem, shrinkage: Any) -> RowAxes:
    """Axes from the products of rows with each other, where rows are not many beside columns."""
    d, frame = problem.n_features, moments.frame
    if sp.issparse(problem.X):
        rows, squares = sparse_rows(problem, moments)
    else:
        rows = CentredRows(factor_of(moments, problem), slice(None))
        squares = np.square(rows.full).sum(axis=0)
    deviation, rounding = np.sqrt(squares), frame.rounding * frame.top
    unit, alive = _units(deviation, moments, shrinkage)
    inverse = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit > 0)
    rows = rows.times(np.where(alive, inverse, 0.0))
    trace = float(np.square(deviation[alive] * inverse[alive]).sum())
    alpha, target = 0.0, 0.0
    if shrinkage == "auto":
        square = sum(float(np.square(G).sum()) for G in rows.all_products(problem.n_jobs))
        alpha, target = _ledoit_wolf(moments, problem, unit, alive, trace, square), 1.0
    elif shrinkage is not None:
        alpha, target = float(shrinkage), trace / d
    rows = rows.times(np.full(d, math.sqrt(1.0 - alpha)))
    return row_axes(unit, rounding * inverse, rows, alpha * target, alpha, problem.n_jobs)


def whiten_each(moments: Moments, problem: Problem) -> Iterator[Whitening]:
    """The maps for each class against all others together.

    All the classes differ in, and how they spread there, lies in as many directions as there are
    classes, or twice as many where some have no spread: the map of all classes leads to these.
    """
    white = whiten(moments, problem)
    own, outer = white.means[:, : white.inner], white.means[:, white.inner :]
    _, s, Vt = np.linalg.svd(own, full_matrices=False)
    V = Vt[s > 0].T
    few = np.hstack([own @ V, outer])
    lead = np.hstack([white.map[:, : white.inner] @ V, white.map[:, white.inner :]])
    inner, top = V.shape[1], np.abs(few).max(axis=0)
    frame = moments.frame._replace(
        exponents=np.zeros(len(top), int), top=top, rounding=2.0**-50, means=few
    )
    reduced = Moments(frame, np.zeros(len(top)), few, np.zeros_like(few), None)
    for k in range(len(few)):
        two = reduced.against_rest(k)
        axes = axes_of(two, np.vstack([np.eye(inner, len(top)), reduced.apart(k)]), factor=True)
        one = complete(axes, two)
        inverse = np.divide(1.0, axes.unit, out=np.zeros_like(axes.unit), where=axes.unit > 0)
        yield one._replace(
            axes=white.axes,
            map=lead @ (one.map * inverse[:, None]),
            rank=white.rank + one.rank - inner,
        )


def _full_rank(moments: Moments) -> Whitening | None:
    """The map by Cholesky's factor, where every direction has spread beyond doubt; else None."""
    if moments.scatter is None:
        return None
    frame = moments.frame
    rounding = frame.rounding * frame.top
    unit, alive = _own_unit(np.sqrt(moments.scatter.diagonal()), moments, 2 * rounding)
    if not alive.all():
        return None
    S = moments.scatter / unit / unit[:, None]
    noise = rounding / unit
    L, failed = sl.lapack.dpotrf(S, lower=1, clean=1)
    if failed:
        return None
    norm = float(np.abs(S).sum(axis=0).max())
    least = norm * float(sl.lapack.dpocon(L, norm, uplo="L")[0])  # not above any eigenvalue
    if not least >= ROUGH or math.sqrt(least) <= 2 * float(noise.max()) + 8 * len(S) * 2.0**-53:
        return None
    inverse, failed = sl.lapack.dtrtri(L, lower=1)
    offsets = moments.offsets / unit
    axes = Axes(unit, noise, np.empty((len(S), 0)), np.empty(0), 0.0, 0.0, False)
    return Whitening(axes, inverse.T, offsets @ inverse.T, 0, len(S), len(S))


def axes_of(
    moments: Moments,
    spread: Floats,
    shrinkage: Any = None,
    problem: Problem | None = None,
    factor: bool = False,
) -> Axes:
    """Principal axes of a covariance matrix, or of a factor R of it (`factor`), in tame units."""
    deviation = np.sqrt(np.square(spread).sum(axis=0) if factor else spread.diagonal())
    rounding = moments.frame.rounding * moments.frame.top
    unit, alive = _units(deviation, moments, shrinkage)
    S = spread[:, alive] / unit[alive] if factor else spread[np.ix_(alive, alive)]
    if factor:
        _, sigma, Vt = factored(np.linalg.svd, S, full_matrices=False)
        values, small = np.square(sigma), Vt.T
    else:
        S = S / unit[alive] / unit[alive][:, None]
        values, small = factored(np.linalg.eigh, S)
    vectors = np.zeros((len(unit), len(values)))
    vectors[alive] = small
    noise = np.divide(rounding, unit, out=np.zeros_like(unit), where=unit > 0)
    alpha, target = 0.0, 0.0
    if shrinkage == "auto" and problem is not None:
        trace, square = float(values.sum()), float(np.square(values).sum())
        alpha, target = _ledoit_wolf(moments, problem, unit, alive, trace, square), 1.0
    elif shrinkage is not None:
        alpha, target = float(shrinkage), float(values.sum()) / len(unit)
    if alpha * target == 0:
        along = rounding_along(vectors, noise)
        keep = np.sqrt(np.maximum(values, 0)) > along
        rough = not factor and _rough(values, np.where(keep, 0.0, along))
        split = None
        if rough and problem is not None:
            split = _confirmed(moments, problem, S, unit, alive, noise[alive])
        if split is not None:
            rough, values = False, np.concatenate([split.left, split.values])
            vectors[alive] = np.hstack([split.empty, split.vectors])
            keep = np.arange(len(values)) >= len(split.left)
        hidden = np.square(np.divide(deviation, unit, where=unit > 0, out=np.zeros_like(unit)))
        blurred = max(values[~keep].max(initial=0.0), hidden[~alive].max(initial=0.0))
        return Axes(unit, noise, vectors[:, keep], values[keep], 0.0, alpha, rough, float(blurred))
    values = (1 - alpha) * np.maximum(values, 0) + alpha * target
    rough = not factor and bool((values < ROUGH * target).any())
    return Axes(unit, noise, vectors, values, alpha * target, alpha, rough)


def _confirmed(
    moments: Moments, problem: Problem, S: Floats, unit: Floats, alive: Flags, noise: Floats
) -> Directions | None:
    """The directions of S with and without spread, where the rows confirm that the latter are."""
    total = moments.frame.total

    def against(N: Floats, back: bool) -> tuple[Floats, Floats]:
        raw = np.zeros((len(unit), N.shape[1]))
        raw[alive] = N / unit[alive][:, None]

        def of(block: Block, first: int, last: int) -> Any:
            Z = moments.weighted_rows(block, first, last)
            r = Z @ raw
            products = Z.T @ r if back else np.zeros(0)
            return products, np.einsum("ij,ij->j", r, r)

        products = float(problem.n_rows) * raw.size * (1 + back)
        back_sum, squares = sum_pieces(problem, of, add_both, raw.shape[0], products)
        if back:
            back_sum = back_sum[alive] / unit[alive][:, None] / total
        return back_sum, squares / total

    return empty_directions(S, against, lambda N: rounding_along(N, noise), ROUGH)


def _rough(values: Floats, covered: Floats) -> bool:
    """Whether a small eigenvalue could be other than it looks, and is not `covered` by rounding."""
    doubt = 8 * 2.0**-53 * math.sqrt(len(values)) * float(values.max(initial=0.0))
    return bool(((values < ROUGH) & (values + doubt > np.square(covered))).any())


def _units(deviation: Floats, moments: Moments, shrinkage: Any) -> tuple[Floats, Flags]:
    """The unit of each column, and whether it has spread; that of the widest for a number."""
    if not isinstance(shrinkage, str | None) and shrinkage > 0 and deviation.any():
        exponents = moments.frame.exponents
        widest = (np.frexp(deviation)[1] + exponents)[deviation > 0].max()
        return np.ldexp(1.0, np.clip(widest - exponents, -400, 400)), deviation > 0
    return _own_unit(deviation, moments, 2 * moments.frame.rounding * moments.frame.top)


def _own_unit(deviation: Floats, moments: Moments, rounding: Floats) -> tuple[Floats, Flags]:
    """Each column in units of its spread within classes, else between them, else zero."""
    between = np.sqrt(visible(moments.frame.shares) @ np.square(moments.offsets))
    alive = deviation > rounding
    return np.where(alive, deviation, np.where(between > rounding, between, 0.0)), alive


def visible(shares: Floats) -> Floats:
    """Shares of the classes, none so small that rounding would hide where its mean is."""
    if shares.min() >= LEAST_SHARE:
        return shares
    raised = np.maximum(shares, LEAST_SHARE)
    return np.asarray(raised / raised.sum())


def rounding_along(vectors: Floats, noise: Floats) -> Floats:
    """What rounding alone, of the data and of the sums, makes of the spread along each vector."""
    data = 2 * np.sqrt(np.square(noise) @ np.square(vectors))
    return np.asarray(data + 8 * len(noise) * 2.0**-53)


def _ledoit_wolf(
    moments: Moments, problem: Problem, unit: Floats, alive: Flags, trace: float, square: float
) -> float:
    """The shrinkage that minimises the expected squared error of the correlation matrix.

    With zᵢ the n rows about their class means in units of the spread, and S = (1/n)Σ zᵢzᵢᵀ, of
    which `trace` and `square`, ‖S‖², are given:
    α = min(1, (1/n²) Σ‖zᵢzᵢᵀ − S‖² / ‖S − I‖²) (Ledoit and Wolf, 2004).
    """
    frame = moments.frame

    def fourth(block: Block) -> float:
        part = frame.part(block)
        length2 = np.square(moments.rows(part)[:, alive] / unit[alive]).sum(axis=1)
        return float(part.weights @ np.square(length2))

    mean_fourth = problem.sum(fourth, lambda a, b: a + b) / frame.total
    n = math.ldexp(frame.total, frame.weight_exponent)
    error = (mean_fourth - square) / n
    distance = square - 2 * trace + int(alive.sum())  # ‖S − I‖², as tr I = d
    return max(0.0, min(error, distance) / distance) if distance > 0 else 0.0


def complete(axes: Axes | RowAxes, moments: Moments) -> Whitening:
    """Add the directions in which classes differ but have no spread, and map the class means."""
    unit = axes.unit
    offsets = np.divide(moments.offsets, unit, out=np.zeros_like(moments.offsets), where=unit > 0)
    inner = axes.inside(offsets)
    shares = visible(moments.frame.shares)
    middle = shares @ offsets  # not zero: the centre is rounded
    B = np.sqrt(shares)[:, None] * (offsets - middle)
    length = float(np.sqrt(np.square(B).sum()))
    _, s, Ut = np.linalg.svd(axes.outside(B), full_matrices=False)
    noise = rounding_along(Ut.T, axes.noise) + 64 * len(unit) * 2.0**-53 * length
    keep = s > noise
    U, s = Ut[keep].T, s[keep]
    floor = max(axes.rest, axes.blurred)
    assumed = 0.0
    if axes.rest == 0 and len(s):  # one for all, so that axes keep their order; squares keep digits
        assumed = FLOOR * max(float(s[-1]), 1e-3 * float(s[0])) ** 2
    A = np.hstack([inner, U / math.sqrt(max(floor, assumed) or 1.0)])
    floored = len(s) if assumed > floor else 0
    return Whitening(axes, A, offsets @ A, floored, axes.rank, inner.shape[1])
