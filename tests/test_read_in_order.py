"""Pieces got and worked on by several threads, handed on in order."""

import threading

import pytest

from linsep.errors import DataError
from linsep.parallel import read_in_order


@pytest.mark.parametrize("jobs", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 40])
def test_results_come_in_order_and_pieces_are_got_one_at_a_time(jobs, count):
    busy = threading.Lock()

    def pieces():
        for k in range(count):
            assert busy.acquire(blocking=False)
            busy.release()
            yield k

    assert list(read_in_order(lambda k: k * k, pieces(), jobs)) == [k * k for k in range(count)]


@pytest.mark.parametrize("jobs", [1, 2, 5])
@pytest.mark.parametrize("where", ["getting", "working"])
def test_an_error_comes_in_its_place(jobs, where):
    def pieces():
        for k in range(20):
            if where == "getting" and k == 7:
                raise DataError("piece 7")
            yield k

    def work(k):
        if where == "working" and k >= 7:
            raise DataError(f"piece {k}")
        return k

    seen = []
    with pytest.raises(DataError, match="piece 7"):
        for k in read_in_order(work, pieces(), jobs):
            seen.append(k)
    assert seen == list(range(7))


def test_no_more_is_got_than_is_being_worked_on():
    got = []

    def pieces():
        for k in range(100):
            got.append(k)
            yield k

    walk = read_in_order(lambda k: k, pieces(), 2)
    assert next(walk) == 0
    walk.close()
    assert len(got) <= 6


@pytest.mark.parametrize("jobs", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 40])
def test_pieces_of_several_sources_come_together(jobs, count):
    def source(sign):
        return (sign * k for k in range(count))

    found = read_in_order(lambda *three: three, source(1), jobs, [source(-1), source(10)])
    assert list(found) == [(k, -k, 10 * k) for k in range(count)]


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_an_error_of_any_source_comes_in_its_place(jobs):
    def breaking():
        yield from range(7)
        raise DataError("piece 7")

    seen = []
    with pytest.raises(DataError, match="piece 7"):
        for pair in read_in_order(lambda *pair: pair, range(20), jobs, [breaking()]):
            seen.append(pair)
    assert seen == [(k, k) for k in range(7)]


def test_different_threads_get_pieces_of_different_sources_at_the_same_time():
    meeting = threading.Barrier(2, timeout=20)  # ends only if both sources are at work at once

    def source(begun):
        for k in range(6):
            if k >= begun:
                meeting.wait()
            yield k

    found = read_in_order(lambda *pair: pair, source(1), 2, [source(0)])
    pairs = [next(found) for _ in range(5)]
    assert pairs == [(k, k) for k in range(5)]
    meeting.abort()
    with pytest.raises(threading.BrokenBarrierError):
        list(found)
