"""Some rows as they are, and a quadratic in place of all others: a smaller problem of its kind.

    M(u) = ½ Σ rⱼuⱼ² + Σ_K Uᵢ ℓ(zᵢ) + e + ⟨c, u − a⟩ + ½(u − a)ᵀG(u − a)

Around the point a, where all rows were read, the others are their second-order expansion. Newton's
step goes wrong where few rows K leave theirs: rows deep on one side that a step drives across zero,
as with columns of heavy tails, or rows at the corner of a loss. Kept as they are, they hold up the
steps of the others no longer. With a hinge whose corner is so narrow that only K lies in it, the
others are linear, G = 0: M is then P where none of them crosses its corner, and never above P, so
that multipliers of K bound the optimum of P from below.
"""

import math
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.train.convex.designs.design import ALONE
from linsep.train.convex.parts.dual_bounds import Bound, Point, Rest, rounded
from linsep.train.convex.parts.margin_sums import MarginSums, Sums
from linsep.train.convex.problem import Problem

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


REACH = 4.0  # widths from the corner within which rows keep their losses
FEWEST_KEPT, FEW, KEPT = 64, 32, 1 << 22  # rows kept at most: one in FEW; entries of all of them
KNOWN = 0.1  # of a step's error that rows left out may make, if they are as many as those kept
STEPS = 40  # of a model
AIM = 0.3  # part of the gap asked for to which rows near the corner are solved
SURE = 1e-3  # part of a decrement to which a model with kept rows is minimised
WORTH = 4  # times as many rows, from which some of them, or a sample, are worth a problem
PATIENCE = 30  # steps that may fail to halve the gap


def kept(
    problem: Problem, which: Array, all_rows: Sums, at: Floats, loss: Any
) -> tuple[Problem, Rest]:
    """The problem of these rows alone, and what stands for the others, of whose sums with these
    `all_rows` tells; linear where no Hessian is among them."""
    few = problem.of_rows(which, 1.0)
    own = MarginSums(few, Pool(1)).at(at, loss, bool(all_rows.hessian.size))
    slope = own.v.sum(axis=0) - all_rows.v.sum(axis=0)
    bend = all_rows.hessian - own.hessian if all_rows.hessian.size else all_rows.hessian
    return few, Rest(at, all_rows.smooth - own.smooth, slope, bend)


class KeepsRows:
    """Steps of Newton's method with some rows alone."""

    problem: Problem
    pool: Pool
    tol: float
    n_iter: int
    _since: int
    _sums: MarginSums
    _bounds: Any
    _at: Any
    _low: Any
    _reach: float  # from the corner within which rows keep their losses, once they do
    _kept: Array  # rows that keep their losses in every step
    _candidate: Any
    _look: Any
    _arrive: Any
    _length: Any
    _step: Any

    def _keep(self, p: Point, step: Floats, error: float) -> bool:
        """Keep the losses of rows that make most of a model's `error`; whether there are any."""
        n, size = self.problem.design.n, self.problem.size
        most = min(max(FEWEST_KEPT, n // FEW), KEPT // size)
        least = KNOWN * abs(error) / most
        worst = self._sums.misjudged(p.u, p.u + step, rounded(self.problem.loss, p.h), least, most)
        rows = np.union1d(self._kept, worst)
        if len(rows) == len(self._kept) or len(rows) * size > KEPT:
            return False
        self._kept = rows
        return True

    def _held(self, p: Point, decrement2: float) -> Floats:
        """The step to the minimum of the model that keeps the losses of some rows."""
        loss = rounded(self.problem.loss, p.h)
        few, rest = kept(self.problem, self._kept, p.sums, p.u, loss)
        run = self._inner(few._replace(loss=loss), rest.plus(p.rest))
        return run.minimised(p.u, SURE * 0.5 * decrement2 / p.primal).u - p.u

    def minimised(self, u: Floats, coarse: float, steps: int = STEPS) -> Point:
        """Where steps from u lead, to about so small a part of P, or as many as are allowed."""
        self._arrive(self._look(u, 0.0))
        for _ in range(steps):
            if not self._step(coarse):
                break
        return self._at  # type: ignore[no-any-return]

    def _inner(self, problem: Problem, rest: Rest | None = None) -> Self:
        """The same for other rows, by the same threads where they are many."""
        run: Self = type(self)(problem, 1, rest=rest)  # type: ignore[call-arg]
        if problem.design.entries > ALONE:
            run._sums = run._bounds.sums = MarginSums(problem, self.pool)
        return run

    def _among_near(self, coarse: float) -> bool:
        """Narrow the corner with the rows near it alone, the others linear; then read all rows.

        False where these are too many, or P does not fall.
        """
        p, loss, n = self._at, self.problem.loss, self.problem.design.n
        assert p is not None
        if not p.h or not p.rest.linear:
            return False
        reach = self._reach or REACH * p.h
        most = min(n // WORTH, KEPT // self.problem.size)
        which = self._sums.bent(p.u, loss.rounded(reach), most)
        if which is not None and len(which):
            sums = p.sums._replace(hessian=np.empty((0, 0)))
            few, rest = kept(self.problem, which, sums, p.u, rounded(self.problem.loss, p.h))
            run = self._inner(few, rest.plus(p.rest))
            run.tol = AIM * max(self.tol, coarse)
            run._arrive(run._look(p.u, self._wide(p, reach)))
            while not run._candidate.within(run.tol) and run._since <= PATIENCE:
                if not run._step(AIM * coarse):
                    break
            low, high = run._low, run._bounds.high
            assert low is not None
            q = self._look(low.u, low.h, curved=False)
            if not q.primal < p.primal:
                reach, step = 2.0 * reach, low.u - p.u
                q = self._look(
                    p.u + self._length(p._replace(h=low.h), step) * step, low.h, curved=False
                )
            self._bounds.raised(
                Bound(high.value, p.u, p.h, np.ones(2), None, which, run._bounds.multipliers())
            )
            if q.primal < p.primal or self._candidate.within(self.tol):
                self._reach = reach
                self.n_iter += 1
                self._arrive(q)
                return True
        if self._reach:  # go on as wide as rows were kept
            self._at, self._reach = self._look(p.u, reach / REACH), 0.0
        return False

    def _wide(self, p: Point, reach: float) -> float:
        """The width to begin with: all of it at first, then as the gap is."""
        if not self._reach:
            return p.h
        gap = self._candidate.gap
        return min(reach / REACH, p.h * math.sqrt(max(1.0, gap / (self.tol * p.primal))))
