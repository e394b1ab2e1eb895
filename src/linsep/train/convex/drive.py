"""The one driver of iterative convex fits.

A solver makes passes or steps and yields a candidate after each. The driver tells the listeners,
answers Ctrl-C, tries once more in rescaled columns where sums overflow, and ends the run: when the
certificate confirms the gap that was asked for, after `max_iter` passes, or where the solver has no
step left. A candidate that its solver takes to be good enough and the certificate does not confirm
makes the run go on with a tighter inner tolerance: the certificate, not the solver, says that a fit
has converged. Rounding excuses nothing: where it keeps the certificate from showing the gap that
was asked for, the run ends `unproved`. A solver with no step left may know another ending, such as
that no finite optimum exists: the status of its solution then says so.

A run can be written down and gone on with by another process. A solver that is asked for `state()`
after a candidate says, in arrays, numbers and lists of them, what its next pass depends on; one
that is given it by `restore(state)` yields that same candidate first, and then the next ones, bit
by bit as if it had never stopped. The tolerance is the driver's to keep. So the way to write a
solver is to have whatever lives from one pass to the next in attributes, never in variables of the
generator:

    def candidates(self):
        if not self.restored:
            self.begin()
            self.evaluate()
        while True:
            yield self.candidate()
            self.step()          # from attributes alone
            self.evaluate()

A solver that is a function of few large sums over the rows may instead keep those sums in a
`linsep.train.run.replay_log.ReplayLog`, and the tolerance of each pass beside them: after
`restore` it goes through its run again without reading rows, silently up to the last candidate.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from inspect import signature
from threading import Event
from typing import Any, NamedTuple, Protocol

import numpy as np

from linsep.errors import OverflowedError, ParameterError
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.solution import Solution
from linsep.train.run.loop import UNCOUNTED, Listener, Pass, tell
from linsep.train.run.state import copied

KEPT = ("w", "b", "alpha", "primal", "dual", "gap", "n_iter", "solver", "start")
"""What is kept of the solution of a run that is over, besides its status."""
FINEST = 1e-13
"""Relative gaps below this are rounding."""
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
    done : what listeners are told, where the solver counts more than bounds
    """

    n_iter: int
    primal: float
    dual: float
    active: int = 0
    least: float = 0.0
    done: Pass | None = None

    @property
    def gap(self) -> float:
        return max(0.0, self.primal - self.dual)

    def within(self, tol: float) -> bool:
        """Whether the relative gap is known, and at most `tol`."""
        return self.gap < np.inf and self.gap <= tol * max(self.primal, self.least)


class Certificate(Protocol):
    """A solution looked at by code that the solver has no part in."""

    @property
    def gap(self) -> float:
        """How far above the optimum the weights can be at most, relative to the objective."""
        ...


class Savepoint:
    """Where the runs of a fit stand, for a checkpoint to write down; or where earlier ones stood.

    A fit may be several runs, one after the other. Those that are over are kept as their solutions,
    and are not made again.

    Parameters
    ----------
    copies : whether states are copied at each candidate, as where several runs go on side by side
        and one of them has all written down
    """

    def __init__(self, copies: bool = False) -> None:
        self._copies = copies
        self._now: Callable[[], Any] | None = None
        self._over: list[dict[str, Any]] = []
        self._recalled = 0
        self.earlier: dict[str, Any] | None = None

    def note(self, now: Callable[[], Any]) -> None:
        """The run stands where `now` says, until the next note."""
        if self._copies:
            kept = copied(now())
            self._now = lambda: kept
        else:
            self._now = now

    def end(self, solution: Solution) -> None:
        """The run is over; another may follow."""
        known = {name: getattr(solution, name) for name in KEPT}
        self._over.append({**known, "status": solution.status.name})
        self._recalled, self._now, self.earlier = len(self._over), None, None

    def recalled(self) -> Solution | None:
        """The solution of the next run, where that is over."""
        if self._recalled == len(self._over):
            return None
        kept = self._over[self._recalled]
        self._recalled += 1
        return Solution(**{name: kept[name] for name in KEPT}, status=Status[kept["status"]])

    def state(self) -> dict[str, Any]:
        """Where the run stands; of one that has not gone on yet, where the earlier one stood."""
        return {"run": self.earlier if self._now is None else self._now(), "over": self._over}

    def restore(self, state: dict[str, Any]) -> None:
        """Have the runs go on from there."""
        self.earlier, self._over = state["run"], state["over"]


