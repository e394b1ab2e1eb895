"""A few of many rows hold every class, however the labels are arranged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep.data.blocks.sampling import sample_by_class


@given(st.lists(st.integers(0, 6), min_size=1, max_size=200), st.integers(1, 60))
def test_every_class_is_there_and_the_number_is_the_one_asked_for(codes, most):
    codes = np.array(codes)
    places = sample_by_class(codes, most)
    assert len(places) == min(most, len(codes))
    assert (np.diff(places) > 0).all()
    if most >= len(set(codes.tolist())):
        assert set(codes[places]) == set(codes)


@pytest.mark.parametrize("n", range(280, 320))
def test_labels_that_alternate_keep_their_shares(n):
    codes = np.arange(n) % 2
    assert np.bincount(codes[sample_by_class(codes, 150)]).tolist() == [75, 75]


def test_a_rare_class_keeps_a_row():
    codes = np.zeros(10_000, int)
    codes[7777] = 1
    assert 7777 in sample_by_class(codes, 50)
