"""The enumeration finds exactly the partings that a separator can make."""

import itertools
from math import comb

import numpy as np
import pytest

from linsep.proofs.mistakes.cells import cheapest_parting
from linsep.proofs.mistakes.central import cheapest_central_parting
from proofs.partings import SETS, all_partings


@pytest.mark.parametrize("name", SETS)
def test_every_labelling_of_a_small_set_costs_what_brute_force_says(name):
    points = np.array(SETS[name], float)
    partings = all_partings(points)
    for labels in itertools.product([-1, 1], repeat=len(points)):
        labels = np.array(labels)
        found = cheapest_parting(points, labels > 0, labels < 0)
        assert found.complete
        assert found.cost == (partings != labels).sum(axis=1).min()
        assert found.cost == (found.sides != labels).sum()
        assert (partings == found.sides).all(axis=1).any()


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("shift", [0.0, 2.0**-30, 2.0**60])
def test_random_weights_on_random_points_agree_with_brute_force(d, shift):
    rng = np.random.default_rng(d)
    for _ in range(3):
        points = np.unique(rng.integers(0, 4, (7, d)), axis=0).astype(float)
        partings = all_partings(points)
        points = points * 2.0**12 + shift  # moved: the same partings, larger numbers
        for _ in range(10):
            plus, minus = rng.integers(0, 5, (2, len(points)))
            costs = np.where(partings > 0, minus, plus).sum(axis=1)
            assert cheapest_parting(points, plus, minus).cost == costs.min()


@pytest.mark.parametrize(("n", "d"), [(6, 1), (8, 2), (7, 3)])
def test_points_in_general_position_have_covers_number_of_partings(n, d):
    points = np.random.default_rng(1).standard_normal((n, d))
    free = 0
    for labels in itertools.product([-1, 1], repeat=n):
        labels = np.array(labels)
        free += cheapest_parting(points, labels > 0, labels < 0).cost == 0
    assert free == 2 * sum(comb(n - 1, k) for k in range(d + 1))


@pytest.mark.parametrize("scale", [5e-324, 1e-160, 1e160, 1e307])
def test_extreme_magnitudes_change_nothing(scale):
    points = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [3, 2], [2, 3]], float)
    for labels in itertools.product([-1, 1], repeat=6):
        labels = np.array(labels)
        plain = cheapest_parting(points, labels > 0, labels < 0).cost
        assert cheapest_parting(points * scale, labels > 0, labels < 0).cost == plain


def test_a_point_a_hair_off_the_line_is_told_from_one_on_it():
    # (0,0)+ (2,2)+ and (1, 1±ε)-: separable as long as ε is not zero
    labels = np.array([1, 1, -1])
    for nudge, cost in ((0.0, 1), (2.0**-52, 0), (-(2.0**-53), 0)):
        points = np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0 + nudge]])
        assert cheapest_parting(points, labels > 0, labels < 0).cost == cost


def test_in_space_a_hair_decides_too():
    labels = np.array([1, 1, 1, -1])
    for nudge, cost in ((0.0, 1), (2.0**-52, 0)):
        points = np.array([[0, 0, 1.0], [3, 0, 1], [0, 3, 1], [1, 1, 1 + nudge]])
        points = points * [1, 1, 0.1] + [0.3, 0.7, 0.0]
        points[:, 2] = points[:, 0] * 0 + [0.1, 0.1, 0.1, 0.1 + nudge / 8]
        assert cheapest_parting(points, labels > 0, labels < 0).cost == cost


def test_an_early_stop_says_that_not_all_was_seen():
    points = np.random.default_rng(0).standard_normal((10, 2))
    labels = np.where(np.arange(10) % 2, 1, -1)
    found = cheapest_parting(points, labels > 0, labels < 0, late=lambda: True)
    assert not found.complete
    assert found.cost == 5


@pytest.mark.parametrize("name", [name for name in SETS if len(SETS[name][0]) < 3])
def test_planes_through_the_origin_part_rows_with_a_constant_as_free_planes_do(name):
    points = np.array(SETS[name], float)
    lifted = np.column_stack([points, np.ones(len(points))])
    for labels in itertools.product([-1, 1], repeat=len(points)):
        labels = np.array(labels)
        free = cheapest_parting(points, labels > 0, labels < 0)
        for scale in (1.0, 1e-160, 1e160):
            found = cheapest_central_parting(lifted * scale, labels > 0, labels < 0)
            assert found.complete
            assert found.cost == free.cost == (found.sides != labels).sum()


@pytest.mark.parametrize(("n", "d"), [(6, 1), (8, 2), (8, 3)])
def test_rows_in_general_position_have_covers_number_of_central_partings(n, d):
    rows = np.random.default_rng(1).standard_normal((n, d))
    free = 0
    for labels in itertools.product([-1, 1], repeat=n):
        labels = np.array(labels)
        free += cheapest_central_parting(rows, labels > 0, labels < 0).cost == 0
    assert free == 2 * sum(comb(n - 1, k) for k in range(d))


def test_an_early_stop_of_a_turn_through_the_origin_says_so():
    rows = np.random.default_rng(0).standard_normal((10, 3))
    labels = np.where(np.arange(10) % 2, 1, -1)
    assert not cheapest_central_parting(rows, labels > 0, labels < 0, late=lambda: True).complete
