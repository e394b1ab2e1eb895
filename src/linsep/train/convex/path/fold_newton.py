"""Two-class logistic regression for all folds and all C at once, on dense rows.

    P(w, b) = ½‖w‖² + C Σ log(1 + e^{−zᵢ})  over the rows that fold f keeps

Folds differ little, and so do neighbouring C. A sample of rows
(`linsep.train.convex.path.fold_sample`) is solved for every C, and passes over all rows correct
what it says: first the models of all rows, one for each C, whose passes sum the gradients of every
home apart. Then

    u_f = u − H_f⁻¹ g_f,    g_f, H_f the sums over all homes but f,

is next to the optimum of fold f already, and one more pass with all folds and C side by side
(`linsep.train.convex.path.fold_sums`) shows how near. Each fit ends on its own certified gap.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.blockwise.logistic_problem import duality_gap
from linsep.train.convex.blockwise.logistic_sums import Sums
from linsep.train.convex.coordinates import prepare, spread
from linsep.train.convex.path.fold_sample import FoldSample
from linsep.train.convex.path.fold_sums import FoldSums
from linsep.train.convex.path.folds import Folded

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WIDEST = 256  # features up to which Hessians are cheap beside the passes they save
FEW = 4  # rows for each feature, below which folds differ too much
LOOKS = 30  # at most, for the folds
HALVINGS = 20  # of a step that leads upwards, before it is given up
SLOW = 0.2  # a step that leaves more of the gap than this was made with the wrong Hessian


def suits(X: Array, fit_intercept: bool) -> bool:
    """Whether sums over these rows need no care, and Hessians of their features are small."""
    n, d = X.shape
    if d > WIDEST or n < FEW * d:
        return False
    with np.errstate(all="ignore"):
        about = spread(X)
        return not prepare(X, about, fit_intercept, 1.0).scale.size


def fit_folds(
    X: Array,
    signs: Array,
    home: Array,
    Cs: Floats,
    *,
    fit_intercept: bool,
    tol: float,
    n_jobs: int | None = None,
) -> Folded | None:
    """Fit every fold at every C.

    Parameters
    ----------
    X : checked C-contiguous array that `suits`
    signs : array of −1 and +1, both met in every fold's rows
    home : number of the fold that leaves each row out
    Cs : ascending and finite
    tol : the relative gap asked for

    Returns
    -------
    Folded, or None where the steps do not get there; then fold by fold is the way.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> signs = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    >>> found = fit_folds(X, signs, np.arange(60) % 3, np.array([0.1, 1.0]),
    ...     fit_intercept=True, tol=1e-8)
    >>> found.W.shape, bool((found.gap <= 1e-8).all())
    ((3, 2, 2), True)
    """
    with Pool(n_jobs) as pool, np.errstate(all="ignore"):
        run = _Run(X, signs, home, Cs, fit_intercept, pool)
        try:
            gap = run.settle(tol)
        except OverflowedError:
            return None
        if gap is None:
            return None
        W, b = run.U[:-1, :, :-1].copy(), run.U[:-1, :, -1].copy()
        return Folded(W, b, gap, run.scores, np.empty((0, len(Cs))), run.whole())


class _Run:
    """Where the models are, (folds + 1, m, d + 1) with that of all rows last, and what was seen."""

    def __init__(
        self, X: Array, signs: Array, home: Array, Cs: Floats, free: bool, pool: Pool
    ) -> None:
        self.Cs, self.free, self.pool = Cs, free, pool
        self.sums = FoldSums(X, signs, home, pool)
        self.sample = FoldSample(X, signs, home, free, pool)
        self.count = count = self.sums.count
        n, d = X.shape
        self.sizes = np.append(n - np.bincount(home, minlength=count), n)
        self.ridge = np.append(np.ones(d), 0.0)
        self.U = np.zeros((count + 1, len(Cs), d + 1))
        if free:
            share = float((signs > 0).mean())
            self.U[..., -1] = np.log(share) - np.log1p(-share)
        self.seen = np.empty((count + 1, len(Cs), 2, d + 2))
        self.scores = np.empty((n, len(Cs)))

    def settle(self, tol: float) -> Floats | None:
        """Bring every fold to its gap at every C; returns the relative gaps of the folds."""
        self._begin()
        gap = np.full((self.count, len(self.Cs)), np.inf)
        left, own = np.argwhere(gap == np.inf), np.zeros(gap.shape, bool)
        H = self._bends(left)
        for look in range(LOOKS):
            before, last = gap.copy(), self.U.copy()
            there, held = self._move_and_evaluate(left, H, own, tol)
            if not look:  # Hessians of all rows' models may do for the proof
                self._measure(there, self._bends(there), gap, self.at[there[:, 1]])
                there = there[gap[*there.T] > tol]
            self._measure(there, self._bends(there, now=True), gap, self.U[*there.T])
            if (gap[*held.T] > tol).any():
                return None  # the next look would be the same
            left = left[(gap > tol)[*left.T]]
            if not len(left):
                return gap
            slow = (gap > SLOW * before) | (gap == np.inf)
            still = own[*left.T].all() and (self.U[*left.T] == last[*left.T]).all()
            if not self._lend(left) and still:
                return None  # steps on the sample lead nowhere
            own |= slow
            H = self._bends(left, now=True)
        return None

    def _lend(self, which: Array) -> bool:
        """Go on from the model of another C where P is lower there; whether any does.

        A sum over the rows that a fold keeps knows no C, so that this takes no pass. Where rows are
        so far beyond their planes that their losses neither fall nor bend, no step leads back.
        """
        lent = False
        U, seen = self.U.copy(), self.seen.copy()
        for f, c in which:
            squares, losses = (self.ridge * U[f] ** 2).sum(axis=1), seen[f, :, :, -2].sum(axis=1)
            value = 0.5 * squares / self.Cs[c] + losses
            best = int(value.argmin())
            if value[best] < value[c]:
                self.U[f, c], self.seen[f, c], lent = U[f, best], seen[f, best], True
        return lent

    def _begin(self) -> None:
        """Models of all rows for every C, and Hessians there."""
        stop = 1e-4 * self.sizes[-1]

        def along(half: Array) -> list[Floats]:
            u, met = self.U[-1, half[0]], []
            for c in half:
                u, H = self.sample.solve(u, self.count, self.Cs[c], None, stop)
                self.U[-1, c] = u
                met.append(H)
            return met

        halves = np.array_split(np.arange(len(self.Cs)), min(2, len(self.Cs)))
        H = np.array([one for met in self.pool.run(along, [(h,) for h in halves]) for one in met])
        self._finite()
        by_home = self._step_of_all(H)
        hessians = self.pool.run(self._hessians_by_home, [(u,) for u in self.U[-1]])
        self.far, self.others = map(_without_each, np.array(hessians).transpose(1, 2, 0, 3, 4))
        self.seen[:-1] = self.seen[-1] - by_home
        self.at = self.U[-1].copy()
        self.U[:-1] = self.at

    def _step_of_all(self, H: Floats) -> Floats:
        """A step of the models of all rows, as far as it leads downwards; their sums by home."""
        by_home = self.sums.by_home(self.U[-1])
        self.seen[-1] = by_home.sum(axis=0)
        last, value = self.U[-1].copy(), self._values()[-1]
        every = np.column_stack([np.full(len(self.Cs), self.count), np.arange(len(self.Cs))])
        self.U[-1] -= self._solve(every, H, self._gradients(every))
        self._finite()
        rose = np.arange(len(self.Cs))
        for _ in range(HALVINGS):
            by_home[:, rose] = self.sums.by_home(self.U[-1, rose])
            self.seen[-1] = by_home.sum(axis=0)
            rose = rose[~(self._values()[-1, rose] <= value[rose] * (1 + 1e-13))]
            if not len(rose):
                break
            self.U[-1, rose] = 0.5 * (self.U[-1, rose] + last[rose])
        return by_home

    def _hessians_by_home(self, u: Floats) -> Floats:
        return np.array(
            [rows.at(u, self.count)[2] for rows in (self.sample.far, self.sample.others)]
        )

    def _gradients(self, which: Array) -> Floats:
        """Of P / C of these models, as last seen."""
        f, c = which.T
        s = self.seen[f, c]
        G = np.column_stack([-s[:, :, :-2].sum(axis=1), s[:, 1, -1] - s[:, 0, -1]])
        G += self.ridge * self.U[f, c] / self.Cs[c, None]
        if not self.free:
            G[:, -1] = 0.0
        return np.asarray(G)

    def _values(self) -> Floats:
        """P / C of every model as last seen."""
        return np.asarray(
            0.5 * (self.ridge * self.U**2).sum(axis=2) / self.Cs + self.seen[..., -2].sum(axis=2)
        )

    def whole(self) -> Floats:
        """The models of all rows, a step nearer."""
        which = np.column_stack([np.full(len(self.Cs), self.count), np.arange(len(self.Cs))])
        H = self._bends(which)
        return np.asarray(self.U[-1] - self._solve(which, H, self._gradients(which)))

    def _bends(self, which: Array, now: bool = False) -> Floats:
        """The sample's Hessians of these models as at first, or its far rows as they are now."""
        f, c = which.T
        if not now:
            return np.asarray(self.others[f, c] + self.far[f, c])
        return np.asarray(self.others[f, c] + self.sample.far.hessians(self.U[f, c], f, self.pool))

    def _solve(self, which: Array, H: Floats, G: Floats) -> Floats:
        """(H + ridge)⁻¹g of these models."""
        H = H + np.eye(H.shape[1]) * (self.ridge / self.Cs[which[:, 1], None])[:, None]
        if not self.free:
            H[:, -1] = H[:, :, -1] = 0.0
            H[:, -1, -1] = 1.0
        try:
            return np.asarray(np.linalg.solve(H, G[:, :, None])[:, :, 0])
        except np.linalg.LinAlgError:
            raise OverflowedError("a Hessian is singular") from None

    def _move(self, which: Array, H: Floats, own: Array, tol: float) -> None:
        """By a step, or all the way on the sample where a step was no good."""
        f, c = which.T
        G = self._gradients(which)
        steps = self._solve(which, H, G)
        self.U[f, c] -= steps

        def one(k: int) -> None:
            f, c = which[k]
            stop = 1e-3 * tol * float(self.seen[f, c, :, -2].sum())
            u = self.U[f, c] + steps[k]
            self.U[f, c] = self.sample.solve(u, f, self.Cs[c], G[k], stop)[0]

        self.pool.run(one, [(k,) for k in np.flatnonzero(own[f, c]).tolist()])
        self._finite()

    def _finite(self) -> None:
        if not np.isfinite(self.U).all():
            raise OverflowedError("the weights of a fold overflow")

    def _move_and_evaluate(
        self, which: Array, H: Floats, own: Array, tol: float
    ) -> tuple[Array, Array]:
        """Move and look; which are where they were looked at, and which of these did not move.

        A step with the Hessian of all rows that leads upwards is taken back, to be made on the rows
        that the fold keeps; one made on these is halved until it does not lead upwards.
        """
        last, seen, value = self.U.copy(), self.seen.copy(), self._values()
        self._move(which, H, own, tol)
        there, rose = np.ones(len(which), bool), np.arange(len(which))
        for _ in range(HALVINGS):
            f, c = which[rose].T
            self.seen[f, c] = self.sums.kept(self.U[f, c], f, c, self.scores)
            rose = rose[~(self._values()[f, c] <= value[f, c] * (1 + 1e-13))]
            back = rose[~own[*which[rose].T]]
            f, c = which[back].T
            self.U[f, c], self.seen[f, c], there[back] = last[f, c], seen[f, c], False
            rose = rose[own[*which[rose].T]]
            if not len(rose):
                return which[there], which[rose]
            f, c = which[rose].T
            self.U[f, c] = 0.5 * (self.U[f, c] + last[f, c])
        self.U[f, c] = last[f, c]
        self.seen[f, c] = self.sums.kept(self.U[f, c], f, c, self.scores)
        return which[there], which[rose]

    def _measure(self, which: Array, H: Floats, gap: Floats, far: Floats) -> None:
        """Relative gaps: by plain duality, or by the dual point that the sample gives, the Hessians
        of whose far rows are those at the weights `far`."""
        if not len(which):
            return
        f, c = which.T
        U, G, value = self.U[f, c], self._gradients(which), self._values()
        T = self._solve(which, H, G)
        rest = G - (H @ T[:, :, None])[:, :, 0]
        moved = self.sample.far.moved(U, T, f, far, self.pool)
        moved += self.sample.others.moved(U, T, f, self.at[c], self.pool)
        rest += moved[:, :-1]
        if not self.free:
            rest[:, -1] = 0.0
        for k, (a, b) in enumerate(which):
            s, ridge = self.seen[a, b], self.ridge / self.Cs[b]
            sums = Sums(s[:, :-2], s[:, -2], s[:, -1], 0, None)
            plain = duality_gap(ridge, G[k], sums, self.free)
            shifted = sums._replace(weight=_balanced(sums.weight, rest[k, -1]))
            proved = moved[k, -1] + duality_gap(ridge, rest[k], shifted, self.free)
            gap[a, b] = min(plain, proved) / value[a, b]


def _without_each(parts: Floats) -> Floats:
    """Sums over the first axis, without each of its parts and, last, with all."""
    total = parts.sum(axis=0)
    return np.concatenate([total - parts, total[None]])


def _balanced(weight: Floats, excess: float) -> Floats:
    """Σ α of both classes when the second outweighs the first by `excess`."""
    mean = 0.5 * float(weight.sum())
    return np.array([mean - 0.5 * excess, mean + 0.5 * excess])
