"""The pocket holds the longest-lived weights of a pass, if none before misplaced fewer rows."""

import numpy as np
from online_problems import two_classes

from linsep.train.online.hyperplanes import Hyperplanes
from linsep.train.online.pocket import Pocket
from linsep.train.online.tally import BEST, RUN, TALLY


def begun():
    planes = Hyperplanes(two_classes(), 1, 1.0)
    planes.start_at(np.array([[3.0, 4.0]]), np.array([5.0]))
    pocket = Pocket(planes)
    pocket.longest[:] = 7.0, 8.0, 9.0
    return planes, pocket, np.zeros(TALLY)


def kept(pocket):
    mistakes, W, b = pocket.best
    return mistakes, W.tolist(), b.tolist()


def test_the_longest_lived_goes_in_and_the_last_weights_if_they_live_longest():
    planes, pocket, tally = begun()
    tally[BEST], tally[RUN] = 6, 2
    pocket.close_pass(planes, tally, lambda W, b: 1.0, 1)
    assert kept(pocket) == (1.0, [[7.0, 8.0]], [9.0])
    assert pocket.life == 6
    planes, pocket, tally = begun()
    tally[BEST], tally[RUN] = 2, 6
    pocket.close_pass(planes, tally, lambda W, b: 1.0, 1)
    assert kept(pocket) == (1.0, [[3.0, 4.0]], [5.0])


def test_only_fewer_mistakes_replace_what_is_in_the_pocket():
    planes, pocket, tally = begun()
    tally[RUN] = 1
    pocket.close_pass(planes, tally, lambda W, b: 2.0, 1)
    planes.W += 1.0
    pocket.close_pass(planes, tally, lambda W, b: 2.0, 2)
    assert kept(pocket)[1] == [[3.0, 4.0]]
    assert pocket.longest.tolist() == [3.0, 4.0, 5.0]  # parts that follow go on from it
    pocket.close_pass(planes, tally, lambda W, b: 1.0, 3)
    assert kept(pocket) == (1.0, [[4.0, 5.0]], [5.0])


def test_the_pocket_follows_the_weights_to_another_layout():
    planes, pocket, tally = begun()
    tally[BEST] = 1
    pocket.close_pass(planes, tally, lambda W, b: 0.0, 1)
    shape = planes.W.shape
    pocket.carry(planes.fit_layout(two_classes(sparse=True)), planes, shape)
    assert kept(pocket) == (0.0, [[7.0], [8.0]], [9.0])
    assert pocket.longest.tolist() == [7.0, 8.0, 9.0]
