"""Each rule of the driver by itself: when a run ends, as what, and what a checkpoint keeps."""

from copy import deepcopy
from dataclasses import replace
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest

from linsep.errors import OverflowedError, ParameterError
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.drive import (
    FINEST,
    KEPT,
    TIGHTENED,
    Candidate,
    Goal,
    Savepoint,
    begin,
    drive,
    solve,
    telling,
)
from linsep.train.convex.solution import Solution
from linsep.train.run.loop import UNCOUNTED, Pass


class Stepping:
    """A solver that goes through given gaps, one a pass, over an optimum of 1."""

    name = "stepping"

    def __init__(self, gaps, ending=Status.budget, overflows=0, other=None):
        self.gaps, self.ending, self.overflows, self.other = gaps, ending, overflows, other
        self.pool, self.tol, self.n_iter, self.tols = Pool(1), None, 0, []
        self.mended = self.restored = False

    def candidates(self):
        while self.restored or self.n_iter < len(self.gaps):
            self.n_iter += not self.restored
            self.restored = False
            if self.n_iter == self.overflows:
                raise OverflowedError("sums overflow")
            self.tols.append(self.tol)
            yield Candidate(self.n_iter, 1.0 + self.gap, 1.0, active=3)

    @property
    def gap(self):
        return self.gaps[self.n_iter - 1]

    def solution(self):
        found = Solution(np.ones(1), 0.0, None, 1.0 + self.gap, 1.0, self.gap, self.n_iter)
        return replace(found, status=self.ending)

    def interrupted(self):
        self.mended = True

    def rescaled(self):
        return self.other

    def state(self):
        return {"n_iter": self.n_iter}

    def restore(self, state):
        self.n_iter, self.restored = state["n_iter"], True


def seeing(*gaps):
    """A certificate that shows these gaps, one after the other, the last for ever."""
    left = list(gaps)
    return lambda solution: SimpleNamespace(gap=left.pop(0) if len(left) > 1 else left[0])


def test_a_gap_of_exactly_tol_is_within_it_and_one_beside_it_is_not():
    assert Candidate(1, 2.0, 1.5).within(0.25)
    assert not Candidate(1, 2.0, 1.5).within(np.nextafter(0.25, 0))
    assert Candidate(1, 1.0, 2.0).gap == 0.0  # rounding has crossed the bounds
    assert Candidate(1, 1e-9, 0.0, least=1.0).within(1e-9)
    assert not Candidate(1, 1e-9, 0.0).within(1e-9)
    assert Candidate(1, 2.0, 1.5).gap == 0.5


def test_the_first_candidate_within_tol_ends_a_run():
    solver = Stepping([0.5, 0.1, 0.01, 0.001])
    solution = drive(solver, Goal(tol=0.02))
    assert (solution.status, solution.n_iter) == (Status.converged, 3)
    assert (solution.solver, solution.certificate) == ("stepping", None)
    assert solver.tols == [0.02] * 3


def test_no_solver_is_asked_for_less_than_rounding():
    solver = Stepping([0.5, 0.0])
    assert drive(solver, Goal(tol=0.0)).status is Status.converged
    assert solver.tols[0] == FINEST


def test_what_is_not_confirmed_tightens_by_what_is_missing():
    """Half at least, a hundredth at most, and otherwise half of what the gap asks for."""
    for shown, factor in (
        (0.011, 0.5 * 0.01 / 0.011),
        (0.04, 0.125),
        (0.0101, 0.5 * 0.01 / 0.0101),
        (9.0, 0.01),
    ):
        solver = Stepping([0.01, 0.01 * factor])
        solution = drive(solver, Goal(tol=0.01, certify=seeing(shown, 0.01)))
        assert (solution.status, solution.n_iter) == (Status.converged, 2)
        assert solver.tols[1] == pytest.approx(0.01 * min(0.5, factor))
        assert solution.certificate.gap == 0.01  # exactly tol is confirmed


