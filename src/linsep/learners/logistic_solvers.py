"""Which solver a logistic regression is left to, and what it is asked."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError, ParameterError
from linsep.learners.fitting.certificates import noise, plane_certificate, question
from linsep.learners.fitting.first_order import descend_scores
from linsep.learners.fitting.sklearn_compat import known_solver
from linsep.proofs.gap.certificate import Certificate
from linsep.proofs.gap.joint_certificate import softmax
from linsep.proofs.gap.penalty import RIDGE
from linsep.status import Status
from linsep.train.convex.choose import line_for, shape_of
from linsep.train.convex.drive import Goal, drive, telling
from linsep.train.convex.dual.coordinate_descent import DualDescent
from linsep.train.convex.handover import Handover
from linsep.train.convex.l1 import prox_newton
from linsep.train.convex.losses import Logistic
from linsep.train.convex.newton import full_newton
from linsep.train.convex.newton.full_newton import FullNewton
from linsep.train.convex.newton.logistic import fit_logistic
from linsep.train.convex.newton.newton_cg import NewtonCG
from linsep.train.convex.softmax import full_newton as full_softmax
from linsep.train.convex.softmax.fit import fit_softmax
from linsep.train.convex.softmax.full_newton import FullSoftmaxNewton
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
    if learner.solver_ in STEPPING or (learner._penalty.l1 > 0 and np.isfinite(C)):
        return descend_scores(
            learner, problem, listeners, loss_of(problem), learner._penalty, start, tol, max_iter
        )
    weights = problem.weights if problem.weights.size else None
    settings: dict[str, Any] = {
        "fit_intercept": learner.fit_intercept, "tol": tol, "max_iter": max_iter
    }  # fmt: skip
    if learner.solver_ == "dual":
        return _by_dual(learner, problem, listeners, start, tol, max_iter)
    if learner.solver_ in ("newton", "newton-cg"):
        settings |= {"n_jobs": learner.n_jobs, "listener": learner._replay_log.telling(listeners)}
        if problem.binary:
            plane = None if start is None else (start[0][0], float(start[1][0]))
            if np.isfinite(C) and tol >= full_newton.FINEST and full_newton.suits(X):
                full = _by_full_newton(learner, problem, listeners, settings, plane)
                if full.status is not Status.budget or full.n_iter >= max_iter:
                    return full
                plane = full.w, full.b
        shape = shape_of(X, "logistic", problem.n_classes, bool(np.isposinf(C)))
        if problem.binary:
            settings |= {"replay_log": learner._replay_log, "start": plane}
            settings["savepoint"] = next(iter(learner._savepoints), None)
            if shape.sparse and learner.solver_ == "newton" and not shape.short_rows:
                X = X.toarray()
            solution = fit_logistic(X, problem.signs, weights, C, **settings)
            learner.solver_ = solution.solver or "newton"
            return solution
        settings |= {"n_classes": problem.n_classes, "start": start}
        if shape.sparse and learner.solver_ == "newton" and not shape.short_rows:
            X = X.toarray()
        if full_softmax.suits(X, problem.n_classes, C, tol):
            full = _by_full_softmax(learner, X, problem, listeners, settings)
            if full.status is not Status.budget or full.n_iter >= max_iter:
                return full
            settings["start"] = full.w, full.b
        return fit_softmax(X, problem.codes, weights, C, **settings)
    K, several = problem.n_classes, not problem.binary and np.isfinite(C)
    settings |= {"n_classes": K, "listeners": listeners}
    if several:
        alpha = learner._multipliers(problem, problem.signs, start)
        solver = SparseDescent(
            X, problem.codes, weights, C, n_classes=K, fit_intercept=learner.fit_intercept,
            n_jobs=learner.n_jobs, start=(alpha, None if start is None else start[0]),
        )  # fmt: skip
        point = next(iter(learner._savepoints), None)
        return drive(solver, Goal(tol, max_iter, telling(listeners), savepoint=point))
    from linsep.train.convex.newton.quasi_logistic import (
        fit_any,  # scipy.optimize, which few fits need
    )

    return fit_any(X, problem.codes, weights, 0.5 * C if K == 2 else C, start=start, **settings)


def _by_full_newton(
    learner: Any,
    problem: Problem,
    listeners: list[Listener],
    settings: dict[str, Any],
    start: tuple[Array, float] | None,
) -> Solution:
    """Newton's method in memory, ended by the certificate."""
    weights = problem.weights if problem.weights.size else None
    solver = FullNewton(
        problem.X, problem.signs, weights, float(learner.C), n_jobs=learner.n_jobs, start=start,
        fit_intercept=bool(learner.fit_intercept), max_iter=settings["max_iter"],
        watched=settings["listener"] is not None,
    )  # fmt: skip
    certify = plane_certificate(learner, problem, "logistic", RIDGE)
    goal = Goal(
        settings["tol"], settings["max_iter"], telling(listeners), certify, noise(problem),
        savepoint=next(iter(learner._savepoints), None),
    )  # fmt: skip
    return drive(solver, goal)


def _by_full_softmax(
    learner: Any, X: Any, problem: Problem, listeners: list[Listener], settings: dict[str, Any]
) -> Solution:
    """The same for several classes; X are the rows written out."""
    solver = FullSoftmaxNewton(
        X, problem.codes, problem.weights if problem.weights.size else None, float(learner.C),
        n_classes=problem.n_classes, fit_intercept=bool(learner.fit_intercept),
        n_jobs=learner.n_jobs, start=settings["start"],
    )  # fmt: skip

    def certify(solution: Solution) -> Certificate:
        return softmax(question(learner, problem, RIDGE, solution=solution), solution.alpha)

    goal = Goal(
        settings["tol"], settings["max_iter"], telling(listeners), certify, noise(problem),
        savepoint=next(iter(learner._savepoints), None),
    )  # fmt: skip
    return drive(solver, goal)


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
    point = next(iter(learner._savepoints), None)
    solution = drive(solver, Goal(tol, max_iter, telling(listeners), savepoint=point))
    learner.solver_ = solution.solver
    return solution


def loss_of(problem: Problem) -> ScoreLoss:
    """The loss of scores: of one hyperplane, or of all classes together."""
    return Planes(Logistic()) if problem.binary else Softmax(problem.n_classes)
