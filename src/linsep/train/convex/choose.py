"""THE table of convex solvers: which one a problem meets, and why.

`TABLE` is read from the top; the first line that applies is taken. Costs are counted in operations,
never by the clock: the same data meets the same solver on every machine, and ends with the same
bytes. `LinearSVC.solver_` and `LogisticRegression.solver_` say what ran.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster
from linsep.train.convex.basis import better_basis
from linsep.train.convex.drive import Solver
from linsep.train.convex.handover import Handover
from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge
from linsep.train.convex.penalties import RIDGE, Elastic
from linsep.train.convex.problem import Problem
from linsep.train.convex.row_space import InRowSpace
from linsep.train.convex.solution import Solution
from linsep.train.convex.solvers import interior_point
from linsep.train.convex.solvers.dual_descent import DualDescent, posed
from linsep.train.convex.solvers.interior_point import InteriorPoint
from linsep.train.convex.solvers.newton import Newton
from linsep.train.convex.solvers.newton_cg import NewtonCG
from linsep.train.convex.solvers.prox_newton import ProxNewton

Array = npt.NDArray[Any]

# Costs in nanoseconds of one core: estimates, not yet fitted to measurements. Only their ratios
# matter, and they decide when to hand over, never whether a fit has converged.
ENTRY, ROW, CALL = 1.5, 40.0, 3e5  # of a pass of dual descent: each entry, each row, the pass
PRODUCT, WIDE, PER_ROW, STEP = 0.07, 0.05, 60.0, 1.5e5  # of a second-order step: n·k², k³, n, 1
STEPS = 20  # of the interior point method that a fit takes, about
PRODUCTS = {"hinge": 1200, "squared_hinge": 120}  # with the rows, of Newton-CG
TALL = {
    "hinge": 8.0,
    "squared_hinge": 2.0,
    "logistic": 2.0,
}  # rows for each feature from which Newton-CG wins
TINY, SMALL = 200, 5000  # rows up to which interior steps are the first choice, and for a fine tol
ANYWAY = 2e9  # what steps may cost where they take over: they mind neither scale nor correlation
AT_ALL = 3e11  # products n·k² of a step up to which steps are taken at all: some ten seconds
NARROW = 256  # features up to which a Hessian costs next to nothing
FEW = 1 << 22  # entries of rows that have so few features
MANY, PER_FEATURE, TALLEST = 2048, 10, 512  # rows, in all and for each of so many features at most
SHORT, ROWS, SQUARE = 32, 1 << 16, 1024  # entries of a short row; rows, features of their products
DIGITS = 1e-8  # gap at which Newton-CG leaves the last digits to Hessians
LONGEST = 128  # entries of a sparse row, on average, up to which their products are cheap
DEAR = 192  # features from which a few products with the rows cost less than their Hessian
SAMPLED = 16  # rows for each feature from which a sample of them makes a cheap preconditioner
WIDEST = 4096  # features up to which one is made where nothing else gives all digits
FEW_NUMBERS = 2_000_000  # up to which sparse rows may be written out for an exact method
IN_MEMORY = 1 << 24  # entries up to which second-order steps, which copy them, may be taken


LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge(), "logistic": Logistic()}


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
    suits_second_order: bool = False
    short_rows: bool = False
    full: bool = False
    l1: bool = False
    far: bool = False
    begun: bool = False
    fine: bool = False
    told: bool = False

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
    def wide_and_free(self) -> bool:
        """Whether two classes have no penalty, and more features than a Hessian is made of."""
        return self.unpenalised and self.two and self.n * self.d > IN_MEMORY and self.d > WIDEST

    @property
    def descends(self) -> bool:
        """Whether it is a logistic regression that dual descent is good for."""
        written = self.short_rows or self.written_out
        return self.sparse and self.two and not (self.hinges or self.unpenalised or written)

    @property
    def hessians_dear(self) -> bool:
        """Whether a Hessian of all dense rows costs as much as the products that can replace it."""
        return not self.sparse and self.d > DEAR and self.n >= SAMPLED * self.d

    @property
    def primal(self) -> str:
        """Newton's method by Hessians, or by products where those are dear."""
        return "newton" if self.full or self.suits_primal or self.d <= TALLEST else "newton_cg"

    @property
    def pass_cost(self) -> float:
        """What a pass of dual descent costs."""
        return ENTRY * self.nnz + ROW * self.n + CALL

    @property
    def second_order_cost(self) -> float:
        """What second-order steps to the end would cost; they write sparse rows out."""
        n, k = float(max(self.n, self.d)), float(min(self.n, self.d))
        if not self.suits_second_order or n * k * k > AT_ALL:
            return np.inf
        one = PRODUCT * n * k * k + WIDE * k**3 + PER_ROW * self.n + STEP
        return STEPS * one

    @property
    def newton_cg_cost(self) -> float:
        """What Newton-CG to the end would cost."""
        return PRODUCTS[self.loss] * self.product_cost

    @property
    def product_cost(self) -> float:
        """What a product of Newton-CG with all rows costs."""
        return 0.5 * self.nnz + 5.0 * self.n + 5e4

    @property
    def last_digits_are_cheap(self) -> bool:
        """Whether rows are few enough for interior steps, which begin at points of their own."""
        if self.told:
            return False
        return self.n <= SMALL if self.fine else self.n <= TINY and not (self.begun and self.full)

    @property
    def tall(self) -> bool:
        """Whether an evaluation over all rows tells enough to make Newton's steps few."""
        return self.n >= max(MANY, TALL[self.loss] * self.d)


