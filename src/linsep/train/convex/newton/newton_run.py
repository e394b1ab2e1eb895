"""A whole run of Newton's method in one compiled call, for few rows or a sample of many.

The steps are those of `linsep.train.convex.newton.full_newton`. Where a problem is small, handing
arrays to compiled code costs more than the sums: so that nothing is handed back between the steps.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import inline, kernel
from linsep.train.convex.losses import Hinge, Logistic, SmoothedHinge, SquaredHinge
from linsep.train.convex.newton.full_sums import (
    add_margins,
    solve_newton,
)
from linsep.train.convex.newton.row_layouts import GROUP, VECTOR, gather
from linsep.train.convex.newton.row_terms import (
    SUMS,
    add_along,
    add_hinge,
    add_logistic,
    chunk,
    foretell,
)

Floats = npt.NDArray[np.float64]

LOGISTIC, HINGE, SQUARED = 0, 1, 2
KINDS = {"logistic": LOGISTIC, "hinge": HINGE, "squared_hinge": SQUARED}
COMPILED = 160  # features up to which the compiled factorisation is as quick as the library's
CLOSED, STUCK, SINGULAR, MORE = 0, 1, 2, 3
"""How a run ends: the gap is closed, no step succeeds, the Hessian is singular, steps are left."""
PATIENCE = 30  # steps that may fail to halve the gap
NARROWING = 0.4  # the least part of a width of the kink that the next one is
LEAST = 1e-7  # width below which the rows near the kink are too few to steer by
BALANCED = 1e-9  # of Σ α: what Σ αy may be where it should be zero
NEAR = 4.0  # times the gap asked for that a step may err by and foretell the end
U, STEP, GRADIENT, SCALE, RIDGE, BEST = 0, 1, 2, 3, 4, 5  # rows of what is kept for each feature
DZ, FORETOLD, HIGHEST = 6, 7, 8  # of what is kept for each row, after twice z, α and D

_BEGIN = np.array([np.inf, 0.0, 0.0, 0.0, -1.0, np.inf, 0.0])
"""P, D, steps, width, the point reached, and the gap last halved, so many steps ago."""


class CompiledRun:
    """Where a run in one compiled call is: what it keeps for each feature and row, its bounds.

    Attributes
    ----------
    primal, dual, steps : the lowest P, the highest D, and the steps made
    """

    features: Floats
    per_row: Floats
    _state: Floats
    _sums: Floats

    def state(self) -> list[Floats]:
        """What the next step depends on."""
        return [one.copy() for one in (self.features, self.per_row, self._state, self._sums)]

    def restore(self, state: list[Floats]) -> None:
        """Go on from there."""
        mine = self.features, self.per_row, self._state, self._sums
        for one, kept in zip(mine, state, strict=True):
            one[:] = kept

    primal = property(lambda self: float(self._state[0]))
    dual = property(lambda self: float(self._state[1]))
    steps = property(lambda self: int(self._state[2]))
    u = property(lambda self: self.features[U])
    best = property(lambda self: self.features[self._best])
    alpha = property(lambda self: self.per_row[HIGHEST])
    _best = 0  # row of `features` that holds the best weights


class NewtonRun(CompiledRun):
    """A problem, where its run is, and the room that it needs.

    Attributes
    ----------
    h : width of the smoothed kink
    """

    _best = BEST

    def __init__(
        self, kind: int, rows: Any, y: Floats, caps: Floats, ridge: Floats, free: bool
    ) -> None:
        n, size = len(y), len(ridge)
        width = -(-(size + 1) // VECTOR) * VECTOR
        self._given = (kind, rows, y, caps, free)
        self.features = np.zeros((6, size))
        self.features[RIDGE] = ridge
        self.per_row = np.empty((9, n))
        self.per_row[DZ:] = 0.0
        self._room = np.empty((2, size)), np.empty((2 * size + 3 + GROUP, width)), chunk()[0]
        self._state = _BEGIN.copy()
        self._sums = np.empty(2 * SUMS)

    def go(self, tol: float, coarse: float, most: int, h: float) -> int:
        """At most so many steps from u on, until the gap is closed or, with `coarse` above zero,
        the distance from the optimum is about that part of P."""
        self._state[3] = h
        given = (*self._given, tol, coarse, most, self.features, self.per_row)
        return int(_run(*given, *self._room, self._sums, self._state))

    h = property(lambda self: float(self._state[3]))


@inline(shared=True)
def _terms(kind, h, z, dz, t, y, caps, to, alpha, D, room, whole, sums):  # type: ignore[no-untyped-def]
    n = z.shape[0]
    if kind == LOGISTIC:
        add_logistic(z, dz, t, y, caps, 0, n, to, alpha, D, room, whole, sums)
    elif kind == HINGE:
        add_hinge(SmoothedHinge(h), Hinge(1.0), z, dz, t, y, caps, 0, n, to, alpha, D, sums)
    else:
        loss = SquaredHinge(1.0)
        add_hinge(loss, loss, z, dz, t, y, caps, 0, n, to, alpha, D, sums)


@inline
def _foretell(kind, alpha, D, dz, caps, y, free, out):  # type: ignore[no-untyped-def]
    """The sum of dual terms after a step, −1 where multipliers are out of bounds or unbalanced"""
    if kind == LOGISTIC:
        terms = foretell(Logistic(1.0), alpha, D, dz, caps, out)
    elif kind == HINGE:
        terms = foretell(Hinge(1.0), alpha, D, dz, caps, out)
    else:
        terms = foretell(SquaredHinge(1.0), alpha, D, dz, caps, out)
    if free and terms >= 0.0:
        both = apart = 0.0
        for i in range(y.shape[0]):
            both += out[i]
            apart += y[i] * out[i]
        if abs(apart) > BALANCED * both:  # no row bends the loss: b has no equation
            return -1.0
    return terms


@inline
def _length(kind, h, z, dz, caps, ridge, u, step, slopes):  # type: ignore[no-untyped-def]
    """The t at which P(u + t·step) is smallest: its slope in t changes sign there"""
    a = b = 0.0
    for j in range(u.shape[0]):
        a += ridge[j] * u[j] * step[j]
        b += ridge[j] * step[j] * step[j]
    low, high, t = 0.0, 1.0, 0.5
    for _ in range(30):
        if kind == LOGISTIC:
            add_along(Logistic(1.0), z, dz, t, caps, slopes)
        elif kind == HINGE:
            add_along(SmoothedHinge(h), z, dz, t, caps, slopes)
        else:
            add_along(SquaredHinge(1.0), z, dz, t, caps, slopes)
        slope, bend = a + t * b + slopes[0], b + slopes[1]
        if slope < 0.0:
            low = t
        else:
            high = t
        trial = t - np.divide(slope, bend) if bend > 0.0 else t
        if not low < trial < high:
            trial = 0.5 * (low + high)
        if abs(trial - t) <= 1e-3 * t:
            break
        t = trial
    return t


@inline(shared=True)
def _copy(a, b):  # type: ignore[no-untyped-def]
    """b ← a; an assignment would ask for memory, as they might overlap"""
    for i in range(a.shape[0]):
        b[i] = a[i]


@inline(shared=True)
def _penalty(ridge, u):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(u.shape[0]):
        total += ridge[j] * u[j] * u[j]
    return 0.5 * total


@inline
def _bound(y, free, ridge, alpha, sums, v, least, out):  # type: ignore[no-untyped-def]
    """The bound that multipliers give, those of the heavier class shrunk; kept where it is best"""
    r = s = 1.0
    if free and max(sums[2], sums[3]) > 0.0:
        if sums[2] > sums[3]:
            r = np.divide(sums[3], sums[2])
        else:
            s = np.divide(sums[2], sums[3])
    bound = r * sums[4] + s * sums[5]  # E(rα) ≥ rE(α)
    for j in range(ridge.shape[0] - 1):
        pull = r * v[0, j] + s * v[1, j]
        bound -= 0.5 * np.divide(pull * pull, ridge[j])
    if bound > least:
        for i in range(y.shape[0]):
            out[i] = alpha[i] * (r if y[i] > 0 else s)
        return bound
    return least


@inline
def _narrower(kind, h, kink, goal, decrement2):  # type: ignore[no-untyped-def]
    """The width to go on with: a narrower one where it is the kink that holds the gap up"""
    if kind == HINGE and kink > max(goal, 10.0 * decrement2):
        return h * min(0.7, max(NARROWING, np.sqrt(np.divide(0.5 * goal, kink))))
    return h


@kernel
def _run(  # type: ignore[no-untyped-def]
    kind, rows, y, caps, free, tol, coarse, most, features, per_row, v, matrices, room, both, state
):  # fmt: skip
    n, size = y.shape[0], features.shape[1]
    whole = room.view(np.int64)
    L, group = matrices[size + 1 : 2 * size + 2], matrices[2 * size + 2 :]
    u, step, gradient, ridge = features[U], features[STEP], features[GRADIENT], features[RIDGE]
    H, dz, h = matrices[: size + 1], per_row[DZ], state[3]
    now = int(state[4])  # which of the two points in `per_row` and `both` is the one reached
    if now < 0:
        now = 0
        add_margins(rows, y, u, 0, n, per_row[0])
        _terms(
            kind,
            h,
            per_row[0],
            dz,
            0.0,
            y,
            caps,
            per_row[0],
            per_row[1],
            per_row[2],
            room,
            whole,
            both[:SUMS],
        )
    halved, since = state[5], state[6]
    for _ in range(most):
        sums, other = both[SUMS * now : SUMS * (now + 1)], both[SUMS * (1 - now) : SUMS * (2 - now)]
        state[4], state[5], state[6] = now, halved, since
        z, alpha, D = per_row[3 * now], per_row[3 * now + 1], per_row[3 * now + 2]
        penalty = _penalty(ridge, u)
        value, primal = penalty + sums[0], penalty + sums[1]
        if primal < state[0]:
            state[0] = primal
            _copy(u, features[BEST])
        gather(rows, y, alpha, D, 0, n, group, v, H)
        state[1] = _bound(y, free, ridge, alpha, sums, v, state[1], per_row[HIGHEST])
        if state[0] - state[1] <= tol * state[0]:
            return CLOSED
        for j in range(size):
            gradient[j] = ridge[j] * u[j] - v[0, j] - v[1, j]
        decrement2 = solve_newton(H, ridge, gradient, free, L, features[SCALE], step)
        if not (0.0 <= decrement2 < np.inf and value < np.inf):
            return SINGULAR
        kink = sums[1] + sums[6] - sums[4] - sums[5]
        if coarse > 0.0 and max(kink, 0.5 * decrement2) <= coarse * primal:
            return CLOSED
        goal = max(tol, coarse) * primal
        narrow = _narrower(kind, h, kink, goal, decrement2)
        if kind == HINGE and narrow < LEAST:
            return STUCK
        add_margins(rows, y, step, 0, n, dz)
        to = 3 - 3 * now
        t = 1.0
        _terms(
            kind, narrow, z, dz, t, y, caps, per_row[to], per_row[to + 1], per_row[to + 2],
            room, whole, other,
        )  # fmt: skip
        for j in range(size):
            gradient[j] = u[j] + step[j]
        after = _penalty(ridge, gradient) + other[0]
        if narrow == h and not after <= value - 1e-4 * decrement2 + 4e-15 * value:
            t = _length(kind, h, z, dz, caps, ridge, u, step, room[0])
            _terms(
                kind, h, z, dz, t, y, caps, per_row[to], per_row[to + 1], per_row[to + 2],
                room, whole, other,
            )  # fmt: skip
            for j in range(size):
                gradient[j] = u[j] + t * step[j]
            after = _penalty(ridge, gradient) + other[0]
            if not after < value:
                return STUCK
        state[2] += 1.0
        for j in range(size):
            u[j] = gradient[j]
        penalty = _penalty(ridge, u)
        if penalty + other[1] < state[0]:
            state[0] = penalty + other[1]
            _copy(u, features[BEST])
        if t == 1.0 and narrow == h and abs(after - value + 0.5 * decrement2) <= NEAR * goal:
            terms = _foretell(kind, alpha, D, dz, caps, y, free, per_row[FORETOLD])
            if terms >= 0.0 and terms - penalty > state[1]:
                state[1] = terms - penalty
                _copy(per_row[FORETOLD], per_row[HIGHEST])
        gap = state[0] - state[1]
        since = 0.0 if gap <= 0.5 * halved or narrow != h else since + 1.0
        halved = gap if gap <= 0.5 * halved else halved
        now, h = 1 - now, narrow
        state[3], state[4], state[5], state[6] = h, now, halved, since
        if gap <= tol * state[0]:
            return CLOSED
        if since > PATIENCE:
            return STUCK
    return MORE
