"""Multipliers that are feasible to the last bit: whole numbers of one step.

Row i gives each rival class k a multiplier βᵢₖ ≥ 0, at most Cᵢ in all (without limit for the
squared hinge), and where biases are free every class has to give as much as it gets. Proposals are
floats, and feasible but for rounding. On a grid of whole numbers that is repaired exactly: a class
that gives too much keeps some, a class that gives too little gives more.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.gap.moves import Told, least

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_UNIT = 2.0**-52


class Exact(NamedTuple):
    """βᵢₖ as whole numbers, (n, K), times `step`, a power of two."""

    flows: Array
    step: float

    @property
    def floats(self) -> Floats:
        """The same, exactly, as every number is below 2^53."""
        return np.asarray(self.flows * self.step, np.float64)

    def moves(self, codes: Array) -> Floats:
        """What each row adds to each class: what it gives, less."""
        moves = -self.floats
        moves[np.arange(len(codes)), codes] = self.flows.sum(axis=1) * self.step
        return moves


def exact_multipliers(proposed: Floats, codes: Array, caps: Floats, balanced: bool) -> Exact:
    """The proposal on a grid, with limits and balance kept exactly.

    >>> beta = np.array([[0.0, 0.3], [0.1, 0.0], [0.3, 0.0]])
    >>> exact = exact_multipliers(beta, np.array([0, 1, 1]), np.ones(3), True)
    >>> exact.floats.sum(axis=0).tolist(), bool(np.abs(exact.floats - beta).max() < 0.11)
    ([0.4000000000000057, 0.4000000000000057], True)
    """
    n, K = proposed.shape
    proposed = np.maximum(0.0, np.nan_to_num(proposed, nan=0.0, posinf=0.0))
    proposed[np.arange(n), codes] = 0.0
    largest = float(proposed.max(initial=0.0)) or 1.0
    digits = min(44, 60 - math.ceil(math.log2(n * K + 1)))
    step = 2.0 ** (math.frexp(largest)[1] - digits)
    limits = np.floor(np.minimum(caps / step, 2.0**52)).astype(np.int64)
    flows = np.rint(proposed / step).astype(np.int64)
    _keep_limits(flows, limits)
    if balanced:
        _balance(flows, codes, limits)
    return Exact(flows, step)


def _keep_limits(flows: Array, limits: Array) -> None:
    for i in np.flatnonzero(flows.sum(axis=1) > limits).tolist():
        for k in np.argsort(-flows[i]).tolist():
            over = int(flows[i].sum() - limits[i])
            flows[i, k] -= min(max(0, over), int(flows[i, k]))


def _balance(flows: Array, codes: Array, limits: Array) -> None:
    """Let every class give what it gets, by the least number of changes that is easily found."""
    K = flows.shape[1]
    given = np.bincount(codes, flows.sum(axis=1).astype(np.float64), minlength=K)
    assert given.max(initial=0.0) < 2.0**62
    while True:
        over = _surplus(flows, codes)
        a, b = int(over.argmax()), int(over.argmin())
        amount = min(int(over[a]), -int(over[b]))
        if amount <= 0:
            return
        left = _shift(flows, np.flatnonzero(codes == b), a, 1, amount, limits, True)
        left = _shift(flows, np.flatnonzero(codes == a), b, -1, left, limits, True)
        left = _shift(flows, np.flatnonzero(codes == a), b, -1, left, limits, False)
        left = _shift(flows, np.flatnonzero(codes == b), a, 1, left, limits, False)
        if left == amount:  # neither has room: nothing moves at all
            flows[:] = 0
            return


def _surplus(flows: Array, codes: Array) -> Array:
    given = np.zeros(flows.shape[1], np.int64)
    np.add.at(given, codes, flows.sum(axis=1))
    return given - flows.sum(axis=0)


def _shift(
    flows: Array, rows: Array, k: int, sign: int, amount: int, limits: Array, gently: bool
) -> int:
    """Add or take up to `amount` from what rows give class k; return what is left to be moved.

    Gently: only rows strictly between their limits, and half their room; there it costs least.
    """
    if amount <= 0 or not len(rows):
        return amount
    room = limits[rows] - flows[rows].sum(axis=1)
    have = flows[rows, k]
    most = np.where((room > 0) & (have > 0), np.minimum(room, have) // 2, 0) if gently else (
        room if sign > 0 else have
    )  # fmt: skip
    order = np.argsort(-most, kind="stable")
    before = np.cumsum(most[order]) - most[order]
    part = np.clip(amount - before, 0, most[order])
    flows[rows[order], k] += sign * part
    return amount - int(part.sum())


def _planes(moves: Floats) -> Floats:
    """Of two classes the second alone has a plane."""
    return moves[:, 1:] if moves.shape[1] == 2 else moves


def lower_bound(
    loss: str, exact: Exact, X: Any, codes: Array, C: Floats, l1: float, l2: float,
    told: Told | None = None,
) -> tuple[float, float]:  # fmt: skip
    """D of exact multipliers, less all that rounding can have added; and the largest |v|, plus it.

    D = Σ E(βᵢ) − Σ max(0, |vₖⱼ| − l1)²/(2 l2), where v = Σ moves xᵢ and, with tᵢ = Σₖ βᵢₖ, E is the
    entropy Cᵢ H for "logistic", tᵢ for "hinge" and tᵢ − tᵢ²/(4Cᵢ) for "squared hinge". Where much
    is told the sum is that of minima within bounds, and |v| counts where nothing bounds a weight,
    in units of its penalty.
    """
    moves, n = _planes(exact.moves(codes)), len(codes)
    v = np.asarray(X.T @ moves, np.float64)
    error = 4 * (n + 8) * _UNIT * np.asarray(abs(X).T @ np.abs(moves)) + 1e-300
    long = np.abs(v) + error
    t = exact.flows.sum(axis=1) * exact.step
    safe = np.maximum(C, 1e-300)
    if loss == "logistic":
        p = np.column_stack([np.maximum(0.0, safe - t) / safe, exact.floats / safe[:, None]])
        terms = C * -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=1)
        fuzz = 64 * p.shape[1] * C
    else:
        terms = t - (t * t / (4 * safe) if loss == "squared hinge" else 0.0)
        fuzz = 8 * t
    over = np.maximum(0.0, long - l1)
    if told is not None:
        corner, ridge = l1 * told.weight[None], l2 * told.weight[None]
        ends = [least(v.T + sign * error.T, corner, ridge, told) for sign in (-1.0, 1.0)]
        conjugate = -float(np.minimum(*ends).sum()) + 1e-14 * float(np.abs(ends).sum())
        far = np.isinf(np.where(v.T > 0.0, told.high, told.low))
        long = np.where(far, long.T / np.maximum(told.weight, 1e-300), 0.0)
        if told.offset is not None:
            moved = moves * told.offset.reshape(n, -1)
            terms, fuzz = terms - moved.sum(axis=1), fuzz + 8 * np.abs(moved).sum(axis=1)
    elif l2 == 0:
        conjugate = 0.0 if not over.any() else math.inf
    else:
        conjugate = float((over * over).sum()) / (2 * l2) * (1 + 8 * (v.size + 8) * _UNIT)
    total = math.fsum(terms.tolist())
    total -= math.fsum((fuzz * _UNIT).tolist()) + 4 * n * _UNIT * math.fsum(np.abs(terms).tolist())
    return float(total - conjugate), float(long.max(initial=0.0))


def scaled_multipliers(
    loss: str, proposed: Floats, X: Any, codes: Array, C: Floats, l1: float, l2: float, free: bool,
    told: Told | None = None,
) -> tuple[Exact, float]:  # fmt: skip
    """Exact multipliers near t times the proposal, for the t that bounds best, and their bound."""
    caps = np.full(len(C), np.inf) if loss == "squared hinge" else C
    caps = np.where(C > 0, caps, 0.0)
    best, t = None, 1.0
    for _ in range(6):
        exact = exact_multipliers(t * proposed, codes, caps, free)
        bound, most = lower_bound(loss, exact, X, codes, C, l1, l2, told)
        if best is None or bound > best[1]:
            best = exact, bound
        if l2 == 0 and most > l1:
            t *= l1 / most * (1 - 1e-12)
            continue
        if l2 == 0 or told is not None:
            break
        gain, cost = _parts(loss, exact, X, codes, C, l1, l2)
        if not 0 < gain < 1.9 * cost:
            break
        t *= gain / (2 * cost)
    assert best is not None
    return best if best[1] > 0 else (Exact(np.zeros_like(best[0].flows), 1.0), 0.0)


def _parts(
    loss: str, exact: Exact, X: Any, codes: Array, C: Floats, l1: float, l2: float
) -> tuple[float, float]:
    """The two parts of D in plain floats: what rows give, and what the penalty takes."""
    v = np.abs(np.asarray(X.T @ _planes(exact.moves(codes))))
    over = np.maximum(0.0, v - l1)
    cost = float((over * over).sum()) / (2 * l2) if l2 else 0.0
    bound, _ = lower_bound(loss, exact, X, codes, C, l1, l2)
    return bound + cost, cost