def shape_of(
    X: Any, loss: str, classes: int = 2, unpenalised: bool = False, l1: bool = False
) -> Shape:
    """What the choice looks at, of rows and the problem they pose."""
    n, d = X.shape
    sparse = sp.issparse(X)
    entries = int(X.nnz) if sparse else n * d
    if l1:
        return Shape(loss, n, d, entries, sparse, classes, l1=True)
    full = classes == 2 and not unpenalised and d <= NARROW and entries <= FEW and n * d <= 4 * FEW
    shape = Shape(loss, n, d, entries, sparse, classes, unpenalised, full=full, far=on_cluster(X))
    if shape.hinges:
        return shape._replace(
            suits_primal=_is_tall(shape), suits_second_order=interior_point.suits(X)
        )
    free, many = unpenalised and d <= SQUARE, n >= ROWS and d <= SQUARE
    short = entries <= SHORT * n and (many or d <= min(n, NARROW))
    return shape._replace(short_rows=sparse and shape.two and (free or short))


def _is_tall(s: Shape) -> bool:
    """Whether rows are many for few features, and products of their entries cheap."""
    short = not s.sparse or s.nnz <= LONGEST * s.n
    return short and s.n >= max(MANY, PER_FEATURE * s.d) and s.d <= TALLEST


class Line(NamedTuple):
    """A line of the table: the solver, when it is taken, and the measured reason."""

    solver: str
    applies: Callable[[Shape], bool]
    when: str
    reason: str


