"""The order of rows is a function of seed, pass and block, and of nothing else."""

import numpy as np
import pytest

from linsep.data.blocks.blocks import BLOCK
from linsep.train.order import block_order, row_order, seed_of, whole_order


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


@pytest.mark.parametrize("n", [0, 1, 2, 3, 17, 64, 1000, 4096])
@pytest.mark.parametrize("key", [(0, 1, 0), (7, 3, 2), (2**64 - 1, 2**31, 5), (-3, -1, 0)])
def test_a_shuffle_is_that_of_a_counter_based_generator(n, key):
    seed, epoch, block = key
    words = [seed & 2**64 - 1, (epoch << 32 | block + 1) & 2**64 - 1]
    order = np.random.Generator(np.random.Philox(key=words)).permutation(n)
    assert row_order(n, *key, True).tolist() == order.tolist()


@pytest.mark.parametrize("n", [1, 4096, 4097, 20_000])
def test_the_order_of_a_whole_pass_is_that_of_its_blocks(n):
    by_block = [
        k * BLOCK + row_order(min(BLOCK, n - k * BLOCK), 5, 3, int(k), True)
        for k in block_order(-(-n // BLOCK), 5, 3, True)
    ]
    assert whole_order(n, 5, 3, True).tolist() == np.concatenate(by_block).tolist()
    assert whole_order(n, 5, 3, False).tolist() == list(range(n))
