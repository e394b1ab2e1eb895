"""What a convex fit says of itself, certified anew from the data before it is accepted."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.proofs.gap.certificate import Certificate, FittedProblem, certify_planes
from linsep.proofs.gap.joint_certificate import certify_softmax
from linsep.proofs.gap.penalty import Penalty
from linsep.status import Status
from linsep.train.convex.solution import Solution
from linsep.train.problem import Problem

Array = npt.NDArray[Any]

FINER = 1e-3  # of tol: down to there a solver is asked again though it came no nearer
ROUNDED = 8  # units in the last place of the stored weights that their rounding may cost


def fitted_problem(
    learner: Any,
    problem: Problem,
    penalty: Penalty,
    factor: float = 1.0,
    solution: Any = None,
    plane: int | None = None,
) -> FittedProblem:
    """What a fit minimised, losses times `factor`, and the weights it stored or would store: all
    of them, or those of one plane of several."""
    C, told = factor * float(learner.C), problem.told
    if not math.isfinite(C):
        C, penalty = 1.0, Penalty(0.0, 0.0)
    if solution is None:
        W, b = learner.coef_, learner.intercept_
    else:
        W = stored(solution.w, problem, plane)
        b = np.array(solution.b, problem.X.dtype, ndmin=1)
        told = told if told is None or plane is None else told.plane(plane)
    return FittedProblem(
        problem.X, problem.codes, C * problem.weights if problem.weights.size else C,
        W, b, learner.fit_intercept, penalty, problem.n_jobs, float(learner.tol), told,
    )  # fmt: skip


def stored(w: Array, problem: Problem, plane: int | None = None) -> Array:
    """Weights (K, d) in the type of the rows, and still within their bounds there."""
    W = np.array(w, problem.X.dtype, ndmin=2, order="C")
    if problem.told is not None and W.dtype != np.float64:
        told = problem.told if plane is None else problem.told.plane(plane)
        W = np.where(told.low > W, np.nextafter(W, np.inf, dtype=W.dtype), W)
        W = np.where(told.high < W, np.nextafter(W, -np.inf, dtype=W.dtype), W)
    return W


def plane_certificate(
    learner: Any, problem: Problem, loss: str, penalty: Penalty, k: int = 1, factor: float = 1.0
) -> Callable[[Solution], Certificate]:
    """The certificate of one hyperplane, between class `k` and the rest; losses times `factor`."""
    codes = problem.codes if problem.binary else (problem.codes == k).astype(np.int8)

    def certify(solution: Solution) -> Certificate:
        only = None if problem.binary else k
        fitted = fitted_problem(learner, problem, penalty, factor, solution, only)
        fitted = fitted if problem.binary else fitted._replace(codes=codes)
        alpha = None if solution.alpha is None else solution.alpha[None]
        # Weights are stored as X is; slopes are proposed where the solver came to.
        return certify_planes(
            loss, fitted, alpha, (np.atleast_2d(solution.w), np.atleast_1d(solution.b))
        )

    return certify


def joint_certificate(learner: Any, problem: Problem) -> Callable[[Solution], Certificate]:
    """The certificate of a multinomial logistic regression, all classes at once."""

    def certify(solution: Solution) -> Certificate:
        with Pool(1):
            penalty = Penalty(*learner._penalty[:2])
            fitted = fitted_problem(learner, problem, penalty, solution=solution)
            return certify_softmax(fitted, solution.alpha, (solution.w, solution.b))

    return certify


def accept(learner: Any, certificate: Certificate, status: Status) -> Status:
    """Set `objective_` and `gap_` as counted again; the status that this count bears out.

    `converged` means that `gap_` is at most `tol`, whatever the solver says and rounding may
    excuse. `learner._short` says whether the count falls short of `tol` by more than rounding alone
    may explain.
    """
    learner.objective_, learner.gap_ = float(certificate.primal), float(certificate.gap)
    allowed = 0.5 * learner.tol * certificate.primal
    learner._short = learner.gap_ > learner.tol and certificate.rounding <= allowed
    if learner.gap_ <= learner.tol:  # whatever finer tolerance the solver was asked for
        open_ended = (Status.budget, Status.gap_left, Status.diverged, Status.unproved)
        return Status.converged if status in open_ended else status
    return Status.unproved if status is Status.converged else status


def fit_until_certified(learner: Any, fit: Callable[[float, int, bool], Status]) -> Status:
    """Fit; and go on to finer and finer tolerances while the second count falls short of `tol`.

    `fit` is given the tolerance to ask of the solver, the passes left, and whether to go on from
    the weights of the last time.
    """
    tol, made, last, again = float(learner.tol), 0, np.inf, False
    while True:
        learner._short = False
        status = fit(tol, learner.max_iter - made, again)
        made += learner.n_iter_
        learner.n_iter_ = made
        walked = learner.solver in ("gradient", "minibatch", "sgd")  # these keep to their schedule
        ended = status in (Status.converged, Status.unproved) and not walked
        nearer = learner.gap_ < 0.9 * last or tol > FINER * learner.tol
        more = ended and learner._short and nearer and made < learner.max_iter
        if not more:
            del learner._short
            return status
        # A solver that errs by some factor is asked for as much less, and half of that.
        tol *= min(0.1, 0.5 * float(learner.tol) / learner.gap_)
        last, again = learner.gap_, True


def worst(statuses: list[Status]) -> Status:
    """The ending to report for several runs: the first that is not good, or the first."""
    status = next((status for status in statuses if not status.good), statuses[0])
    return Status.gap_left if status is Status.budget else status


def counted(learner: Any, certificate: Certificate, status: Status) -> Status:
    """The same without a penalty, where there is no dual: only the objective is counted again."""
    claimed, learner.objective_ = learner.objective_, float(certificate.primal)
    rounding = max(1e-9, ROUNDED * float(np.finfo(learner.coef_.dtype).eps))
    over = certificate.primal - certificate.rounding - claimed * (1.0 + rounding)
    if status is not Status.converged or not over > learner.tol * claimed:
        return status
    learner.gap_ = max(learner.gap_, float(over / certificate.primal))
    return Status.unproved


def sentence_of(learner: Any, status: Status, large: Callable[[], str]) -> str | None:
    """A sentence where the second count says less than the first, or None.

    Parameters
    ----------
    large : says which column has the largest entries, and how large they are
    """
    if status is not Status.unproved:
        return None
    return (
        f"The solver took its weights to be within tol={learner.tol:g} of the optimum; counted "
        f"again from the data, where {large()}, only a gap of {learner.gap_:.1e} is proved. Bring "
        "the features to one scale (linsep.Scaled does), or raise tol."
    )