TABLE = (
    Line(
        "prox_newton",
        lambda s: s.l1,
        "an l1 penalty, bounds, or weights without a penalty: all losses; two classes, all at "
        "once, or each against the rest",
        "proximal steps on working sets of columns: the weights that stay zero cost next to "
        "nothing; raw wine 4,898 x 11 logistic 16 ms, LIBLINEAR 433 ms",
    ),
    Line(
        "newton_cg",
        lambda s: s.full and not s.hinges and s.hessians_dear,
        "logistic, two classes: dense rows of more than 192 features, sixteen for each",
        "a Hessian of some rows instead of all in every step: usps 7,291 x 256 at C = 0.01, 1 and "
        "100 1.3, 2.2 and 2.2 times as fast as with all; made rows of 240 and 250 features 0.8 to "
        "1.0 times where classes overlap, 2.0 and 2.7 where they hardly do",
    ),
    Line(
        "interior_point",
        lambda s: s.loss == "hinge" and s.second_order_cost < np.inf and s.last_digits_are_cheap,
        "hinge: at most 200 rows and no weights to begin from; at most 5,000 for a tol up to 1e-6",
        "a dozen steps to the last digits, at which rows with a multiplier are few: 150 x 4, three "
        "classes 7 ms, by Newton's method 6 ms to four digits; 178 x 13 8 ms, by Newton's 14 ms",
    ),
    Line(
        "newton",
        lambda s: s.full,
        "two classes: at most 256 features and four million entries, dense or sparse",
        "samples, then a few steps, until one foretells multipliers that close the gap: against "
        "descent 500 x 8 hinge 188 -> 1.8 ms; a9a hinge 204 -> 35 ms, logistic 52 -> 17 ms",
    ),
    Line(
        "newton_cg",
        lambda s: s.told,
        "an offset, or weights of the penalty: more features or entries",
        "the other solvers know neither",
    ),
    Line(
        "newton",
        lambda s: s.suits_primal and not (s.sparse and s.loss == "hinge" and s.d > NARROW),
        "hinge, squared hinge: 2,048 rows or more, ten for each of at most 512 features",
        "a dozen passes are enough, and no number is kept for a row: covtype, 581,012 x 54, "
        "hinge 1.0 s of processor, squared hinge 0.6 s; Newton-CG goes on where far rows are in "
        "the way",
    ),
    Line(
        "newton_cg",
        lambda s: s.hinges and s.tall and not (s.sparse and s.loss == "hinge"),
        "more features: dense rows, eight (hinge) or two for each; squared hinge: sparse ones too",
        "no matrix of products: 50,000 x 768 hinge 24 -> 1.0 s against interior steps, squared "
        "hinge 5.8 -> 0.6 s; against descent, squared hinge on one-hot 100,000 x 2,400 0.57 -> "
        "0.19 s, 200,000 x 30,000 short texts 0.35 -> 0.19 s",
    ),
    Line(
        "newton_cg",
        lambda s: s.far and (s.hinges or s.descends),
        "two classes: rows on a cluster that would be left to descent",
        "descent visits rows one after the other, and needs them in one place; products are sums "
        "over blocks",
    ),
    Line(
        "dual_descent",
        lambda s: s.hinges,
        "hinge, squared hinge: everything else, such as text and one-hot tables",
        "descent while its gap falls faster than second-order steps would close it: the hinge on "
        "200,000 x 30,000 short texts 0.2 s, Newton-CG 2.6 s; on one-hot 100,000 x 2,400 0.4 s, "
        "Newton-CG 0.9 s; 300,000 flights, 457 features: 0.4 s, Newton 9 s",
    ),
    Line(
        "newton_cg",
        lambda s: s.two and not s.unpenalised and not s.sparse and s.d > NARROW,
        "logistic, two classes: dense rows of more than 256 features",
        "50,000 x 768 float32 2.8 -> 0.5 s against L-BFGS; 20,000 x 1,536 0.8 s",
    ),
    Line(
        "newton",
        lambda s: (not s.sparse and not s.wide_and_free) or s.short_rows or s.written_out,
        "logistic: dense rows; sparse ones that are short and many, or few enough to write out",
        "a sample, then a few passes with a Hessian each: covtype in seven passes",
    ),
    Line(
        "newton_cg",
        lambda s: s.descends and s.n >= TALL["logistic"] * s.d,
        "logistic, two classes: sparse rows, two for each feature",
        "one-hot 100,000 x 2,400 0.36 -> 0.18 s against descent",
    ),
    Line(
        "dual_descent",
        lambda s: s.descends,
        "logistic, two classes: other sparse rows, such as text",
        "200,000 x 1,000,000: 0.7 s, Newton-CG 0.9 s; handed on to Newton-CG where it is slow",
    ),
    Line(
        "lbfgs",
        lambda s: True,
        "logistic: sparse rows of several classes, or without a penalty",
        "a step is two products with the rows: 20news, 20 classes in 8 steps, scikit-learn's "
        "L-BFGS in 59; 20,000 x 20,000 with 100 classes 0.6 s in 3 steps",
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


def told_shape(X: Any, loss: str, classes: int, penalty: Elastic, told: Any) -> Shape:
    """What the choice looks at where offsets, weights of penalties or bounds are told."""
    bounded = np.isfinite(told.low).any() or np.isfinite(told.high).any()
    loose = penalty.l2 == 0.0 or not (told.weight > 0.0).all()
    sharp = bool(penalty.l1 > 0 or bounded or loose or classes > 2)
    return shape_of(X, loss, classes, l1=sharp)._replace(told=True)


def told_solver(
    problem: Problem, line: str, n_jobs: int | None, start: tuple[Array, Any] | None
) -> Solver:
    """The solver of a line that knows offsets, weights of penalties and perhaps bounds."""
    if line == "prox_newton":
        return ProxNewton(problem, n_jobs, start)
    if line == "newton_cg":
        return NewtonCG(problem, n_jobs, start)
    newton = Newton(problem, n_jobs, start)
    return Handover(newton, lambda at: ProxNewton(problem, n_jobs, (at.w, at.b)))


def logistic_solver(
    X: Any,
    signs: Array,
    weights: Array | None = None,
    C: float = 1.0,
    *,
    fit_intercept: bool = True,
    n_jobs: int | None = None,
    start: tuple[Array, float] | None = None,
) -> Solver:
    """Newton's method for ½‖w‖² + C Σ cᵢ log(1 + e^{−yᵢ(⟨w, xᵢ⟩ + b)}): by Hessians where these
    are cheap, or nothing else gives all digits, and otherwise by products with them.

    Parameters
    ----------
    X : checked C-contiguous float32 or float64 array, or a CSR matrix
    signs : array of −1 and +1
    weights : cᵢ ≥ 0, or None where each row counts once
    C : weight of the losses; infinity stands for no penalty (maximum likelihood)
    fit_intercept : whether b is free; otherwise it is 0
    n_jobs : threads; never changes the bytes of the result
    start : (w, b) to start from

    Examples
    --------
    >>> from linsep.train.convex.drive import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])
    >>> best = solve(logistic_solver, X, y, C=1.0, tol=1e-10)
    >>> best.w.round(6), round(best.b, 6), best.status.name
    (array([0.452875]), -0.679313, 'converged')
    >>> solve(logistic_solver, np.array([[0.0], [1.0]]), np.array([-1, 1]), C=np.inf).status.name
    'no_optimum'
    """
    if (
        sp.issparse(X)
        and not on_cluster(X)
        and X.shape[0] * X.shape[1] <= min(2 * X.nnz, IN_MEMORY)
    ):
        X = X.toarray()  # columns that are filled may lie far from zero, and are centred then
    sparse, free = sp.issparse(X), bool(np.isinf(C))
    basis = None if sparse else better_basis(X, C, fit_intercept)
    if basis is not None:
        X = basis.Z
        start = None if start is None else basis.inside(start[0], float(start[1]))
    problem, d = Problem.of(X, signs, weights, C, Logistic(), bool(fit_intercept)), X.shape[1]
    solver: Solver
    if free or (shape_of(X, "logistic").short_rows if sparse else d <= NARROW):
        solver = Newton(problem, n_jobs, start)
    else:
        solver = NewtonCG(problem, n_jobs, start)
        if not sparse and d <= WIDEST:

            def hessians(at: Solution) -> Newton:
                return Newton(problem, n_jobs, (at.w, at.b))

            solver = Handover(solver, hessians, until=DIGITS)
    return solver if basis is None else InRowSpace(solver, basis)


class BinarySVM(NamedTuple):
    """One two-class support vector machine to be fitted.

    Attributes
    ----------
    X : checked array or CSR matrix
    signs : −1 or +1 for each row, of any type
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty
    loss : 'hinge' or 'squared_hinge'
    fit_intercept, max_iter, seed, n_jobs : as of `LinearSVC`
    shared : more arguments of `DualDescent`: halt
    keep : whether solvers keep what a checkpoint asks for
    tol : the relative gap asked for
    watched : whether somebody is told of every step
    penalty : ½‖w‖², or with an l1 part
    told : offset, weights of the penalty and bounds: `linsep.proofs.gap.moves.Told`
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
    penalty: Elastic = RIDGE
    told: Any = None

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
        if self.penalty.l1 > 0 or self.told is not None:
            problem, line = (
                Problem.of(*self._given, LOSSES[self.loss], self.fit_intercept),
                "prox_newton",
            )
            if self.told is None:
                problem = problem._replace(penalty=self.penalty)
            else:
                shape = told_shape(self.X, self.loss, 2, self.penalty, self.told)
                problem, line = problem.told(self.penalty, self.told), line_for(shape).solver
            return told_solver(problem, line, self.n_jobs, start)
        shape = shape_of(self.X, self.loss)
        shape = shape._replace(begun=start is not None, fine=self.tol <= interior_point.FINE)
        asked = {"auto": line_for(shape).solver, "dual": "dual_descent", "newton": shape.primal}
        line, steps = asked[which], shape.second_order_cost
        if line == "interior_point":
            return self.interior_point()
        if line == "newton":
            problem = Problem.of(*self._given, LOSSES[self.loss], self.fit_intercept)
            known = None if start is None or on_cluster(self.X) else alpha
            newton = Newton(problem, self.n_jobs, start, known)
            if steps == np.inf or shape.n * shape.d > IN_MEMORY:
                return Handover(newton, lambda at: self.newton_cg((at.w, at.b)))
            return Handover(newton, self.interior_point)
        if line == "newton_cg":
            if steps == np.inf:
                return self.newton_cg(start)
            # dear, but they mind no scale: where as many products have not halved the gap
            patience = steps / shape.product_cost
            return Handover(self.newton_cg(start, patience), self.interior_point)
        small, first = steps <= max(shape.newton_cg_cost, ANYWAY), self.dual(alpha)
        if not small and (which == "dual" or shape.d >= shape.n):
            return first
        then = self.interior_point if small else self._products_then_dual
        price = min(steps, shape.newton_cg_cost) / shape.pass_cost
        return Handover(first, then, np.inf if which == "dual" else price)

    def _products_then_dual(self, at: Solution) -> Solver:
        """Newton-CG, and descent again from the better multipliers where that gets stuck."""
        products = self.newton_cg((at.w, at.b), PRODUCTS[self.loss])

        def again(led: Solution) -> Solver:
            return self.dual(led.alpha if led.dual > at.dual else at.alpha)

        return Handover(products, again)

    def dual(self, alpha: Array | None = None) -> DualDescent:
        return DualDescent(
            posed(*self._given, LOSSES[self.loss], self.fit_intercept), seed=self.seed,
            max_iter=self.max_iter, n_jobs=self.n_jobs, start=alpha, **self.shared,
        )  # fmt: skip

    def newton_cg(
        self, start: tuple[Array, float] | None = None, patience: float = np.inf
    ) -> NewtonCG:
        loss = Hinge() if self.loss == "hinge" else SquaredHinge()
        problem = Problem.of(*self._given, loss, self.fit_intercept)
        return NewtonCG(problem, self.n_jobs, start, patience)

    def interior_point(self, at: Solution | None = None) -> Solver:
        """It begins at its own points, whatever was reached."""
        return InteriorPoint(*self._given, loss=self.loss, fit_intercept=self.fit_intercept)
