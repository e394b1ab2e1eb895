"""THE table of convex solvers: which one a problem meets, and why.

`TABLE` is read from the top; the first line that applies is taken. Costs are counted in operations,
never by the clock: the same data meets the same solver on every machine, and ends with the same
bytes. `LinearSVC.solver_` and `LogisticRegression.solver_` say what ran.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Event, Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.parallel import Pool, threads
from linsep.status import Status
from linsep.train.convex.drive import Candidate, Goal, Savepoint, Solver
from linsep.train.convex.dual import interior_point
from linsep.train.convex.dual.active_set import Polished
from linsep.train.convex.dual.coordinate_descent import DualDescent
from linsep.train.convex.dual.design import Design
from linsep.train.convex.dual.interior_point import InteriorPoint
from linsep.train.convex.newton import full_newton, primal_newton, sparse_problem, sparse_sums
from linsep.train.convex.newton.full_newton import FullNewton
from linsep.train.convex.newton.newton_cg import NewtonCG
from linsep.train.convex.newton.primal_newton import PrimalNewton
from linsep.train.convex.newton.squared_hinge import SquaredHingeNewton
from linsep.train.convex.solution import Solution
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]

# Costs in nanoseconds of one core: estimates, not yet fitted to measurements. Only their ratios
# matter, and they decide when to hand over, never whether a fit has converged.
ENTRY, ROW, CALL = 1.5, 40.0, 3e5  # of a pass of dual descent: each entry, each row, the pass
PRODUCT, WIDE, PER_ROW, STEP = 0.07, 0.05, 60.0, 1.5e5  # of a second-order step: n·k², k³, n, 1
STEPS = {"hinge": 20, "squared_hinge": 6}  # second-order steps that a fit takes, about
PRODUCTS = {"hinge": 300, "squared_hinge": 40}  # with the rows, of Newton-CG
PATIENCE = 30  # passes of descent, at least, before steps take over
AT_ONCE = 12.0  # passes of descent that are not worth waiting for, where steps cost no more
TALL = {
    "hinge": 8.0,
    "squared_hinge": 2.0,
    "logistic": 2.0,
}  # rows for each feature from which Newton-CG wins
SMALL = 5000  # rows up to which the last digits are worth a linear system
ANYWAY = 2e9  # what steps may cost where they take over: they mind neither scale nor correlation
AT_ALL = 3e11  # products n·k² of a step up to which steps are taken at all: some ten seconds
NARROW = 256  # features up to which a Hessian costs next to nothing
FEW_NUMBERS = 2_000_000  # up to which sparse rows may be written out for an exact method
IN_MEMORY = 1 << 24  # entries up to which second-order steps, which copy them, may be taken


class Shape(NamedTuple):
    """What the choice looks at."""

    loss: str
    n: int
    d: int
    nnz: int
    sparse: bool
    classes: int = 2
    unpenalised: bool = False
    suits_primal: bool = False
    suits_steps: bool = False
    short_rows: bool = False
    full: bool = False

    @property
    def hinges(self) -> bool:
        """Whether it is a support vector machine."""
        return self.loss != "logistic"

    @property
    def two(self) -> bool:
        return self.classes == 2

    @property
    def written_out(self) -> bool:
        """Whether sparse rows are few, or short, enough to be written out for an exact method."""
        if self.unpenalised:
            return self.n * self.d <= IN_MEMORY
        few = self.n * self.d <= FEW_NUMBERS
        return few and (not self.two or self.d <= min(self.n, NARROW))

    @property
    def one_pass(self) -> float:
        """What a pass of dual descent costs."""
        return ENTRY * self.nnz + ROW * self.n + CALL

    @property
    def steps(self) -> float:
        """What second-order steps to the end would cost; they write sparse rows out."""
        n, k = float(max(self.n, self.d)), float(min(self.n, self.d))
        if not self.suits_steps or n * k * k > AT_ALL:
            return np.inf
        one = PRODUCT * n * k * k + WIDE * k**3 + PER_ROW * self.n + STEP
        return STEPS[self.loss] * one

    @property
    def products(self) -> float:
        """What Newton-CG to the end would cost."""
        return PRODUCTS[self.loss] * (0.5 * self.nnz + 5.0 * self.n + 5e4)

    @property
    def tall(self) -> bool:
        """Whether a look at all rows tells enough to make Newton's steps few."""
        return self.n >= max(primal_newton.FEWEST, TALL[self.loss] * self.d)


