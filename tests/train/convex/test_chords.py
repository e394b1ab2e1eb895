"""Curvatures of chords, for rows that a step moves too far."""

import numpy as np
import pytest

from linsep.train.convex.chords import FAR, chord


def curved(z):
    return 1 / ((1 + np.exp(z)) * (1 + np.exp(-z)))


def test_a_row_that_hardly_moves_keeps_its_curvature():
    assert chord(0.3, FAR, 1.0, curved(0.3)) == curved(0.3)


def test_the_chord_over_a_flat_way_gives_the_multiplier_at_its_end():
    for z, step in ((0.0, 9.0), (1.0, 30.0)):
        bend = chord(z, step, 1.0, curved(z))
        assert 1 / (1 + np.exp(z)) - bend * step == pytest.approx(1 / (1 + np.exp(z + step)))
