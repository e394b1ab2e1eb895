"""Learners that step: what gradient, minibatch and sgd share, whatever the loss."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster
from linsep.errors import ParameterError
from linsep.learners.fitting.parameters import check_schedule, one_of, positive
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.drive import Goal, drive, telling
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.solution import Solution
from linsep.train.convex.steps.score_descent import ScoreDescent
from linsep.train.convex.steps.score_losses import ScoreLoss
from linsep.train.convex.steps.score_walks import Pace, Stepping, Steps
from linsep.train.convex.steps.stream_steps import StreamMethod, StreamSteps
from linsep.train.online.hyperplanes import initial_weights
from linsep.train.online.method import SCHEDULES, schedule_of
from linsep.train.order import seed_of
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener, tell
from linsep.train.run.whole_folds import WholeFolds

Array = npt.NDArray[Any]


def check_steps(learner: Any) -> None:
    """Refuse parameters of steps that no descent could honour."""
    check_schedule(learner.schedule, ("auto", *SCHEDULES))
    if not (isinstance(learner.eta0, str) and learner.eta0 == "auto"):
        positive("eta0", learner.eta0)
    one_of("shuffle", learner.shuffle, (True, False, "draw"))
    positive("batch_size", learner.batch_size, whole=True)


def given_start(learner: Any, shape: tuple[int, int]) -> tuple[Array, Array] | None:
    """Weights and intercepts to begin at: those of `init`, or normal ones of spread one."""
    if learner.init is not None:
        return initial_weights(learner.init, *shape)
    if getattr(learner, "start", "zero") == "zero":
        return None
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
    if on_cluster(problem.X):
        problem.X.in_one_place  # refuses: scores of all rows are kept  # noqa: B018
    size = {"minibatch": learner.batch_size, "sgd": 1}.get(learner.solver)
    steps = Steps(
        size,
        None if isinstance(learner.eta0, str) else float(learner.eta0),
        schedule_of(learner.schedule),
        seed_of(learner.random_state),
        learner.shuffle,
        getattr(learner, "keep", "best") == "last",
        _pace(learner, start is not None),
    )

    def publish(W: Array, b: Array) -> None:
        learner.coef_ = W.astype(problem.X.dtype)
        learner.intercept_ = b.astype(problem.X.dtype)

    with Pool(1), np.errstate(over="ignore", invalid="ignore"):
        descent = _descent(learner, problem, loss, penalty, start, learner.scale)
        solver = Stepping(descent, steps, learner._recorder, publish, learner.solver_)
        point = next(iter(learner._savepoints), None)
        solution = drive(solver, Goal(tol, max_iter, telling(listeners), savepoint=point))
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

    Folds are those of one pass over all rows so far, and step and penalty follow the rows so far:
    how the rows are cut into parts does not change the weights.
    """
    if learner._is_told:
        raise ParameterError("partial_fit knows no penalty_weights or bounds; use fit.")
    problem = counted(problem)
    stream, folds = _streamed(learner, problem)
    by_hand = not isinstance(learner.eta0, str)
    method = StreamMethod(
        loss, penalty, float(learner.C), bool(learner.fit_intercept),
        learner.batch_size if learner.solver == "minibatch" else 1,
        float(learner.eta0) if by_hand else None,
        schedule_of(learner.schedule), stream.n_rows,
    )  # fmt: skip
    with learner._listening(None, False, problem) as listeners:
        if learner._recorder is not None:
            learner._recorder.begin(*stream.kept(method))
        stream, done = folds.part_pass(stream, problem, method, learner._recorder)
        W, b = (part.astype(problem.X.dtype) for part in stream.kept(method))
        problem.require_in_range(W, b)
        learner.coef_, learner.intercept_ = W, b
        learner._stream = stream, folds
        learner.n_iter_ = learner.n_iter_ + 1  # not in the place of an array that was handed out
        learner.diagnosis_ = None  # an older one spoke of other weights, as did the numbers below
        tell(listeners, done)
        learner._end(Status.streaming)
    for name in ("objective_", "gap_", "proof_"):
        if hasattr(learner, name):
            delattr(learner, name)


def _streamed(learner: Any, problem: Problem) -> tuple[StreamSteps, WholeFolds[StreamSteps]]:
    """Steps and folds to go on with: copies, so that a part that fails leaves them as they are."""
    known = getattr(learner, "_stream", None)
    if known is not None:
        return deepcopy(known)  # type: ignore[no-any-return]
    shape = (1 if problem.binary else problem.n_classes, problem.n_features)
    learner.n_iter_ = 0
    if hasattr(learner, "coef_") and learner.coef_.shape == shape:
        return StreamSteps(learner.coef_, learner.intercept_), WholeFolds()
    start = given_start(learner, shape) or (np.zeros(shape), np.zeros(shape[0]))
    return StreamSteps(*start), WholeFolds()
