"""Equal rows count as one point, and only columns that tell points apart are looked at."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.proofs.mistakes.points import distinct_points, telling_columns


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_equal_rows_are_one_point_with_the_labels_that_are_left(layout):
    X = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, -0.0], [1.0, 2.0], [0.0, 0.0], [3.0, 3.0]])
    points = distinct_points(layout(X), np.array([1, 1, 1, -1, -1, -1]))
    assert points.places.tolist() == [0, 5] and points.net.tolist() == [1, -1]
    assert sorted(points.clashes) == [((0, 3), 1), ((2, 4), 1)]


def test_through_the_origin_a_row_of_zeros_is_a_loss_by_itself():
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    points = distinct_points(X, np.array([1, -1]), fit_intercept=False)
    assert points.places.tolist() == [1] and points.clashes == [((0,), 1)]


def test_constant_and_repeated_columns_tell_nothing():
    X = np.array([[5.0, 1.0, 1.0, 0.0], [5.0, 2.0, 2.0, 0.0], [5.0, 3.0, 3.0, 1.0]])
    assert telling_columns(X).tolist() == [1, 3]
    assert telling_columns(X, fit_intercept=False).tolist() == [0, 1, 3]