def shape_of(X: Any, loss: str, classes: int = 2, unpenalised: bool = False) -> Shape:
    """What the choice looks at, of rows and the problem they pose."""
    n, d = X.shape
    sparse = sp.issparse(X)
    entries = int(X.nnz) if sparse else n * d
    full = classes == 2 and not unpenalised and full_newton.suits(X)
    shape = Shape(loss, n, d, entries, sparse, classes, unpenalised, full=full)
    if shape.hinges:
        return shape._replace(
            suits_primal=primal_newton.suits(X), suits_steps=interior_point.suits(X)
        )
    free = unpenalised and d <= sparse_sums.WIDEST
    return shape._replace(short_rows=sparse and shape.two and (free or sparse_problem.suits(X)))


class Line(NamedTuple):
    """A line of the table: the solver, when it is taken, and the measured reason."""

    solver: str
    applies: Callable[[Shape], bool]
    when: str
    reason: str


TABLE = (
    Line(
        "newton",
        lambda s: s.full,
        "two classes: at most 256 features and four million entries, dense or sparse",
        "a sample, then a few steps in compiled code, until a step foretells multipliers that "
        "close the gap: 500 x 8 hinge 188 -> 1.0 ms, logistic 2.2 -> 0.7 ms; a9a hinge 204 -> 31 "
        "ms, logistic 52 -> 22 ms; 20,000 x 16 logistic 7.9 -> 5.5 ms",
    ),
    Line(
        "newton",
        lambda s: s.hinges and s.suits_primal,
        "hinge, squared hinge: 2,048 rows or more, ten for each of at most 512 features",
        "five to twelve passes are enough, and no number is kept for a row: against descent, a9a "
        "hinge 0.22 -> 0.17 s, squared hinge 0.27 -> 0.04 s; ijcnn1 0.06 -> 0.05 and 0.02 s",
    ),
    Line(
        "steps",
        lambda s: s.hinges and s.steps <= AT_ONCE * s.one_pass,
        "hinge, squared hinge: second-order steps to the end cost no more than twelve passes",
        "small dense tables: 500 x 8 with the hinge 10 steps, descent 172 passes",
    ),
    Line(
        "newton-cg",
        lambda s: s.hinges and s.tall,
        "hinge, squared hinge: more features, with eight (hinge) or two rows for each",
        "no matrix of products: 50,000 x 768 hinge 24 -> 1.0 s against interior steps, squared "
        "hinge 5.8 -> 0.6 s; one-hot 100,000 x 2,400 hinge 0.83 -> 0.52 s, squared hinge 0.81 -> "
        "0.10 s against descent",
    ),
    Line(
        "dual, then steps",
        lambda s: s.hinges,
        "hinge, squared hinge: everything else, such as text",
        "descent while its gap falls faster than second-order steps would close it: 60,000 short "
        "texts with the hinge 0.08 s, Newton-CG 2.1 s",
    ),
    Line(
        "newton-cg",
        lambda s: s.two and not s.unpenalised and not s.sparse and s.d > NARROW,
        "logistic, two classes: dense rows of more than 256 features",
        "50,000 x 768 float32 2.8 -> 0.5 s against L-BFGS; 20,000 x 1,536 0.8 s",
    ),
    Line(
        "newton",
        lambda s: not s.sparse or s.short_rows or s.written_out,
        "logistic: dense rows; sparse ones that are short and many, or few enough to write out",
        "a sample, then a few passes with a Hessian each: covtype in seven passes",
    ),
    Line(
        "newton-cg",
        lambda s: s.two and not s.unpenalised and s.n >= TALL["logistic"] * s.d,
        "logistic, two classes: sparse rows, two for each feature",
        "one-hot 100,000 x 2,400 0.36 -> 0.18 s against descent",
    ),
    Line(
        "dual",
        lambda s: s.two and not s.unpenalised,
        "logistic, two classes: other sparse rows, such as text",
        "200,000 x 1,000,000: 0.7 s, Newton-CG 0.9 s; handed on to Newton-CG where it is slow",
    ),
    Line(
        "quasi-newton",
        lambda s: True,
        "logistic: sparse rows of several classes, or without a penalty",
        "no number kept for a row and a class beyond the scores; not yet measured against others",
    ),
)


