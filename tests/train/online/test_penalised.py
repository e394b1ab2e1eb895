"""Penalised steps of the perceptron, worked out by hand."""

import numpy as np
import pytest

from linsep.rows.rows import as_rows
from linsep.train.online.penalised import penalised
from linsep.train.online.rules import Rosenblatt
from linsep.train.online.tally import Presented


@pytest.mark.parametrize(
    ("ridge", "lasso", "weights"),
    [(0.0, 0.0, [1.0, -1.0]), (0.1, 0.0, [0.9, -1.0]), (0.0, 0.25, [0.5, -0.5])],
    ids=["none", "l2", "l1"],
)
def test_two_mistakes_leave_the_weights_of_the_formula(ridge, lasso, weights):
    V, b, taken, due = np.zeros((1, 2)), np.zeros(1), np.zeros((1, 2)), np.zeros(1)
    factor = np.ones(1)
    counts = np.zeros(2, np.int64)
    presented = Presented(np.array([1, 0], np.int32), np.arange(2), np.empty(0))
    penalised.walk(
        Rosenblatt(1.0, 0.0, 0.0), as_rows(np.eye(2)), presented, V, factor, b, 1.0, taken, due,
        ridge, lasso, counts,
    )  # fmt: skip
    np.testing.assert_allclose(factor[0] * V[0], weights, atol=1e-15)
    assert b[0] == 0.0 and counts.tolist() == [2, 2]
