"""What `LinearSVC` asks of its solvers: one hyperplane for each class, or all of them at once."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.learners.fitting.certificates import fitted_problem, plane_certificate
from linsep.parallel import Pool
from linsep.proofs.gap.certificate import Certificate
from linsep.proofs.gap.joint_certificate import certify_crammer_singer
from linsep.proofs.gap.penalty import Penalty
from linsep.train.convex.basis import few_rows
from linsep.train.convex.choose import BinarySVM
from linsep.train.convex.classes.joint_problem import JointProblem
from linsep.train.convex.drive import Goal, drive, telling
from linsep.train.convex.joint import joint_solver
from linsep.train.convex.one_vs_rest import one_vs_rest
from linsep.train.convex.row_space import InRowSpace, RowSpace
from linsep.train.convex.solution import Solution
from linsep.train.order import seed_of
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener

Array = npt.NDArray[Any]
Before = tuple[Array, Array, Array | None] | None
"""Weights, intercepts and multipliers of the fit before."""


def fit_planes(
    learner: Any, problem: Problem, listeners: list[Listener], before: Before
) -> list[Solution]:
    """The hyperplane between two classes, or that of each class against the rest.

    Two classes by Crammer and Singer's loss are ¼‖w‖² + C Σ ℓ, half of ½‖w‖² + 2C Σ ℓ.
    """
    factor = 2.0 if learner._joint else 1.0
    settings: dict[str, Any] = {
        "weights": problem.weights if problem.weights.size else None,
        "C": factor * float(learner.C),
        "loss": learner.loss,
        "fit_intercept": learner.fit_intercept,
        "max_iter": learner.max_iter,
        "seed": seed_of(learner.random_state),
        "n_jobs": learner.n_jobs,
        "keep": bool(learner._savepoints),
        "tol": float(learner.tol),
        "watched": bool(listeners),
        "penalty": learner._penalty,
        "told": problem.told,
    }
    penalty = Penalty(*learner._penalty[:2])
    goal = Goal(float(learner.tol), learner.max_iter, telling(listeners))
    X, space = problem.X, None
    if learner._penalty.l1 == 0 and problem.told is None and few_rows(X):
        space = RowSpace.of(X, learner.fit_intercept, learner.n_jobs)
        X = X if space is None else space.Z

    def fit(machine: BinarySVM, k: int, goal: Goal) -> Solution:
        alpha = None if before is None or before[2] is None else before[2][k]
        start = None if before is None else (before[0][k], float(before[1][k]))
        plane = 1 if problem.binary else k
        certify = plane_certificate(learner, problem, learner.loss, penalty, plane, factor)
        if space is not None and start is not None:
            start = space.inside(*start)
        if machine.told is not None and not problem.binary:
            machine = machine._replace(told=machine.told.plane(k))
        solver = machine.solver(learner.solver, start, alpha)
        solver = solver if space is None else InRowSpace(solver, space)
        return drive(solver, goal._replace(certify=certify))

    if not problem.binary:
        codes, K = problem.codes, problem.n_classes
        return one_vs_rest(X, codes, K, fit, goal, learner._savepoints, **settings)
    goal = goal._replace(savepoint=next(iter(learner._savepoints), None))
    one = fit(BinarySVM(X, problem.signs, **settings), 0, goal)
    if learner._joint:
        P, D, gap = 0.5 * one.primal, 0.5 * one.dual, 0.5 * one.gap
        one = replace(one, primal=P, dual=D, gap=gap, certificate=one.certificate.times(0.5))
    return [one]


def fit_jointly(
    learner: Any, problem: Problem, listeners: list[Listener], before: Before
) -> Solution:
    """All classes at once, by Crammer and Singer's loss."""
    start = None
    if before is not None and before[2] is not None:
        A = np.zeros((problem.n_rows, problem.n_classes))
        A[learner.support_] = learner.dual_coef_.T
        start = A, np.asarray(before[1], np.float64)
    weights = problem.weights if problem.weights.size else None
    solver = joint_solver(
        JointProblem.of(
            problem.X, problem.codes, weights, float(learner.C), problem.n_classes,
            learner.fit_intercept,
        ),
        which=learner.solver, max_iter=learner.max_iter, n_jobs=learner.n_jobs,
        seed=seed_of(learner.random_state), start=start,
    )  # fmt: skip

    def certify(solution: Solution) -> Certificate:
        with Pool(1):
            return certify_crammer_singer(
                fitted_problem(learner, problem, Penalty(*learner._penalty[:2]), solution=solution),
                solution.alpha,
            )

    goal = Goal(
        float(learner.tol), learner.max_iter, telling(listeners), certify,
        savepoint=next(iter(learner._savepoints), None),
    )  # fmt: skip
    return drive(solver, goal)
