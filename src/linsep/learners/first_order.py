"""Learners that step: what gradient, minibatch and sgd share, whatever the loss."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.learners.base import one_of, positive
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.solution import Solution
from linsep.train.convex.steps.proximal_newton import ProximalNewton, suits
from linsep.train.convex.steps.score_descent import ScoreDescent
from linsep.train.convex.steps.score_losses import ScoreLoss
from linsep.train.convex.steps.score_walks import Pace, Steps, descend
from linsep.train.online.schedules import SCHEDULES
from linsep.train.order import seed_of
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener, Pass, tell

Array = npt.NDArray[Any]


def check_steps(learner: Any) -> None:
    """Refuse parameters of steps that no descent could honour."""
    one_of("schedule", learner.schedule, ("auto", *SCHEDULES))
    if not (isinstance(learner.eta0, str) and learner.eta0 == "auto"):
        positive("eta0", learner.eta0)
    positive("batch_size", learner.batch_size, whole=True)


def random_start(learner: Any, shape: tuple[int, int]) -> tuple[Array, Array]:
    """Normal weights and intercepts of spread one, drawn by `random_state`."""
    drawn = np.random.default_rng(seed_of(learner.random_state)).standard_normal(
        (shape[0], shape[1] + 1)
    )
    return drawn[:, :-1], drawn[:, -1] * bool(learner.fit_intercept)


def counted(problem: Problem) -> Problem:
    """The problem without the rows of no weight."""
    if not problem.weights.size or problem.weights.all():
        return problem
    used = problem.weights > 0
    X = problem.X[used]
    if not sp.issparse(X):
        X = np.ascontiguousarray(X)
    part = Problem(X, problem.codes[used], problem.weights[used], problem.n_classes, problem.n_jobs)
    part.halt = problem.halt
    return part


def descend_scores(
    learner: Any,
    problem: Problem,
    listeners: list[Listener],
    loss: ScoreLoss,
    penalty: Elastic,
    start: tuple[Array, Array] | None,
    tol: float,
    max_iter: int,
) -> Solution:
    """Fit by the steps that the learner's parameters ask for, showing weights as they come."""
    size = {"minibatch": learner.batch_size, "sgd": 1}.get(learner.solver)
    steps = Steps(
        size,
        None if isinstance(learner.eta0, str) else float(learner.eta0),
        SCHEDULES.get(learner.schedule),
        seed_of(learner.random_state),
        learner.shuffle,
        getattr(learner, "keep", "best") == "last",
        _pace(learner, start is not None),
    )

    def publish(W: Array, b: Array) -> None:
        learner.coef_ = W.astype(problem.X.dtype)
        learner.intercept_ = b.astype(problem.X.dtype)

    settings = (steps, tol, max_iter)
    with Pool(1), np.errstate(over="ignore", invalid="ignore"):
        descent = _descent(learner, problem, loss, penalty, start, learner.scale)
        newton = learner.solver not in ("gradient", "minibatch", "sgd") and suits(descent)
        walk = ProximalNewton(descent) if newton else None
        replay_log = learner._replay_log
        tell = replay_log.telling(listeners)
        hearers = [] if tell is None else [tell]
        solution = descend(
            descent, *settings, hearers, learner._recorder, publish, walk, replay_log
        )
    if solution.alpha is None or len(solution.alpha) == problem.n_rows:
        return solution
    alpha = np.zeros((problem.n_rows, solution.alpha.shape[1]))
    alpha[problem.weights > 0] = solution.alpha
    return replace(solution, alpha=alpha)


def _pace(learner: Any, begun: bool) -> Pace:
    """Where the steps of this fit are to go on: after those of the last, if it is begun there."""
    known = getattr(learner, "_steps", None) if learner.warm_start and begun else None
    learner._steps = Pace() if known is None else Pace(known.passes, known.passes, known.failures)
    return learner._steps  # type: ignore[no-any-return]


def _descent(
    learner: Any,
    problem: Problem,
    loss: ScoreLoss,
    penalty: Elastic,
    start: tuple[Array, Array] | None,
    scale: bool,
) -> ScoreDescent:
    planes = 1 if problem.binary else problem.n_classes
    return ScoreDescent(
        counted(problem), loss, planes, penalty, float(learner.C),
        free=learner.fit_intercept, scale=scale, start=start,
    )  # fmt: skip


def take_in(learner: Any, problem: Problem, loss: ScoreLoss, penalty: Elastic) -> None:
    """Go through rows that came in part, once, in their order, in the units of the data.

    The penalty is shared out among all rows so far.
    """
    planes = 1 if problem.binary else problem.n_classes
    shape = (planes, problem.n_features)
    first = getattr(learner, "_rows_seen", 0) == 0
    start = None
    if hasattr(learner, "coef_") and learner.coef_.shape == shape:
        start = learner.coef_, learner.intercept_
    descent = _descent(learner, problem, loss, penalty, start, False)
    size = learner.batch_size if learner.solver == "minibatch" else 1
    if first:
        by_hand = not isinstance(learner.eta0, str)
        learner._step = float(learner.eta0) if by_hand else descent.view.step_size(size, loss.bend)
        learner._rows_seen, learner.n_iter_ = 0, 0
    learner._rows_seen += problem.n_rows
    if descent.lam:
        descent.lam *= problem.n_rows / learner._rows_seen
    learner.n_iter_ += 1
    eta = learner._step
    if learner.schedule in SCHEDULES:
        eta = SCHEDULES[learner.schedule](eta, learner.n_iter_)
    before = loss.losses(descent.scores(descent.a) + descent.b, descent.problem.codes)
    wrong = loss.mistakes(descent.scores(descent.a) + descent.b, descent.problem.codes)
    with learner._listening(None, False, problem) as listeners:
        if learner._recorder is not None:
            learner._recorder.begin(*descent.outside(descent.a, descent.b))
        made = descent.fold_pass(eta, size, 0, 0, False, learner._recorder)
        W, b = descent.outside(descent.a, descent.b)
        learner.coef_ = W.astype(problem.X.dtype)
        learner.intercept_ = b.astype(problem.X.dtype)
        problem.require_in_range(learner.coef_, learner.intercept_)
        learner.diagnosis_ = None  # an older one spoke of other weights, as did the numbers below
        tell(listeners, Pass(0, wrong, made, float(descent.c @ before), eta))
        learner._end(Status.streaming)
    for name in ("objective_", "gap_", "proof_"):
        if hasattr(learner, name):
            delattr(learner, name)
