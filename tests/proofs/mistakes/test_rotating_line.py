"""A line that turns past vectors visits every way of giving them sides."""

import numpy as np
import pytest

from linsep.proofs.mistakes.rotating_line import UNSURE, least_turns, turn_exactly


def cheapest(V, plus, minus):
    """By brute force: directions between any two neighbouring normals."""
    normals = np.concatenate([np.arctan2(V[:, 0], -V[:, 1]), np.arctan2(-V[:, 0], V[:, 1])])
    normals = np.unique(normals)
    between = (normals + np.append(normals[1:], normals[0] + 2 * np.pi)) / 2
    costs = []
    for angle in between:
        side = V @ [np.cos(angle), np.sin(angle)] > 0
        costs.append(int(np.where(side, minus, plus).sum()))
    return min(costs)


def vectors(seed, n=14):
    rng = np.random.default_rng(seed)
    V = rng.integers(-6, 7, (n, 2)).astype(float)
    V[(V == 0).all(axis=1)] = [1.0, 2.0]
    label = rng.integers(0, 2, n)
    cost = rng.integers(1, 4, n)
    return V, label * cost, (1 - label) * cost


@pytest.mark.parametrize("seed", range(12))
def test_the_least_cost_is_that_of_all_partings(seed):
    V, plus, minus = vectors(seed)
    least = cheapest(V, plus, minus)

    def exact(j):
        return int(V[j, 0]), int(V[j, 1])

    for sharp, E in ((True, np.zeros_like(V)), (False, np.full_like(V, 0.5))):
        cost, sides = turn_exactly(V, E, sharp, exact, plus, minus)
        assert cost == least == int(np.where(sides() > 0, minus, plus).sum())
    costs = np.empty(1, np.int64)
    E = np.zeros_like(V)
    least_turns(V[None], E[None], True, -1, np.array([-1]), plus, minus, costs)
    assert costs[0] in (least, UNSURE)


def test_floats_that_cannot_tell_say_so():
    V = np.array([[1.0, 1e-20], [1.0, 2e-20], [0.0, 1.0]])
    costs = np.empty(1, np.int64)
    one = np.ones(3, np.int64)
    least_turns(V[None], np.full((1, 3, 2), 1e-10), False, -1, np.array([-1]), one, 0 * one, costs)
    assert costs[0] == UNSURE
