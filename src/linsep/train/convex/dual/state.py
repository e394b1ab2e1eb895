"""The state of dual coordinate descent: weights, intercept, and what is known of each row."""

from itertools import pairwise
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.dual import kernels as compiled
from linsep.train.convex.dual.design import SMALL, Design
from linsep.train.convex.dual.dual_losses import DualLoss, Hinge, Logistic, SquaredHinge
from linsep.train.convex.dual.face import Face
from linsep.train.convex.dual.intercept import best_intercept
from linsep.train.convex.dual.kernels import ALPHA, CAP, LOGIT, SIGN, SQUARE, Lane
from linsep.train.convex.dual.working_set import Plan, WorkingSet

Array = npt.NDArray[Any]

CALL = 20_000_000  # entries read before an interrupt is looked for
LAPS = 20  # passes made in one call when there are few entries
STRETCHED = 4096  # rows by which a start is stretched
CARRIED = (
    "w",
    "passes",
    "visits",
    "reach",
    "_b",
    "_level",
    "_excess",
    "_slow",
    "_copies",
    "_stale",
    "_on_face",
)
EPS = float(np.finfo(np.float64).eps)
FEWEST = 8  # products that are worth a step on a face
SETTLED = 0.01  # part of the rows of a face that may change where it counts as the same
PROGRESS = 0.1  # part of what the best product gained below which others wait for another face


class Evaluation(NamedTuple):
    """P and D over all rows, and the weights and multipliers they belong to."""

    primal: float
    dual: float
    w: Array
    b: float
    alpha: Array


