"""Why a fit did not reach its goal, where that is cheap to know."""

from typing import Any

import numpy.typing as npt

from linsep.proofs.certificate import Separability
from linsep.proofs.separability import separability
from linsep.train.loop import Status
from linsep.train.problem import Problem

Array = npt.NDArray[Any]

SMALL = 20_000  # numbers in X up to which the question costs less than the passes before it
SECONDS = 10.0  # a cap for a slow or cold machine; the answer takes milliseconds


def separation(problem: Problem, classes: Array) -> Separability | None:
    """Whether a separator exists, with its proof; None where that is not cheap to know.

    The proof speaks of the labels in `classes`, so that users can verify it with their own.
    """
    small = problem.n_rows * problem.n_features <= SMALL
    if not small or (problem.weights.size and not problem.weights.all()):
        return None
    found = separability(problem.X, classes[problem.codes], time_limit=SECONDS)
    return None if found.separable is None else found


def out_of_passes(problem: Problem, classes: Array) -> tuple[Status, Separability | None]:
    """The status after `max_iter` passes with mistakes left, and the proof behind it."""
    try:
        found = separation(problem, classes)
    except KeyboardInterrupt:
        return Status.interrupted, None
    if found is None:
        return Status.budget, None
    return (Status.separable if found.separable else Status.not_separable), found
