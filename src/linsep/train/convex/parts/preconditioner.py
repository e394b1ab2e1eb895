"""What stands for H⁻¹ = (R + Σ Dᵢx̃ᵢx̃ᵢᵀ)⁻¹ in conjugate gradients, as good as the steps are long.

It is the diagonal where features are many; otherwise H of a sample of rows, its diagonal raised to
that of H, so that features the sample misses are not left out. A factor serves for several steps.
Where one takes more products than the factor cost, it is made anew; where it was new, of four times
as many rows, and at last of all: rows with rare features are what samples miss.

Products of features are summed in single precision, unless H is singular to its digits: steps are
right by their products with the rows, and 6,000 rows of 1,000 features take half the time.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.train.convex.curvature import Curvature
from linsep.train.convex.parts.curved_sums import CurvedSums
from linsep.train.convex.problem import Problem

Floats = npt.NDArray[np.float64]

WIDEST, WIDEST_SPARSE = 4096, 1024  # features up to which H is factored, of dense and sparse rows
PER_FEATURE, FEWEST, GROWTH = 6, 1024, 4  # rows of a first sample; how much larger each next is
TOGETHER = 2048  # of those added up at a time
PAIR, SYSTEM = 0.07, 0.024  # products with an entry cost as much: two features of a row; d³ of both
DEAREST, WORTH = 300, 2.0  # products that a factor may cost; times its price that a step may take
LONGEST, SHORTEST = 300, 10  # products of a step, at most, and before it is called long


class Preconditioner:
    """The inverse of something like the Hessian where rows were looked at last.

    Attributes
    ----------
    rows : of which the factor is made; 0 where it is the diagonal
    made, age : whether there is one, and the steps that it has served for
    single : whether products of features are summed in single precision
    longest : products after which a step had better end: a better factor is due
    """

    def __init__(self, problem: Problem, sums: CurvedSums) -> None:
        self._problem, self._sums = problem, sums
        design = problem.design
        self.rows = min(design.n, max(FEWEST, PER_FEATURE * design.d))
        few = design.d <= (WIDEST_SPARSE if design.sparse else WIDEST)
        if not few or self.price(self.rows) > DEAREST:
            self.rows = 0
        self.age, self.made = 0, False
        self.single, self.longest = True, float(LONGEST)
        self._inverse: Any = None

    def price(self, rows: int) -> float:
        """What a factor of so many rows costs, in products with all of them."""
        d = self._problem.design.d
        return (PAIR * rows + SYSTEM * d) * d * d / max(1, self._problem.design.entries)

    def prepare(self, curved: int, used: int) -> bool:
        """Make one, if one is due: `curved` rows have D ≠ 0, the last step took `used` products."""
        due = not self.made or used >= (self.longest if self.rows else WORTH)
        if not self.made:
            self.rows = curved if curved <= 2 * self.rows else self.rows
        elif due and self.rows and self.age == 0:
            self.rows *= GROWTH
        if due:
            self.make()
        else:
            self.age += 1
        larger = self.rows * (GROWTH if self.age == 0 else 1)
        better = self.rows and not (self.age == 0 and self.rows >= curved)
        price = self.price(min(larger, curved)) if better else math.inf
        self.longest = min(LONGEST, max(SHORTEST, WORTH * price))
        return due

    def make(self) -> None:
        """Make one where rows were looked at last."""
        self.age, self.made = 0, True
        squares = self._problem.ridge + self._sums.squares()
        if not self.rows:
            squares[squares <= 0.0] = 1.0
            self._inverse = lambda r: r / squares
            return
        while True:
            real = np.float32 if self.single else np.float64
            H = self.hessian(self.rows, real, squares)
            curvature = Curvature(H, 4.0 * float(np.finfo(real).eps))
            if not (curvature.singular and self.single):
                break
            self.single = False  # nor would it do nearer to the optimum
        self._inverse = curvature.solve

    def hessian(self, rows: int, real: Any = np.float64, least: Any = 0.0) -> Floats:
        """H of so many rows, its diagonal raised to what it is at `least`."""
        size, free = self._problem.size, self._problem.intercept
        H, held = np.zeros((size, size)), [np.empty((0, size), real)]
        for some in self._sums.sampled(rows, real):
            held.append(some)
            if sum(map(len, held)) >= TOGETHER:
                B, held = np.concatenate(held), []
                H += B.T @ B
        if held:
            B = np.concatenate(held)
            H += B.T @ B
        H.flat[:: size + 1] = np.maximum(H.diagonal() + self._problem.ridge, least)
        if not free:
            H[-1] = H[:, -1] = 0.0
        return H

    def solve(self, r: Floats) -> Floats:
        """Nearly H⁻¹r."""
        y = np.asarray(self._inverse(r))
        if not self._problem.intercept:
            y[-1] = 0.0
        return y
