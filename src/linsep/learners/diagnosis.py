"""Why a fit did not reach its goal, where that is cheap to know."""

from typing import Any

from linsep.proofs.separability import separability
from linsep.train.loop import Status
from linsep.train.problem import Problem

SMALL = 20_000  # numbers in X up to which the question costs less than the passes before it
SECONDS = 10.0  # hardly ever needed: a cold compiler takes most of it


def out_of_passes(problem: Problem, classes: Any) -> tuple[Status, Any]:
    """After `max_iter` passes with mistakes left: does a separator exist?

    Returns the status to report, and the proof if there is one.
    """
    small = problem.n_rows * problem.n_features <= SMALL
    if not small or (problem.weights.size and not problem.weights.all()):
        return Status.budget, None
    try:
        found = separability(problem.X, classes[problem.codes], time_limit=SECONDS)
    except KeyboardInterrupt:
        return Status.interrupted, None
    if found.separable is None:
        return Status.budget, None
    return (Status.separable if found.separable else Status.not_separable), found