def line_for(shape: Shape) -> Line:
    """The first line of the table that applies."""
    return next(line for line in TABLE if line.applies(shape))


def as_markdown() -> str:
    """The table as a page shows it."""
    lines = ["| solver | for | why |", "|---|---|---|"]
    return "\n".join(
        [*lines, *(f"| `{one.solver}` | {one.when} | {one.reason} |" for one in TABLE)]
    )


class Machine(NamedTuple):
    """One two-class support vector machine to be fitted.

    Attributes
    ----------
    X : checked array or CSR matrix
    signs : −1 or +1 for each row, of any type
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C, loss, fit_intercept, max_iter, seed, n_jobs : as of `DualDescent`
    shared : more arguments of `DualDescent`: lanes, halt, design
    keep : whether solvers keep what a checkpoint asks for
    tol : the relative gap asked for
    watched : whether somebody is told of every step
    """

    X: Any
    signs: Array
    weights: Array | None
    C: float
    loss: str
    fit_intercept: bool
    max_iter: int
    seed: int = 0
    n_jobs: int | None = None
    shared: dict[str, Any] = {}
    keep: bool = False
    tol: float = 1e-4
    watched: bool = False

    @property
    def _given(self) -> tuple[Any, Array, Array | None, float]:
        return self.X, self.signs, self.weights, self.C

    def solver(
        self,
        which: str,
        start: tuple[Array, float] | None = None,
        alpha: Array | None = None,
    ) -> Solver:
        """The solver for 'auto', 'newton' or 'dual'; begin at weights or multipliers, if any."""
        chosen = self._chosen(which, start, alpha)
        if self.X.shape[0] > SMALL:
            return chosen
        caps = np.full(self.X.shape[0], self.C)
        if self.weights is not None:
            caps *= self.weights
        squared = self.loss == "squared_hinge"
        return Polished(chosen, self.X, self.signs, caps, squared, self.fit_intercept, alpha)

    def _chosen(self, which: str, start: tuple[Array, float] | None, alpha: Array | None) -> Solver:
        shape = shape_of(self.X, self.loss)
        line = line_for(shape).solver if which == "auto" else which
        if line == "newton" and shape.full and self.tol >= full_newton.FINEST:
            full = FullNewton(
                *self._given, loss=self.loss, fit_intercept=self.fit_intercept,
                n_jobs=self.n_jobs, start=start, alpha=alpha, max_iter=self.max_iter,
                watched=self.watched,
            )  # fmt: skip
            return Handover(full, self._steps_from)
        if line == "newton" and shape.suits_primal:
            primal = PrimalNewton(
                *self._given, loss=self.loss, fit_intercept=self.fit_intercept,
                n_jobs=self.n_jobs, start=start, keep=self.keep,
            )  # fmt: skip
            if shape.steps == np.inf or shape.n * shape.d > IN_MEMORY:
                return primal
            return Handover(primal, self._steps_from)
        small = shape.steps <= max(shape.products, ANYWAY)
        if line == "newton-cg":
            by_products = self.newton_cg(start)
            if shape.steps == np.inf:
                return by_products
            return Handover(by_products, lambda at: self.steps())  # dear, but they mind no scale
        if line in ("newton", "steps"):
            return self.steps(start)
        first = self.dual(alpha)
        if line == "dual":
            return first
        then = self._steps_from if small else self._products_then_dual
        price = min(shape.steps, shape.products) / shape.one_pass
        return Handover(first, then, price)

    def _steps_from(self, at: Solution) -> Solver:
        return self.steps((at.w, at.b))

    def _products_then_dual(self, at: Solution) -> Solver:
        """Newton-CG, and descent again from its own multipliers where Newton-CG gets stuck."""
        return Handover(self.newton_cg((at.w, at.b)), lambda _: self.dual(at.alpha))

    def dual(self, alpha: Array | None = None) -> DualDescent:
        return DualDescent(
            *self._given, loss=self.loss, fit_intercept=self.fit_intercept, seed=self.seed,
            max_iter=self.max_iter, n_jobs=self.n_jobs, start=alpha, **self.shared,
        )  # fmt: skip

    def newton_cg(self, start: tuple[Array, float] | None = None) -> NewtonCG:
        return NewtonCG(
            *self._given, loss=self.loss, fit_intercept=self.fit_intercept, n_jobs=self.n_jobs,
            start=start,
        )  # fmt: skip

    def steps(self, start: tuple[Array, float] | None = None) -> Solver:
        """Newton's method for the squared hinge, an interior point method for the hinge."""
        free = self.fit_intercept
        inside = InteriorPoint(*self._given, loss=self.loss, fit_intercept=free)
        if self.loss == "hinge":
            return inside
        newton = SquaredHingeNewton(*self._given, fit_intercept=free, start=start)
        if not interior_point.suits(self.X):
            return newton
        return Handover(newton, lambda at: inside)  # Newton's may get stuck, as with C or X huge


