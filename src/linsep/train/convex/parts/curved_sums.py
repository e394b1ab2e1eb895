"""Sums over rows, and products with the Hessian of the losses where they were looked at last.

zᵢ = yᵢ(⟨w, xᵢ⟩ + oᵢ + b),   Dᵢ = Uᵢℓ″(zᵢ),   curved(p) = Σ Dᵢ⟨p, x̃ᵢ⟩x̃ᵢ

Curvatures are kept between one product and the next, a number for each row; of rows on a cluster
each worker computes them again.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import on_cluster
from linsep.kernels import designs
from linsep.parallel import Pool
from linsep.rows.rows import Dense
from linsep.train.convex.designs.design import combined, scores
from linsep.train.convex.parts import row_terms
from linsep.train.convex.parts.margin_sums import TERMS, MarginSums, Span
from linsep.train.convex.parts.near_kinks import NearKinks, Pieces
from linsep.train.convex.problem import Problem

Floats = npt.NDArray[np.float64]

ROUNDS = 20  # in which the chances of rows are raised, at most


class Look(NamedTuple):
    """What all rows say of a point: `Sums` of margin_sums, and the number of rows with D ≠ 0."""

    smooth: float
    meant: float
    weight: Floats
    dual: Floats
    pull: float
    v: Floats
    curved: int


class CurvedSums(MarginSums):
    """The rows of a problem of two classes, looked at from one point after the other."""

    def __init__(self, problem: Problem, pool: Pool) -> None:
        super().__init__(problem, pool)
        design = problem.design
        self._kept = None if on_cluster(design.X) else np.empty(design.n)
        self._seen: tuple[Floats, Any] = np.empty(0), None

    def look(self, u: Floats, loss: Any) -> Look:
        """One reading of the rows; what is asked later is about this point."""
        self._seen = u, loss
        design, size = self._problem.design, self._problem.size

        def part(span: Span) -> Floats:
            rows, out = design.rows(span), np.zeros(TERMS + 1 + 2 * size)
            R, D = self._terms(span, rows, out[:TERMS])
            if self._kept is not None:
                self._kept[slice(*span)] = D
            out[TERMS] = np.count_nonzero(D)
            out[TERMS + 1 :] = combined(rows, R, size).ravel()
            return out

        s, last = design.sum(part, self._pool), TERMS + 1
        v = s[last:].reshape(2, size)
        return Look(float(s[0]), float(s[1]), s[2:4], s[4:6], float(s[6]), v, int(s[TERMS]))

    def _terms(self, span: Span, rows: Any, sums: Floats) -> tuple[Floats, Floats]:
        """αy of either class, and curvatures of some rows."""
        u, loss = self._seen
        y, U, S = self._beside_rows(span, scores(rows, u[None]))
        R, D = np.empty((2, len(y))), np.empty(len(y))
        row_terms.terms(loss, S[0], y, U, R, D, sums)
        row_terms.take_offsets(self._beside(span)[2], R, sums)
        return R, D

    def _bends(self, span: Span, rows: Any) -> Floats:
        """Curvatures of some rows."""
        if self._kept is not None:
            return self._kept[slice(*span)]
        return self._terms(span, rows, np.empty(TERMS))[1]

    def curved(self, p: Floats) -> Floats:
        """Σ Dᵢ⟨p, x̃ᵢ⟩x̃ᵢ: the Hessian of the losses times p."""

        def part(span: Span) -> Floats:
            rows, v = self._problem.design.rows(span), np.empty(len(p))
            designs.curved(rows, self._bends(span, rows), p, v)
            return v

        return self._problem.design.sum(part, self._pool)

    def squares(self) -> Floats:
        """Σ Dᵢx̃ᵢ², column by column: the diagonal of the Hessian of the losses."""

        def part(span: Span) -> Floats:
            rows, h = self._problem.design.rows(span), np.empty(self._problem.size)
            designs.squares(rows, self._bends(span, rows), h)
            return h

        return self._problem.design.sum(part, self._pool)

    def sampled(self, wanted: int, real: Any) -> Iterator[Any]:
        """√(Dᵢ/cᵢ)x̃ᵢ of about so many rows, drawn with the chances cᵢ = min(1, λDᵢ), span by span.

        A row that bends the losses more than others is taken for certain: with a weak penalty few
        rows near the boundary hold all of the Hessian.
        """
        design, rate = self._problem.design, self._rate(wanted)

        def part(span: Span) -> Any:
            D = self._bends(span, design.rows(span) if self._kept is None else None)
            chance = np.minimum(1.0, rate * D)
            which = np.flatnonzero(np.random.default_rng(span[0]).random(len(D)) < chance)
            rows = design.some(span[0] + which).rows((0, len(which)))
            root = np.sqrt(D[which] / chance[which]).astype(real)
            B = np.empty((len(which), self._problem.size), real)
            X = rows.X if isinstance(rows, Dense) else design.X[span[0] + which].toarray()
            np.multiply(X, root[:, None], out=B[:, :-1], casting="same_kind")
            B[:, -1] = root
            return B

        return self._pool.in_order(part, design.spans)

    def _rate(self, wanted: int) -> float:
        """λ with which about `wanted` rows are drawn; infinite where there are no more."""
        design, rate = self._problem.design, 0.0

        def part(span: Span) -> Floats:
            D = self._bends(span, design.rows(span) if self._kept is None else None)
            sure = D * rate >= 1.0
            return np.array([np.count_nonzero(sure), np.count_nonzero(D), D[~sure].sum()])

        for _ in range(ROUNDS):
            sure, curved, rest = design.sum(part, self._pool)
            if curved <= wanted:
                return 1e300
            more = (wanted - sure) / rest if rest > 0.0 else math.inf
            if not more > 1.05 * rate:
                break
            rate = float(more)
        return rate

    def near(self, loss: Pieces, step: Floats, reach: float, most: int) -> NearKinks:
        """The rows that a step `reach` times as long as this one takes across a kink of the loss,
        where all rows were looked at last; not more than `most`, those that get there first.
        """
        design, u = self._problem.design, self._seen[0]
        planes = np.array([u, u + step])

        def part(span: Span) -> list[Any]:
            y, U, S = self._beside_rows(span, scores(design.rows(span), planes))
            z, along = y * S[0], np.abs(S[1] - S[0])
            far = loss.distance(z) / np.maximum(along, 1e-300)
            which = span[0] + np.arange(len(y))
            known = [far, which, y, z, np.broadcast_to(U, len(y))]
            return _nearest(known, int(np.count_nonzero(far <= reach)), most)

        held: list[Any] = [np.empty(0), np.empty(0, np.int64), *[np.empty(0)] * 3]
        for some in self._pool.in_order(part, design.spans):
            held = [np.concatenate(both) for both in zip(held, some, strict=True)]
            held = _nearest(held, len(held[0]), most)
        _, which, y, z, U = held
        rows, B = design.some(which).rows((0, len(which))), np.empty((len(which), len(u)))
        X = rows.X if isinstance(rows, Dense) else design.X[which].toarray()
        np.multiply(X, y[:, None], out=B[:, :-1])
        B[:, -1] = y * self._problem.intercept
        return NearKinks(B, z, U)


def _nearest(known: list[Any], count: int, most: int) -> list[Any]:
    """So many entries with the smallest of the first numbers, at most, in their order."""
    count = min(count, most)
    if count == len(known[0]):
        return known
    which = np.sort(np.argpartition(known[0], count)[:count])
    return [one[which] for one in known]
