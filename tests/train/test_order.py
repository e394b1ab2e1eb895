"""The order of rows is a function of seed, pass and block, and of nothing else."""

import numpy as np
import pytest

from linsep.train.order import block_order, row_order, seed_of


def test_orders_are_permutations_that_differ_by_seed_pass_and_block():
    orders = {
        tuple(row_order(50, seed, epoch, block, True).tolist())
        for seed in (0, 1)
        for epoch in (1, 2)
        for block in (0, 1)
    }
    assert len(orders) == 8 and all(sorted(order) == list(range(50)) for order in orders)
    assert sorted(block_order(9, 0, 1, True)) == list(range(9))
    assert row_order(50, 3, 7, 2, True).tolist() == row_order(50, 3, 7, 2, True).tolist()


def test_without_shuffling_rows_come_as_they_are_and_draws_repeat_some():
    assert row_order(5, 0, 1, 0, False).tolist() == block_order(5, 0, 1, False).tolist()
    drawn = row_order(1000, 0, 1, 0, "draw")
    assert drawn.min() >= 0 and drawn.max() < 1000 and 550 < len(set(drawn.tolist())) < 700


@pytest.mark.parametrize("state", [7, np.int64(7)])
def test_a_seed_stands_for_itself_and_generators_are_drawn_from(state):
    assert seed_of(state) == 7
    assert seed_of(None) != seed_of(None)
    one, two = (seed_of(np.random.default_rng(0)) for _ in range(2))
    assert one == two != seed_of(np.random.default_rng(1))
    assert seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
