"""Rows cut into partitions by where chunks lie: every row once, sums with the bytes of one tree."""

from itertools import pairwise

import numpy as np
import pytest

from linsep.data.blocks.blocks import BLOCK
from linsep.data.cluster.layout import FEWEST, Room, cut
from linsep.data.cluster.partition import Partition, Pieces, run_of
from linsep.data.cluster.rounds import Subtree, subtrees, whole
from linsep.parallel import tree_sum


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_put_together_from_shares_is_the_tree_of_all_parts(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 70))
    parts = [Subtree(k, 0, str(k)) for k in range(n)]
    owner = rng.integers(0, 4, n)

    def add(left, right):
        return f"({left} {right})"

    shares = [subtrees([parts[k] for k in np.flatnonzero(owner == w)], add) for w in range(4)]
    rng.shuffle(shares)
    assert whole([one for share in shares for one in share], add) == tree_sum(
        map(str, range(n)), add
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("limit", [1 << 20, 1 << 30])
def test_every_row_is_in_one_partition_and_runs_begin_with_whole_blocks(seed, limit):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 200_000, int(rng.integers(1, 30))).tolist()
    lengths[0] += 1
    owner = rng.integers(0, 3, len(lengths))
    groups = [np.flatnonzero(owner == w).tolist() for w in range(3) if (owner == w).any()]
    spans = cut(groups, lengths, 100, Room(2, limit))
    runs = sorted(run for own in spans for run in own)
    assert runs[0].start == 0
    assert runs[-1].stop == sum(lengths)
    assert all(a.stop == b.start for a, b in pairwise(runs))
    assert all(run.start % (FEWEST * BLOCK) == 0 and run.start < run.stop for run in runs)


def test_chunks_that_lie_together_stay_together():
    groups, lengths = [[0, 3], [1, 4], [2, 5]], [70_000] * 6
    spans = cut(groups, lengths, 400, Room(1, 1 << 30))
    moved = sum(abs(run.start - 70_000 * round(run.start / 70_000)) for own in spans for run in own)
    assert [len(own) for own in spans] == [2, 2, 2]
    assert moved < FEWEST * BLOCK * 6 / 2


def test_workers_on_either_side_of_the_limit_keep_their_rows():
    """One holds a little more than a partition may, the other a little less."""
    groups = [list(range(20)), list(range(20, 40)), list(range(40, 77))]
    spans = cut(groups, [131_072] * 77, 216, Room(2, 1 << 30))
    assert [own[0].start // 131_072 for own in spans] == [0, 20, 40]


def test_rows_that_are_shared_out_anew_are_as_many_for_each_thread():
    groups = [list(range(10)), list(range(10, 77))]
    spans = cut(groups, [131_072] * 77, 216, Room(2, 1 << 30))
    sizes = [own[0].stop - own[0].start for own in spans]
    assert len(sizes) == 4 and max(sizes) - min(sizes) <= FEWEST * BLOCK


def test_rows_of_a_partition_are_those_of_the_array():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400_000, 3))
    first = run_of([X[10:100_000], X[100_000:200_000]])
    assert isinstance(first, Pieces)
    part = Partition([10, 300_000], [first, run_of([X[300_000:]])])
    for start, stop in ((10, 20), (99_990, 100_010), (150_000, 150_000), (399_000, 400_000)):
        assert np.array_equal(part.slice(start, stop), X[start:stop])
    some = np.array([10, 99_999, 100_000, 199_999, 300_000, 399_999])
    assert np.array_equal(part.some(some), X[some])
    with pytest.raises(IndexError, match="not in this partition"):
        part.slice(199_000, 300_010)


def test_no_thread_of_a_worker_is_idle_while_another_has_two_tasks():
    for threads in range(1, 9):
        for gigabytes in range(1, 40):
            count = Room(1, 1 << 30, threads).shares(gigabytes << 30)
            assert count >= gigabytes
            assert count % threads == 0 or threads % count == 0
