"""A trace comes back from its file, and a damaged line is named."""

import numpy as np
import pytest

from linsep.errors import DataError
from linsep.status import Status
from linsep.train.run.loop import Pass
from linsep.train.run.trace import Trace
from linsep.train.run.trace_file import opened, read_into


def recorded():
    trace = Trace("Perceptron", {"eta0": 1.0}, [0, 1])
    trace.keep_rows(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1]))
    trace.begin(np.zeros((1, 2)), np.zeros(1))
    trace.update(
        1, 1, 0, np.array([0.0]), np.array([-1.0]), np.array([[-1.0, -2.0]]), np.array([-1.0])
    )
    trace(Pass(1, 1, 1, 0.5))
    trace.end(Status.separated, np.array([[-1.0, -2.0]]), np.array([-1.0]))
    return trace


def test_what_was_saved_is_what_is_loaded(tmp_path):
    trace = recorded()
    trace.save(tmp_path / "run.jsonl")
    again = Trace.load(tmp_path / "run.jsonl")
    assert list(again.lines()) == list(trace.lines()) and len(again) == len(trace) == 1
    fresh = Trace("", {}, [])
    with opened(tmp_path / "run.jsonl") as lines:
        read_into(fresh, lines, "run")
    assert list(fresh.lines()) == list(trace.lines())


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_line_that_is_not_one_of_a_trace_is_named(place):
    lines = list(recorded().lines())
    lines[place] = '{"event": "nonsense"}\n'
    with pytest.raises(DataError, match=f"line {place + 1}"):
        read_into(Trace("", {}, []), lines, "run.jsonl")


def test_a_trace_goes_through_its_corrections():
    import linsep

    trace = linsep.Perceptron(trace=True).fit([[0.0], [1.0], [2.0]], [0, 1, 1]).trace_
    assert list(trace) == trace.updates and len(trace.updates) > 0
