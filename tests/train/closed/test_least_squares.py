"""Least squares in closed form, exact where it can be, and calls that leave Ctrl-C its answer."""

import threading
from fractions import Fraction

import numpy as np
import pytest

from linsep.train.closed import exact_least_squares
from linsep.train.closed.exact_least_squares import rational_least_squares
from linsep.train.closed.interruptible import QUICK, factored
from linsep.train.closed.least_squares import least_squares
from linsep.train.problem import Problem


def problem(X, weights=None):
    return Problem(X, np.zeros(len(X), np.int32), weights, 1, 1)


def test_rational_weights_are_right_to_the_last_digit():
    X, y = np.array([[0.1], [0.7], [3.0]]), np.array([[1.0], [0.3], [2.0]])
    weights, _, at_zero = rational_least_squares(X, y, None, np.zeros(1), True)
    x, t = [[Fraction(v) for v in column.ravel().tolist()] for column in (X, y)]
    mean_x, mean_t = sum(x) / 3, sum(t) / 3
    slope = sum((a - mean_x) * b for a, b in zip(x, t, strict=True)) / sum(
        (a - mean_x) ** 2 for a in x
    )
    assert weights.tolist() == [[float(slope)]]
    assert at_zero.tolist() == [float(mean_t - slope * mean_x)]


def test_rational_weights_count_rows_by_weight():
    X, y = np.array([[0.0], [1.0], [1.0]]), np.array([[0.0], [1.0], [4.0]])
    weights, _, _ = rational_least_squares(X, y, np.array([1.0, 2.0, 1.0]), np.zeros(1), False)
    assert weights.tolist() == [[2.0]]  # (2·1 + 1·4)/3


def test_what_has_no_unique_solution_or_is_too_much_is_left_to_others(monkeypatch):
    X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    assert rational_least_squares(X, np.ones((3, 1)), None, np.zeros(2), False) is None
    wide = np.array([[1e-200], [1e200]])
    assert rational_least_squares(wide, np.ones((2, 1)), None, np.zeros(1), False) is None
    monkeypatch.setattr(exact_least_squares, "WORK", 0)
    assert rational_least_squares(np.eye(1), np.eye(1), None, np.zeros(1), False) is None


@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200])
def test_a_line_through_points_on_a_line_is_that_line(scale):
    X = scale * np.array([[0.0], [1.0], [2.0], [5.0]])
    line = least_squares(problem(X), 3.0 + 2.0 * X / scale, True)
    assert line.weights * scale == pytest.approx(2.0)
    assert line.at_centre - line.weights @ line.centre == pytest.approx(3.0)
    assert (line.rank, line.loss) == (1, pytest.approx(0.0, abs=1e-25))


def test_of_collinear_features_the_shortest_weights_are_taken():
    X = np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    line = least_squares(problem(X), X[:, :1] * 2.0, False)
    assert line.rank == 1
    np.testing.assert_allclose(line.weights, [[1.0, 1.0]])


def test_a_background_call_gives_its_result_or_its_error():
    main = threading.get_ident()
    large = np.zeros(QUICK + 1)
    assert factored(lambda _: threading.get_ident(), large) != main
    with pytest.raises(ZeroDivisionError):
        factored(lambda _: 1 / 0, large)
