"""The one driver of iterative convex fits.

A solver makes passes or steps and yields a candidate after each. The driver tells the listeners,
answers Ctrl-C, tries once more in rescaled columns where sums overflow, and ends the run: when the
certificate confirms the gap that was asked for, after `max_iter` passes, or where the solver has no
step left. A candidate that its solver takes to be good enough and the certificate does not confirm
makes the run go on with a tighter inner tolerance: the certificate, not the solver, says that a fit
has converged.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Event
from typing import Any, NamedTuple, Protocol

import numpy as np

from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.solution import Solution

FINEST = 1e-13
"""Relative gaps below this are rounding."""
ALIKE = 1.05
"""Sums in another order may come to a gap this much smaller."""
TIGHTENED = 8
"""How often a run may go on with a tighter tolerance, at most."""


class Candidate(NamedTuple):
    """What a solver knows after a pass or a step.

    Attributes
    ----------
    n_iter : passes or steps made so far
    primal, dual : the best P and D so far; the optimum lies between them
    active : rows in play
    least : a P below this counts as zero
    """

    n_iter: int
    primal: float
    dual: float
    active: int = 0
    least: float = 0.0

    @property
    def gap(self) -> float:
        return max(0.0, self.primal - self.dual)

    def within(self, tol: float) -> bool:
        """Whether the relative gap is at most `tol`."""
        return self.gap <= tol * max(self.primal, self.least)


class Certificate(Protocol):
    """A solution looked at by code that the solver has no part in."""

    @property
    def gap(self) -> float:
        """How far above the optimum the weights can be at most, relative to the objective."""
        ...

    @property
    def shown(self) -> float:
        """How far above the dual point they are at least, whatever rounding has done."""
        ...


class Goal(NamedTuple):
    """What a fit is asked for.

    Attributes
    ----------
    tol : the relative gap
    max_iter : most passes or steps
    listener : told a `Candidate` after each; returns True to stop
    certify : looks at a solution; None where the solver's own bounds are all there is
    noise : what rounding the stored weights may cost, relative to the objective
    halt : set from another thread to end early with what there is
    """

    tol: float = 1e-4
    max_iter: int = 1000
    listener: Callable[[Candidate], Any] | None = None
    certify: Callable[[Solution], Certificate] | None = None
    noise: float = 1e-12
    halt: Event | None = None


class Solver(Protocol):
    """A way to the optimum, as the driver sees it.

    Attributes
    ----------
    name : what `solver_` says
    pool : threads, open while the run lasts
    tol : the inner tolerance; the driver lowers it where the certificate does not confirm
    """

    pool: Pool
    tol: float

    @property
    def name(self) -> str: ...

    def candidates(self) -> Iterator[Candidate]:
        """Make passes or steps for ever, or until none succeeds; a candidate after each."""
        ...

    def solution(self) -> Solution:
        """The best weights so far, in the units of the data, with a dual point."""
        ...

    def interrupted(self) -> None:
        """Bring state that a pass left half changed back in order."""
        ...

    def rescaled(self) -> "Solver | None":
        """The same problem in columns of moderate scale, where that may spare an overflow."""
        ...


def drive(solver: Solver, goal: Goal) -> Solution:
    """Run a solver until the goal is reached and confirmed, or the run ends otherwise."""
    solver.tol = max(goal.tol, FINEST)
    try:
        with solver.pool, np.errstate(all="ignore"):
            return _run(solver, goal)
    except OverflowedError:
        other = solver.rescaled()
        if other is None:
            raise
        return drive(other, goal)


def _run(solver: Solver, goal: Goal) -> Solution:
    status: Status | None = None
    certified: Solution | None = None
    tries, best = 0, np.inf
    try:
        for seen in solver.candidates():
            if seen.within(solver.tol):
                certified = _certified(solver, goal)
                if certified is None or certified.certificate.gap <= goal.tol:
                    status = Status.converged
                    break
                gap, tries = certified.certificate.gap, tries + 1
                if tries > TIGHTENED or gap > 0.9 * best or solver.tol <= FINEST:
                    status = Status.converged if _rounding(certified, goal) else Status.unproved
                    break
                best = gap
                solver.tol = max(FINEST, solver.tol * min(0.5, max(0.01, 0.5 * goal.tol / gap)))
            if goal.listener is not None and goal.listener(seen) is True:
                status = Status.stopped
            elif goal.halt is not None and goal.halt.is_set():
                status = Status.interrupted
            elif seen.n_iter >= goal.max_iter:
                status = Status.budget
            if status is not None:
                break
        certified = certified if status in (Status.converged, Status.unproved) else None
        found = certified or _certified(solver, goal) or solver.solution()
    except KeyboardInterrupt:
        status = Status.interrupted
        solver.interrupted()
        found = _certified(solver, goal) or solver.solution()
    if status in (None, Status.budget):
        status = Status.converged if _reached(found, goal) else Status.budget
    return replace(found, status=status, solver=solver.name, message=_message(found, status, goal))


def _certified(solver: Solver, goal: Goal) -> Solution | None:
    if goal.certify is None:
        return None
    found = solver.solution()
    return replace(found, certificate=goal.certify(found))


def _rounding(found: Solution, goal: Goal) -> bool:
    """Whether all that the certificate lacks may be rounding, not distance from the optimum."""
    return bool(found.certificate.shown <= ALIKE * goal.tol + goal.noise)


def _reached(found: Solution, goal: Goal) -> bool:
    claimed = found.gap <= goal.tol * found.primal
    if found.certificate is None:
        return claimed
    return bool(found.certificate.gap <= goal.tol) or (claimed and _rounding(found, goal))


def _message(found: Solution, status: Status, goal: Goal) -> str:
    gap = found.gap / found.primal if found.primal > 0.0 else 0.0
    numbers = f"{found.n_iter} passes, relative gap {gap:.1e}, asked for {goal.tol:.1e}."
    if status is not Status.budget:
        return numbers
    return (
        f"Stopped after {found.n_iter} passes with a relative gap of {gap:.1e}; {goal.tol:.1e} was "
        "asked for. Raise max_iter, bring the features to one scale, or lower C."
    )
