"""The map that turns the within-class spread of the data into the unit sphere, and what it cannot.

Everything is done on the correlation scale: columns in units of their own spread. So neither units
nor offsets decide which directions count as having no spread, but only the rounding of the data.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg as sl

from linsep.train.closed.empty_directions import Directions, empty_directions
from linsep.train.closed.frame import in_units
from linsep.train.closed.interruptible import factored
from linsep.train.closed.moments import Floats, Moments, require_room
from linsep.train.closed.pieces import sum_pieces
from linsep.train.closed.tsqr import triangle
from linsep.train.closed.wide_axes import wide_axes
from linsep.train.problem import Block, Problem

FLOOR = 1e-8
"""Variance given to a direction without within-class spread, as a share of what is between the
classes there: classes that differ in it are told apart, and nothing overflows."""

LEAST_SHARE = 1e-8
"""A class with less of the weight counts as this much where directions of the means are found."""

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
    rank : how many columns of the map, the first ones, stand for directions with spread
    """

    axes: Axes
    map: Floats
    means: Floats
    floored: int
    rank: int

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
    axes = (
        None if moments.scatter is None else axes_of(moments, moments.scatter, shrinkage, problem)
    )
    if axes is None or axes.rough:
        R = factor_of(moments, problem)
        axes = axes_of(moments, R, shrinkage, problem, factor=True)
    return complete(axes, moments)


def whiten_each(moments: Moments, problem: Problem) -> Iterator[Whitening]:
    """The maps for each class against all others together."""
    R: Floats | None = None
    for k in range(len(moments.offsets)):
        two = moments.against_rest(k)
        quick = _full_rank(two)
        if quick is not None:
            yield quick
            continue
        axes = None if two.scatter is None else axes_of(two, two.scatter)
        if axes is None or axes.rough:
            R = factor_of(moments, problem) if R is None else R
            axes = axes_of(two, np.vstack([R, moments.apart(k)]), factor=True)
        yield complete(axes, two)


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
    return Whitening(axes, inverse.T, offsets @ inverse.T, 0, len(S))


def factor_of(moments: Moments, problem: Problem) -> Floats:
    """R with RᵀR the covariance within classes, in tame units."""
    R = triangle(problem, lambda block: moments.weighted_rows(block, 0, len(block.codes)))
    return R / math.sqrt(moments.frame.total)


def axes_of(
    moments: Moments,
    spread: Floats,
    shrinkage: Any = None,
    problem: Problem | None = None,
    factor: bool = False,
) -> Axes:
    """Principal axes of a covariance matrix, or of a factor R of it (`factor`), in tame units."""
    frame = moments.frame
    deviation = np.sqrt(np.square(spread).sum(axis=0) if factor else spread.diagonal())
    rounding = frame.rounding * frame.top
    fixed = not isinstance(shrinkage, str | None) and shrinkage > 0 and deviation.any()
    if fixed:
        unit, alive = _common_unit(deviation, frame.exponents), deviation > 0
    else:
        unit, alive = _own_unit(deviation, moments, 2 * rounding)
    S = spread[:, alive] / unit[alive] if factor else spread[np.ix_(alive, alive)]
    if factor:
        sigma, small = wide_axes(S) if len(S) < S.shape[1] else (None, None)
        if sigma is None:
            _, sigma, Vt = factored(np.linalg.svd, S, full_matrices=False)
            small = Vt.T
        values = np.square(sigma)
    else:
        S = S / unit[alive] / unit[alive][:, None]
        values, small = factored(np.linalg.eigh, S)
    vectors = np.zeros((len(unit), len(values)))
    vectors[alive] = small
    noise = np.divide(rounding, unit, out=np.zeros_like(unit), where=unit > 0)
    if fixed:
        alpha, target = float(shrinkage), float(values.sum()) / len(unit)
    elif shrinkage == "auto" and problem is not None:
        alpha, target = _ledoit_wolf(moments, problem, unit, alive, values), 1.0
    else:
        alpha, target = 0.0, 0.0
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
        back_sum, squares = sum_pieces(problem, of, _add_both, raw.shape[0], products)
        if back:
            back_sum = back_sum[alive] / unit[alive][:, None] / total
        return back_sum, squares / total

    return empty_directions(S, against, lambda N: rounding_along(N, noise), ROUGH)


