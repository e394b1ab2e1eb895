"""Two-class logistic regression for all folds and all C, on rows of few features.

    P_f(u)/C = (1/2C) Σ rⱼuⱼ² + Σ log(1 + e^{−zᵢ})  over the rows that fold f keeps

Folds differ little. At a point p near the optimum of all rows, one reading sums gradient and
Hessian of every home apart, a home being the rows that one fold leaves out, and

    q_f = p − H_f⁻¹ g_f,    g_f, H_f the sums over all homes but f,

is Newton's step of fold f. It foretells multipliers a = α − D∘dz, which are feasible in the dual
(`linsep.train.convex.solvers.newton`), so that the gap at q_f is, with α′ the multipliers there,

    Σ KL(aᵢ ‖ α′ᵢ) ≤ Σ (aᵢ − α′ᵢ)²/(α′ᵢ(1 − α′ᵢ)),    of third order in the step:

a second reading, all q_f side by side, sums it up, and P_f(q_f) ≥ P_f(p) − ⟨g_f, H_f⁻¹g_f⟩.
The first p comes from some of the rows, and a step of all that their Hessian leads.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.page_release import maps_of
from linsep.errors import OverflowedError
from linsep.kernels import folds as kernels
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.designs.design import scores
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.losses import Logistic
from linsep.train.convex.parts.margin_sums import MarginSums
from linsep.train.convex.path.folds import Folded
from linsep.train.convex.problem import Problem
from linsep.train.convex.sampling import scattered
from linsep.train.convex.solvers.newton import BALANCED, Newton

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WIDEST = 160  # features up to which Hessians cost less than the products that could replace them
FEW = 4  # rows for each feature, below which folds differ too much
LEAST, PER_FEATURE, SHARE = 2048, 64, 8  # rows of the sample that the first p comes from
ROUGH = 1e-2  # relative gap of that optimum
ROUNDS = 5  # steps of all rows until folds step


def suits(X: Any) -> bool:
    """Whether Hessians of these rows are small, and the rows themselves in memory."""
    n, d = X.shape
    return d <= WIDEST and n >= FEW * d and not maps_of(X)


def fit_folds(
    X: Any,
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
    X : checked array or CSR matrix that `suits`
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
    (n, d), F, m = X.shape, int(home.max()) + 1, len(Cs)
    results = Folded(
        np.empty((F, m, d)), np.empty((F, m)), np.full((F, m), np.inf), np.empty((n, m)),
        np.empty((m, d + 1)),
    )  # fmt: skip
    with Pool(n_jobs) as pool, np.errstate(all="ignore"):
        run = _Run(Problem.of(X, signs, None, 1.0, Logistic(), fit_intercept), home, tol, results)
        try:
            points = list(run.starts(Cs))
            pool.run(run.settle, list(zip(range(m), Cs, points, strict=True)))
        except (OverflowedError, np.linalg.LinAlgError):
            return None
    return results if (results.gap <= tol).all() else None


class _Run:
    """The rows of each home, and what is found of the folds."""

    def __init__(self, problem: Problem, home: Array, tol: float, results: Folded) -> None:
        self.problem, self.home, self.tol, self.results = problem, home, tol, results
        self.rows = [np.flatnonzero(home == f) for f in range(len(results.gap))]
        self.homes = [problem.of_rows(rows, 1.0) for rows in self.rows]

    def starts(self, Cs: Floats) -> Iterator[Floats]:
        """About the optimum for each C, by some of the rows."""
        problem, n = self.problem, self.problem.design.n
        start, some = None, problem
        wanted = max(LEAST, PER_FEATURE * problem.size, n // SHARE)
        if n >= 2 * wanted:
            some = problem.of_rows(scattered(n, wanted), n / wanted)
        all_rows, sample = MarginSums(problem, Pool(1)), MarginSums(some, Pool(1))
        for C in Cs:
            found = drive(
                Newton(some._replace(weights=C * some.weights), 1, start), Goal(ROUGH, 100)
            )
            start = found.w, found.b
            p = problem.inside(*start)
            if some is not problem:
                v = all_rows.at(p, problem.loss, False).v.sum(axis=0)
                p = p - self._solved(p, v[None], sample.at(p, problem.loss).hessian[None], C)[0][0]
            yield p

    def _solved(self, p: Floats, V: Floats, H: Floats, C: float) -> tuple[Floats, Floats]:
        """Newton's steps from p, and what each gains, of sums Σ αyx̃ and Hessians of some rows."""
        ridge = self.problem.ridge / C
        G, H = ridge * p - V, H + np.diag(ridge)
        if not self.problem.intercept:
            G[:, -1] = H[:, -1] = H[:, :, -1] = 0.0
            H[:, -1, -1] = 1.0
        steps: Any = np.linalg.solve(H, G[:, :, None])[:, :, 0]
        return steps, (steps * G).sum(axis=1)

    def settle(self, c: int, C: float, p: Floats) -> None:
        """Bring every fold to its gap at this C, from p on."""
        for _ in range(ROUNDS):
            seen = [MarginSums(one, Pool(1)).at(p, self.problem.loss) for one in self.homes]
            V = _without_each(np.array([one.v.sum(axis=0) for one in seen]))
            H = _without_each(np.array([one.hessian for one in seen]))
            steps, gains = self._solved(p, V, H, C)
            if not gains[-1] > gains[:-1].min():  # folds differ from all rows by more than p does
                break
            p = p - steps[-1]
        shrunk = 0.5 * float(p * p @ self.problem.ridge) / C
        low = _without_each(np.array([one.smooth for one in seen])) + shrunk - gains
        Q, results = p - steps, self.results
        results.whole[c] = np.append(*self.problem.outside(Q[-1]))
        gaps, held = self._gaps(p, Q[:-1])
        for f, gap in enumerate(gaps / low[:-1]):
            if gap <= self.tol:
                self._keep(f, c, Q[f], gap, held[f])
            else:
                self._alone(f, c, C, Q[f] if np.isfinite(Q[f]).all() else p)

    def _gaps(self, p: Floats, Q: Floats) -> tuple[Floats, list[Floats]]:
        """Gaps of the folds at their q, and what these say of the rows left out."""
        sums, held = np.zeros((len(Q), 3)), []
        for h, part in enumerate(self.homes):
            outside = []
            for span in part.design.spans:
                S, one = scores(part.design.rows(span), np.vstack([p, Q])), np.zeros((len(Q), 3))
                kernels.fold_gaps(S, part.y[slice(*span)], h, one)
                outside.append(S[1 + h])
                sums += one
            held.append(np.concatenate(outside))
        gap, off, total = sums.T
        balanced = np.abs(off) <= BALANCED * total
        return np.where(balanced | (not self.problem.intercept), gap, np.inf), held

    def _keep(self, f: int, c: int, q: Floats, gap: float, held: Floats) -> None:
        results = self.results
        results.gap[f, c], results.scores[self.rows[f], c] = gap, held
        results.W[f, c], results.b[f, c] = self.problem.outside(q)

    def _alone(self, f: int, c: int, C: float, q: Floats) -> None:
        """One fold by the ordinary solver."""
        kept = self.problem.of_rows(np.flatnonzero(self.home != f), C)
        found = drive(Newton(kept, 1, self.problem.outside(q)), Goal(self.tol, 200))
        if found.status is Status.converged:
            q, design = self.problem.inside(found.w, found.b), self.homes[f].design
            self._keep(f, c, q, found.gap / found.primal, design.product(q[None], Pool(1))[0])


def _without_each(parts: Floats) -> Floats:
    """Sums over the first axis, without each of its parts and, last, with all."""
    total = parts.sum(axis=0)
    return np.concatenate([total - parts, total[None]])
