"""The one loop: passes, who is told of them, and what ends them."""

import pytest

from linsep.status import Status
from linsep.train.run.loop import Pass, listeners_of, run, tell


def passes(*updates):
    """A run that makes so many corrections in its passes, and which passes were asked for."""
    asked = []

    def one_pass(epoch):
        asked.append(epoch)
        return Pass(epoch, updates[epoch - 1], updates[epoch - 1], 0.0)

    return one_pass, asked


def until_clean(done):
    return Status.separated if done.updates == 0 else None


def test_passes_are_made_until_an_ending_is_named():
    one_pass, asked = passes(3, 1, 0, 5)
    assert run(one_pass, until_clean, 10) is Status.separated
    assert asked == [1, 2, 3]


def test_passes_end_with_the_budget():
    one_pass, asked = passes(3, 1, 1)
    assert run(one_pass, until_clean, 2) is Status.budget
    assert asked == [1, 2]


def test_a_pass_is_counted_then_published_then_told():
    one_pass, _ = passes(2, 0)
    events = []
    run(
        one_pass,
        until_clean,
        5,
        [lambda done: events.append(("told", done.epoch))],
        lambda: events.append("published"),
        lambda done: events.append(("counted", done.epoch)),
    )
    assert events == [
        ("counted", 1),
        "published",
        ("told", 1),
        ("counted", 2),
        "published",
        ("told", 2),
    ]


def test_without_listeners_nothing_is_published_but_everything_counted():
    one_pass, _ = passes(2, 0)
    published, counted = [], []
    run(one_pass, until_clean, 5, (), lambda: published.append(1), counted.append)
    assert (len(published), len(counted)) == (0, 2)


def test_a_listener_stops_a_run_and_the_others_are_still_told():
    one_pass, asked = passes(2, 2, 2)
    heard = []
    assert run(one_pass, until_clean, 5, [lambda done: True, heard.append]) is Status.stopped
    assert (asked, len(heard)) == ([1], 1)


def test_an_ending_outranks_a_wish_to_stop():
    one_pass, _ = passes(0)
    assert run(one_pass, until_clean, 5, [lambda done: True]) is Status.separated


@pytest.mark.parametrize("where", ["pass", "listener"])
def test_an_interrupt_is_an_ending(where):
    def one_pass(epoch):
        if where == "pass" and epoch == 2:
            raise KeyboardInterrupt
        return Pass(epoch, 1, 1, 0.0)

    def listener(done):
        if where == "listener":
            raise KeyboardInterrupt

    assert run(one_pass, until_clean, 5, [listener]) is Status.interrupted


class Resuming:
    """A listener with an earlier run."""

    def __init__(self, updates):
        self.earlier = Pass(2, updates, updates, 0.0)

    def resume(self):
        return self.earlier

    def __call__(self, done):
        pass


def test_a_resumed_run_goes_on_after_its_last_pass_which_is_not_counted_again():
    one_pass, asked = passes(9, 9, 1, 0)
    counted = []
    status = run(
        one_pass, until_clean, 9, [Resuming(1)], count=lambda done: counted.append(done.epoch)
    )
    assert (status, asked, counted) == (Status.separated, [3, 4], [3, 4])


def test_a_run_that_had_ended_makes_no_pass_when_it_is_resumed():
    one_pass, asked = passes(9, 9)
    assert run(one_pass, until_clean, 9, [Resuming(0)]) is Status.separated
    assert asked == []


def test_only_true_itself_asks_to_stop():
    done = Pass(1, 0, 0, 0.0)
    assert not tell([lambda done: 1, lambda done: None], done)
    assert tell([lambda done: None, lambda done: True], done)


def test_a_callback_is_nothing_one_or_several():
    assert listeners_of(None) == []
    assert listeners_of(print) == [print]
    assert listeners_of((print, len)) == [print, len]
