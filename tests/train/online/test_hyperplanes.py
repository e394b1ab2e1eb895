"""Hyperplanes keep their numbers whatever the layout of the rows."""

import numpy as np
import pytest
from online_problems import three_classes, two_classes

from linsep.train.online.hyperplanes import Hyperplanes

COEF = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.mark.parametrize("sparse", [False, True])
def test_weights_are_seen_by_class_in_either_layout(sparse):
    planes = Hyperplanes(three_classes(sparse), 3, 1.0)
    planes.start_at(COEF, np.array([7.0, 8.0, 9.0]))
    assert planes.by_class(planes.W).tolist() == COEF.tolist()
    assert planes.given.b.tolist() == [7.0, 8.0, 9.0]
    assert planes.W.shape == ((2, 4) if sparse else (3, 2))  # filled up to whole vectors


@pytest.mark.parametrize("sparse", [False, True])
def test_other_numbers_follow_the_weights_to_another_layout(sparse):
    planes = Hyperplanes(three_classes(sparse), 3, 1.0)
    planes.start_at(COEF, np.zeros(3))
    other = 10.0 * planes.W
    carried = planes.fit_layout(three_classes(not sparse))
    assert planes.by_class(planes.W).tolist() == COEF.tolist()
    assert planes.by_class(carried(other)).tolist() == (10 * COEF).tolist()


def test_the_same_layout_needs_no_carrying():
    planes = Hyperplanes(two_classes(), 1, 1.0)
    before = planes.W
    assert planes.fit_layout(two_classes()) is None
    assert planes.W is before


def test_wider_rows_widen_the_weights_and_narrower_ones_do_not_narrow_them():
    narrow = two_classes()
    narrow.widen(np.float32)
    planes = Hyperplanes(narrow, 1, 1.0)
    assert planes.W.dtype == np.float32
    planes.fit_layout(two_classes())
    assert planes.W.dtype == np.float64
    assert planes.fit_layout(narrow) is None
