"""A run gone through again by what its passes found: no row is looked at twice."""

import numpy as np

from linsep.train.run import replay_log
from linsep.train.run.loop import Pass


def kept(*points):
    """A log with a value for each point, as a run writes it down."""
    log = replay_log.ReplayLog(keep=True)
    for value, point in enumerate(points):
        log.look(np.array(point), 1.0, lambda value=value: value)
    again = replay_log.ReplayLog(keep=True)
    again.restore(log.state())
    return again


def fails():
    raise AssertionError("the rows were looked at")


def test_the_same_points_are_answered_from_the_log():
    log = kept([0.0], [np.nan])
    assert [log.look(np.array(p), 1.0, fails) for p in ([0.0], [np.nan])] == [0, 1]
    assert log.recalled


def test_another_point_or_another_way_of_looking_ends_the_replay():
    log = kept([0.0], [1.0])
    assert log.look(np.array([0.5]), 1.0, lambda: "new") == "new"
    assert not log.recalled
    assert [value for _, _, value in log.entries] == ["new"]
    log = kept([0.0])
    assert log.look(np.array([0.0]), 2.0, lambda: "otherwise") == "otherwise"


def test_a_point_is_noted_as_it_was_when_it_was_seen():
    log, point = replay_log.ReplayLog(keep=True), np.zeros(1)

    def move():
        point[0] = 7.0
        return "seen"

    log.look(point, 1.0, move)
    assert log.entries[0][0].tolist() == [0.0]


def test_listeners_hear_of_new_passes_only():
    log, heard = kept([0.0]), []
    told = log.telling([heard.append, lambda done: True])
    log.look(np.zeros(1), 1.0, fails)
    assert not told(Pass(1, 0, 0, 0.0))
    log.look(np.ones(1), 1.0, lambda: 1)
    assert told(Pass(2, 0, 0, 0.0))
    assert [done.epoch for done in heard] == [2]
    assert log.telling([]) is None


def test_only_a_checkpoint_has_the_log_kept():
    class Learner:
        pass

    learner = Learner()
    assert not replay_log.begin(learner, [print]).keep

    class Keeper:
        def resume(self):
            learner._replay_log.entries = [(np.zeros(1), 1.0, "kept")]

    log = replay_log.begin(learner, [Keeper()])
    assert log.keep
    assert log.look(np.zeros(1), 1.0, fails) == "kept"