class Pace(Stateful):
    """How fast descent closes its gap, and whether others would close it sooner.

    Parameters
    ----------
    price : what the others cost, in passes
    tol : the relative gap asked for

    Examples
    --------
    >>> pace = Pace(100.0, 1e-4)
    >>> [pace(Candidate(n, 1.0, 1.0 - gap)) for n, gap in ((20, 0.5), (40, 0.05), (80, 0.04))]
    [False, False, True]
    """

    state_names = ("_price", "_tol", "_seen")

    def __init__(self, price: float, tol: float) -> None:
        self._price, self._tol = price, tol
        self._seen = [(0, 0.0)]
        self.slow = False

    def __call__(self, seen: Candidate) -> bool:
        left = math.log(max(seen.gap / seen.primal, 1e-300)) if seen.primal > 0.0 else -np.inf
        before, then = next(one for one in reversed(self._seen) if 2 * one[0] <= seen.n_iter)
        self._seen.append((seen.n_iter, left))
        if seen.n_iter >= PATIENCE:
            fell = (then - left) / (seen.n_iter - before)  # of log gap, in each pass
            self.slow = left - math.log(self._tol) > self._price * max(fell, 0.0)
        return self.slow


class Handover:
    """One solver while its gap falls fast enough, then another from where it got.

    Parameters
    ----------
    first : the solver to begin with
    then : makes the second from the solution of the first
    price : what the second costs, in passes of the first; where it is left out, the second takes
        over only from a first that gets no further
    """

    def __init__(
        self, first: Any, then: Callable[[Solution], Any], price: float | None = None
    ) -> None:
        self._first, self._then, self._price = first, then, price
        self._second: Any = None
        self._one: Solution | None = None  # where the first ended
        self._seen: Candidate | None = None  # its last candidate
        self._pace: Pace | None = None
        self._tol = 1e-4

    @property
    def pool(self) -> Pool:
        return self._first.pool  # type: ignore[no-any-return]

    @pool.setter
    def pool(self, pool: Pool) -> None:
        self._first.pool = pool
        if self._second is not None:
            self._second.pool = pool

    @property
    def name(self) -> str:
        return str((self._second or self._first).name)

    @property
    def tol(self) -> float:
        return self._tol

    @tol.setter
    def tol(self, tol: float) -> None:
        self._tol = self._first.tol = tol
        if self._second is not None:
            self._second.tol = tol

    def candidates(self) -> Iterator[Candidate]:
        if self._second is None:
            yield from self._begin()
            self._hand_over(self._first.solution())
        seen = self._seen
        assert seen is not None
        for later in self._second.candidates():
            bounds = min(seen.primal, later.primal), max(seen.dual, later.dual)
            yield Candidate(seen.n_iter + later.n_iter, *bounds, later.active, seen.least)

    def _begin(self) -> Iterator[Candidate]:
        """The candidates of the first, until it ends or is too slow."""
        most = np.inf
        if self._price is not None:
            half = self._first.max_iter // 2  # is left for the second, whatever it costs
            self._pace = self._pace or Pace(min(self._price, half), self._tol)
            most = half if half >= PATIENCE else np.inf
        for seen in self._first.candidates():
            self._seen = seen
            yield seen
            slow = self._pace is not None and (self._pace(seen) or seen.n_iter >= most)
            if slow and not seen.within(self._tol):
                break

    def _hand_over(self, solution: Solution) -> None:
        self._one, self._second = solution, self._then(solution)
        self._second.pool, self._second.tol = self.pool, self._tol

    def state(self) -> dict[str, Any]:
        pace = None if self._pace is None else self._pace.state()
        if self._one is None:
            return {"first": self._first.state(), "pace": pace, "one": None}
        one = self._one
        return {
            "second": self._second.state(), "seen": tuple(self._seen or ()),
            "one": (one.w, one.b, one.alpha, one.primal, one.dual, one.gap, one.n_iter),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        if state["one"] is not None:
            self._seen = Candidate(*state["seen"])
            self._hand_over(Solution(*state["one"]))
            self._second.restore(state["second"])
            return
        self._first.restore(state["first"])
        if state["pace"] is not None:
            self._pace = Pace(0.0, 0.0)
            self._pace.restore(state["pace"])

    def interrupted(self) -> None:
        (self._second or self._first).interrupted()

    def rescaled(self) -> Any:
        """The first in other columns, where it has them."""
        other = self._first.rescaled()
        return None if other is None else Handover(other, self._then, self._price)

    def solution(self) -> Solution:
        """The better weights and the higher bound of both."""
        one = self._one or self._first.solution()
        if self._second is None:
            return one  # type: ignore[no-any-return]
        two = self._second.solution()
        low, high = min(one, two, key=_primal), max(one, two, key=_dual)
        gap = max(0.0, low.primal - high.dual)
        n_iter = one.n_iter + two.n_iter
        if two.gap <= 2.0 * gap:  # weights and multipliers of one point are worth more to others
            return replace(two, n_iter=n_iter)
        return Solution(low.w, low.b, high.alpha, low.primal, high.dual, gap, n_iter)


def _primal(solution: Solution) -> float:
    return solution.primal


def _dual(solution: Solution) -> float:
    return solution.dual


def one_vs_rest(
    X: Any,
    codes: Array,
    n_classes: int,
    fit: Callable[[Machine, int, Goal], Solution],
    goal: Goal,
    saved: Sequence[Savepoint] = (),
    **settings: Any,
) -> list[Solution]:
    """Fit each class against all others, several classes at a time.

    Parameters
    ----------
    fit : what to do with the machine of a class; its goal tells the listener of all classes begun
        so far together, from one thread at a time
    goal : of all classes together
    saved : a savepoint for each class, or none
    settings : those of `Machine`, from `weights` on

    Returns
    -------
    list of Solution
        One for each class. After an interrupt the classes not yet begun have made one pass.
    """
    halt, stopped, lock, turn = Event(), Event(), Lock(), Lock()
    seen: dict[int, Candidate] = {}
    made: list[Design] = []
    n_jobs = settings.pop("n_jobs", None)

    def design() -> Design:
        """X as all classes share it, measured by the first that needs it."""
        with lock:
            if not made:
                with Pool(n_jobs) as pool:
                    made.append(Design(X, settings["fit_intercept"], pool))
                _ = made[0].lengths
        return made[0]

    def tell(k: int, candidate: Candidate) -> bool:
        with turn:
            if goal.listener is not None and not halt.is_set():
                seen[k] = candidate
                if goal.listener(Candidate(*map(sum, zip(*seen.values(), strict=True)))) is True:
                    stopped.set()
                    halt.set()
        return halt.is_set()

    shared = {"lanes": 1, "halt": halt, "design": design}

    def one(k: int) -> Solution:
        signs = np.where(codes == k, np.int8(1), np.int8(-1))
        machine = Machine(X, signs, n_jobs=1, shared=shared, **settings)
        at = saved[k] if saved else None
        own = goal._replace(listener=partial(tell, k), halt=halt, savepoint=at)
        solution = fit(machine, k, own)
        if halt.is_set() and solution.status in (Status.stopped, Status.interrupted):
            ending = Status.stopped if stopped.is_set() else Status.interrupted
            return replace(solution, status=ending)
        return solution

    with Pool(1), ThreadPoolExecutor(min(threads(n_jobs), n_classes)) as executor:
        waiting = [executor.submit(one, k) for k in range(n_classes)]
        try:
            return [solution.result() for solution in waiting]
        except BaseException as problem:
            halt.set()
            if not isinstance(problem, KeyboardInterrupt):
                raise
            return [solution.result() for solution in waiting]
