"""What stands for H⁻¹ in conjugate gradients, as good as the steps are long.

It is the diagonal of H, where features are many; for dense rows H of a sample, its diagonal raised
to that of H, so that features the sample misses are not left out; for sparse rows, once a step
takes long, H of the columns with most entries (`frequent_columns`). A sample serves for several
steps. Where one takes more products than it cost, a sample is drawn anew in the middle of it, and
where that does not serve either, H of all rows is factored: rows with rare features, such as pixels
at the edge of images, are what samples miss.

Products of features are summed in single precision, unless H is singular to its digits: steps are
right by their products with the rows, and 6,000 rows of 1,000 features take half the time.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.train.convex.curvature import Curvature
from linsep.train.convex.newton import frequent_columns
from linsep.train.convex.newton.frequent_columns import ColumnOrder
from linsep.train.convex.newton.point import Point
from linsep.train.convex.newton.row_products import RowProducts

Floats = npt.NDArray[np.float64]

MOST = 300  # products that a factor may cost
PER_FEATURE = 6  # rows of a sample for each feature: fewer make a poor preconditioner
WIDEST = 4096  # features up to which a matrix of their products is factored
WIDEST_SPARSE = 1024  # the same where rows are sparse, and products of features costly beside them
WORTH = 2.0  # times its price in products that a step takes before a new preconditioner is due
ENTRY, PRODUCT, SYSTEM = 0.5, 0.035, 0.012  # ns of an entry, of n·d² and d³ of the preconditioner


class Preconditioner:
    """The inverse of something like H = R + Σ Dᵢx̃ᵢx̃ᵢᵀ, where rows were looked at last.

    Parameters
    ----------
    rows : labelled rows
    ridge : R, the intercept last
    free : whether there is an intercept
    order : of sparse columns by their use
    like : one of a solver that has ended, which serves again
    """

    def __init__(
        self,
        rows: RowProducts,
        ridge: Floats,
        free: bool,
        order: ColumnOrder,
        like: "Preconditioner | None" = None,
    ) -> None:
        self._rows, self._ridge, self._free, self._order = rows, ridge, free, order
        self.made: Point | None = None  # where
        self.all_rows: bool | None = None if like is None else like.all_rows  # None: no factor
        self.block = False  # whether frequent columns are factored
        self.single: bool = like is None or like.single
        self._inverse: Any = None if like is None else like._inverse
        self._price: float = 0.0 if like is None else like._price
        self._sample = max(1024, PER_FEATURE * rows.d)

    @property
    def suits(self) -> bool:
        """Whether features are few enough for a matrix of their products."""
        d = self._rows.d
        few = d <= (WIDEST_SPARSE if self._rows.sparse else WIDEST)
        return few and self.cost(min(self._sample, self._rows.n)) <= MOST

    def cost(self, rows: int) -> float:
        """What the factor of a Hessian of some rows costs, in products with all of them."""
        d = self._rows.d
        return (PRODUCT * rows * d + SYSTEM * d * d) * d / (ENTRY * self._rows.entries)

    def prepare(self, p: Point, used: int) -> None:
        """Make one where there is none, or where the last step `used` more products than a new one
        costs."""
        if self._inverse is None or used > WORTH * self._price:
            self._make(p, p.curved <= 2 * self._sample if self.suits else None)

    def improve(self, p: Point, used: int) -> bool:
        """Make a better one where a step has used more products than it costs; whether it was."""
        if used >= self._order.price and not (self.block and self.made is p):
            self._factor_frequent(p, self._rows.squares())
            return True
        if self.all_rows is None or (self.made is p and self.all_rows):
            return False
        every = self.made is p  # a sample does not serve
        if used < WORTH * (self.cost(p.curved) if every else self._price):
            return False
        self._make(p, every or p.curved <= 2 * self._sample)
        return True

    def restore(self, p: Point, all_rows: bool | None, single: bool, block: bool) -> None:
        """Make that of an earlier run again, at the point where it was made."""
        self.single, self.block = single, block
        self._make(p, all_rows)

    def _make(self, p: Point, all_rows: bool | None) -> None:
        """H of all rows or of a sample factored, or None of it: a diagonal, or its block."""
        self.made, self.all_rows = p, all_rows
        if all_rows is not None:
            self._price = self.cost(p.curved if all_rows else min(self._sample, p.curved))
        if all_rows:
            self._inverse = self._factored(math.inf, 0.0)
            return
        squares = self._rows.squares()
        if all_rows is not None:
            self._inverse = self._factored(self._rows.rate(self._sample), squares)
        elif self.block:
            self._factor_frequent(p, squares)
        else:
            diagonal = self._ridge + squares
            diagonal[diagonal <= 0.0] = 1.0
            self._inverse, self._price = partial(np.multiply, 1.0 / diagonal), 1.0

    def _factor_frequent(self, p: Point, squares: Floats) -> None:
        """H of the most frequent columns factored, and the diagonal of the others."""
        diagonal = self._ridge + squares
        diagonal[diagonal <= 0.0] = 1.0
        H = self._rows.frequent_products(self._order.k)
        H[:-1, -1] *= self._free
        block = frequent_columns.factored(H, diagonal)
        self.made, self.block = p, block is not None
        if block is None:
            self._order = self._order._replace(price=math.inf)
        else:
            self._inverse, self._price = block, self._order.price

    def hessian(self, rate: float = math.inf, real: Any = np.float64, squares: Any = 0.0) -> Floats:
        """H of the rows drawn at a rate, its diagonal raised to that of all."""
        H = self._rows.products(rate, real)
        H[np.diag_indices(len(H))] += self._ridge + np.maximum(0.0, squares - H.diagonal())
        if not self._free:
            H[-1] = H[:, -1] = 0.0
        return H

    def _factored(self, rate: float, squares: Any) -> Callable[[Floats], Floats]:
        while True:
            real = np.float32 if self.single else np.float64
            H = self.hessian(rate, real, squares)
            curvature = Curvature(H, 4.0 * float(np.finfo(real).eps))
            if not (curvature.singular and self.single):
                return curvature.solve
            self.single = False  # nor would it do nearer to the optimum

    def solve(self, r: Floats) -> Floats:
        """Nearly H⁻¹r."""
        y = np.asarray(self._inverse(r))
        if not self._free:
            y[-1] = 0.0
        return y
