"""The one training loop: make a pass, tell the listeners, decide whether to stop.

A learner supplies the pass and the decision; the progress bar, the trace and whatever the user
hands in as `callback` are listeners. What they are told is the real run.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from linsep.status import Status

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
    return any([listener(done) is True for listener in listeners])  # noqa: C419 - tell them all


def run(
    one_pass: Callable[[int], Pass],
    decide: Callable[[Pass], Status | None],
    max_iter: int,
    listeners: Iterable[Listener] = (),
    publish: Callable[[], None] | None = None,
    count: Callable[[Pass], None] | None = None,
) -> Status:
    """Make passes until `decide` names an ending, at most `max_iter`.

    `count` is told of every pass that this run makes, at once. Before listeners are told of it,
    `publish` makes the weights visible in the learner, so that they can predict with it. A listener
    that returns True stops the run. Ctrl-C ends it between two blocks of rows: the weights are
    whole, and the status says so. A listener with a method `resume` is asked for the last pass of
    an earlier run whose state it has restored; passes go on from it, and one with a method
    `go_on_from` is told its number.
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
    for listener in listeners:
        if first > 1 and hasattr(listener, "go_on_from"):
            listener.go_on_from(first - 1)
    try:
        for epoch in range(first, max_iter + 1):
            done = one_pass(epoch)
            if count is not None:
                count(done)
            if listeners and publish is not None:
                publish()
            stop = tell(listeners, done)
            status = decide(done)
            if status is not None:
                return status
            if stop:
                return Status.stopped
    except KeyboardInterrupt:
        return Status.interrupted
    return Status.budget
