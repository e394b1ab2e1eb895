"""Which solver a logistic regression is left to, and what it is asked."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster
from linsep.errors import ParameterError
from linsep.learners.fitting.certificates import joint_certificate, plane_certificate
from linsep.learners.fitting.first_order import descend_scores
from linsep.learners.fitting.sklearn_compat import known_solver
from linsep.proofs.gap.certificate import Certificate
from linsep.proofs.gap.penalty import Penalty
from linsep.train.convex import problem as convex
from linsep.train.convex.choose import (
    line_for,
    logistic_solver,
    shape_of,
    told_shape,
    told_solver,
)
from linsep.train.convex.curvature import asked_for
from linsep.train.convex.drive import Goal, Savepoint, Solver, drive, telling
from linsep.train.convex.handover import Handover
from linsep.train.convex.losses import Logistic
from linsep.train.convex.parts.outputs import Softmax as JointLogistic
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.problem import Problem as Convex
from linsep.train.convex.several_classes import softmax_solver
from linsep.train.convex.solution import Solution
from linsep.train.convex.solvers.dual_descent import DualDescent, posed
from linsep.train.convex.solvers.newton import Newton
from linsep.train.convex.solvers.newton_cg import NewtonCG
from linsep.train.convex.steps.score_losses import Planes, ScoreLoss, Softmax
from linsep.train.order import seed_of
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener

Array = npt.NDArray[Any]
STEPPING = ("gradient", "minibatch", "sgd")
FINEST = 1e-7  # relative gap below which weights are asked for as many digits


def choose(learner: Any, problem: Problem) -> str:
    """The solver for a problem, by what was asked for and by the shape of the rows."""
    solver = known_solver(learner.solver)
    dual = problem.binary and np.isfinite(learner.C)
    if problem.told is not None:
        penalty = learner._penalty if np.isfinite(learner.C) else Elastic(0.0, 0.0)
        shape = told_shape(problem.X, "logistic", problem.n_classes, penalty, problem.told)
        return line_for(shape).solver
    if learner._penalty.l1 > 0 and np.isfinite(learner.C):
        if solver == "dual":
            raise ParameterError(
                f"solver='dual' is for l1_ratio=0; here it is {learner.l1_ratio}. Use 'auto'."
            )
        if solver in STEPPING:
            return solver
        return line_for(shape_of(problem.X, "logistic", problem.n_classes, l1=True)).solver
    shape = shape_of(problem.X, "logistic", problem.n_classes, not np.isfinite(learner.C))
    if solver == "auto":
        return line_for(shape).solver
    if solver == "dual" and not dual:
        raise ParameterError(
            f"solver='dual' is for two classes and a finite C; here are {problem.n_classes} "
            f"classes and C is {learner.C}. Use solver='auto'."
        )
    if solver == "newton" and shape.sparse and not (shape.short_rows or shape.full):
        raise ParameterError(
            "solver='newton' reads dense rows, or short sparse ones that are many or have few "
            "features; X is neither. Use 'auto'."
        )
    return "dual_descent" if solver == "dual" else solver


class Request(NamedTuple):
    """What one run of a solver is asked: the weights of `problem` to `tol`, from `start` on."""

    learner: Any
    problem: Problem
    listeners: list[Listener]
    tol: float
    max_iter: int
    start: tuple[Array, Array] | None

    @property
    def given(self) -> tuple[Any, Array | None, float]:
        """Rows, their weights, and C, as solvers take them."""
        weights = self.problem.weights
        return self.problem.X, weights if weights.size else None, float(self.learner.C)

    @property
    def plane(self) -> tuple[Array, float] | None:
        """The hyperplane to start from, of two classes."""
        return None if self.start is None else (self.start[0][0], float(self.start[1][0]))

    @property
    def settings(self) -> dict[str, Any]:
        learner = self.learner
        return {"fit_intercept": bool(learner.fit_intercept), "n_jobs": learner.n_jobs}

    @property
    def savepoint(self) -> Savepoint | None:
        return next(iter(self.learner._savepoints), None)

    def run(self, solver: Solver, joint: bool = False, tol: float | None = None) -> Solution:
        """Until the certificate confirms what the solver came to; it is named in `solver_`."""
        learner, problem = self.learner, self.problem
        certify: Callable[[Solution], Certificate] | None = None
        if np.isfinite(learner.C) or problem.told is not None:
            certify = (
                joint_certificate(learner, problem)
                if joint
                else plane_certificate(learner, problem, "logistic", Penalty(*learner._penalty[:2]))
            )
        heard, tol = telling(self.listeners), self.tol if tol is None else tol
        goal = Goal(tol, self.max_iter, heard, certify, savepoint=self.savepoint)
        solution = drive(solver, goal)
        learner.solver_ = solution.solver
        return solution


def solve(
    learner: Any,
    problem: Problem,
    listeners: list[Listener],
    tol: float,
    max_iter: int,
    start: tuple[Array, Array] | None,
) -> Any:
    """Fit by `learner.solver_` from `start` on; where another had to take over, it is named."""
    request = Request(learner, problem, listeners, tol, max_iter, start)
    corners = learner._penalty.l1 > 0 and np.isfinite(learner.C)
    if problem.told is not None or (corners and learner.solver_ not in STEPPING):
        return _with_corners(request)
    if learner.solver_ in STEPPING:
        return descend_scores(
            learner, problem, listeners, loss_of(problem), learner._penalty, start, tol, max_iter
        )
    if learner.solver_ == "dual_descent":
        return _by_dual(request)
    if problem.binary and learner.solver_ != "lbfgs":
        return _by_newton(request)
    return _of_several_classes(request)


def _by_newton(request: Request) -> Solution:
    """Two classes by Newton's method: in memory where rows are few, or by sums over blocks."""
    learner, (X, weights, C) = request.learner, request.given
    signs, settings = request.problem.signs, request.settings

    def by_sums(plane: tuple[Array, float] | None) -> Solver:
        shape = shape_of(X, "logistic", 2, bool(np.isposinf(C)))
        written = shape.sparse and learner.solver_ == "newton" and not shape.short_rows
        rows = X.toarray() if written else X
        return logistic_solver(rows, signs, weights, C, start=plane, **settings)

    few = shape_of(X, "logistic").full
    if not (few and np.isfinite(C) and request.tol >= FINEST):
        return request.run(by_sums(request.plane))
    if learner.solver_ == "newton_cg":
        products = _products(request, request.plane)
        return request.run(Handover(products, lambda at: by_sums((at.w, at.b))))
    posed = Convex.of(X, signs, weights, C, Logistic(), settings["fit_intercept"])
    newton = Newton(posed, learner.n_jobs, request.plane)
    return request.run(newton)


