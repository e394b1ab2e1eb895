"""Small dense problems of two classes, solved and certified with next to nothing around them."""

import math
from typing import Any

import numpy as np

from linsep.learners.fitting.certificates import fitted_problem
from linsep.proofs.gap.certificate import certify_planes
from linsep.proofs.gap.penalty import RIDGE, Penalty
from linsep.status import Status
from linsep.train.convex.basis import few_rows
from linsep.train.convex.newton.one_call import FINEST, solve_at_once, suits
from linsep.train.convex.solution import Solution
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener


def plane_at_once(
    learner: Any, problem: Problem, listeners: list[Listener], loss: str, penalty: Penalty = RIDGE
) -> Solution | None:
    """The hyperplane between two classes, certified; None where the driver is to look for it.

    So it is where somebody listens, where a fit begins from another, where rows are many or sparse,
    and where the first solution is not certified to be as good as `tol` asks for. What is found
    here has the bytes that the driver's run would have had.
    """
    X, tol, C = problem.X, float(learner.tol), float(learner.C)
    if listeners or learner.warm_start or not problem.binary or tol < FINEST or math.isinf(C):
        return None
    if penalty is not RIDGE or not suits(X) or few_rows(X):
        return None
    y = np.where(problem.codes == 1, 1.0, -1.0)
    caps = C * problem.weights if problem.weights.size else np.full(len(y), C)
    free, most = bool(learner.fit_intercept), learner.max_iter
    solution = solve_at_once(X, y, caps, loss, free, tol, most)
    if solution is None:
        return None
    fitted = fitted_problem(learner, problem, penalty, solution=solution)
    certificate = certify_planes(loss, fitted, solution.alpha[None])
    if not certificate.gap <= tol:
        return None
    return Solution(*solution, Status.converged, solver="newton", certificate=certificate)
