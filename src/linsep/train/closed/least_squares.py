"""Least squares in closed form: the triangular factor of [1 X y] by blocks, at any scale."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg as sl

from linsep.data.blocks.blocks import spans
from linsep.parallel import Pool, tree_sum
from linsep.train.closed.exact_least_squares import rational_least_squares
from linsep.train.closed.frame import Frame, frame_of
from linsep.train.closed.gram import gram, products_suit
from linsep.train.closed.interruptible import factored
from linsep.train.closed.minimum_norm import Line, minimum_norm
from linsep.train.closed.moments import Floats, require_room
from linsep.train.closed.normal_equations import centred, solve
from linsep.train.closed.single_products import single_products
from linsep.train.closed.tsqr import triangle
from linsep.train.closed.whitening import rounding_along
from linsep.train.problem import Block, Problem

FEW = 1000  # products of whole numbers that exact arithmetic takes hardly any time for
COLLINEAR = 1e-3  # the least singular value below which it is worth more than that
WORTH = 50  # products spent on it then, times the least singular value


class Targets(NamedTuple):
    """What is to be predicted, brought to |y| ≤ 1 by powers of two and moved near zero.

    Attributes
    ----------
    given : (n, t) as they are, perhaps in a file
    exponents : (t,) targets are counted in units of 2 to these
    shift : (t,) what is subtracted
    """

    given: Floats
    exponents: npt.NDArray[Any]
    shift: Floats

    def at(self, rows: Any) -> Floats:
        """The targets of these rows."""
        return np.asarray(np.ldexp(self.given[rows], -self.exponents) - self.shift)

    def of(self, block: Block) -> Floats:
        """The targets of those rows of a block that have weight."""
        values = self.at(slice(block.start, block.start + len(block.codes)))
        return values[block.weights > 0] if block.weights.size else values

    def mean(self, function: Callable[[Floats], Floats]) -> Floats:
        """The mean over all rows of a function of each target."""
        n = len(self.given)
        parts = (function(self.at(slice(i, j))).sum(axis=0) for i, j in spans(n))
        return np.asarray(tree_sum(parts, np.add) / n)

    def raw(self, values: Floats) -> Floats:
        """Slopes or shifts of these targets, (t, ...), in the units of y."""
        exponents = self.exponents.reshape(-1, *[1] * (values.ndim - 1))
        return np.ldexp(values, exponents)


def targets_of(Y: Floats, centred: bool) -> Targets:
    """Targets (n, t) in tame units; `centred` where an intercept takes up the shift."""
    tops = [np.abs(Y[i:j]).max(axis=0) for i, j in spans(len(Y))]
    given = Targets(Y, np.frexp(np.max(tops, axis=0))[1], np.zeros(Y.shape[1]))
    return given._replace(shift=given.mean(lambda y: y)) if centred else given


def least_squares(problem: Problem, Y: Floats, fit_intercept: bool = True) -> Line:
    """Minimise ½ Σ wᵢ (⟨a, xᵢ⟩ + b − yᵢ)² / Σ wᵢ exactly; the shortest a where many do.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> line = least_squares(Problem(X, np.zeros(3, np.int32), None, 1), 3 * X + 1)
    >>> line.weights, line.at_centre, line.centre
    (array([[3.]]), array([4.]), array([1.]))
    """
    with Pool(1):  # threads inside LAPACK would change bytes, and wait for cores that others have
        look, problem.settle = problem.settle, lambda: None  # sums show what is not finite
        quick = _from_products(problem, Y, fit_intercept)
        problem.settle = look
        if quick is not None:
            return quick
        problem.settle()
        require_room(problem.n_rows, problem.n_features)
        return _least_squares(problem, Y, fit_intercept)


def _from_products(problem: Problem, Y: Floats, fit_intercept: bool) -> Line | None:
    """The line from products of columns or of rows; None where these lose too many digits."""
    n, d = problem.X.shape
    if n <= d:
        return minimum_norm(problem, Y, fit_intercept)
    if not products_suit(problem.X):
        return None
    with np.errstate(all="ignore"):
        given = single_products(problem, Y, fit_intercept)
        answer = None if given is None else solve(problem, Y, given)
        if answer is None:
            given = centred(problem.X, gram(problem, Y, fit_intercept), fit_intercept)
            answer = None if given is None else solve(problem, Y, given)
    if given is None or answer is None:
        return None
    weights = answer.weights
    if answer.vectors is not None:
        exponents = np.frexp(given.spread)[1]
        tame = np.ldexp(weights[given.alive], exponents[:, None])
        mantissas = np.ldexp(given.spread, -exponents)
        tame = shortest(tame, answer.vectors, mantissas, exponents)
        weights[given.alive] = np.ldexp(tame, -exponents[:, None])
    loss = float(answer.squares.sum()) / (2 * given.total)
    at_centre = given.mean + (given.lost[d:] - given.lost[:d] @ weights)
    line = Line(weights.T, at_centre, given.centre, loss, answer.rank)
    if answer.rank == d and _digits_at_stake(n, d, answer.least):
        return rational_line(line, problem, Y, fit_intercept)
    return line


def _least_squares(problem: Problem, Y: Floats, fit_intercept: bool) -> Line:
    d = problem.n_features
    frame, targets = frame_of(problem), targets_of(Y, fit_intercept)
    if not fit_intercept:
        u = float(np.finfo(problem.X.dtype).eps) / 2
        frame = frame._replace(means=np.zeros((1, d)), rounding=u)

    def rows(block: Block) -> Floats:
        part = frame.part(block)
        first = [np.ones((len(part.codes), 1))] if fit_intercept else []
        Z = np.hstack([*first, frame.dense(part), targets.of(block)])
        Z *= np.sqrt(part.weights)[:, None]
        return Z

    R: Any = np.linalg.qr(triangle(problem, rows), mode="r")
    free = int(fit_intercept)
    slopes, rank, least = _slopes(R[free:, free : free + d], R[free:, free + d :], frame, free)
    rest = R[free:, free + d :] - R[free:, free : free + d] @ slopes
    level = (R[0, 1 + d :] - R[0, 1 : 1 + d] @ slopes) / R[0, 0] if fit_intercept else 0.0
    with np.errstate(over="ignore"):  # weights that left the range are for the learner to refuse
        loss = targets.raw(targets.raw(np.square(rest).sum(axis=0))).sum() / (2 * frame.total)
        weights = np.ldexp(targets.raw(slopes.T), -frame.exponents)
    at_centre = targets.raw(targets.shift + level)
    line = Line(weights, at_centre, frame.raw(frame.means[0]), float(loss), rank)
    if rank == d and _digits_at_stake(problem.n_rows, d, least):
        return rational_line(line, problem, Y, fit_intercept)
    return line


def _slopes(Rz: Floats, Ry: Floats, frame: Frame, free: int) -> tuple[Floats, int, float]:
    """The least a with Rz a ≈ Ry in tame units, the rank of Rz and its least singular value."""
    length = np.sqrt(np.square(Rz).sum(axis=0))
    top = frame.top if free else np.minimum(frame.top, length / math.sqrt(frame.total))
    rounding = frame.rounding * top * math.sqrt(frame.total)
    alive = length > 2 * rounding
    slopes = np.zeros((Rz.shape[1], Ry.shape[1]))
    if not alive.any():
        return slopes, 0, 1.0
    unit = length[alive]
    U, sigma, Vt = factored(np.linalg.svd, Rz[:, alive] / unit, full_matrices=False)
    keep = sigma > rounding_along(Vt.T, rounding[alive] / unit)
    if keep.all() and alive.all() and len(sigma) == len(unit):
        square = Rz[: len(unit)]
        slopes = sl.solve_triangular(square, Ry[: len(unit)], check_finite=False)
        return slopes, len(unit), float(sigma[-1])
    a = Vt[keep].T @ ((U[:, keep].T @ Ry) / sigma[keep, None]) / unit[:, None]
    slopes[alive] = shortest(a, Vt[keep].T, unit, frame.exponents[alive])
    return slopes, int(keep.sum()), float(sigma[keep].min(initial=1.0))


def shortest(a: Floats, V: Floats, unit: Floats, exponents: npt.NDArray[Any]) -> Floats:
    """Among the b with Vᵀ(unit·b) = Vᵀ(unit·a) the one of least length in the units of the data.

    That is a without its part across V, whose columns are orthonormal: in the units of the data the
    b span what is perpendicular to unit·2^exponents·V. Columns of very different size are left as
    they are: what is shortest there is decided by the units alone, and would cost the others their
    digits.
    """
    involved = 1.0 - np.square(V).sum(axis=1) > 1e-12  # the others have weights of their own
    if not involved.any() or np.ptp(exponents[involved]) > 40:
        return a
    if not involved.all():  # V without the directions of the others
        values, F = np.linalg.eigh(V[~involved].T @ V[~involved])
        V = V @ F[:, values < 0.5]
    relative = (exponents - exponents[involved].min())[involved, None]
    Q, _ = np.linalg.qr(np.ldexp(V[involved] * unit[involved, None], relative))
    w = np.ldexp(a[involved], -relative)
    a = a.copy()
    a[involved] = np.ldexp(Q @ (Q.T @ w), relative)
    return a


def _digits_at_stake(n: int, d: int, least: float) -> bool:
    """Whether exact arithmetic is next to free, or worth its time: floats lose about 1/least."""
    products = n * (d + 1) ** 2
    return products < FEW or (least < COLLINEAR and products * least < WORTH)


def rational_line(line: Line, problem: Problem, Y: Floats, fit_intercept: bool) -> Line:
    """The same line to the last digit, where the data are few enough for exact arithmetic."""
    weights = problem.weights if problem.weights.size else None
    exact = rational_least_squares(problem.X, Y, weights, line.centre, fit_intercept)
    if exact is None:
        return line
    return line._replace(weights=exact[0], at_centre=exact[1], intercept=exact[2])