def _of_several_classes(request: Request) -> Solution:
    """Several classes; two are the same problem with half of the weights each, and no penalty."""
    learner, problem, (X, weights, C) = request.learner, request.problem, request.given
    shape, start = shape_of(X, "logistic", problem.n_classes, bool(np.isposinf(C))), request.start
    if shape.sparse and learner.solver_ == "newton":
        X = X.toarray()
    begun = sp.issparse(X) and np.isfinite(C)
    alpha = learner._multipliers(problem, problem.signs, start) if begun else None
    if problem.binary and start is not None:
        start = tuple(0.5 * np.concatenate([-part, part]) for part in start)  # type: ignore[assignment]
    tol = asked_for(request.tol, C)
    solver = softmax_solver(
        X, problem.codes, weights, C, tol=tol, n_classes=problem.n_classes, start=start,
        alpha=alpha, **request.settings,
    )  # fmt: skip
    solution = request.run(solver, joint=True, tol=tol)
    if problem.binary:
        w, b = (part[1:] - part[:1] for part in (solution.w, solution.b))
        solution = replace(solution, w=w, b=b)
    return solution


def _with_corners(request: Request) -> Solution:
    """An l1 penalty, or what a modeller told; two classes or all at once."""
    learner, given, (X, weights, C) = request.learner, request.problem, request.given
    if on_cluster(X):
        X = X.in_one_place
    loss = Logistic() if given.binary else JointLogistic(given.n_classes)
    y, free = given.signs if given.binary else given.codes, bool(learner.fit_intercept)
    penalty = learner._penalty if np.isfinite(C) else Elastic(0.0, 0.0)
    problem = Convex.of(X, y, weights, C if np.isfinite(C) else 1.0, loss, free)
    told, start = given.told, request.start
    problem = problem._replace(penalty=penalty) if told is None else problem.told(penalty, told)
    start = start if learner.solver_ == "prox_newton" else request.plane  # type: ignore[assignment]
    solver = told_solver(problem, learner.solver_, learner.n_jobs, start)
    return request.run(solver, joint=not given.binary)


def _by_dual(request: Request) -> Solution:
    """Coordinate descent; where the user left the choice, Newton-CG takes over if it is slow."""
    learner, problem, (X, weights, C) = request.learner, request.problem, request.given
    signs, settings = problem.signs.astype(np.float64), request.settings
    solver: Any = DualDescent(
        posed(X, signs, weights, C, Logistic(), settings["fit_intercept"]),
        seed=seed_of(learner.random_state), max_iter=request.max_iter,
        n_jobs=settings["n_jobs"], start=learner._multipliers(problem, signs, request.start),
    )  # fmt: skip
    if known_solver(learner.solver) == "auto":

        def then(at: Solution) -> NewtonCG:
            return _products(request, (at.w, at.b))

        solver = Handover(solver, then, float(request.max_iter))
    return request.run(solver)


def _products(request: Request, start: tuple[Array, float] | None) -> NewtonCG:
    """Two classes by truncated Newton steps."""
    (X, weights, C), free = request.given, request.learner.fit_intercept
    signs = request.problem.signs
    given = convex.Problem.of(X, signs, weights, C, Logistic(), free)
    return NewtonCG(given, request.settings["n_jobs"], start)


def loss_of(problem: Problem) -> ScoreLoss:
    """The loss of scores: of one hyperplane, or of all classes together."""
    return Planes(Logistic()) if problem.binary else Softmax(problem.n_classes)
