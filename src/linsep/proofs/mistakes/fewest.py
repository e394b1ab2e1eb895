"""The fewest mistakes any separator can make, with a proof of how few they can be.

The 0-1 loss is hard to minimise in general. In one, two and three dimensions all partings of the
points are enumerated exactly. Otherwise separators and witnesses are sought in turn: a separator
bounds the fewest mistakes from above, a collection of witnesses - small sets of rows that no
separator gets right - from below, and when the bounds meet the answer is proved.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.check.arrays import check_rows
from linsep.data.check.labels import encode
from linsep.errors import DataError, ParameterError
from linsep.proofs.exact.scores import sides
from linsep.proofs.mistakes.cells import cheapest_parting
from linsep.proofs.mistakes.central import cheapest_central_parting
from linsep.proofs.mistakes.hitting_set import (
    Witness,
    packing_bound,
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


@dataclass(frozen=True)
class FewestMistakes:
    """A separator with few mistakes, and what is known about fewer.

    Attributes
    ----------
    mistakes : int
        Rows with yᵢ(⟨w, xᵢ⟩ + b) ≤ 0, counted exactly for these weights and this bias.
    lower_bound : int
        No separator makes fewer: proved, in exact arithmetic.
    optimal : bool
        Whether the two are equal.
    weights, bias : array, float
    rows : array of int
        Which rows are mistaken.
    verdict : str
        The same in one sentence.
    fit_intercept : bool
        False: this is about planes through the origin, and the bias is 0.
    """

    mistakes: int
    lower_bound: int
    optimal: bool
    weights: npt.NDArray[np.float64]
    bias: float
    rows: npt.NDArray[np.intp]
    verdict: str
    fit_intercept: bool = True

    def __str__(self) -> str:
        return self.verdict


def fewest_mistakes(
    X: Any, y: Any, time_limit: float = 60, *, fit_intercept: bool = True
) -> FewestMistakes:
    """Find a separator with as few mistakes as possible, and prove how few are possible.

    A row on the plane is a mistake: yᵢ(⟨w, xᵢ⟩ + b) ≤ 0. The rows are taken as the exact numbers
    they are stored as. The count is recomputed exactly from the weights returned, and the lower
    bound rests on exact arithmetic alone. When time runs out, both are what they were by then.

    Parameters
    ----------
    X, y : rows and labels
        Two classes; dense or sparse.
    time_limit : float
        Seconds; a step that has begun is finished, so expect a little more.
    fit_intercept : bool
        False: planes through the origin only, as learners with `fit_intercept=False` fit them. A
        row of zeros is then a mistake of every plane.

    Returns
    -------
    FewestMistakes
        With `mistakes`, `lower_bound`, `optimal`, `weights`, `bias`, `rows` and `verdict`.

    Raises
    ------
    DataError
        For more than two classes, and for what `linsep.separability` refuses.

    Examples
    --------
    >>> from linsep.data.toys import xor
    >>> found = fewest_mistakes(*xor())
    >>> found.mistakes, found.optimal, len(found.rows)
    (1, True, 1)
    >>> print(found)
    1 mistake in 4 rows, and no separator makes fewer.
    >>> print(fewest_mistakes([[1.0], [2.0], [-1.0]], [0, 1, 0], fit_intercept=False))
    1 mistake in 3 rows, and no separator through the origin makes fewer.
    """
    if not time_limit > 0:
        raise ParameterError(f"time_limit is {time_limit!r}; a number of seconds was wanted.")
    X = check_rows(X)
    classes, codes = encode(y, X.shape[0])
    if len(classes) > 2:
        raise DataError(
            f"y has {len(classes)} classes, {classes.tolist()[:5]!r}; fewest_mistakes wants two. "
            "Pass one class against the rest, such as y == y[0]."
        )
    signs = 2 * codes.astype(np.int64) - 1
    search = _Search(X, signs, time.monotonic() + time_limit, bool(fit_intercept))
    search.run()
    return search.answer()


@dataclass
class _Search:
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

    def run(self) -> None:
        if self.fit_intercept:
            self._one_side()
        else:
            self._through_origin()
        places, net, self.base = distinct_points(self.X, self.signs, self.fit_intercept)
        self.lower = self.base
        self.points, self.labels = self.X[places], np.sign(net)
        self.cost = np.abs(net)
        if self.done() or not self._askable(self.labels) or self._enumerate():
            return
        if len(places) <= 20 * _WINDOW:
            found = self._ask(np.arange(len(places)))
            if found.separable is False:
                self.lower = max(self.lower, self.base + 1)
        if not self.done():
            self._descend()
            if len(places) <= _WINDOW:
                self._hit()
            else:
                self._harvest_windows()

    def answer(self) -> FewestMistakes:
        optimal = self.done()
        count = (
            f"{self.mistakes} mistake{'' if self.mistakes == 1 else 's'} in {len(self.signs)} rows"
        )
        where = "" if self.fit_intercept else " through the origin"
        if self.mistakes == 0:
            verdict = f"{count}: these weights separate the classes."
        elif optimal:
            verdict = f"{count}, and no separator{where} makes fewer."
        else:
            verdict = f"{count}; every separator{where} makes at least {self.lower}."
        return FewestMistakes(
            self.mistakes,
            self.lower,
            optimal,
            self.weights,
            self.bias,
            self.rows,
            verdict,
            self.fit_intercept,
        )

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
        found = separability(points, labels, fit_intercept=self.fit_intercept, time_limit=left)
        if found.separable:
            self.offer(found.weights, found.bias)
        return found

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
        found = enumerate_(part.astype(np.float64), plus, minus, self.until(0.8))
        if self._askable(found.sides) and self.base + found.cost < self.mistakes:
            self._ask(np.arange(len(part)), found.sides)
        if found.complete:
            self.lower = self.base + found.cost
        return found.complete

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
                self.lower = max(self.lower, self.base + packing_bound(witnesses, self.cost))
        self._bound(witnesses, self.mistakes - self.base)

    def _bound(self, witnesses: list[Witness], ceiling: int) -> None:
        """Prove what the witnesses prove: a packing, then `ceiling` itself by branching."""
        self.lower = max(self.lower, self.base + packing_bound(witnesses, self.cost))
        if self.lower < self.base + ceiling and prove_none_below(
            witnesses, self.cost, ceiling, self.late
        ):
            self.lower = self.base + ceiling

    def _harvest(self, pool: Array) -> list[Witness]:
        """Disjoint witnesses among some points, until the points left are separable."""
        found: list[Witness] = []
        while len(pool) and not self.late() and self._askable(self.labels[pool]):
            rows = self._witness(pool)
            if rows is None:
                break
            found.append(frozenset(pool[rows].tolist()))
            pool = np.delete(pool, rows)
        return found

    def _witness(self, pool: Array) -> Array | None:
        """Some of these points that no separator gets right, or None where none are known."""
        points, labels = self.points[pool], self.labels[pool]
        if not sp.issparse(points) and points.shape[1] <= 100:
            rows = quick_witness(points.astype(np.float64), labels, self.fit_intercept)
            if rows is not None:
                return rows
        asked = self._ask(pool)
        return np.asarray(asked.rows) if asked.separable is False else None

    def _harvest_windows(self) -> None:
        """Disjoint witnesses, from the points nearest to the plane outwards: each is a mistake."""
        distance = np.abs(self.points @ self.weights + self.bias)
        order = np.argsort(distance, kind="stable")
        total = self.base
        for start in range(0, len(order), _WINDOW):
            if self.late():
                return
            for witness in self._harvest(order[start : start + _WINDOW]):
                total += int(self.cost[sorted(witness)].min())
            self.lower = max(self.lower, total)


def _halved(points: Any, labels: Array) -> tuple[Any, Array]:
    """The same question about planes through the origin, asked with two labels.

    ⟨w, x⟩ > 0 for a row of label +1 is ⟨w, -x⟩ < 0 for its opposite of label -1.
    """
    turned = np.where(np.arange(len(labels)) % 2, -1, 1)
    if len(labels) == 1:  # one row: a copy of it has the other label
        points, turned, labels = points[[0, 0]], np.array([1, -1]), labels[[0, 0]]
    if sp.issparse(points):
        return sp.csr_array(sp.diags_array(turned) @ points), labels * turned
    return points * turned[:, None].astype(points.dtype), labels * turned