class DualState:
    """Weights w = Σ αy(x − μ), multipliers α, and passes that move both.

    Parameters
    ----------
    design : the rows, and what is known of them
    signs : −1 or +1 for each row
    caps : U = C c of each row
    loss : the loss, as the dual sees it
    free : whether b is free, or zero
    lanes : how many lanes a long list of sparse rows is walked in
    seed : the order of visits is a function of it and the number of the pass
    pool : threads that share the work
    """

    def __init__(
        self,
        design: Design,
        signs: Array,
        caps: Array,
        loss: DualLoss,
        *,
        free: bool,
        lanes: int,
        seed: int,
        pool: Pool,
    ) -> None:
        n, d = design.shape
        self.design = design
        self.loss = loss
        self.points = _aligned(n)
        self.points[:, SIGN] = signs
        self.points[:, CAP] = caps
        self.points[:, LOGIT] = -np.inf
        self.w = np.zeros(d)
        self.passes = self.visits = 0
        self._on_face = np.zeros(0, np.uint32)  # rows of the last face
        self._rows = max(1, int((caps > 0.0).sum()))
        self.reach = np.inf
        self._pool = pool
        self._free = free
        self._b = 0.0
        self._level = 0.0
        self._excess = 0.0
        self._slow = 0
        self._scores = np.empty(n)
        wide = d >= n and design.entries >= SMALL  # else lanes meet in most features
        lanes = lanes if len(design.second_moments) and wide else 1
        self._copies = np.zeros((2, d if lanes > 1 else 0))
        self._stale = False
        self._pull = 0.0
        if free:
            # Strong enough for all caps together to move the intercept by a few units, and weak
            # enough not to shorten the steps of single rows.
            self._pull = 0.02 * design.typical + (4.0 + 0.005 * n) / max(float(caps.sum()), 1e-300)
        share = 0.5 if isinstance(loss, Hinge) else 0.0
        plan = Plan(lanes, share, self._pull, seed)
        self.working = WorkingSet(design, self.points, plan, pool)
        self._refuse_overflow()

    @property
    def n_iter(self) -> int:
        """How often all rows would have been visited by as many visits, rounded up."""
        return -(-self.visits // self._rows)

    def state(self) -> dict[str, Any]:
        """What the next pass depends on."""
        known = {name: getattr(self, name) for name in CARRIED}
        return {**known, "points": self.points, "working": self.working.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        for name in CARRIED:
            setattr(self, name, state[name])
        self.points[:] = state["points"]
        self.working.restore(state["working"])

    def start_from(self, alpha: Array) -> None:
        """Begin at these multipliers, brought within their bounds and stretched.

        Those of a smaller C are too short for a larger one: α ← tα, as far as the dual rises.
        """
        p = self.points
        most = np.inf if isinstance(self.loss, SquaredHinge) else p[:, CAP]
        p[:, ALPHA] = np.where(p[:, CAP] > 0.0, np.clip(alpha, 0.0, most), 0.0)
        if isinstance(self.loss, Logistic):
            p[:, ALPHA] = np.clip(p[:, ALPHA], 1e-12 * p[:, CAP], (1.0 - 1e-12) * p[:, CAP])
            _set_logits(p, np.flatnonzero(p[:, CAP] > 0.0))
        self.rebuild()
        t = self._stretch()
        p[:, ALPHA] *= t
        self.w *= t
        self._level *= t
        if isinstance(self.loss, Logistic):
            _set_logits(p, np.flatnonzero(p[:, CAP] > 0.0))
        if self._free:
            self._score()
            self._b = best_intercept(self.loss, self.points, self._scores, self._b)

    def _stretch(self) -> float:
        """The t that makes D(tα) largest, judged by some of the rows where D is not quadratic."""
        p = self.points[self.points[:, ALPHA] > 0.0]
        square = compiled.inner(self.w, self.w)
        if not len(p) or not square > 0.0:
            return 1.0
        most = float((p[:, CAP] / p[:, ALPHA]).min())
        if not isinstance(self.loss, Logistic):
            soft = isinstance(self.loss, SquaredHinge)
            curvature = square + (0.5 * (p[:, ALPHA] ** 2 / p[:, CAP]).sum() if soft else 0.0)
            t = float(p[:, ALPHA].sum() / curvature)
            return max(1.0, t if soft else min(t, most))
        few = p[:: max(1, len(p) // STRETCHED)]
        a, U, part = few[:, ALPHA], few[:, CAP], len(p) / len(few)
        low, high = 0.0, most
        while high - low > 1e-3 * high:  # D′(t) = −t‖w‖² − Σ α logit(tα/U) falls with t
            t = 0.5 * (low + high)
            slope = -t * square - part * float((a * (np.log(t * a) - np.log(U - t * a))).sum())
            low, high = (t, high) if slope > 0.0 else (low, t)
        return low if low > 0.0 else 1.0

    def rebuild(self) -> None:
        """Compute the weights from the multipliers, as after an interrupt amid a pass."""
        self.w[:] = 0.0
        chosen = np.flatnonzero(self.points[:, ALPHA])
        self._add(chosen, self.points[chosen, SIGN] * self.points[chosen, ALPHA])

    def one_pass(self, most: int = LAPS) -> float:
        """Visit every row in play; returns the sum of the slacks as they were met.

        Where there are few entries, several passes are made at once, `most` at most.
        """
        at = self.working
        laps = max(1, min(LAPS, most, SMALL // (4 * max(1, at.entries)))) if at.block == 1 else 1
        blocks = at.order(self.passes + 1, laps)
        self.passes += laps
        self.visits += laps * len(at.active)
        if self._free:
            self._pull_intercept()
        rounds = max(at.rounds, -(-at.entries // CALL))
        cuts = [len(blocks) * k // (rounds * at.lanes) for k in range(rounds * at.lanes + 1)]
        parts = [blocks[start:stop] for start, stop in pairwise(cuts)]
        met = drift = visits = 0.0
        for r in range(rounds):
            tally = self._round(parts[r * at.lanes : (r + 1) * at.lanes])
            met, drift, visits = met + tally[0], drift + tally[1], visits + tally[2]
        self.reach = drift / max(visits, 1.0)
        return met / laps

    def evaluate(self) -> Evaluation:
        """P and D over all rows, at the multipliers as they are, balanced if b is free."""
        if not self._free:
            return self._seen(0.0, self._score())
        w, level = self.w.copy(), self._level
        changed, before = self._balance()
        spans = self._score()
        seen = self._seen(best_intercept(self.loss, self.points, self._scores, self._b), spans)
        # The next pass goes on from the unbalanced ones: how far Σ αy is from zero moves b.
        self.w, self._level, self._stale = w, level, True
        for column in (ALPHA, LOGIT):
            self.points[changed, column] = before[:, column]
        return seen

    def face(self) -> Face | None:
        """The rows on the margin; None where they are more than the features can have there."""
        p, squared = self.points, isinstance(self.loss, SquaredHinge)
        active = self.working.active  # rows that are not are at a bound
        room = np.empty(len(active) + 1, np.uint32)
        rows = np.sort(room[: compiled.inside(p, active, squared, room)])
        if len(rows) < 2 or not (squared or len(rows) <= self.design.shape[1]):
            return None
        caps = p[rows, CAP]
        h = 0.5 / caps if squared else np.zeros(len(rows))
        most = np.full(len(rows), np.inf) if squared else caps
        signs, alpha = p[rows, SIGN], p[rows, ALPHA]
        return Face(self.design, rows, signs, alpha, most, h, self._free, self._pool)

    def step_on_faces(
        self, visits: int, left: int, goal: float, pace: float, halt: Event | None = None
    ) -> tuple[float, bool]:
        """Steps from face to face, until one meets no bound, or all visits are made.

        They may take `visits`, and end where one gains less than `pace` for each; but all that are
        `left` once the face has settled: where hardly a row has joined or gone since the last of
        these steps, the equations are solved until its rows add no more than `goal` to the gap.
        Returns what D rises by, and whether the last step met no bound.
        """
        if (first := self.face()) is None:
            return 0.0, False
        changed = len(np.setxor1d(first.rows, self._on_face, assume_unique=True))
        settled = changed <= SETTLED * len(first.rows)
        visits = left if settled else visits
        if visits < FEWEST * len(first.rows):
            return 0.0, False
        if self._free:
            self._balance()
        last, met, shift, gain = self.visits + visits, None, 0.0, 0.0
        while met is not False and (face := self.face()) is not None:
            most = (last - self.visits) // len(face.rows)
            if most < FEWEST:
                break
            limits = goal, 0.0 if settled else PROGRESS, most, halt
            delta, shift, products = face.direction(self.w, self._b, *limits)
            step = face.search(self.w, delta)
            self.visits += (made := (products + step.products) * len(face.rows))
            if step.gain == 0.0:
                break
            met, gain = step.met, gain + step.gain
            self.points[face.rows, ALPHA] = step.alpha
            self.w += step.moved
            self._recentre(0.0)
            if not settled and step.gain < pace * made:
                break
        self._stale = True
        if self._free and met:
            self._score()
            self.visits += self._rows
            self._b = best_intercept(self.loss, self.points, self._scores, self._b)
        elif self._free and met is False:
            self._b += shift
        if met is not None and (face := self.face()) is not None:
            self._on_face = face.rows
        return gain, met is False

    def _score(self) -> list[tuple[int, int]]:
        """Set the scores ⟨w, x − μ⟩ of all rows; returns the runs of rows they were cut into."""
        n, entries = self.design.shape[0], self.design.entries
        pieces = 2 * max(1, -(-entries // (2 * CALL))) if entries >= SMALL else 1
        spans = list(pairwise(n * k // pieces for k in range(pieces + 1)))
        known = (self.design.rows, self.w, self._level, self._scores)
        for k in range(0, pieces, 2):
            self._pool.run(compiled.score, [(*known, *span) for span in spans[k : k + 2]])
        return spans

    def _seen(self, b: float, spans: list[tuple[int, int]]) -> Evaluation:
        """P and D with this intercept, and what rounding may have taken from them."""
        known = (self.loss, self.points, self._scores, b)
        parts = self._pool.run(compiled.weigh, [(*known, *span) for span in spans])
        total_loss, gap = (sum(column) for column in zip(*parts, strict=True))
        alpha = self.points[:, ALPHA].copy()
        size = compiled.inner(self.w, self.w)
        # Taking μ off costs digits of the sums that make w, giving it back those of the intercept.
        far = EPS * self.design.far
        lost = 8.0 * (far * alpha.sum()) ** 2 if len(self.design.centre) else 0.0
        shaken = far * self.points[:, CAP].sum() * size**0.5
        primal = 0.5 * size + total_loss
        b = float(b - self.design.shift(self.w))
        return Evaluation(primal + shaken, primal - gap - lost, self.w.copy(), b, alpha)

    def widen(self) -> None:
        """Bring back into play the rows that, going by the last evaluation, may move."""
        if not isinstance(self.loss, Logistic):
            self.working.widen(self.loss, self.reach)

    def narrow(self) -> None:
        """Leave out of play the rows that the last pass found resting."""
        if not isinstance(self.loss, Logistic):
            self.working.narrow()

    def _round(self, blocks: list[Array]) -> tuple[float, ...]:
        """Each lane visits its blocks; then they are merged."""
        at = self.working
        least = np.inf if self.passes == 1 else 0.0  # margins are not known before the first visit
        lane = Lane(self._level, self._b, at.spread, self._pull * at.lanes, least, at.block)
        if at.lanes > 1 and self._stale:
            self._copies[:] = self.w
        copies = self._copies if at.lanes > 1 else self.w[None]
        rows = (self.loss, at.rows, self.points, at.active, at.places)
        calls = [(*rows, part, w, lane) for part, w in zip(blocks, copies, strict=True)]
        done = self._pool.run(compiled.sweep, calls)
        total, *tally = (sum(column) for column in zip(*done, strict=True))
        if at.lanes > 1:
            compiled.merge(self.w, copies[0], copies[1], at.crowded)
        self._recentre(total)
        self._stale = at.lanes == 1 or len(self.design.centre) > 0
        self._b += self._pull * total
        return tuple(tally)

    def _pull_intercept(self) -> None:
        """b ← b + ρ Σ αy, and more of it once the sum has hardly shrunk for three passes."""
        excess = compiled.inner(self.points[:, SIGN], self.points[:, ALPHA])
        slow = excess * self._excess > 0.0 and abs(excess) > 0.5 * abs(self._excess)
        self._slow, self._excess = self._slow + 1 if slow else 0, excess
        self._b += 2.0 ** max(0, self._slow - 3) * self._pull * excess

    def _recentre(self, total: float) -> None:
        """w ← w − (Σ yδ) μ"""
        centre = self.design.centre
        if len(centre):
            self.w -= total * centre
            self._level = compiled.inner(self.w, centre)

    def _add(self, chosen: Array, deltas: Array) -> None:
        """w ← w + Σ δ(x − μ)"""
        compiled.add_rows(self.design.rows, chosen.astype(np.uint32), deltas, self.w)
        self._recentre(float(deltas.sum()))
        self._stale = True

    def _balance(self) -> tuple[Array, Array]:
        """Make Σ αy zero by taking a little off some multipliers of the heavier side.

        Only then is D a bound on P. Rows at no bound are preferred: there a small change costs
        next to nothing. Returns the rows that were changed, and their `points` as they were.
        """
        p = self.points
        y, a = p[:, SIGN], p[:, ALPHA]
        excess = compiled.inner(y, a)
        room = np.empty((1 + isinstance(self.loss, Hinge), len(p) + 1), np.uint32)
        heavy = room[0, : compiled.heavier(p, excess, False, room[0])]
        if not len(heavy):
            return heavy, p[heavy]
        inside = heavy
        if isinstance(self.loss, Hinge):
            inside = room[1, : compiled.heavier(p, excess, True, room[1])]
        chosen = inside[:: max(1, len(inside) // 512)]
        for more in (inside, heavy):
            if a[chosen].sum() < 2.0 * abs(excess):
                chosen = more
        before = p[chosen]
        part = min(1.0, abs(excess) / before[:, ALPHA].sum())
        deltas = -part * before[:, ALPHA]
        a[chosen] += deltas
        if isinstance(self.loss, Logistic):
            _set_logits(p, chosen)
        self._add(chosen, before[:, SIGN] * deltas)
        return chosen, before

    def _refuse_overflow(self) -> None:
        finite = np.isfinite(self.points[:, SQUARE])
        if not finite.all():
            raise OverflowedError(
                f"row {int(np.argmin(finite))} of X is so long that its square overflows. Divide X "
                "by its largest entry; linsep.Scaled does so and gives weights in original units."
            )


def _aligned(n: int) -> Array:
    """Zeros for n rows of `points`, each within one cache line."""
    memory = np.zeros(8 * n + 8)
    start = -memory.ctypes.data % 64 // 8
    return memory[start : start + 8 * n].reshape(n, 8)


def _set_logits(points: Array, chosen: Array) -> None:
    """Set the logit of α/U."""
    share = np.clip(points[chosen, ALPHA] / points[chosen, CAP], 1e-300, 1.0 - 1e-16)
    points[chosen, LOGIT] = np.log(share) - np.log1p(-share)