def test_a_certificate_that_hardly_gets_better_leaves_a_run_unproved():
    for second, status in ((0.91, Status.unproved), (0.9, Status.converged)):
        goal = Goal(tol=0.01, certify=seeing(1.0, second, 0.001))
        solution = drive(Stepping([0.01, 0.0001, 0.0]), goal)
        assert solution.status is status
        assert solution.certificate.gap == (0.91 if status is Status.unproved else 0.001)


def test_so_many_times_is_a_tolerance_tightened_and_no_more():
    gaps = [0.8**k for k in range(20)]
    goal = Goal(tol=0.1, certify=seeing(*gaps))
    solution = drive(Stepping([0.0] * 20), goal)
    assert (solution.status, solution.n_iter) == (Status.unproved, TIGHTENED + 1)


def test_no_tolerance_is_tightened_below_rounding():
    solver = Stepping([0.0] * 5)
    solution = drive(solver, Goal(tol=4e-13, certify=seeing(1.0, 0.5, 0.1, 0.01)))
    assert solution.status is Status.unproved
    assert solver.tols == [4e-13, FINEST]


def test_budget_is_spent_with_the_pass_of_that_number():
    for most, passes in ((2, 2), (1, 1), (3, 3)):
        solution = drive(Stepping([0.5] * 9), Goal(tol=0.1, max_iter=most))
        assert (solution.status, solution.n_iter) == (Status.budget, passes)


def test_only_true_stops_a_run_and_a_goal_reached_comes_first():
    told = []
    goal = Goal(tol=0.1, listener=lambda seen: told.append(seen) or seen.n_iter)
    assert drive(Stepping([0.5, 0.4, 0.05]), goal).status is Status.converged  # 1 is not True
    assert [seen.n_iter for seen in told] == [1, 2, 3]
    stop = Goal(tol=0.1, listener=lambda seen: seen.n_iter == 2)
    assert drive(Stepping([0.5, 0.4, 0.05]), stop).status is Status.stopped
    assert drive(Stepping([0.5, 0.05]), stop).status is Status.converged
    both = Goal(tol=0.1, max_iter=2, listener=lambda seen: seen.n_iter == 2)
    assert drive(Stepping([0.5, 0.4, 0.05]), both).status is Status.stopped


def test_an_event_ends_a_run_with_what_there_is():
    halt = Event()
    goal = Goal(tol=0.01, halt=halt, listener=lambda seen: seen.n_iter == 2 and halt.set())
    solution = drive(Stepping([0.5] * 9), goal)
    assert (solution.status, solution.n_iter) == (Status.interrupted, 2)
    halt = Event()
    assert drive(Stepping([0.5, 0.0]), Goal(tol=0.01, halt=halt)).status is Status.converged


@pytest.mark.parametrize(
    ("gaps", "shown", "ending", "status"),
    [
        ([0.5], None, Status.budget, Status.budget),
        ([0.5], None, Status.no_optimum, Status.no_optimum),
        ([0.5], None, Status.converged, Status.converged),  # it knows of an ending of its own
        ([0.5], 0.4, Status.budget, Status.budget),
        ([0.5], 0.4, Status.no_optimum, Status.no_optimum),
        ([0.5], 0.4, Status.converged, Status.unproved),
        ([0.5], 0.1, Status.budget, Status.converged),  # it was better than it knew
        ([0.5], 0.1, Status.no_optimum, Status.converged),
        ([np.inf], None, Status.budget, Status.budget),
        ([np.nan], None, Status.budget, Status.budget),
    ],
)
def test_a_solver_without_a_step_left_ends_as_its_solution_and_the_certificate_say(
    gaps, shown, ending, status
):
    goal = Goal(tol=0.1, certify=None if shown is None else seeing(shown))
    assert drive(Stepping(gaps, ending), goal).status is status


