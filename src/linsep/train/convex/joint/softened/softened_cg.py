"""Crammer and Singer's machine with many weights and a weak penalty: a softened loss, followed.

As in `softened_newton`, ε falls and Newton's method follows the optimum of P_ε. H is a matrix of
all weights, which is not made of all rows in every step: steps are solved for by conjugate
gradients, with a factor of H of the rows and classes that count as preconditioner
(`joint_factor`). It serves until a step has taken as many products as another one costs.

Where C, or the scale of the columns, is large, the penalty holds nothing, and what few rows say
(pixels at the edge of images) cuts steps short. So it is raised while ε is wide, to a part of what
the kinks leave of the gap, and falls with ε:

    λ = 1 + σ√ε·kink / ½‖W‖²,   H dW = −∇P_ε − (∂∇P_ε/∂ε) dε − dλ·W

This changes the optimum no more than ε does; at the last ε, λ = 1. How far ε falls at once depends
on how steps went: a row far from its kink has no part in H, and where a step drives such rows
across, the line search cuts it. Solutions are needed to some digits, or the way is lost.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans
from linsep.train.convex.drive import Candidate
from linsep.train.convex.joint.softened.joint_factor import JointFactor
from linsep.train.convex.joint.softened.softened_newton import (
    NEGLIGIBLE,
    SETTLED,
    WIDEST,
    SoftenedNewton,
    SoftRows,
)

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

NARROWER, FASTEST, SLOWEST = 0.75, 0.6, 0.9  # part to which ε falls: at first, bounds of it
MORE, LESS = 1.25, 0.7  # powers of it after a step that went well, and after several
RAISED = 0.1  # σ
LEFT = 3e-3  # part of the gradient that a step may leave
MOST = 300  # products for a solution, at most
STALE = 0.5  # of its price: products of a step after which the next has another factor
STEPS = 300  # at most
APART = 1e-5  # P for each Uᵢ below which rows are set apart: there the penalty is all that is left
LARGEST = 8192  # weights without those of a class, of which a matrix is made
PART = 4096  # rows whose products one thread makes
KEPT = ("made", "raised", "stride", "steps", "t", "products")  # from one step to the next
# Costs in nanoseconds of one core: estimates, of which only the ratios matter.
PAIR, CUBE, ENTRY, SOLVE = 0.04, 0.0075, 0.06, 0.8  # pairs·d², (Kd)³; n·K·d, (Kd)² of a product


class ProductRows(SoftRows):
    """Rows whose H is known by its products; parameters as of `SoftRows`.

    Attributes
    ----------
    made : W, ε and λ where the factor was made, if any
    """

    _factor: JointFactor | None = None
    made: tuple[Floats, float, float] | None = None
    stride, steps, t = NARROWER, 0, 0.0  # part to which ε falls, steps with it, the last's length
    products = 0  # for the last step

    def gather(self) -> None:
        """H here: the rows that have a part in it."""
        self._used = np.flatnonzero(self.unsure > NEGLIGIBLE)
        every = 4 * len(self._used) > 3 * len(self.codes)
        some: Any = slice(None) if every else self._used
        whole = self._factor is not None and self._factor.whole and not every
        real = np.float64 if whole else self.X.dtype
        self._x, self._p = self.X[some].astype(real, copy=False), self.P[:, some].T.astype(real)
        self._c = (self.caps[some] / self.epsilon).astype(real)
        self._fresh = False

    def product(self, Q: Floats) -> Floats:
        """HQ"""
        q = np.ascontiguousarray(Q.T, self._x.dtype)

        def one(span: tuple[int, int]) -> Floats:
            some = slice(*span)
            x, p = self._x[some], self._p[some]
            R = x @ q
            R -= np.einsum("ik,ik->i", R, p)[:, None]
            R *= p
            R *= self._c[some, None]
            return (R.T @ x).astype(np.float64, copy=False)

        HQ = self.raised * self.ridge * Q
        return HQ + self.pool.sum(one, spans(len(self._x), PART)) if len(self._x) else HQ

    def squares(self) -> Floats:
        """The diagonal of H without the ridge, (K, d)."""

        def one(span: tuple[int, int]) -> Floats:
            some = slice(*span)
            x, p = self._x[some], self._p[some]
            return ((p * (1 - p) * self._c[some, None]).T @ (x * x)).astype(np.float64, copy=False)

        if not len(self._x):
            return np.zeros_like(self.W)
        return self.pool.sum(one, spans(len(self._x), PART))

    def factor(self) -> JointFactor:
        """Another factor, of H here."""
        self._factor = None
        self.gather()
        given = self.X, self.P, self.caps / self.epsilon, self._used
        made = JointFactor(*given, self.raised * self.ridge, self.squares(), self.pool)
        self._factor, self.made = made, (self.W, self.epsilon, self.raised)
        return made

    def _price(self, factor: JointFactor) -> float:
        """What another factor costs, in products."""
        K, d = self.W.shape
        cost = PAIR * factor.pairs * d * d + CUBE * factor.size**3
        return cost / (ENTRY * len(self._x) * K * d + SOLVE * factor.size**2 + 1.0)

    def solve(self, g: Floats) -> Floats:
        """About H⁻¹g, by preconditioned conjugate gradients."""
        inverse, r = self._factor or self._again(), g.copy()
        s, y = np.zeros_like(r), inverse(r)
        q, rho = y.copy(), float(np.vdot(r, y))
        stop, price = LEFT**2 * rho, self._price(inverse)
        for _ in range(MOST):
            if not rho > stop:
                break
            if not self._fresh and self.products >= price:
                inverse = self._again()
                y, before = inverse(r), rho
                rho = float(np.vdot(r, y))
                q, stop = y.copy(), stop * rho / before
            Hq = self.product(q)
            self.products += 1
            curved = float(np.vdot(q, Hq))
            if not curved > 0.0:
                break
            s += rho / curved * q
            r -= rho / curved * Hq
            y = inverse(r)
            rho, before = float(np.vdot(r, y)), rho
            q = y + rho / before * q
        return s

    def _again(self) -> JointFactor:
        """A factor of H where rows were gathered, which may be before ε fell."""
        now = self.W, self.epsilon, self.raised
        if self._at != now[1:]:
            self.go(self.W, *self._at)
        made = self.factor()
        self.gather()
        self._fresh = True
        if self._at != now[1:]:
            self.go(*now)
        return made

    def go(self, W: Floats, epsilon: float, raised: float) -> None:
        """Go to W, with another ε and λ."""
        self.raised = raised
        self.evaluate(W, epsilon)

    def step(self, least: float) -> bool:
        """One step of Newton's method, with a narrower ε where this one has no more to say and the
        kinks leave more than `least`; whether P_ε fell."""
        self.gather()
        self._at = self.epsilon, self.raised
        inverse = self._factor
        if inverse is None or self.products > STALE * self._price(inverse):
            inverse = self._again()
        self.products = 0
        on = self.kink > least or self.raised > 1.0
        g, step = self.gradient, np.zeros_like(self.W)
        about = 0.5 * float(np.vdot(g, inverse(g)))  # an old factor may tell too much
        narrowed = on and about <= SETTLED * self.kink
        if not narrowed:
            step, g = self.solve(-g), np.zeros_like(g)
            promised = -0.5 * float(np.vdot(step, self.gradient))
            narrowed = on and promised <= SETTLED * self.kink
        if narrowed:
            step = step - self.solve(g + self._narrow(least))
        self.steps += 1
        self.t = self.length(step)
        if self.t == 0.0:
            return narrowed
        self.evaluate(self.W + self.t * step, self.epsilon)
        return True

    def _narrow(self, least: float) -> Floats:
        """Go to a narrower ε and λ; how the gradient changes, as it is foretold from here."""
        if self.steps <= 1 and self.t > 0.8:
            self.stride = max(FASTEST, self.stride**MORE)
        elif self.steps > 2 or self.t < 0.3:
            self.stride = min(SLOWEST, self.stride**LESS)
        change, before, pull = np.zeros_like(self.W), self.raised, self.ridge * self.W
        epsilon, raised = self.epsilon, 1.0
        if self.kink > least:
            epsilon = self.stride * self.epsilon
            change = (epsilon - self.epsilon) * self.drift()
            raised = min(before, 1.0 + self.stride**2 * self.due())
        self.steps = 0
        self.go(self.W, epsilon, raised)
        return change + (raised - before) * pull

    def due(self) -> float:
        """λ − 1 for what the kinks leave here."""
        held = 0.5 * float(np.sum(self.ridge * self.W * self.W))
        return RAISED * math.sqrt(self.epsilon) * self.kink / held if held > 0.0 else 0.0

    def begin(self) -> None:
        """Regression on the classes: the first step from W = 0, where H is the same for each."""
        K = len(self.P)

        def one(span: tuple[int, int]) -> Floats:
            some = slice(*span)
            x, own = self.X[some], np.zeros((K, span[1] - span[0]))
            own[self.codes[some], np.arange(len(x))] = self.caps[some]
            a = x * np.sqrt(self.caps[some])[:, None].astype(x.dtype)
            return np.concatenate([(a.T @ a).astype(np.float64), own @ x])

        sums = self.pool.sum(one, spans(len(self.codes), PART))
        G, targets = sums[:-K] / (K * WIDEST), sums[-K:]
        G.flat[:: len(G) + 1] += self.ridge + 1e-6 * G.diagonal().max()
        W = np.linalg.solve(G, (targets - targets.mean(axis=0)).T).T
        self.go(np.ascontiguousarray(W), WIDEST, 1.0)
        self.go(self.W, WIDEST, 1.0 + self.due())


class SoftenedNewtonCG(SoftenedNewton):
    """The method as a solver, without intercepts; parameters as of `SoftenedNewton`.

    It ends where classes can be set apart: the path to a wide margin is long.

    Examples
    --------
    >>> from linsep.train.convex.drive import Goal, drive
    >>> X, codes = np.array([[0.0, 2.0], [2.0, 0.0], [-2.0, -2.0]]), np.array([0, 1, 2])
    >>> solution = drive(SoftenedNewtonCG(X, codes, C=10.0, n_classes=3), Goal(1e-6))
    >>> solution.status.name, (X @ solution.w.T).argmax(axis=1)
    ('converged', array([0, 1, 2]))
    """

    name = "newton-cg"

    def _rows_of(self, X: Array, codes: Array, caps: Floats, ridge: Floats) -> ProductRows:
        return ProductRows(X, codes, caps, ridge, self._K, self.pool)

    def _first(self) -> None:
        if self._start is not None:
            super()._first()
            return
        self._rows.begin()
        self._keep()

    def candidates(self) -> Iterator[Candidate]:
        """One for each step, as long as the kinks have something to say."""
        apart = APART * float(self._caps.sum())
        for candidate in super().candidates():
            yield candidate
            if self.n_iter >= STEPS or candidate.primal < apart:
                return

    def state(self) -> dict[str, Any]:
        rows = self._rows
        return {**super().state(), **{name: getattr(rows, name) for name in KEPT}}

    def restore(self, state: dict[str, Any]) -> None:
        self._begin()
        rows, made = self._rows, state["made"]
        if made is not None:  # the factor is made again where it was
            rows.go(*made)
            rows.factor()
        rows.go(state["W"], state["epsilon"], state["raised"])
        for name in KEPT[2:]:
            setattr(rows, name, state[name])
        self._lowest, self._highest = state["lowest"], state["highest"]
        self.n_iter, self._halved, self._since = (state[k] for k in ("n_iter", "halved", "since"))
        self._restored = True
