"""Boundaries that are no planes, as the page is told of them."""

import numpy as np
import pytest

from linsep.views.lab.grids import grid_of

X = np.random.default_rng(0).normal(size=(60, 2))


def at(grid, places):
    """The score between the places of a grid, as the page takes it to be."""
    left, right, low, high = grid["box"]
    scores = grid["scores"].reshape(-1, grid["across"])
    up, across = scores.shape
    u = (places[:, 0] - left) / (right - left) * (across - 1)
    v = (places[:, 1] - low) / (high - low) * (up - 1)
    i, j = u.astype(int), v.astype(int)
    p, q = u - i, v - j
    below = (1 - p) * scores[j, i] + p * scores[j, i + 1]
    above = (1 - p) * scores[j + 1, i] + p * scores[j + 1, i + 1]
    return (1 - q) * below + q * above


@pytest.mark.parametrize("fine", [True, False])
def test_a_boundary_of_jumps_is_where_the_class_changes(fine):
    grid = grid_of(lambda places: (places @ [1.0, 2.0] > 0.3).astype(int), None, X, fine)
    x = np.linspace(-1.5, 1.5, 200)
    assert np.abs(at(grid, np.column_stack([x, (0.3 - x) / 2]))).max() < 0.05  # of a cell
    assert ((grid["scores"] >= 0) == (grid["codes"] == 1)).all()


def test_two_boundaries_that_cross_are_both_there():
    grid = grid_of(lambda places: (places.prod(axis=1) > 0).astype(int), None, X, True)
    x = np.linspace(0.2, 1.5, 50)
    for places in ((x, 0 * x), (-x, 0 * x), (0 * x, x), (0 * x, -x)):
        assert np.abs(at(grid, np.column_stack(places))).max() < 0.05


def test_where_one_class_is_said_everywhere_there_is_no_boundary():
    grid = grid_of(lambda places: np.ones(len(places), int), None, X, True)
    assert (grid["scores"] > 0).all()


def test_scores_that_change_evenly_are_told_as_they_are():
    grid = grid_of(lambda places: (places[:, 0] > 0).astype(int), lambda p: p[:, 0], X, False)
    left, right = grid["box"][:2]
    assert grid["scores"][: grid["across"]] == pytest.approx(
        np.linspace(left, right, grid["across"]), abs=1e-5
    )


def test_three_classes_have_codes_only():
    assert "scores" not in grid_of(lambda p: np.arange(len(p)) % 3, None, X, False)
