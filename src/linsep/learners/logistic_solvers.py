"""Which solver a logistic regression is left to, and what it is asked."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError, ParameterError
from linsep.learners.fitting.certificates import joint_certificate, noise, plane_certificate
from linsep.learners.fitting.first_order import descend_scores
from linsep.learners.fitting.sklearn_compat import known_solver
from linsep.proofs.gap.certificate import Certificate
from linsep.proofs.gap.penalty import RIDGE
from linsep.train.convex.blockwise.logistic import logistic_solver
from linsep.train.convex.choose import line_for, shape_of
from linsep.train.convex.curvature import asked_for
from linsep.train.convex.drive import Goal, Solver, drive, telling
from linsep.train.convex.dual.coordinate_descent import DualDescent
from linsep.train.convex.handover import Handover
from linsep.train.convex.l1 import prox_newton
from linsep.train.convex.losses import Logistic
from linsep.train.convex.newton import full_newton
from linsep.train.convex.newton.full_newton import FullNewton
from linsep.train.convex.newton.newton_cg import NewtonCG
from linsep.train.convex.softmax.choose import softmax_solver
from linsep.train.convex.softmax.sparse_descent import SparseDescent
from linsep.train.convex.solution import Solution
from linsep.train.convex.steps.score_losses import Planes, ScoreLoss, Softmax
from linsep.train.order import seed_of
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener

Array = npt.NDArray[Any]
STEPPING = ("gradient", "minibatch", "sgd")


def choose(learner: Any, problem: Problem) -> str:
    """The solver for a problem, by what was asked for and by the shape of the rows."""
    solver = known_solver(learner.solver)
    dual = problem.binary and np.isfinite(learner.C)
    if learner._penalty.l1 > 0 and np.isfinite(learner.C):
        if solver == "dual":
            raise ParameterError(
                f"solver='dual' is for l1_ratio=0; here it is {learner.l1_ratio}. Use 'auto'."
            )
        if solver != "auto":
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
    return solver


def solve(
    learner: Any,
    problem: Problem,
    listeners: list[Listener],
    tol: float,
    max_iter: int,
    start: tuple[Array, Array] | None,
) -> Any:
    """Fit by `learner.solver_` from `start` on; where another had to take over, it is named."""
    X, C = problem.X, float(learner.C)
    if learner._penalty.l1 > 0 and np.isfinite(C) and learner.solver_ not in STEPPING:
        sparse = _sparse_weights(learner, problem, listeners, tol, max_iter, start)
        if sparse is not None:
            return sparse
    free = learner.solver_ == "quasi-newton" and not np.isfinite(C)
    if free or learner.solver_ in STEPPING or (learner._penalty.l1 > 0 and np.isfinite(C)):
        return descend_scores(
            learner, problem, listeners, loss_of(problem), learner._penalty, start, tol, max_iter
        )
    weights = problem.weights if problem.weights.size else None
    if learner.solver_ == "dual":
        return _by_dual(learner, problem, listeners, start, tol, max_iter)
    if learner.solver_ in ("newton", "newton-cg"):
        if problem.binary:
            return _by_newton(learner, problem, listeners, start, tol, max_iter)
        return _by_softmax_newton(learner, problem, listeners, start, tol, max_iter)
    alpha = learner._multipliers(problem, problem.signs, start)
    solver = SparseDescent(
        X, problem.codes, weights, C, n_classes=problem.n_classes, n_jobs=learner.n_jobs,
        fit_intercept=learner.fit_intercept, start=(alpha, None if start is None else start[0]),
    )  # fmt: skip
    certify = joint_certificate(learner, problem)
    return _driven(learner, problem, listeners, solver, tol, max_iter, certify)


def _driven(
    learner: Any,
    problem: Problem,
    listeners: list[Listener],
    solver: Solver,
    tol: float,
    max_iter: int,
    certify: Callable[[Solution], Certificate] | None,
) -> Solution:
    """Run a solver until the certificate confirms what it came to; it is named in `solver_`."""
    point, told = next(iter(learner._savepoints), None), telling(listeners)
    goal = Goal(tol, max_iter, told, certify, noise(problem), savepoint=point)
    solution = drive(solver, goal)
    learner.solver_ = solution.solver
    return solution


def _by_newton(
    learner: Any,
    problem: Problem,
    listeners: list[Listener],
    start: tuple[Array, Array] | None,
    tol: float,
    max_iter: int,
) -> Solution:
    """Two classes by Newton's method: in memory where rows are few, or by sums over blocks."""
    X, C, signs = problem.X, float(learner.C), problem.signs
    weights = problem.weights if problem.weights.size else None
    plane = None if start is None else (start[0][0], float(start[1][0]))
    settings = {"fit_intercept": bool(learner.fit_intercept), "n_jobs": learner.n_jobs}

    def by_sums(plane: tuple[Array, float] | None) -> Solver:
        shape = shape_of(X, "logistic", 2, bool(np.isposinf(C)))
        written = shape.sparse and learner.solver_ == "newton" and not shape.short_rows
        rows, keep = X.toarray() if written else X, bool(learner._savepoints)
        return logistic_solver(rows, signs, weights, C, start=plane, keep=keep, **settings)

    solver: Solver
    if np.isfinite(C) and tol >= full_newton.FINEST and full_newton.suits(X):
        full = FullNewton(
            X, signs, weights, C, start=plane, max_iter=max_iter, watched=bool(listeners),
            **settings,
        )  # fmt: skip
        solver = Handover(full, lambda at: by_sums((at.w, at.b)))
    else:
        solver = by_sums(plane)
    certify = plane_certificate(learner, problem, "logistic", RIDGE) if np.isfinite(C) else None
    return _driven(learner, problem, listeners, solver, tol, max_iter, certify)


