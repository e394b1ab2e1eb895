"""Limited-memory BFGS for losses without a penalty, over any rows and any number of classes.

Newton's method needs a Hessian; where there are too many features for one, what the last steps
told of it stands in (`linsep.train.convex.lbfgs`). The intercepts are always at their best, so that
the slope in the weights is that of the losses as a function of the weights alone. Without a penalty
there is no dual: the run ends where the slope along standard columns is lost in rounding, or at a
separator, beyond which the losses fall for ever.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.train.convex.lbfgs import Memory
from linsep.train.convex.steps.score_descent import ScoreDescent

Floats = npt.NDArray[np.float64]

PAIRS = 20  # steps remembered


class QuasiNewton:
    """L-BFGS steps under way, a walk of `linsep.train.convex.steps.score_walks.Stepping`."""

    least_slope = 1e-16  # squared, of the objective: stands for eight digits of the weights

    def __init__(self, descent: ScoreDescent) -> None:
        self.descent = descent
        self._S = descent.scores(descent.a)
        self.seen = descent.evaluate(self._S)
        self._memory, self._unit = Memory(PAIRS), 1.0 / descent.loss.bend
        self.stalled = 0

    def go(self, epoch: int) -> tuple[int, float]:
        """One step."""
        descent, seen = self.descent, self.seen
        change = -self._memory.apply(seen.slope, lambda g: self._unit * g)
        slope = float(np.vdot(seen.slope, change))
        if not slope < 0.0:
            self._memory.clear()
            change = -self._unit * seen.slope
            slope = float(np.vdot(seen.slope, change))
        along, codes, size = descent.scores(change), descent.problem.codes, 1.0
        while size > 1e-8:
            losses = descent.loss.losses(self._S + size * along + seen.b, codes)
            if float(descent.c @ losses) <= seen.value + 1e-4 * size * slope + 1e-15 * seen.value:
                break
            size /= 2.0
        descent.a, descent.b = seen.a + size * change, seen.b
        self._S = descent.scores(descent.a) if epoch % 50 == 0 else self._S + size * along
        self.seen = descent.evaluate(self._S)
        step, turn = size * change, self.seen.slope - seen.slope
        self._memory.add(step, turn)
        if float(np.vdot(step, turn)) > 0.0:
            self._unit = float(np.vdot(step, turn)) / float(np.vdot(turn, turn))
        fell = seen.value - self.seen.value > 1e-15 * seen.value
        self.stalled = 0 if fell else self.stalled + 1
        return 1, size

    def state(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("_S", "seen", "_unit", "stalled")}
        return {**own, "pairs": self._memory.pairs}

    def restore(self, state: dict[str, Any]) -> None:
        for name in ("_S", "seen", "_unit", "stalled"):
            setattr(self, name, state[name])
        self._memory.pairs = state["pairs"]
