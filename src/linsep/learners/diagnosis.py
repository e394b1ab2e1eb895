"""Why a fit did not reach its goal, where that is cheap to know."""

from linsep.proofs.certificate import Separability
from linsep.proofs.separability import separability
from linsep.train.loop import Status
from linsep.train.problem import Problem

SMALL = 20_000  # numbers in X up to which the question costs less than the passes before it
SECONDS = 10.0  # a cap for a slow or cold machine; the answer takes milliseconds


def separation(problem: Problem) -> Separability | None:
    """Whether a separator exists, with its proof; None where that is not cheap to know."""
    small = problem.n_rows * problem.n_features <= SMALL
    if not small or (problem.weights.size and not problem.weights.all()):
        return None
    found = separability(problem.X, problem.codes, time_limit=SECONDS)
    return None if found.separable is None else found


def out_of_passes(problem: Problem) -> tuple[Status, Separability | None]:
    """The status after `max_iter` passes with mistakes left, and the proof behind it."""
    found = separation(problem)
    if found is None:
        return Status.budget, None
    return (Status.separable if found.separable else Status.not_separable), found
