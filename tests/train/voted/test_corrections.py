"""The history of a run: every correction, and how long each separator lived."""

import numpy as np
import pytest
import scipy.sparse as sp

import reference
from linsep.rows.gram import Gram
from linsep.rows.kernels import Kernel
from linsep.rows.rows import as_rows
from linsep.train.problem import Problem
from linsep.train.voted import corrections as history
from linsep.train.voted.kernel_perceptron import KernelScores, gaps
from linsep.train.voted.running_average import RunningAverage

ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [1.0, 3.0]])
CODES = np.array([1, 0, 1, 0], np.int32)


def problem(sparse=False):
    return Problem(sp.csr_matrix(ROWS) if sparse else ROWS, CODES, None, 2, 1)


def walked(sparse=False, passes=2):
    """The separators' walk over the rows, and the corrections it told of."""
    walk, told = history.VotedPlanes(problem(sparse), 1.0), []
    for epoch in range(1, passes + 1):
        walk.one_pass(problem(sparse), 0, epoch, False, told.append)
    return walk, told


def shown(passes=2):
    return reference.online(ROWS.tolist(), CODES.tolist(), 1, passes)


@pytest.mark.parametrize("sparse", [False, True])
def test_corrections_are_those_of_plain_arithmetic_and_add_up_to_the_weights(sparse):
    walk, told = walked(sparse)
    rows = np.concatenate([made.rows for made in told])
    steps = np.concatenate([made.steps for made in told])
    wanted = [one for one in shown() if one.corrections]
    assert rows.tolist() == [one.row for one in wanted]
    assert steps.tolist() == [[float(a) for a in one.step] for one in wanted]
    assert walk.planes.W.ravel().tolist() == (steps.T @ ROWS[rows]).ravel().tolist()


def test_lives_and_the_last_one_cover_every_row_that_was_right():
    walk, told = walked()
    lives = [*np.concatenate([made.lives for made in told]), walk.votes[0]]
    made = sum(len(one.rows) for one in told)
    assert sum(lives) + made == 2 * len(ROWS)
    places = np.concatenate([one.when for one in told])
    assert np.diff([-1, *places]).tolist() == [life + 1 for life in lives[:-1]]


def test_rows_and_their_gram_matrix_make_the_same_corrections():
    order = np.arange(4)
    scale = np.empty(0)
    W, b, votes = np.zeros((1, 2)), np.zeros(1), np.zeros(1)
    plain = history.present(as_rows(ROWS), CODES, scale, order, 1.0, W, b, votes)
    F, c, again = np.zeros((1, 4)), np.zeros(1), np.zeros(1)
    gram = history.present(Gram(ROWS @ ROWS.T), CODES, scale, order, 1.0, F, c, again)
    assert plain.rows.tolist() == gram.rows.tolist()
    assert plain.steps.tolist() == gram.steps.tolist()
    assert F.tolist() == (W @ ROWS.T).tolist()


def test_a_history_holds_each_row_once_and_votes_as_its_separators_do():
    _, told = walked()
    kept = history.History(history.nothing_yet(1))
    for made in told:
        kept.add(made)
    corrections = kept.corrections(ROWS, 3.0)
    assert len(corrections.support) == len(set(corrections.where.tolist()))
    assert corrections.survival[-1] == 3.0
    counted = history.votes(corrections, Kernel("linear"), ROWS, 1.0)
    W = np.zeros(3)
    total = np.sign(1.0) * corrections.survival[0] * np.ones(4)
    support = corrections.support.all(2)
    for m, place in enumerate(corrections.where):
        W += corrections.steps[m, 0] * np.append(support[place], 1.0)
        side = np.where(ROWS @ W[:2] + W[2] >= 0, 1.0, -1.0)
        total += corrections.survival[m + 1] * side
    assert counted.tolist() == (total / corrections.survival.sum()).tolist()


def test_a_running_average_is_the_average_of_all_separators():
    walk, told = walked()
    running = RunningAverage(1, 2)
    for made in told:
        running.add(made, ROWS)
    lives = running.survival(walk.votes[0], ROWS)
    separators, W = [np.zeros(3)], np.zeros(3)
    for made in told:
        for i, step in zip(made.rows, made.steps[:, 0], strict=True):
            W = W + step * np.append(ROWS[i], 1.0)
            separators.append(W)
    coef, intercept = running.hyperplanes(walk.votes[0], True, 1.0)
    mean = lives @ np.array(separators) / lives.sum()
    np.testing.assert_allclose(np.append(coef, intercept), mean, rtol=1e-15)
    coef, intercept = running.hyperplanes(walk.votes[0], False, 1.0)
    assert np.append(coef, intercept).tolist() == separators[-1].tolist()


@pytest.mark.parametrize("cache", [1e9, 0.0])
def test_a_linear_kernel_walks_as_the_hyperplanes_do_in_one_piece_or_in_windows(cache):
    nothing = history.nothing_yet(1)
    scores = KernelScores(
        Kernel("linear"), problem(), nothing.support, nothing.merged(), 1.0, cache
    )
    told = []
    for epoch in (1, 2):
        scores.one_pass(problem(), 0, epoch, False, told.append)
    walk, wanted = walked()
    assert np.concatenate([one.rows for one in told]).tolist() == (
        np.concatenate([one.rows for one in wanted]).tolist()
    )
    assert np.concatenate([one.when for one in told]).tolist() == (
        np.concatenate([one.when for one in wanted]).tolist()
    )
    assert scores.votes[0] == walk.votes[0]
    np.testing.assert_allclose(scores.F[0], ROWS @ walk.planes.W[0], rtol=1e-15)


def test_gaps_are_own_score_less_the_best_rivals():
    F = np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 5.0]])
    assert gaps(F, np.zeros(3), np.array([1, 0])).tolist() == [2.0, -3.0]
    assert gaps(F[:1], np.ones(1), np.array([1, 0])).tolist() == [2.0, -3.0]
