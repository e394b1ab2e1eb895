"""Where Newton's method begins, and the sums over margins that it steps by."""

import numpy as np
import pytest

from linsep.train.convex.newton.newton_run import HINGE, LOGISTIC
from linsep.train.convex.newton.newton_start import WARM, WIDTH, begin, odds
from linsep.train.convex.newton.one_call import solve_at_once
from linsep.train.convex.newton.row_terms import CHUNK, chunk


def test_the_odds_are_the_best_intercept_of_no_weights():
    y, caps = np.array([1.0, 1.0, 1.0, -1.0]), np.array([1.0, 1.0, 2.0, 2.0])
    assert odds(y, caps) == pytest.approx(np.log(4.0 / 2.0))
    assert odds(np.ones(3), np.ones(3)) == 0.0


def test_it_begins_at_zero_or_at_known_weights():
    X, y = np.eye(4), np.array([1.0, 1.0, 1.0, -1.0])
    zero = begin(X, y, np.ones(4), HINGE, True)
    assert not zero.u.any() and zero.h == WIDTH and zero.ridge.tolist() == [1, 1, 1, 1, 0]
    known = begin(X, y, np.ones(4), LOGISTIC, True, (np.arange(4.0), 2.0))
    assert known.u.tolist() == [0, 1, 2, 3, 2] and known.h == WARM


def test_room_for_a_chunk_is_seen_as_numbers_and_as_bits():
    room, bits = chunk()
    room[0, 0] = 1.0
    assert room.shape == (8, CHUNK) and bits[0, 0] == 0x3FF0000000000000


def test_where_steps_do_not_suffice_there_is_no_answer():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    y = np.where(X[:, 0] + rng.standard_normal(300) > 0, 1.0, -1.0)
    assert solve_at_once(X, y, np.ones(300), "logistic", True, 1e-7, 1) is None
    answer = solve_at_once(X, y, np.ones(300), "logistic", True, 1e-7, 50)
    assert 0.0 <= answer.gap <= 1e-7 * answer.primal
