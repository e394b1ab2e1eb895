"""Fits that begin where the one before ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def seen_before(learner: Any) -> Iterator[None]:
    """Leave the first look of a warm start uncounted: the fit before has had it.

    A solver looks at all rows from where it begins, and steps from what it saw. With max_iter=1 it
    would look at the same place in every fit, and never step.
    """
    most = learner.max_iter
    warm = learner.warm_start and hasattr(learner, "coef_")
    learner.max_iter = most + 1 if warm else most
    try:
        yield
    finally:
        learner.max_iter = most
    learner.n_iter_ = min(learner.n_iter_, most)
