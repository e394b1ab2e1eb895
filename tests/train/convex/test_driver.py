"""One driver: the certificate ends a run, and whoever may stop it does."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from linsep.errors import ParameterError
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.choose import TABLE, line_for, shape_of
from linsep.train.convex.drive import Candidate, Goal, begin, drive, telling
from linsep.train.convex.losses import Hinge
from linsep.train.convex.solution import Solution
from linsep.train.convex.solvers.dual_descent import DualDescent, posed
from linsep.train.run.loop import UNCOUNTED, Pass


class Halving:
    """A solver whose gap halves with each pass; `lies` times as small as it says."""

    name = "halving"

    def __init__(self, raises=None, ends=None):
        self.pool, self.tol, self.n_iter = Pool(1), 1.0, 0
        self.raises, self.ends, self.tols = raises, ends, []

    def candidates(self):
        while self.n_iter != self.ends:
            self.n_iter += 1
            if self.n_iter == self.raises:
                raise KeyboardInterrupt
            self.tols.append(self.tol)
            yield Candidate(self.n_iter, 1.0 + self.gap, 1.0, 1)

    @property
    def gap(self):
        return 0.5**self.n_iter

    def solution(self):
        gap = self.gap
        return Solution(np.ones(1), 0.0, None, 1.0 + gap, 1.0, gap, self.n_iter)

    def interrupted(self):
        self.mended = True

    def rescaled(self):
        return None


def certificate(times):
    """One that sees a gap so many times what the solver says."""
    return lambda solution: SimpleNamespace(gap=times * solution.gap, shown=times * solution.gap)


def test_a_run_ends_when_its_gap_is_small_enough():
    solution = drive(Halving(), Goal(tol=1e-3))
    assert solution.status is Status.converged and solution.n_iter == 10
    assert solution.solver == "halving"


def test_what_the_certificate_does_not_confirm_goes_on_tighter():
    solver = Halving()
    solution = drive(solver, Goal(tol=1e-3, certify=certificate(8.0)))
    assert solution.status is Status.converged and solution.certificate.gap <= 1e-3
    assert solution.n_iter >= 13 and solver.tols[-1] < solver.tols[0]


def test_a_gap_that_never_closes_is_unproved():
    stuck = Goal(tol=1e-3, certify=lambda solution: SimpleNamespace(gap=0.5, shown=0.4))
    assert drive(Halving(), stuck).status is Status.unproved


def test_a_solver_without_a_step_left_may_know_another_ending():
    class Runaway(Halving):
        def solution(self):
            return replace(super().solution(), status=Status.no_optimum)

    assert drive(Runaway(ends=3), Goal(tol=1e-9)).status is Status.no_optimum
    assert drive(Runaway(), Goal(tol=1e-3)).status is Status.converged  # it had more steps


def test_an_objective_that_overflows_is_no_gap_that_is_closed():
    assert not Candidate(1, np.inf, -np.inf).within(1e-3)
    assert not Candidate(1, np.inf, 0.0).within(1e-3)
    assert Candidate(1, 0.0, 0.0).within(1e-3)


def test_listeners_hear_what_a_solver_counts():
    class Counting(Halving):
        def candidates(self):
            for seen in super().candidates():
                yield seen._replace(done=Pass(seen.n_iter, 7, 2, 0.5, 0.1))

    heard = []
    drive(Counting(), Goal(tol=1e-2, listener=telling([heard.append])))
    drive(Halving(), Goal(tol=1e-2, listener=telling([heard.append])))
    assert heard[0] == Pass(1, 7, 2, 0.5, 0.1) and heard[-1].mistakes == UNCOUNTED


@pytest.mark.parametrize(
    ("goal", "status"),
    [
        (Goal(tol=1e-9, max_iter=5), Status.budget),
        (Goal(tol=1e-9, listener=lambda seen: seen.n_iter == 3), Status.stopped),
    ],
)
def test_budget_and_listeners_end_a_run(goal, status):
    solution = drive(Halving(), goal)
    assert solution.status is status and solution.n_iter in (3, 5)


def test_an_interrupted_run_hands_back_what_there_is():
    solver = Halving(raises=4)
    solution = drive(solver, Goal(tol=1e-9))
    assert solution.status is Status.interrupted and solver.mended and solution.n_iter == 4


def test_a_solver_that_gives_up_ends_without_having_converged():
    assert drive(Halving(ends=3), Goal(tol=1e-9)).status is Status.budget


def test_every_shape_meets_the_first_line_that_applies():
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    for X in (rng.random((50, 5)), rng.random((5000, 20)), sp.random(300, 2000, 0.01, "csr")):
        shape = shape_of(X, "hinge")
        line = line_for(shape)
        before = TABLE[: TABLE.index(line)]
        assert line.applies(shape) and not any(one.applies(shape) for one in before)
        assert line.when and line.reason


def test_only_a_checkpoint_has_savepoints_kept():
    learner = SimpleNamespace()
    begin(learner, [print])
    assert learner._savepoints == []

    class Keeper:
        def resume(self):
            learner._savepoints[0].restore({"run": {"tol": 1.0}, "over": []})

    begin(learner, [Keeper()], 2)
    assert len(learner._savepoints) == 2 and learner._savepoints[0].earlier == {"tol": 1.0}


def test_a_checkpoint_of_another_version_is_refused_in_words():
    earlier = {"tol": 1e-4, "tries": 0, "best": 1.0, "rescaled": False, "solver": {"older": 1}}
    point = SimpleNamespace(recalled=lambda: None, earlier=earlier, note=None, end=None)
    solver = DualDescent(posed(np.eye(4), np.array([1, -1, 1, -1]), None, 1.0, Hinge(), True))
    with pytest.raises(ParameterError, match="written by another version of linsep"):
        drive(solver, Goal(savepoint=point))
