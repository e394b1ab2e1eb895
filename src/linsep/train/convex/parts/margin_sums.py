"""Sums over rows of a loss of the margin, its multipliers and curvatures, in one reading.

zᵢ = yᵢ(⟨w, xᵢ⟩ + oᵢ + b),   αᵢ = −Uᵢℓ′(zᵢ),   Dᵢ = Uᵢℓ″(zᵢ)
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import on_cluster
from linsep.data.blocks.page_release import PageRelease, maps_of, room_for
from linsep.kernels import margins
from linsep.parallel import Pool
from linsep.train.convex.designs.design import PACKED, TILE, scores
from linsep.train.convex.parts import row_terms
from linsep.train.convex.parts.row_terms import FORETOLD, SUMS
from linsep.train.convex.problem import Problem

Floats = npt.NDArray[np.float64]
Span = tuple[int, int]

TERMS, SLOPES = SUMS, SUMS + FORETOLD  # where sums over the terms of rows end, and those of a step
NONE = np.empty(0)
HALVES = 0.5 ** np.arange(0.0, 10.0)  # parts of a step at which slopes are looked at first
LOOKS, CLOSE = 4, 0.9  # at several parts each, until they are so near to where it turns


class Sums(NamedTuple):
    """What all rows say of a point.

    Attributes
    ----------
    smooth, meant : Σ Uℓ of the loss that has derivatives, and of the one that is meant
    weight : Σ α of either class, +1 first
    dual : Σ of dual terms of either class
    pull : Σ αz
    v : Σ αyx̃ of either class
    hessian : Σ Dx̃x̃ᵀ, empty where it was not asked for
    foretold : dual terms of the multipliers that the step to here foretold, their Σ αy and Σ α
    """

    smooth: float
    meant: float
    weight: Floats
    dual: Floats
    pull: float
    v: Floats
    hessian: Floats
    foretold: Floats


class MarginSums:
    """The rows of a problem of two classes.

    Parameters
    ----------
    problem : whose losses are summed up
    pool : threads that share the spans
    """

    def __init__(self, problem: Problem, pool: Pool) -> None:
        self._problem, self._pool = problem, pool
        self._pages = PageRelease(problem.y, problem.y, problem.weights, problem.offset)

    def at(self, u: Floats, loss: Any, curved: bool = True, before: Any = None) -> Sums:
        """One reading of the rows; `before` is where the step to u began."""
        size = self._problem.size
        points = u[None] if before is None else np.array([u, before])
        s = self._problem.design.sum(partial(self._part, points, loss, curved), self._pool)
        last = SLOPES + 2 * size
        H = np.empty((size, size) if curved else (0, 0))
        if curved:
            margins.whole(s[last:], self._problem.design.sparse, H)
        return Sums(
            float(s[0]), float(s[1]), s[2:4], s[4:6], float(s[6]), s[SLOPES:last].reshape(2, size),
            H, s[TERMS:SLOPES],
        )  # fmt: skip

    def _part(self, points: Floats, loss: Any, curved: bool, span: Span) -> Floats:
        rows, size = self._problem.design.rows(span), self._problem.size
        y, U, o = self._beside(span)
        width = -(-size // TILE) * TILE
        out = np.empty(SLOPES + 2 * size + (width * width if curved else 0))
        row_terms.read(loss, rows, y, U, o, points, out, np.empty((PACKED if curved else 0, width)))
        return out

    def _beside(self, span: Span) -> tuple[Any, Floats, Floats]:
        """Labels, weights and offsets of some rows; no offsets where all are zero."""
        problem, cut = self._problem, slice(*span)
        U = problem.weights if len(problem.weights) == 1 else problem.weights[cut]
        offset = NONE if problem.offset is None else problem.offset[cut]
        self._pages.advance(span[1] - span[0])
        return problem.y[cut], U, offset

    def _scores(self, span: Span, points: Floats) -> tuple[Any, Floats, Floats]:
        """Labels and weights of some rows, and their scores at some points."""
        return self._beside_rows(span, scores(self._problem.design.rows(span), points))

    def _beside_rows(self, span: Span, S: Floats) -> tuple[Any, Floats, Floats]:
        """Labels and weights of some rows, and their scores with offsets added."""
        y, U, offset = self._beside(span)
        return y, U, S + offset if len(offset) else S

    def lowest(self, u: Floats, to: Floats, loss: Any, slope: float, bend: float) -> float:
        """About the t ≤ 1 at which Σ Uℓ, at u + t(to − u), and t·slope + ½t²·bend are smallest."""
        along = self.line(u, to, loss)
        return lowest(lambda t: slope + t * bend + along(t)[:, 0])

    def line(self, u: Floats, to: Floats, loss: Any) -> Callable[[Floats], Floats]:
        """Two derivatives of Σ Uℓ at u + t(to − u) in t, as a function of several t; rows in memory
        are read once."""
        design, ends = self._problem.design, np.array([u, to])
        kept: dict[Span, Any] | None = None
        if not (on_cluster(design.X) or maps_of(design.X)):
            read = self._pool.map(lambda span: self._scores(span, ends), design.spans)
            kept = dict(zip(design.spans, read, strict=True))

        def part(t: Floats, span: Span) -> Floats:
            y, U, S = self._scores(span, ends) if kept is None else kept[span]
            slopes = np.empty((len(t), 2))
            row_terms.along(loss, S[0], S[1], y, U, t, slopes)
            return slopes

        return lambda t: design.sum(partial(part, t), self._pool)

    def bent(self, u: Floats, loss: Any, most: int) -> Any:
        """The rows at which a rounded loss is bent, or None where they are more than `most`."""

        def part(span: Span) -> Any:
            y, U, S = self._scores(span, u[None])
            return span[0] + np.flatnonzero((loss.curvature(y * S[0]) > 0.0) & (U > 0.0))

        parts, count = [], 0
        for rows in self._pool.in_order(part, self._problem.design.spans):
            parts.append(rows)
            count += len(rows)
            if count > most:
                return None
        return np.concatenate(parts)

    def misjudged(self, u: Floats, to: Floats, loss: Any, least: float, most: int) -> Any:
        """The rows whose multipliers change on the way to `to` otherwise than to first order, times
        the change of z, by more than `least`: at most so many, those where it is most."""
        ends = np.array([u, to])

        def part(span: Span) -> Any:
            y, U, S = self._scores(span, ends)
            R, D = np.empty((2, 2, len(y))), np.empty((2, len(y)))
            for k in range(2):
                row_terms.terms(loss, S[k], y, U, R[k], D[k], np.empty(TERMS))
            change = S[1] - S[0]
            error = np.abs(change * ((R[1] - R[0]).sum(axis=0) + D[0] * change))
            which = np.flatnonzero(error > least)
            return np.array([span[0] + which, error[which]])

        rows, errors = np.empty((2, 0))
        for more in self._pool.in_order(part, self._problem.design.spans):
            rows, errors = np.append(rows, more[0]), np.append(errors, more[1])
            if len(rows) > most:
                worst = np.sort(np.argpartition(-errors, most)[:most])
                rows, errors = rows[worst], errors[worst]
        return rows.astype(np.int64)

    def extremes(self, u: Floats, to: Floats) -> tuple[float, float, float]:
        """The smallest z at u, and the least and most that z changes by on the way to `to`, of rows
        that count."""
        ends = np.array([u, to])

        def part(span: Span) -> Floats:
            y, U, S = self._scores(span, ends)
            counts = np.broadcast_to(U > 0.0, len(y))
            z, change = (y * S[0])[counts], (y * (S[1] - S[0]))[counts]
            low = [one.min(initial=np.inf) for one in (z, change)]
            return np.array([*low, -change.max(initial=-np.inf)])

        parts = self._pool.map(part, self._problem.design.spans)
        least, low, high = np.min(parts, axis=0).tolist()
        return least, low, -high

    def bound(self, alpha: Any, ridge: Floats) -> float:
        """The dual objective at given multipliers, were they feasible."""
        problem, U = self._problem, np.maximum(self._problem.weights, 1e-300)
        pull = problem.design.back_product((problem.y * alpha)[None], self._pool)[0, :-1]
        terms = float((problem.weights * problem.loss.dual(alpha / U)).sum())
        return terms - 0.5 * float(pull @ (pull / ridge[:-1]))

    def multipliers(self, u: Floats, loss: Any, shares: Floats) -> Any:
        """α of each row at u, those of either class times its share."""

        def part(span: Span) -> Floats:
            y, U, S = self._scores(span, u[None])
            R, D = np.empty((2, len(y))), np.empty(len(y))
            row_terms.terms(loss, S[0], y, U, R, D, np.empty(TERMS))
            return np.asarray(shares[0] * R[0] - shares[1] * R[1])

        return self._gathered(part)

    def foretold(self, u: Floats, to: Floats, loss: Any) -> Any:
        """The multipliers that the step from u foretells, of each row."""

        def part(span: Span) -> Floats:
            y, U, S = self._scores(span, np.array([u, to]))
            alpha = np.empty(len(y))
            row_terms.foretold(loss, S[0], S[1], y, U, alpha, np.empty(SLOPES - TERMS))
            return alpha

        return self._gathered(part)

    def _gathered(self, part: Callable[[Span], Floats]) -> Any:
        """A number for each row: in a file where rows lie in one."""
        design = self._problem.design
        if len(design.spans) == 1 and not on_cluster(design.X):
            return part(design.spans[0])
        out = room_for(np.broadcast_to(np.float64(0), (design.n,)), design.X)
        pages = PageRelease(out)
        results = self._pool.in_order(part, design.spans)
        for (start, stop), alpha in zip(design.spans, results, strict=True):
            out[start:stop] = alpha
            pages.advance(stop - start)
        return np.asarray(out)


def lowest(slopes: Callable[[Floats], Any]) -> float:
    """About the t in (0, 1] at which a convex function is smallest: to there its slope is not
    above zero, and a little farther it is. Zero where no such t is found.

    Parameters
    ----------
    slopes : derivatives at several t

    Examples
    --------
    >>> round(lowest(lambda t: t - 0.3), 4)
    0.2778
    """
    low, high, t = 0.0, 1.0, HALVES
    for _ in range(LOOKS):
        slope = slopes(t)
        low = max([low, *t[slope <= 0.0]])
        high = min([high, *t[(slope > 0.0) & (t > low)]])
        if low > CLOSE * high:
            break
        t = high * HALVES[1:] if low == 0.0 else np.linspace(low, high, 10)[1:-1]
    return float(low)
