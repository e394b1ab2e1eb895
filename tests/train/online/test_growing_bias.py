"""Rows that come once: a bias that grows with them, and rows that are still in their file."""

import numpy as np
import pytest
from online_problems import ROWS, two_classes

import linsep
from linsep.data.sources import one_pass
from linsep.kernels import rows
from linsep.train.online.hyperplanes import Hyperplanes, growing_bias
from linsep.train.online.stream_problem import StreamProblem


def test_the_bias_is_the_square_of_the_longest_row_so_far():
    problem = two_classes()
    planes = Hyperplanes(problem, 1, 0.0)
    shown = []
    for _, order in growing_bias(planes, problem.in_order(0, 0, False)):
        shown += [(int(i), planes.bias) for i in order]
    squares = np.maximum.accumulate((ROWS**2).sum(axis=1))
    assert shown == list(enumerate(squares.tolist()))


def test_the_bias_never_shrinks_from_part_to_part():
    problem = two_classes()
    planes = Hyperplanes(problem, 1, 100.0)
    parts = list(growing_bias(planes, problem.in_order(0, 0, False)))
    assert len(parts) == 1
    assert planes.bias == 100.0


@pytest.fixture
def stream(tmp_path, monkeypatch):
    """The rows of a file of two classes, as they come."""
    monkeypatch.setattr(one_pass, "LONG", 0)
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{2 * (i % 2) - 1} 1:{i + 1} 3:0.5\n" for i in range(50)))
    return StreamProblem(one_pass.stream_of(linsep.read(path)), 1)


def test_rows_of_a_stream_are_those_of_the_file_in_the_order_of_the_pass(stream):
    assert (stream.n_rows, stream.n_features, stream.total) == (50, 3, 50.0)
    ((block, order),) = stream.in_order(0, 1, False)
    assert order.tolist() == list(range(50))
    assert block.codes.tolist() == [i % 2 for i in range(50)]
    assert rows.dot(block.rows, 4, np.array([1.0, 10.0, 100.0])) == 5.0 + 50.0


def test_weights_out_of_range_are_left_to_rows_at_rest(stream):
    stream.require_in_range(np.array([[1e150]]), np.zeros(1))
    with pytest.raises(one_pass.ScanMismatch, match="range of floats"):
        stream.require_in_range(np.array([[1e160]]), np.zeros(1))
