"""Columns brought to one scale, so that one step size suits all of them.

Columns are seen as z = (x·2^-e − m)/s, with mean zero and spread one where scaling is asked for;
weights are carried back to the units of the data.
"""

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.rows.rows import CSR
from linsep.train.closed.frame import Frame, power
from linsep.train.closed.moments import Floats
from linsep.train.problem import Block, Problem


class Lens(NamedTuple):
    """z = (x · exact − shift) · rate, column by column; `exact` are powers of two."""

    exact: Floats
    shift: Floats
    rate: Floats

    def part(self, chosen: Any) -> "Lens":
        """The lens of some of the columns."""
        return Lens(self.exact[chosen], self.shift[chosen], self.rate[chosen])

    def seen(self, rows: Any) -> "Lens":
        """The lens as kernels take it, which do not shift sparse rows: `exact` holds all of it."""
        if not isinstance(rows, CSR):
            return self
        return Lens(self.exact * self.rate, self.shift, self.rate)

    def of(self, X: Any) -> Any:
        """Rows of z. Sparse rows are never shifted, and stay sparse."""
        if sp.issparse(X):
            factor = self.exact * self.rate
            return sp.csr_array((X.data * factor[X.indices], X.indices, X.indptr), shape=X.shape)
        Z = X * self.exact
        Z -= self.shift
        Z *= self.rate
        return Z


def lens_of(problem: Problem, frame: Frame, centre: bool, penalty: float = 0.0) -> Lens:
    """Mean zero (of dense rows, with `centre`) and mean square one.

    With a `penalty`, the curvature that a squared weight adds, the sum of both curvatures is one.
    """
    d = problem.n_features
    shift = frame.shares @ frame.means if centre and not sp.issparse(problem.X) else np.zeros(d)
    lens = Lens(power(-frame.exponents), shift, np.ones(d))

    def squares(block: Block) -> Floats:
        part = frame.part(block)
        return _weighted_squares(lens.of(part.X), part.weights)

    spread = np.sqrt(problem.sum(squares, np.add) / frame.total)
    alive = spread > 2 * frame.rounding * frame.top
    curved = np.hypot(spread, math.sqrt(penalty) * lens.exact)
    return lens._replace(rate=np.divide(1.0, curved, out=np.zeros(d), where=alive))


def _weighted_squares(Z: Any, weights: Floats) -> Floats:
    return np.asarray(weights @ (Z.power(2) if sp.issparse(Z) else np.square(Z)))


class View:
    """A problem seen through a lens, and how steep a sum of squares of its scores is.

    Parameters
    ----------
    problem : rows in blocks
    frame : units in which every column is tame
    lens : the columns z
    free : whether there is an intercept
    """

    def __init__(self, problem: Problem, frame: Frame, lens: Lens, free: bool) -> None:
        self.problem, self.frame, self.lens, self.free = problem, frame, lens, free

    def steepness(self) -> float:
        """The largest eigenvalue of the second derivative, by the power method, to some percent."""
        d = self.problem.n_features
        v = np.append(np.cos(np.arange(d)), 1.0 * self.free)
        largest = 0.0
        for _ in range(30):
            length = float(np.sqrt(np.square(v).sum()))
            if not 0 < length < np.inf:
                return largest
            v /= length
            u = self.curve(v)
            before, largest = largest, float(v @ u)
            v = u
            if abs(largest - before) <= 0.01 * largest:
                break
        return largest

    def curve(self, v: Floats) -> Floats:
        """(1/N) Σ wᵢ (zᵢ, 1)⟨(zᵢ, 1), v⟩"""

        def of(block: Block) -> Floats:
            part = self.frame.part(block)
            Z = self.lens.of(part.X)
            s = part.weights * (np.asarray(Z @ v[:-1]) + v[-1])
            return np.append(np.asarray(Z.T @ s), s.sum() * self.free)

        with Pool(1), np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.problem.sum(of, np.add) / self.frame.total)

    def lengths(self, add: Callable[[float, float], float]) -> float:
        """The largest (add = max) or the sum (add = +) of wᵢ‖(zᵢ, 1)‖² / mean w."""

        def of(block: Block) -> float:
            part = self.frame.part(block)
            Z = self.lens.of(part.X)
            squares = np.asarray((Z.power(2) if sp.issparse(Z) else np.square(Z)).sum(axis=1))
            lengths = part.weights * (squares + self.free)
            return float(lengths.max(initial=0.0) if add is max else lengths.sum())

        with np.errstate(over="ignore", invalid="ignore"):
            return self.problem.sum(of, add) / (self.frame.total / self.problem.n_rows)

    def step_size(self, batch_size: int | None, bend: float = 1.0, typical: bool = False) -> float:
        """1/(λ + r²/B): safe for the mean of B rows of square length up to r², where the loss has
        a second derivative of at most `bend`. With `typical`, r² is the mean of the squares."""
        steep = 1.05 * self.steepness()
        if batch_size is not None:
            r2 = self.lengths(operator.add) / self.problem.n_rows if typical else self.lengths(max)
            steep += r2 / batch_size
        return 1.0 / (bend * steep) if 0 < bend * steep < np.inf else 1.0


def raw_lens(d: int) -> Lens:
    """The columns as they are."""
    return Lens(np.ones(d), np.zeros(d), np.ones(d))
