"""Smaller kernels: what they refuse, and plain NumPy for what no other test says."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.kernels import backpropagation, features, penalised, rows, shuffle, voted
from linsep.rows.rows import as_rows
from linsep.train.online.backpropagation import Weights
from linsep.train.online.hyperplanes import Planes
from linsep.train.online.rules import rosenblatt
from linsep.train.online.tally import NOTHING, Presented

BOTH = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@BOTH
@pytest.mark.parametrize("sparse", [False, True])
def test_squares_of_rows_and_the_largest(dtype, sparse):
    X = np.random.default_rng(0).integers(-9, 10, (20, 7)).astype(dtype)
    given, lengths = as_rows(sp.csr_array(X) if sparse else X), np.empty(20)
    rows.squares(given, lengths)
    assert lengths.tolist() == (X**2).sum(axis=1).tolist()
    assert rows.largest_square(given) == lengths.max()
    with pytest.raises(ValueError, match="a place for each row"):
        rows.squares(given, np.empty(19))


@BOTH
def test_products_of_pairs_stand_where_they_belong(dtype):
    X = np.random.default_rng(0).normal(size=(5, 4)).astype(dtype)
    pairs, made = np.array([[0, 3], [2, 2]], np.uint32), np.zeros((5, 3), dtype)
    features.pair_products(X, pairs, made, 1)
    assert (made == np.column_stack([np.zeros(5), X[:, 0] * X[:, 3], X[:, 2] ** 2])).all()
    with pytest.raises(ValueError, match="columns of X"):
        features.pair_products(X, pairs + np.uint32(1), made, 1)
    with pytest.raises(ValueError, match="a place for each product"):
        features.pair_products(X, pairs, made, 2)


def test_orders_of_passes_are_those_of_the_generator():
    for kind in (np.int64, np.uint32):
        order = np.empty(23, kind)
        order[20:] = 99
        shuffle.pass_orders(order, 10, 7, 3)
        for k in (0, 1):
            bits = np.random.Philox(key=[7, 3 + k << 32])
            wanted = np.random.Generator(bits).permutation(10)
            assert order[10 * k : 10 * k + 10].tolist() == wanted.tolist()
        assert order[20:].tolist() == [99] * 3  # no whole pass has room there
    for blocks in ([0, 1, 1], [0, 3], [-1]):
        with pytest.raises(ValueError, match=r"no such block|named twice"):
            shuffle.rows_of_blocks(np.empty(10, np.int64), np.array(blocks), 5, 0, 1)


def test_a_voted_walk_needs_room_for_a_correction_of_each_row():
    X, y = np.eye(3), np.ones(3, np.int32)
    planes = Planes(np.zeros((1, 3)), np.zeros(1), 1.0)

    def walk(call=voted.present, given=as_rows(X), room=3):  # noqa: B008
        written = np.zeros(room, int), np.zeros(3, int), np.zeros((3, 1)), np.zeros(3)
        return call(given, Presented(y, np.arange(3), NOTHING), planes, np.zeros(1), written)

    assert walk() == (1, 1, 0.0)  # a zero score is wrong, and the intercept settles the others
    assert walk(voted.present_gram, np.eye(3) + 1.0)[0] == 0
    with pytest.raises(ValueError, match="room for a correction of each row"):
        walk(room=2)
    with pytest.raises(ValueError, match="weights for each class"):
        walk(voted.present_gram, np.zeros((3, 2)))


def test_votes_and_running_sums_refuse_rows_that_are_not_there():
    steps, lives, sums = np.ones((1, 1)), np.ones(1), np.zeros((1, 3))
    with pytest.raises(ValueError, match="numbers of rows"):
        voted.gather(as_rows(np.eye(2)), np.array([2]), steps, lives, sums, sums.copy())
    with pytest.raises(ValueError, match="each class, feature and intercept"):
        voted.gather(as_rows(np.eye(2)), np.array([1]), steps, lives, sums, np.zeros((1, 2)))
    with pytest.raises(ValueError, match="numbers of rows"):
        voted.count_votes(np.eye(2), np.array([2]), steps, np.ones(2), 1.0, np.zeros((2, 1)))
    with pytest.raises(ValueError, match="survival"):
        voted.count_votes(np.eye(2), np.array([1]), steps, np.ones(1), 1.0, np.zeros((2, 1)))


def test_penalised_walks_and_nets_refuse_parts_of_other_shapes():
    presented = Presented(np.zeros(2, np.int32), np.arange(2), NOTHING)
    one = np.ones(1)

    def walk(d):
        V, counts = np.zeros((1, d)), np.zeros(2, np.int64)
        given = V, one.copy(), one.copy(), 1.0, V.copy(), one.copy(), 0.0, 0.1, counts
        return penalised.walk(rosenblatt(1.0, 0.0), as_rows(np.eye(2)), presented, *given)

    assert walk(2) == 1.0  # the intercept begins at 1, on the wrong side of the first row
    with pytest.raises(ValueError, match="a weight of each feature"):
        walk(3)
    net = Weights(np.zeros((2, 2)), np.zeros(2), np.zeros((1, 2)), np.zeros(1))
    t, curve = np.zeros(2), np.zeros(3)
    with pytest.raises(ValueError, match="a target and a share of each row"):
        backpropagation.batch_passes(np.eye(2), t, np.ones(3), 0.1, net, curve, 0.0)
    with pytest.raises(ValueError, match="weights must be of one net"):
        other = net._replace(c=np.zeros(3))
        backpropagation.batch_passes(np.eye(2), t, np.ones(2), 0.1, other, curve, 0.0)
    with pytest.raises(ValueError, match="numbers of rows"):
        order = np.full((3, 2), 2)
        backpropagation.online_passes(np.eye(2), t, np.ones(2), 0.1, net, order, curve, 0.0)