def _by_softmax_newton(
    learner: Any,
    problem: Problem,
    listeners: list[Listener],
    start: tuple[Array, Array] | None,
    tol: float,
    max_iter: int,
) -> Solution:
    """The same for several classes."""
    X, C = problem.X, float(learner.C)
    free, asked = bool(np.isposinf(C)), asked_for(tol, C)
    if shape_of(X, "logistic", problem.n_classes, free).sparse and learner.solver_ == "newton":
        X = X.toarray()
    solver = softmax_solver(
        X, problem.codes, problem.weights if problem.weights.size else None, C, tol=asked,
        n_classes=problem.n_classes, fit_intercept=bool(learner.fit_intercept),
        n_jobs=learner.n_jobs, start=start,
    )  # fmt: skip
    certify = None if free else joint_certificate(learner, problem)
    return _driven(learner, problem, listeners, solver, asked, max_iter, certify)


def _sparse_weights(
    learner: Any,
    problem: Problem,
    listeners: list[Listener],
    tol: float,
    max_iter: int,
    start: tuple[Array, Array] | None,
) -> Any:
    """Two classes with an l1 penalty; None for more, and for columns that have to be scaled."""
    if not problem.binary or not prox_newton.suits(problem.X):
        return None
    try:
        return prox_newton.fit_l1(
            problem.X, problem.signs, problem.weights if problem.weights.size else None,
            float(learner.C), learner._penalty, tol=tol, max_iter=max_iter,
            listener=telling(listeners), savepoint=next(iter(learner._savepoints), None),
            n_jobs=learner.n_jobs, fit_intercept=bool(learner.fit_intercept),
            start=None if start is None else (start[0][0], float(start[1][0])),
        )  # fmt: skip
    except OverflowedError:
        return None


def _by_dual(
    learner: Any,
    problem: Problem,
    listeners: list[Listener],
    start: tuple[Array, Array] | None,
    tol: float,
    max_iter: int,
) -> Solution:
    """Coordinate descent; where the user left the choice, Newton-CG takes over if it is slow."""
    signs = problem.signs.astype(np.float64)
    weights, free = problem.weights if problem.weights.size else None, learner.fit_intercept
    given = (problem.X, signs, weights, float(learner.C))
    solver: Any = DualDescent(
        *given, loss="logistic", seed=seed_of(learner.random_state), n_jobs=learner.n_jobs,
        fit_intercept=free, max_iter=max_iter, start=learner._multipliers(problem, signs, start),
    )  # fmt: skip
    if known_solver(learner.solver) == "auto":

        def then(at: Solution) -> NewtonCG:
            where = (at.w, at.b)
            return NewtonCG(*given, fit_intercept=free, n_jobs=learner.n_jobs, start=where)

        solver = Handover(solver, then, float(max_iter))
    certify = plane_certificate(learner, problem, "logistic", RIDGE)
    return _driven(learner, problem, listeners, solver, tol, max_iter, certify)


def loss_of(problem: Problem) -> ScoreLoss:
    """The loss of scores: of one hyperplane, or of all classes together."""
    return Planes(Logistic()) if problem.binary else Softmax(problem.n_classes)
