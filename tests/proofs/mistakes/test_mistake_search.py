"""The search behind the fewest mistakes: its bounds, its evidence, its separators."""

import time
from fractions import Fraction

import numpy as np
import pytest

from linsep.proofs.mistakes.search import Search
from proofs.partings import SETS, all_partings


def searched(X, signs, **settings):
    search = Search(X, signs, time.monotonic() + 30, **settings)
    search.run()
    return search


@pytest.mark.parametrize("name", ["square and centre", "cube", "flat in space"])
def test_the_bounds_meet_at_the_fewest_mistakes_of_all_partings(name):
    X = np.array(SETS[name], float)
    signs = np.where(np.arange(len(X)) % 2 == 0, 1, -1)
    partings = all_partings(X)
    fewest = int((partings != signs).sum(axis=1).min())
    search = searched(X, signs)
    assert search.mistakes == search.lower == fewest and search.done()
    assert len(search.rows) == fewest


def test_beyond_three_dimensions_conflicts_prove_the_bound():
    rng = np.random.default_rng(0)
    X, signs = rng.integers(-2, 3, (40, 5)).astype(float), np.where(rng.random(40) < 0.5, 1, -1)
    search = searched(X, signs)
    assert not search.enumerated and 0 < search.lower <= search.mistakes
    shares = Fraction(0)
    for rows, multipliers, share in search.conflicts():
        Z = np.column_stack([X, np.ones(40)])[list(rows)] * signs[list(rows)][:, None]
        exact = [[int(a) for a in z] for z in Z.tolist()]
        sums = [sum(a * z[j] for a, z in zip(multipliers, exact, strict=True)) for j in range(6)]
        assert not any(sums) and sum(multipliers) == 1 and min(multipliers) > 0
        shares += share
    assert shares > search.lower - 1 or shares == 0  # 0: the bound rests on how they overlap


def test_rows_on_the_plane_are_moved_off_it_and_no_other_row_is_passed():
    X, signs = np.array([[0.0], [1.0], [2.0]]), np.array([-1, 1, 1])
    search = Search(X, signs, time.monotonic() + 10)
    search.offer([1.0], -1.0)  # the row at 1 lies on it
    assert search.mistakes == 0 and 0 < -search.bias / search.weights[0] < 1
    search.offer([np.nan], 0.0)
    assert search.mistakes == 0


def test_planes_through_the_origin_have_no_bias():
    X, signs = np.array([[1.0, 0.0], [2.0, 0.5], [-1.0, 3.0]]), np.array([1, -1, 1])
    search = searched(X, signs, fit_intercept=False)
    assert search.bias == 0.0 and search.mistakes == search.lower