def test_a_solution_within_tol_at_the_end_has_converged_though_its_candidates_had_not():
    class Late(Stepping):
        def solution(self):
            return replace(super().solution(), gap=0.1, primal=1.0)

    assert drive(Late([0.5]), Goal(tol=0.1)).status is Status.converged
    assert drive(Late([0.5]), Goal(tol=0.099)).status is Status.budget
    assert drive(Late([0.5]), Goal(tol=0.1, certify=seeing(0.2))).status is Status.unproved


def test_ctrl_c_hands_back_a_solution_with_its_certificate():
    def interrupt(seen):
        raise KeyboardInterrupt

    solver = Stepping([0.5, 0.4])
    solution = drive(solver, Goal(tol=0.1, listener=interrupt, certify=seeing(0.3)))
    assert solution.status is Status.interrupted and solver.mended
    assert solution.certificate.gap == 0.3


def test_sums_that_overflow_are_tried_once_more_in_other_columns():
    other = Stepping([0.4, 0.01])
    solution = drive(Stepping([0.5] * 3, overflows=2, other=other), Goal(tol=0.1))
    assert (solution.status, solution.n_iter) == (Status.converged, 2)
    assert other.tols == [0.1, 0.1]
    with pytest.raises(OverflowedError):
        drive(Stepping([0.5] * 3, overflows=2), Goal(tol=0.1))


def test_listeners_hear_counts_or_what_is_known_without():
    assert telling([]) is None
    heard = []
    listen = telling([heard.append])
    assert not listen(Candidate(4, 2.0, 1.0, active=7))
    assert heard == [Pass(4, UNCOUNTED, 7, 2.0)]
    assert telling([heard.append, lambda done: True])(Candidate(1, 2.0, 1.0))
    done = Pass(9, 1, 2, 0.5)
    listen(Candidate(4, 2.0, 1.0, done=done))
    assert heard[-1] is done


def test_a_run_that_is_written_down_goes_on_at_its_candidate_which_nobody_hears_again():
    point, heard = Savepoint(), []
    stop = Goal(tol=0.01, listener=lambda seen: seen.n_iter == 2, savepoint=point)
    states = []
    stop = stop._replace(
        listener=lambda seen: states.append(deepcopy(point.state())) or seen.n_iter == 2
    )
    drive(Stepping([0.5, 0.4, 0.3, 0.001]), stop)
    assert states[1]["run"] == {
        "tol": 0.01, "tries": 0, "best": np.inf, "rescaled": False, "solver": {"n_iter": 2},
    }  # fmt: skip
    assert states[1]["over"] == []
    again = Savepoint()
    again.restore(states[1])
    assert again.state() == states[1]
    solver = Stepping([0.5, 0.4, 0.3, 0.001])
    goal = Goal(tol=0.01, listener=lambda seen: heard.append(seen.n_iter), savepoint=again)
    solution = drive(solver, goal)
    assert (solution.status, solution.n_iter, heard) == (Status.converged, 4, [3, 4])


def test_the_tolerance_and_the_tries_of_a_run_are_gone_on_with():
    earlier = {"tol": 0.004, "tries": TIGHTENED, "best": 0.5, "rescaled": False,
               "solver": {"n_iter": 1}}  # fmt: skip
    point, solver = Savepoint(), Stepping([0.0, 0.0])
    point.restore({"run": earlier, "over": []})
    solution = drive(solver, Goal(tol=0.01, certify=seeing(0.1), savepoint=point))
    assert (solution.status, solution.n_iter) == (Status.unproved, 1)
    assert solver.tols == [0.004]


def test_a_run_in_other_columns_goes_on_in_them():
    earlier = {"tol": 0.1, "tries": 0, "best": np.inf, "rescaled": True, "solver": {"n_iter": 1}}
    for rescaled, passes in ((True, 2), (False, 3)):
        point, other = Savepoint(), Stepping([0.5, 0.01])
        point.restore({"run": earlier | {"rescaled": rescaled}, "over": []})
        solver = Stepping([0.5, 0.4, 0.01], other=other)
        solution = drive(solver, Goal(tol=0.1, savepoint=point))
        assert solution.n_iter == passes
        assert other.tols == ([0.1, 0.1] if rescaled else [])


