"""The state of dual coordinate descent: weights, intercept, and what is known of each row."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import OverflowedError
from linsep.rows.rows import CSR
from linsep.train import lanes as compiled
from linsep.train.crew import Crew
from linsep.train.dual_losses import DualLoss, Hinge, Logistic, SquaredHinge
from linsep.train.lanes import ALPHA, CAP, SIGN, SQUARE, TURN, Centred, Lane
from linsep.train.working_set import SMALL, Frame, WorkingSet

Array = npt.NDArray[Any]

SAMPLE = 1024  # rows from which the crowd of each feature and the centre are estimated
CALL = 20_000_000  # entries read before an interrupt is looked for
LAPS = 20  # passes made in one call when there are few entries
EPS = float(np.finfo(np.float64).eps)


class Look(NamedTuple):
    """P and D as a look at all rows shows them, and where."""

    primal: float
    dual: float
    w: Array
    b: float
    alpha: Array


class DualState:
    """Weights w = Σ αy(x − μ), multipliers α, and passes that move both.

    Parameters
    ----------
    X : checked array or CSR matrix
    signs : −1 or +1 for each row
    caps : U = C c of each row
    loss : the loss, as the dual sees it
    fit_intercept : whether b is free, or zero
    lanes : how many lanes a long list of sparse rows is walked in
    seed : the order of visits is a function of it and the number of the pass
    crew : threads that share the work
    """

    def __init__(
        self,
        X: Any,
        signs: Array,
        caps: Array,
        loss: DualLoss,
        *,
        fit_intercept: bool,
        lanes: int,
        seed: int,
        crew: Crew,
    ) -> None:
        n, d = X.shape
        self.loss = loss
        self.points = np.zeros((n, 8))
        self.points[:, SIGN] = signs
        self.points[:, CAP] = caps
        self.points[:, TURN] = -np.inf
        self.w = np.zeros(d)
        self.n_iter = 0
        self.reach = np.inf
        self.entries = int(X.nnz) if sp.issparse(X) else X.size
        self._crew = crew
        self._free = fit_intercept
        self._b = 0.0
        self._level = 0.0
        self._excess = 0.0
        self._slow = 0
        self._scores = np.empty(n)
        self._rows = _rows_of(X, fit_intercept)
        frame = _frame_of(self._rows, self.points, d, self.entries, loss, fit_intercept, lanes)
        self._centre, self._pull = frame.centre, frame.pull
        self._copies = np.zeros((frame.lanes if frame.lanes > 1 else 0, d))
        self.working = WorkingSet(self._rows, self.entries, self.points, frame, crew, seed)
        self._refuse_overflow()

    def start_from(self, alpha: Array) -> None:
        """Begin at these multipliers, brought within their bounds."""
        p = self.points
        most = np.inf if isinstance(self.loss, SquaredHinge) else p[:, CAP]
        p[:, ALPHA] = np.where(p[:, CAP] > 0.0, np.clip(alpha, 0.0, most), 0.0)
        if isinstance(self.loss, Logistic):
            p[:, ALPHA] = np.clip(p[:, ALPHA], 1e-12 * p[:, CAP], (1.0 - 1e-12) * p[:, CAP])
            _turn(p, np.flatnonzero(p[:, CAP] > 0.0))
        self.rebuild()

    def rebuild(self) -> None:
        """Compute the weights from the multipliers, as after an interrupt amid a pass."""
        self.w[:] = 0.0
        listing = np.flatnonzero(self.points[:, ALPHA])
        self._add(listing, self.points[listing, SIGN] * self.points[listing, ALPHA])

    def one_pass(self) -> float:
        """Visit every row in play; returns the sum of the slacks as they were met."""
        at = self.working
        laps = max(1, min(LAPS, SMALL // (4 * max(1, at.entries)))) if at.block == 1 else 1
        blocks = np.concatenate([at.order(self.n_iter + k) for k in range(1, laps + 1)])
        self.n_iter += laps
        if self._free:
            self._pull_intercept()
        rounds = max(at.rounds, -(-at.entries // CALL))
        cuts = [len(blocks) * k // (rounds * at.lanes) for k in range(rounds * at.lanes + 1)]
        met = drift = visits = 0.0
        for r in range(rounds):
            spans = list(pairwise(cuts))[r * at.lanes : (r + 1) * at.lanes]
            tally = self._round([blocks[start:stop] for start, stop in spans])
            met, drift, visits = met + tally[0], drift + tally[1], visits + tally[2]
        self.reach = (drift / max(visits, 1.0)) ** 0.5
        return met / laps

    def look(self) -> Look:
        """Look at all rows: P and D at the multipliers as they are, balanced if b is free."""
        if not self._free:
            self._score()
            charged, gap = compiled.weigh(self.loss, self.points, self._scores, 0.0)
            return self._seen(charged, gap, 0.0)
        kept = self.w.copy(), self._level, self.points[:, [ALPHA, TURN]]
        self._balance()
        self._score()
        b = self._best_intercept()
        charged, gap = compiled.weigh(self.loss, self.points, self._scores, b)
        seen = self._seen(charged, gap, b)
        # The next pass goes on from the unbalanced ones: how far Σ αy is from zero moves b.
        self.w, self._level, self.points[:, [ALPHA, TURN]] = kept
        self._share_weights()
        return seen

    def _seen(self, charged: float, gap: float, b: float) -> Look:
        centre = self._rows.centre if isinstance(self._rows, Centred) else self._centre
        size = compiled.inner(self.w, self.w)
        far = compiled.inner(centre, centre) if len(centre) else 0.0
        caps, alpha = self.points[:, CAP], self.points[:, ALPHA].copy()
        # Rounding: what taking μ off may cost the sums that make w, and the intercept given back.
        lost = 0.0 if isinstance(self._rows, Centred) else 8.0 * EPS**2 * far * alpha.sum() ** 2
        shaken = EPS * caps.sum() * (far * size) ** 0.5
        b = float(b - (compiled.inner(centre, self.w) if len(centre) else 0.0))
        primal = 0.5 * size + charged
        return Look(primal + shaken, primal - gap - lost, self.w.copy(), b, alpha)

    def _score(self) -> None:
        """Set the scores ⟨w, x − μ⟩ of all rows."""
        n = len(self._scores)
        pieces = 2 * max(1, -(-self.entries // (2 * CALL))) if self.entries >= SMALL else 1
        cuts = [n * k // pieces for k in range(pieces + 1)]
        spans = list(pairwise(cuts))
        for k in range(0, pieces, 2):
            calls = [(self._rows, self.w, self._level, self._scores, *s) for s in spans[k : k + 2]]
            self._crew.run(compiled.score, calls)

    def widen(self) -> None:
        """Bring back into play the rows that, going by the last look, may move."""
        if not isinstance(self.loss, Logistic):
            self.working.widen(self.loss, self.reach)
            self._share_weights()

    def narrow(self) -> None:
        """Leave out of play the rows that the last pass found resting."""
        if not isinstance(self.loss, Logistic):
            self.working.narrow()
            self._share_weights()

    def _round(self, blocks: list[Array]) -> tuple[float, ...]:
        """Each lane visits its blocks; then they are merged."""
        at = self.working
        lane = Lane(self._level, self._b, at.spread, self._pull * at.lanes, self.reach, at.block)
        copies = self._copies if at.lanes > 1 else self.w[None]
        rows = (self.loss, at.rows, self.points, at.listing, at.places)
        calls = [(*rows, part, w, lane) for part, w in zip(blocks, copies, strict=True)]
        done = self._crew.run(compiled.sweep, calls)
        total, *tally = (sum(column) for column in zip(*done, strict=True))
        if at.lanes > 1:
            self._level = compiled.merge(self.w, copies, at.stretch, self._centre, total)
        else:
            self._recentre(total)
        self._b += self._pull * total
        return tuple(tally)

    def _pull_intercept(self) -> None:
        """b ← b + ρ Σ αy, and more of it once the sum has hardly shrunk for three passes."""
        excess = compiled.inner(self.points[:, SIGN], self.points[:, ALPHA])
        slow = excess * self._excess > 0.0 and abs(excess) > 0.5 * abs(self._excess)
        self._slow = self._slow + 1 if slow else 0
        self._excess = excess
        self._b += 2.0 ** max(0, self._slow - 3) * self._pull * excess

    def _recentre(self, total: float) -> None:
        """w ← w − (Σ yδ) μ"""
        if len(self._centre):
            self.w -= total * self._centre
            self._level = compiled.inner(self.w, self._centre)

    def _add(self, listing: Array, deltas: Array) -> None:
        """w ← w + Σ δ(x − μ)"""
        compiled.add_rows(self._rows, listing.astype(np.uint32), deltas, self.w)
        self._recentre(float(deltas.sum()))
        self._share_weights()

    def _share_weights(self) -> None:
        if self.working.lanes > 1:
            self._copies[:] = self.w

    def _balance(self) -> None:
        """Make Σ αy zero by taking a little off some multipliers of the heavier side.

        Only then is D a bound on P. Rows at no bound are preferred: there a small change costs
        next to nothing.
        """
        p = self.points
        y, a = p[:, SIGN], p[:, ALPHA]
        excess = compiled.inner(y, a)
        heavy = np.flatnonzero((y * excess > 0.0) & (a > 0.0))
        if not len(heavy):
            return
        inside = heavy[a[heavy] < p[heavy, CAP]] if isinstance(self.loss, Hinge) else heavy
        chosen = inside[:: max(1, len(inside) // 512)]
        for more in (inside, heavy):
            if a[chosen].sum() < 2.0 * abs(excess):
                chosen = more
        part = min(1.0, abs(excess) / a[chosen].sum())
        deltas = -part * a[chosen]
        a[chosen] += deltas
        if isinstance(self.loss, Logistic):
            _turn(p, chosen)
        self._add(chosen, y[chosen] * deltas)

    def _best_intercept(self) -> float:
        """The b that makes P smallest for these weights: where its slope changes sign."""
        tilt, known = compiled.tilt, (self.loss, self.points, self._scores)
        b = self._b
        start = tilt(*known, b)
        if start == 0.0:
            return b
        step = float(-np.copysign(1e-3 * (1.0 + abs(b)), start))
        far = b + step
        while tilt(*known, far) * start > 0.0:
            step *= 4.0
            b, far = far, far + step
            if abs(far) > 1e100:  # one class only: P falls for ever, or is flat
                return self._b
        low, high = min(b, far), max(b, far)
        while high - low > 1e-15 * (abs(low) + abs(high)) and low < 0.5 * (low + high) < high:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if tilt(*known, middle) > 0.0 else (middle, high)
        return 0.5 * (low + high)

    def _refuse_overflow(self) -> None:
        finite = np.isfinite(self.points[:, SQUARE])
        if not finite.all():
            raise OverflowedError(
                f"row {int(np.argmin(finite))} of X is so long that its square overflows. Divide X "
                "by its largest entry; linsep.Scaled does so and gives weights in original units."
            )


def _rows_of(X: Any, centred: bool) -> CSR | Centred:
    """Rows as the kernels read them: unsigned row pointers cost no guard at each access."""
    if sp.issparse(X):
        indptr = X.indptr.astype(np.int64, copy=False).view(np.uint64)
        return CSR(X.data, X.indices.view(np.uint32), indptr)
    some = X[:: max(1, len(X) // SAMPLE)]
    centre = some.mean(axis=0, dtype=np.float64) if centred else np.zeros(X.shape[1])
    return Centred(X, centre)


def _frame_of(
    rows: CSR | Centred,
    points: Array,
    n_features: int,
    entries: int,
    loss: DualLoss,
    fit_intercept: bool,
    lanes: int,
) -> Frame:
    """What a sample of the rows tells about all of them."""
    n = len(points)
    sample = np.arange(0, n, max(1, n // SAMPLE), dtype=np.uint32)
    crowd = centre = np.empty(0)
    if isinstance(rows, CSR):
        crowd, sums = np.zeros(n_features), np.zeros(n_features)
        compiled.crowds(rows, sample, crowd, sums)
        crowd *= n / len(sample)
        centre = sums / len(sample) if fit_intercept else centre
    pull = 0.0
    if fit_intercept:
        lane = Lane(0.0, 0.0, compiled.inner(centre, centre), 0.0, 0.0, 1)
        compiled.measure(rows, points, sample, sample, centre, lane, 0, len(sample))
        # Strong enough for all caps together to move b by a few units, and weak enough not to
        # shorten the steps of single rows.
        caps = max(points[:, CAP].sum(), 1e-300)
        pull = 0.02 * points[sample, SQUARE].mean() + (4.0 + 0.005 * n) / caps
    if isinstance(rows, Centred) or entries < SMALL:
        lanes = 1
    return Frame(crowd, centre, pull, lanes, 0.5 if isinstance(loss, Hinge) else 0.0)


def _turn(points: Array, listing: Array) -> None:
    """Set the logit of α/U."""
    share = np.clip(points[listing, ALPHA] / points[listing, CAP], 1e-300, 1.0 - 1e-16)
    points[listing, TURN] = np.log(share) - np.log1p(-share)
