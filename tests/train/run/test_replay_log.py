"""A run gone through again by what its passes found: no row is looked at twice."""

import numpy as np

from linsep.train.run import replay_log


def kept(*points):
    """A log with a value for each point, as a run writes it down."""
    log = replay_log.ReplayLog(keep=True)
    for value, point in enumerate(points):
        log.evaluate(np.array(point), 1.0, lambda value=value: value)
    again = replay_log.ReplayLog(keep=True)
    again.restore(log.state())
    return again


def fails():
    raise AssertionError("the rows were looked at")


def test_the_same_points_are_answered_from_the_log():
    log = kept([0.0], [np.nan])
    assert [log.evaluate(np.array(p), 1.0, fails) for p in ([0.0], [np.nan])] == [0, 1]
    assert log.recalled


def test_another_point_or_another_way_of_looking_ends_the_replay():
    log = kept([0.0], [1.0])
    assert log.evaluate(np.array([0.5]), 1.0, lambda: "new") == "new"
    assert not log.recalled
    assert [value for _, _, value in log.entries] == ["new"]
    log = kept([0.0])
    assert log.evaluate(np.array([0.0]), 2.0, lambda: "otherwise") == "otherwise"


def test_a_point_is_noted_as_it_was_when_it_was_seen():
    log, point = replay_log.ReplayLog(keep=True), np.zeros(1)

    def move():
        point[0] = 7.0
        return "seen"

    log.evaluate(point, 1.0, move)
    assert log.entries[0][0].tolist() == [0.0]