def _add_both(a: Any, b: Any) -> Any:
    return a[0] + b[0], a[1] + b[1]


def _rough(values: Floats, covered: Floats) -> bool:
    """Whether a small eigenvalue could be other than it looks, and is not `covered` by rounding."""
    doubt = 8 * 2.0**-53 * math.sqrt(len(values)) * float(values.max(initial=0.0))
    return bool(((values < ROUGH) & (values + doubt > np.square(covered))).any())


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


def _common_unit(deviation: Floats, exponents: Any) -> Floats:
    """One unit for all columns of the data: that of the widest."""
    widest = (np.frexp(deviation)[1] + exponents)[deviation > 0].max()
    return np.ldexp(1.0, np.clip(widest - exponents, -400, 400))


def rounding_along(vectors: Floats, noise: Floats) -> Floats:
    """What rounding alone, of the data and of the sums, makes of the spread along each vector."""
    data = 2 * np.sqrt(np.square(noise) @ np.square(vectors))
    return np.asarray(data + 8 * len(noise) * 2.0**-53)


def _ledoit_wolf(
    moments: Moments, problem: Problem, unit: Floats, alive: Flags, values: Floats
) -> float:
    """The shrinkage that minimises the expected squared error of the correlation matrix.

    With zᵢ the n rows about their class means in units of the spread and S = (1/n)Σ zᵢzᵢᵀ:
    α = min(1, (1/n²) Σ‖zᵢzᵢᵀ − S‖² / ‖S − I‖²) (Ledoit and Wolf, 2004).
    """
    frame = moments.frame

    def fourth(block: Block) -> float:
        part = frame.part(block)
        length2 = np.square(moments.rows(part)[:, alive] / unit[alive]).sum(axis=1)
        return float(part.weights @ np.square(length2))

    mean_fourth = problem.sum(fourth, lambda a, b: a + b) / frame.total
    n = math.ldexp(frame.total, frame.weight_exponent)
    square = float(np.square(values).sum())  # ‖S‖²
    error = (mean_fourth - square) / n
    distance = square - 2 * float(values.sum()) + int(alive.sum())  # ‖S − I‖², as tr I = d
    return max(0.0, min(error, distance) / distance) if distance > 0 else 0.0


def complete(axes: Axes, moments: Moments) -> Whitening:
    """Add the directions in which classes differ but have no spread, and map the class means."""
    unit, V = axes.unit, axes.vectors
    offsets = np.divide(moments.offsets, unit, out=np.zeros_like(moments.offsets), where=unit > 0)
    shares = visible(moments.frame.shares)
    middle = shares @ offsets  # not zero: the centre is rounded
    B = np.sqrt(shares)[:, None] * (offsets - middle)
    length = float(np.sqrt(np.square(B).sum()))
    P = B
    for _ in range(2):  # once leaves rounding errors of the size of B along V
        P = P - (P @ V) @ V.T
    _, s, Ut = np.linalg.svd(P, full_matrices=False)
    noise = rounding_along(Ut.T, axes.noise) + 64 * len(unit) * 2.0**-53 * length
    keep = s > noise
    U, s = Ut[keep].T, s[keep]
    floor = max(axes.rest, axes.blurred)
    assumed = 0.0
    if axes.rest == 0 and len(s):  # one for all, so that axes keep their order; squares keep digits
        assumed = FLOOR * max(float(s[-1]), 1e-3 * float(s[0])) ** 2
    A = np.hstack([V / np.sqrt(axes.values), U / math.sqrt(max(floor, assumed) or 1.0)])
    return Whitening(axes, A, offsets @ A, len(s) if assumed > floor else 0, V.shape[1])