def begin(learner: Any, listeners: list[Listener], runs: int = 1) -> None:
    """Savepoints of a learner's runs side by side, with what a checkpoint holds of earlier ones.

    None where no listener is a checkpoint.
    """
    keepers: list[Any] = [one for one in listeners if hasattr(one, "resume")]
    learner._savepoints = [Savepoint(copies=runs > 1) for _ in range(runs)] if keepers else []
    for keeper in keepers:
        keeper.resume()


def telling(listeners: list[Listener]) -> "Callable[[Candidate], bool] | None":
    """Listeners to passes as one listener to candidates; True from any of them stops the run."""
    if not listeners:
        return None

    def heard(seen: Candidate) -> bool:
        done = seen.done or Pass(seen.n_iter, UNCOUNTED, seen.active, seen.primal)
        return tell(listeners, done)

    return heard


class Goal(NamedTuple):
    """What a fit is asked for.

    Attributes
    ----------
    tol : the relative gap
    max_iter : most passes or steps
    listener : told a `Candidate` after each; returns True to stop
    certify : looks at a solution; None where the solver's own bounds are all there is
    halt : set from another thread to end early with what there is
    savepoint : is told where the run stands, and says where an earlier one stood; None where no
        checkpoint is kept
    """

    tol: float = 1e-4
    max_iter: int = 1000
    listener: Callable[[Candidate], Any] | None = None
    certify: Callable[[Solution], Certificate] | None = None
    halt: Event | None = None
    savepoint: Savepoint | None = None


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
        """The best weights so far, in the units of the data, with a dual point.

        Its status is read only where no step is left, or the budget is spent: `budget`, or an
        ending that the solver alone can know.
        """
        ...

    def interrupted(self) -> None:
        """Bring state that a pass left half changed back in order."""
        ...

    def rescaled(self) -> "Solver | None":
        """The same problem in columns of moderate scale, where that may spare an overflow."""
        ...

    def state(self) -> dict[str, Any]:
        """What the passes after this candidate depend on, besides the problem and `tol`."""
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Have `candidates` begin with the candidate that the state was taken at."""
        ...


def drive(solver: Solver, goal: Goal) -> Solution:
    """Run a solver until the goal is reached and confirmed, or the run ends otherwise."""
    point = goal.savepoint
    if point is None:
        return _drive(solver, goal, None)
    over = point.recalled()
    if over is not None:
        return over if goal.certify is None else replace(over, certificate=goal.certify(over))
    other = solver.rescaled() if point.earlier is not None and point.earlier["rescaled"] else None
    solution = _drive(other or solver, goal, point.earlier, other is not None)
    point.end(solution)
    return solution


def _drive(
    solver: Solver, goal: Goal, earlier: dict[str, Any] | None, rescaled: bool = False
) -> Solution:
    solver.tol = max(goal.tol, FINEST)
    try:
        with solver.pool, np.errstate(all="ignore"):
            return _run(solver, goal, earlier, rescaled)
    except OverflowedError:
        other = solver.rescaled()
        if other is None:
            raise
        return _drive(other, goal, None, rescaled=True)


def _state(solver: Solver, tol: float, tries: int, best: float, rescaled: bool) -> dict[str, Any]:
    """A run as a savepoint keeps it: at a candidate that nothing has been made of yet."""
    known = {"tol": tol, "tries": tries, "best": best, "rescaled": rescaled}
    return {**known, "solver": solver.state()}


def _run(solver: Solver, goal: Goal, earlier: dict[str, Any] | None, rescaled: bool) -> Solution:
    status: Status | None = None
    certified: Solution | None = None
    tries, best, heard = 0, np.inf, False
    try:
        if earlier is not None:
            _restore(solver, earlier["solver"])
            solver.tol, tries, best, heard = *(earlier[k] for k in ("tol", "tries", "best")), True
        for seen in solver.candidates():
            if goal.savepoint is not None:
                goal.savepoint.note(partial(_state, solver, solver.tol, tries, best, rescaled))
            stop = not heard and goal.listener is not None and goal.listener(seen) is True
            heard = False
            if seen.within(solver.tol):
                certified = _certified(solver, goal)
                if certified is None or certified.certificate.gap <= goal.tol:
                    status = Status.converged
                    break
                gap, tries = certified.certificate.gap, tries + 1
                if tries > TIGHTENED or gap > 0.9 * best or solver.tol <= FINEST:
                    status = Status.unproved
                    break
                best = gap
                solver.tol = max(FINEST, solver.tol * min(0.5, max(0.01, 0.5 * goal.tol / gap)))
            if stop:
                status = Status.stopped
            elif goal.halt is not None and goal.halt.is_set():
                status = Status.interrupted
            elif seen.n_iter >= goal.max_iter:
                status = Status.budget
            if status is not None:
                break
        certified = certified if status in (Status.converged, Status.unproved) else None
        solution = certified or _certified(solver, goal) or solver.solution()
    except KeyboardInterrupt:
        status = Status.interrupted
        solver.interrupted()
        solution = _certified(solver, goal) or solver.solution()
    if status in (None, Status.budget):
        status = _ending(solution, goal)
    return replace(solution, status=status, solver=solver.name)


def _restore(solver: Solver, state: dict[str, Any]) -> None:
    try:
        solver.restore(state)
    except (KeyError, ValueError, TypeError, IndexError) as problem:
        raise ParameterError(
            "The checkpoint was written by another version of linsep, whose solver keeps other "
            "numbers. Name another file, or delete it and fit from the start."
        ) from problem


def _certified(solver: Solver, goal: Goal) -> Solution | None:
    if goal.certify is None:
        return None
    solution = solver.solution()
    return replace(solution, certificate=goal.certify(solution))


def _ending(solution: Solution, goal: Goal) -> Status:
    """The ending of a run whose passes are spent, or that has no step left."""
    claimed = solution.gap < np.inf and solution.gap <= goal.tol * solution.primal
    claimed = claimed or solution.status is Status.converged
    if solution.certificate is not None:
        if solution.certificate.gap <= goal.tol:
            return Status.converged
        return Status.unproved if claimed else solution.status
    return Status.converged if claimed else solution.status


def solve(
    make: Callable[..., Solver],
    *problem: Any,
    tol: float = 1e-4,
    max_iter: int = 1000,
    listener: Callable[[Candidate], Any] | None = None,
    halt: Event | None = None,
    **settings: Any,
) -> Solution:
    """Solve a problem to a relative gap of `tol` by the solver that `make` makes of it.

    A solver that goes by `tol`, `max_iter` or `halt` from the start is told them too.

    Examples
    --------
    >>> from linsep.train.convex.losses import Logistic
    >>> from linsep.train.convex.problem import Problem
    >>> from linsep.train.convex.solvers.newton_cg import NewtonCG
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])
    >>> problem = Problem.of(X, y, None, 1.0, Logistic(), intercept=True)
    >>> solution = solve(NewtonCG, problem, tol=1e-10)
    >>> solution.w.round(4), round(solution.b, 4), solution.status.name
    (array([0.4529]), -0.6793, 'converged')
    """
    limits = {"tol": tol, "max_iter": max_iter, "halt": halt}
    own = {name: limits[name] for name in limits.keys() & signature(make).parameters.keys()}
    goal = Goal(tol, max_iter, listener, halt=halt)
    return drive(make(*problem, **own, **settings), goal)
