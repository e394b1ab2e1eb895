"""Sums over rows of a loss of the margin, its multipliers and curvatures, in one reading.

zᵢ = yᵢ(⟨w, xᵢ⟩ + oᵢ + b),   αᵢ = −Uᵢℓ′(zᵢ),   Dᵢ = Uᵢℓ″(zᵢ)
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import on_cluster
from linsep.data.blocks.page_release import PageRelease, room_for
from linsep.kernels import losses as kernels
from linsep.parallel import Pool
from linsep.train.convex.designs.design import combined, gram, scores
from linsep.train.convex.problem import Problem

Floats = npt.NDArray[np.float64]
Span = tuple[int, int]

TERMS, FORETOLD = 7, 3  # numbers that the kernels sum up


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
        self._beside = PageRelease(problem.y, problem.y, problem.weights, problem.offset)

    def at(self, u: Floats, loss: Any, curved: bool = True, before: Any = None) -> Sums:
        """One reading of the rows; `before` is the point and loss of the step that led to u."""
        size = self._problem.size
        points = u[None] if before is None else np.array([u, before[0]])
        one = partial(self._part, points, loss, curved, None if before is None else before[1])
        s = self._problem.design.sum(one, self._pool)
        first = TERMS + FORETOLD
        last = first + 2 * size
        return Sums(
            float(s[0]), float(s[1]), s[2:4], s[4:6], float(s[6]), s[first:last].reshape(2, size),
            s[last:].reshape((size, size) if curved else (0, 0)), s[TERMS:first],
        )  # fmt: skip

    def _part(self, points: Floats, loss: Any, curved: bool, before: Any, span: Span) -> Floats:
        rows, size = self._problem.design.rows(span), self._problem.size
        y, U, S = self._beside_rows(span, scores(rows, points))
        n, first = len(y), TERMS + FORETOLD
        R, D = np.empty((2, n)), np.empty(n)
        out = np.zeros(first + 2 * size + (size * size if curved else 0))
        kernels.terms(loss, S[0], y, U, R, D, out[:TERMS])
        if before is not None:
            kernels.foretold(before, S[1], S[0], y, U, np.empty(n), out[TERMS:first])
        out[first : first + 2 * size] = combined(rows, R, size).ravel()
        if curved:
            out[first + 2 * size :] = gram(rows, D, size).ravel()
        return out

    def _beside_rows(self, span: Span, S: Floats) -> tuple[Any, Floats, Floats]:
        """Labels and weights of some rows, and their scores with offsets added."""
        problem, cut = self._problem, slice(*span)
        U = problem.weights if len(problem.weights) == 1 else problem.weights[cut]
        if problem.offset is not None:
            S += problem.offset[cut]
        self._beside.advance(span[1] - span[0])
        return np.ascontiguousarray(problem.y[cut]), np.ascontiguousarray(U), S

    def along(self, u: Floats, to: Floats, loss: Any, t: Floats) -> Floats:
        """First and second derivative of Σ Uℓ at u + t(to − u) in t, for several t."""

        def part(span: Span) -> Floats:
            rows = self._problem.design.rows(span)
            y, U, S = self._beside_rows(span, scores(rows, np.array([u, to])))
            slopes = np.empty((len(t), 2))
            kernels.along(loss, S[0], S[1], y, U, t, slopes)
            return slopes

        return self._problem.design.sum(part, self._pool)

    def multipliers(self, u: Floats, loss: Any, shares: Floats) -> Any:
        """α of each row at u, those of either class times its share."""

        def part(span: Span) -> Floats:
            y, U, S = self._beside_rows(span, scores(self._problem.design.rows(span), u[None]))
            R, D = np.empty((2, len(y))), np.empty(len(y))
            kernels.terms(loss, S[0], y, U, R, D, np.empty(TERMS))
            return np.asarray(shares[0] * R[0] - shares[1] * R[1])

        return self._gathered(part)

    def foretold(self, u: Floats, to: Floats, loss: Any) -> Any:
        """The multipliers that the step from u foretells, of each row."""

        def part(span: Span) -> Floats:
            rows = self._problem.design.rows(span)
            y, U, S = self._beside_rows(span, scores(rows, np.array([u, to])))
            alpha = np.empty(len(y))
            kernels.foretold(loss, S[0], S[1], y, U, alpha, np.empty(FORETOLD))
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
