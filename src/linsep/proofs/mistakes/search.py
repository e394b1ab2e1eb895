"""The search behind `fewest_mistakes`: separators and witnesses in turn, until the bounds meet."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.proofs.exact.scores import sides
from linsep.proofs.mistakes.cells import cheapest_parting
from linsep.proofs.mistakes.central import cheapest_central_parting
from linsep.proofs.mistakes.hitting_set import (
    Witness,
    packing,
    propose,
    prove_none_below,
    quick_witness,
)
from linsep.proofs.mistakes.local_search import few_mistakes
from linsep.proofs.mistakes.points import distinct_points, telling_columns

Array = npt.NDArray[Any]

_MOST_POINTS = {1: 10**8, 2: 20_000, 3: 800}  # by dimension: points that are enumerated
_MOST_ROWS = {1: 10**8, 2: 10**6, 3: 20_000}  # the same for planes through the origin
_WINDOW = 1000


@dataclass
class Search:
    """The best separator and the best bound so far.

    Rows that are equal count as one point; where their labels differ, the rarer label is mistaken
    or all are, so the smaller number is a loss nobody avoids and the point keeps the difference.
    """

    X: Any
    signs: Array
    deadline: float
    fit_intercept: bool = True
    mistakes: int = -1
    weights: Array = field(default_factory=lambda: np.empty(0))
    bias: float = 0.0
    rows: Array = field(default_factory=lambda: np.empty(0, np.intp))
    lower: int = 0
    enumerated: bool = False
    relations: dict[Witness, tuple[Fraction, ...]] = field(default_factory=dict)
    evidence: list[tuple[Witness, Fraction]] = field(default_factory=list)

    def run(self) -> None:
        if self.fit_intercept:
            self._one_side()
        else:
            self._through_origin()
        points = distinct_points(self.X, self.signs, self.fit_intercept)
        self.places, self.clashes = points.places, points.clashes
        self.base = self.lower = sum(loss for _, loss in points.clashes)
        self.points, self.labels = self.X[points.places], np.sign(points.net)
        self.cost = np.abs(points.net)
        if self.done() or not self._askable(self.labels) or self._enumerate():
            return
        everything = np.arange(len(self.places))
        if len(everything) <= 20 * _WINDOW:
            answer = self._ask(everything)
            if answer.separable is False:
                self._raise(1, [self._recorded(everything, answer)], [Fraction(1)])
        if not self.done():
            self._descend()
            if len(everything) <= _WINDOW:
                self._hit()
            else:
                self._harvest_windows()

    def conflicts(self) -> Iterator[tuple[tuple[int, ...], tuple[Fraction, ...], Fraction]]:
        """Rows, multipliers and shares behind the lower bound, unless it was enumerated."""
        if self.enumerated:
            return
        for rows, loss in self.clashes:
            yield rows, (Fraction(1, len(rows)),) * len(rows), Fraction(loss)
        for witness, share in self.evidence:
            rows = tuple(int(i) for i in self.places[sorted(witness)])
            yield rows, self.relations[witness], share

    def _raise(self, extra: int, witnesses: list[Witness], shares: list[Fraction]) -> None:
        """The lower bound raised to `extra` beyond the losses nobody avoids, with its evidence."""
        if self.base + extra > self.lower:
            self.lower = self.base + extra
            self.evidence = list(zip(witnesses, shares, strict=True))

    def _recorded(self, pool: Array, answer: Any) -> Witness:
        """The points that rule a separator out, their multipliers kept."""
        return self._record(pool[answer.rows], answer.multipliers)

    def _record(self, points: Array, multipliers: Any) -> Witness:
        order = np.argsort(points)
        witness = frozenset(points.tolist())
        total = sum(multipliers)
        self.relations[witness] = tuple(Fraction(multipliers[k]) / total for k in order)
        return witness

    def done(self) -> bool:
        return self.mistakes == self.lower

    def late(self) -> bool:
        return self.done() or time.monotonic() > self.deadline

    def until(self, share: float) -> Callable[[], bool]:
        """A `late` for a part of the time that is left."""
        now = time.monotonic()
        end = now + share * max(0.0, self.deadline - now)
        return lambda: self.done() or time.monotonic() > end

    def offer(self, weights: Any, bias: float) -> None:
        """Keep a separator if, counted exactly, it is better."""
        w, b = np.asarray(weights, np.float64), float(bias) if self.fit_intercept else 0.0
        if not (np.isfinite(w).all() and np.isfinite(b)):
            return
        where = sides(self.X, w, b)
        self._keep(w, b, where)
        if not where.all() and where.any():
            # rows on the plane are mistakes whatever their label: move it, but past no other row
            if not self.fit_intercept:
                self._tilt(w, where)
                return
            nudge = float(np.abs(self.X @ w + b)[where != 0].min()) / 2
            for moved in (b + nudge, b - nudge):
                self._keep(w, moved, sides(self.X, w, moved))

    def _tilt(self, w: Array, where: Array) -> None:
        """A plane through the origin turned towards the rows on it, but past no other row."""
        on = where == 0
        toward = np.asarray(self.signs[on] @ self.X[on].astype(np.float64)).ravel()
        moves = np.abs(self.X @ toward)
        reach = np.abs(self.X @ w)
        moving = ~on & (moves > 0) & np.isfinite(moves)
        step = float((reach[moving] / moves[moving]).min()) / 2 if moving.any() else 1.0
        tilted = w + step * toward
        if np.isfinite(tilted).all():
            self._keep(tilted, 0.0, sides(self.X, tilted, 0.0))

    def _keep(self, w: Array, b: float, where: Array) -> None:
        wrong = np.flatnonzero(where * self.signs <= 0)
        if self.mistakes < 0 or len(wrong) < self.mistakes:
            self.mistakes, self.weights, self.bias, self.rows = len(wrong), w, b, wrong

    def _one_side(self) -> None:
        """All rows on one side: a plane beyond the last of them."""
        column = self.X[:, [0]]
        largest = float(np.abs(column.data if sp.issparse(column) else column).max(initial=0))
        w = np.zeros(self.X.shape[1])
        w[0] = 1.0 if largest < 1e300 else 2.0**-1000
        for b in (1.0, -1.0):
            self.offer(w, b * max(1.0, 2 * largest * w[0]))

    def _through_origin(self) -> None:
        """Planes to begin with: along the sum of all rows by label, and any other."""
        sizes = abs(self.X).max(axis=0)
        sizes = sizes.toarray().ravel() if sp.issparse(sizes) else sizes
        scale = np.ldexp(1.0, -np.clip(np.frexp(sizes.astype(np.float64))[1], -1000, 1000))
        total = np.asarray(self.signs @ (self.X @ sp.diags_array(scale))).ravel()
        for w in (total * scale, np.random.default_rng(0).standard_normal(len(scale)) * scale):
            self.offer(w, 0.0)
            self.offer(-w, 0.0)

    def _askable(self, labels: Array) -> bool:
        """Whether a separator of points with these labels is in question."""
        return len(np.unique(labels)) == 2 if self.fit_intercept else len(labels) > 0

    def _ask(self, places: Array, labels: Array | None = None) -> Any:
        """What is known of the separability of some points; a separator is offered."""
        from linsep.proofs.separability.linear_separability import separability

        labels = (self.labels if labels is None else labels)[places]
        points = self.points[places]
        if len(np.unique(labels)) == 1:  # through the origin: a row is its opposite, other label
            points, labels = _halved(points, labels)
        left = max(0.1, self.deadline - time.monotonic())
        answer = separability(points, labels, fit_intercept=self.fit_intercept, time_limit=left)
        if answer.separable:
            self.offer(answer.weights, answer.bias)
        return answer

    def _enumerate(self) -> bool:
        """All partings, in three dimensions at most; whether that settled the matter."""
        columns = telling_columns(self.points, self.fit_intercept)
        most = _MOST_POINTS if self.fit_intercept else _MOST_ROWS
        if len(columns) > 3 or self.points.shape[0] > most[len(columns)]:
            return False
        part = self.points[:, columns]
        part = part.toarray() if sp.issparse(part) else part
        plus, minus = (
            np.where(self.labels > 0, self.cost, 0),
            np.where(self.labels < 0, self.cost, 0),
        )
        enumerate_ = cheapest_parting if self.fit_intercept else cheapest_central_parting
        parting = enumerate_(part.astype(np.float64), plus, minus, self.until(0.8))
        if self._askable(parting.sides) and self.base + parting.cost < self.mistakes:
            self._ask(np.arange(len(part)), parting.sides)
        if parting.complete and parting.cost:
            self.lower, self.enumerated = self.base + parting.cost, True
        return parting.complete

    def _descend(self) -> None:
        start, cost = (self.weights, self.bias), self.cost.astype(float)
        w, b, _ = few_mistakes(
            self.points,
            self.labels,
            cost,
            self.until(0.25),
            start=start,
            fit_intercept=self.fit_intercept,
        )
        self.offer(w, b)

    def _hit(self) -> None:
        """Hit all witnesses known; what is left is separable, or has a new witness."""
        witnesses: list[Witness] = []
        while not self.late():
            chosen = propose(witnesses, self.cost, min(5.0, self.deadline - time.monotonic()))
            rest = np.setdiff1d(np.arange(len(self.cost)), sorted(chosen))
            fresh = self._harvest(rest)
            if not fresh:
                total = int(self.cost[sorted(chosen)].sum())
                self._bound(witnesses, total)
                return
            witnesses += fresh
            if len(witnesses) % 20 < len(fresh):
                self._pack(witnesses)
        self._bound(witnesses, self.mistakes - self.base)

    def _bound(self, witnesses: list[Witness], ceiling: int) -> None:
        """Prove what the witnesses prove: a packing, then `ceiling` itself by branching."""
        self._pack(witnesses)
        if self.lower < self.base + ceiling and prove_none_below(
            witnesses, self.cost, ceiling, self.late
        ):
            self._raise(ceiling, witnesses, [Fraction(0)] * len(witnesses))

    def _pack(self, witnesses: list[Witness]) -> None:
        shares = packing(witnesses, self.cost)
        self._raise(math.ceil(sum(shares, Fraction(0))), witnesses, shares)

    def _harvest(self, pool: Array) -> list[Witness]:
        """Disjoint witnesses among some points, until the points left are separable."""
        witnesses: list[Witness] = []
        while len(pool) and not self.late() and self._askable(self.labels[pool]):
            witness = self._witness(pool)
            if witness is None:
                break
            witnesses.append(witness)
            pool = np.setdiff1d(pool, sorted(witness), assume_unique=True)
        return witnesses

    def _witness(self, pool: Array) -> Witness | None:
        """Some of these points that no separator gets right, or None where none are known."""
        points, labels = self.points[pool], self.labels[pool]
        if not sp.issparse(points) and points.shape[1] <= 100:
            quick = quick_witness(points.astype(np.float64), labels, self.fit_intercept)
            if quick is not None:
                return self._record(pool[quick[0]], quick[1])
        answer = self._ask(pool)
        return self._recorded(pool, answer) if answer.separable is False else None

    def _harvest_windows(self) -> None:
        """Disjoint witnesses, from the points nearest to the plane outwards: each is a mistake."""
        distance = np.abs(self.points @ self.weights + self.bias)
        order = np.argsort(distance, kind="stable")
        witnesses: list[Witness] = []
        shares: list[Fraction] = []
        for start in range(0, len(order), _WINDOW):
            if self.late():
                return
            fresh = self._harvest(order[start : start + _WINDOW])
            witnesses += fresh
            shares += [Fraction(int(self.cost[sorted(witness)].min())) for witness in fresh]
            self._raise(int(sum(shares)), witnesses, shares)


def _halved(points: Any, labels: Array) -> tuple[Any, Array]:
    """The same question about planes through the origin, asked with two labels.

    ⟨w, x⟩ > 0 for a row of label +1 is ⟨w, -x⟩ < 0 for its opposite of label -1.
    """
    turned = np.where(np.arange(len(labels)) % 2, -1, 1)
    if len(labels) == 1:  # one row: a copy of it has the other label
        points, turned, labels = points[[0, 0]], np.array([1, -1]), labels[[0, 0]]
    if sp.issparse(points):
        return sp.csr_array(sp.diags_array(turned.astype(points.dtype)) @ points), labels * turned
    return points * turned[:, None].astype(points.dtype), labels * turned
