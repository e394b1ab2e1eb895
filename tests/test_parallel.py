"""Blocks, threads and sums: the order of additions is fixed by row numbers and nothing else."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep.data.blocks.blocks import spans
from linsep.errors import ParameterError
from linsep.parallel import in_order, share_out, sum_over, threads, tree_sum


@given(st.integers(0, 500), st.integers(1, 60))
def test_blocks_cover_every_row_once(n, size):
    rows = [i for start, stop in spans(n, size) for i in range(start, stop)]
    assert rows == list(range(n))
    assert all(stop - start == size for start, stop in spans(n, size)[:-1])


def written_out(low, high):
    """The tree over parts low..high, halved at the largest power of two below its width."""
    width = high - low
    if width == 1:
        return str(low)
    half = 1 << (width - 1).bit_length() - 1
    return f"({written_out(low, low + half)}+{written_out(low + half, high)})"


@given(st.integers(1, 200))
def test_the_tree_of_a_sum_depends_on_the_number_of_parts_alone(n):
    assert tree_sum(map(str, range(n)), lambda s, t: f"({s}+{t})") == written_out(0, n)


def test_a_sum_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no parts"):
        tree_sum([], lambda s, t: s + t)


def test_a_sum_holds_few_parts_at_a_time():
    alive = most = 0

    class Part:
        def __init__(self):
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __del__(self):
            nonlocal alive
            alive -= 1

    tree_sum((Part() for _ in range(1000)), lambda s, t: Part())
    assert most <= 2 + 10 + 2  # log₂ 1000 < 10


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.integers(1, 7))
def test_any_number_of_threads_gives_the_same_bits(numbers, n_jobs):
    def add(s, t):
        return s + t

    alone = sum_over(lambda x: x / 3, numbers, add, 1)
    assert sum_over(lambda x: x / 3, numbers, add, n_jobs) == alone


def test_results_come_in_the_order_of_the_blocks_however_long_each_takes():
    def slow_at_first(k):
        time.sleep(0.02 if k < 3 else 0)
        return k

    assert list(in_order(slow_at_first, range(20), 4)) == list(range(20))


def test_a_fast_reader_does_not_run_far_ahead():
    read, done = 0, 0

    def blocks():
        nonlocal read
        for k in range(100):
            read += 1
            yield k

    for k in in_order(lambda k: k, blocks(), 3):
        done = k + 1
        assert read - done <= 2 * 3


def test_an_error_in_one_block_reaches_the_caller_and_stops_the_others():
    halt, begun = threading.Event(), []

    def function(k):
        begun.append(k)
        if k == 2:
            raise ZeroDivisionError
        halt.wait(5)
        return k

    results = in_order(function, range(1000), 2, halt)
    halt.set()
    assert [next(results), next(results)] == [0, 1]
    halt.clear()
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert halt.is_set()
    assert len(begun) < 10


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_no_blocks_give_no_results(n_jobs):
    assert list(in_order(lambda k: k, [], n_jobs)) == []


def test_the_number_of_threads_asked_for():
    assert threads(3) == threads(np.int64(3)) == 3
    assert threads(None) == threads(-1) >= 1
    assert threads(-1000) == 1
    for wrong in (0, 1.5, "2"):
        with pytest.raises(ParameterError, match="n_jobs is"):
            threads(wrong)


@given(st.integers(0, 40), st.integers(1, 5))
def test_work_that_is_shared_out_comes_back_in_order(n, n_jobs):
    assert share_out(lambda k: k * k, range(n), n_jobs) == [k * k for k in range(n)]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_what_one_share_raises_ends_the_others_and_is_raised(n_jobs):
    begun = []

    def work(k):
        begun.append(k)
        if k == 5:
            raise KeyboardInterrupt
        time.sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        share_out(work, range(1000), n_jobs)
    assert len(begun) < 100
