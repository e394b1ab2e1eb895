"""The one training loop: make a pass, tell the listeners, decide whether to stop.

A learner supplies the pass and the decision; the progress bar, the trace and whatever the user
hands in as `callback` are listeners. What they are told is the real run.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Status(Enum):
    """How a fit ended. The value is the sentence to read."""

    separated = "Every training row lies strictly on its own side: a separator was found."
    converged = "Converged to the tolerance asked for."
    averaged = (
        "The last separator makes no mistakes; the average, which is kept, still makes some. "
        "Use keep='last' for the separator itself."
    )
    voted = (
        "Made the passes asked for, or as many as it took to make no mistakes; every separator met "
        "on the way has its votes."
    )
    budget = (
        "Stopped after max_iter passes with mistakes left. Raise max_iter, or run certify "
        "(linsep.separability) to see whether a separator exists."
    )
    stalled = (
        "Stopped with mistakes left: the corrections of all wrongly placed rows cancel out, so the "
        "weights can go no further. Run certify (linsep.separability) for the proof that no "
        "separator exists."
    )
    not_separable = (
        "Stopped with mistakes left: no separator exists, and proof_ holds the proof. "
        "Use keep='pocket' or 'average', an intercept if there is none, or features that bend the "
        "boundary."
    )
    separable = (
        "Stopped after max_iter passes with mistakes left, although a separator exists "
        "(proof_ holds it). Raise max_iter, or use LinearSVC."
    )
    inside = (
        "Stopped after max_iter passes with rows still inside the margin, though none on the wrong "
        "side. Raise max_iter or tol."
    )
    gap_left = (
        "Stopped after max_iter passes with a duality gap above tol. Bring the features to one "
        "scale (StandardScaler does), lower C, or raise max_iter or tol."
    )
    unproved = (
        "The solver took its weights to be within tol of the optimum, but a second count from the "
        "data does not bear that out: see gap_. Bring the features to one scale (linsep.Scaled "
        "does), or raise tol."
    )
    no_optimum = (
        "The classes are separable, so no finite optimum exists without a penalty. The weights "
        "kept separate them; set a finite C for finite probabilities."
    )
    solved = "Solved exactly."
    deficient = (
        "Solved, but some columns, or combinations of columns, add nothing to the others, so their "
        "weights are not settled by the data; the shortest weights that solve it are kept. "
        "rank_ counts those that do add something."
    )
    no_spread = (
        "The classes differ in a direction in which no class has any spread: they are told apart "
        "there without doubt, and a small spread was assumed to keep the weights finite. For "
        "probabilities to rely on use LinearDiscriminantAnalysis(shrinkage='auto'), or drop "
        "columns."
    )
    no_difference = (
        "The classes have the same means, so no hyperplane tells them apart; every row gets the "
        "more frequent class. Add features that differ, or bend them (products, polynomials)."
    )
    unfinished = (
        "Stopped after max_iter passes with the loss still changing by more than tol. Raise "
        "max_iter or tol, or use solver='exact'."
    )
    diverged = (
        "Stopped because the loss grew without bound: the steps are too long. The best weights met "
        "are kept. Lower eta0, or leave it at 'auto'."
    )
    streaming = "Rows were taken in as they came; more may follow."
    stopped = "Stopped because a callback asked for it."
    interrupted = "Interrupted: this is the best model so far."

    @property
    def good(self) -> bool:
        """Whether the fit reached what was asked for."""
        return self in {
            Status.separated,
            Status.converged,
            Status.averaged,
            Status.voted,
            Status.solved,
            Status.deficient,
            Status.streaming,
        }


UNCOUNTED = -1
"""The mistakes of a pass that looks at no row's side."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass over the data did.

    Attributes
    ----------
    epoch : the number of the pass, from 1
    mistakes : rows found on the wrong side, or on the boundary; `UNCOUNTED` where nobody counts
    updates : corrections made
    loss : the learner's mean loss, each row as it was met
    eta : the step size used
    """

    epoch: int
    mistakes: int
    updates: int
    loss: float
    eta: float = 1.0


Listener = Callable[[Pass], Any]


def listeners_of(callback: Any) -> list[Listener]:
    """`callback` as a list: None, one callable, or several."""
    if callback is None:
        return []
    if callable(callback):
        return [callback]
    return list(callback)


def tell(listeners: Iterable[Listener], done: Pass) -> bool:
    """Tell every listener of a pass; whether one of them asked to stop."""
    asked = [listener(done) is True for listener in listeners]  # all of them, before any decides
    return any(asked)


def run(
    one_pass: Callable[[int], Pass],
    decide: Callable[[Pass], Status | None],
    max_iter: int,
    listeners: Iterable[Listener] = (),
    publish: Callable[[], None] | None = None,
) -> Status:
    """Make passes until `decide` names an ending, at most `max_iter`.

    Before listeners are told of a pass, `publish` makes the weights visible in the learner, so that
    they can predict with it. A listener that returns True stops the run. Ctrl-C ends it between two
    blocks of rows: the weights are whole, and the status says so. A listener with a method `resume`
    is asked for the last pass of an earlier run whose state it has restored; passes go on from it.
    """
    listeners = list(listeners)
    first = 1
    for listener in listeners:
        earlier = listener.resume() if hasattr(listener, "resume") else None
        if earlier is not None:
            status = decide(earlier)
            if status is not None:
                return status
            first = earlier.epoch + 1
    try:
        for epoch in range(first, max_iter + 1):
            done = one_pass(epoch)
            if listeners and publish is not None:
                publish()
            asked = [listener(done) is True for listener in listeners]
            status = decide(done)
            if status is not None:
                return status
            if any(asked):
                return Status.stopped
    except KeyboardInterrupt:
        return Status.interrupted
    return Status.budget