def test_what_a_rescaled_run_writes_down_says_so():
    point, states = Savepoint(), []
    goal = Goal(tol=0.1, savepoint=point, listener=lambda seen: states.append(point.state()))
    drive(Stepping([0.5] * 3, overflows=1, other=Stepping([0.01])), goal)
    assert states[-1]["run"]["rescaled"] is True


def test_runs_that_are_over_are_kept_and_not_made_again():
    point = Savepoint()
    solution = drive(Stepping([0.01]), Goal(tol=0.1, savepoint=point))
    kept = point.state()
    assert kept["run"] is None and set(kept["over"][0]) == {*KEPT, "status"}
    again = Savepoint()
    again.restore(kept)
    silent = Stepping([0.5])
    recalled = drive(silent, Goal(tol=0.1, savepoint=again))
    assert silent.n_iter == 0 and recalled.status is Status.converged
    assert (recalled.gap, recalled.solver) == (solution.gap, "stepping")
    assert recalled.certificate is None
    follows = drive(Stepping([0.05]), Goal(tol=0.1, savepoint=again))
    assert follows.gap == 0.05 and len(again.state()["over"]) == 2
    third = Savepoint()
    third.restore(kept)
    looked = drive(silent, Goal(tol=0.1, savepoint=third, certify=seeing(0.07)))
    assert looked.certificate.gap == 0.07


def test_states_are_copied_where_runs_go_on_side_by_side():
    for copies in (True, False):
        point, moving = Savepoint(copies), {"w": np.zeros(2)}
        point.note(lambda moving=moving: moving)
        moving["w"][0] = 1.0
        assert point.state()["run"]["w"][0] == (0.0 if copies else 1.0)


def test_savepoints_are_made_for_checkpoints_alone_and_resume_is_asked():
    learner, asked = SimpleNamespace(), []
    keeper = SimpleNamespace(resume=lambda: asked.append(len(learner._savepoints)))
    begin(learner, [print, keeper, keeper], 3)
    assert asked == [3, 3] and all(point._copies for point in learner._savepoints)
    begin(learner, [keeper])
    assert len(learner._savepoints) == 1 and not learner._savepoints[0]._copies
    begin(learner, [print], 3)
    assert learner._savepoints == []


@pytest.mark.parametrize("error", [KeyError, ValueError, TypeError, IndexError])
def test_states_that_a_solver_cannot_take_are_those_of_another_version(error):
    class Other(Stepping):
        def restore(self, state):
            raise error("x")

    earlier = {"tol": 0.1, "tries": 0, "best": np.inf, "rescaled": False, "solver": {}}
    point = Savepoint()
    point.restore({"run": earlier, "over": []})
    with pytest.raises(ParameterError, match="another version of linsep"):
        drive(Other([0.5]), Goal(tol=0.1, savepoint=point))


def test_a_solver_is_told_the_limits_it_asks_for():
    told = {}

    def some(gaps, tol, halt, more=0):
        told.update(tol=tol, halt=halt, more=more)
        return Stepping(gaps)

    heard = []
    solution = solve(some, [0.5, 0.05], tol=0.2, max_iter=7, listener=heard.append, more=3)
    assert told == {"tol": 0.2, "halt": None, "more": 3}
    assert solution.status is Status.converged and len(heard) == 2
    assert solve(Stepping, [0.5, 0.5, 0.05], tol=0.1, max_iter=2).status is Status.budget
    halt = Event()
    halt.set()
    assert solve(Stepping, [0.5, 0.05], halt=halt).status is Status.interrupted
    assert solve(Stepping, [0.5, 9e-5]).status is Status.converged  # tol is 1e-4
    assert solve(Stepping, [1.0] * 2000).n_iter == 1000
