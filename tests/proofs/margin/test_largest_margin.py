"""Every way to the largest margin ends there, and no bound lies below it."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.proofs.margin.exact_margin import closest, polish
from linsep.proofs.margin.hildreth import ascend
from linsep.proofs.margin.max_margin_qp import hulls
from linsep.proofs.margin.no_bias_margin import max_margin_without_bias
from linsep.proofs.margin.refinement import refine
from linsep.proofs.margin.upper_bound import balanced, bound, exact_bound
from proofs.margin.hull_distance import apart, hull_distance

SEEDS = range(4)


def margin_of(problem, v):
    return problem.values(v).min() / np.linalg.norm(v[:-1])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_interior_point_comes_within_its_gap(seed):
    X, codes, largest = apart(seed)
    problem = Halfspaces.of(X, codes)
    M = problem.take(problem.all(), np.arange(2))
    end = hulls(M, np.array([1.0, 1.0, 0.0]), 1e-9)
    assert margin_of(problem, end.v) == pytest.approx(largest, rel=1e-8)
    assert np.linalg.norm((M.T @ end.alpha)[:2]) == pytest.approx(largest, rel=1e-8)
    assert 2 <= end.active.sum() <= 3  # a margin of the plane rests on two points or three


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("seed", SEEDS)
def test_hildreths_ascent_comes_within_its_gap(seed, layout):
    X, codes, largest = apart(seed)
    problem = Halfspaces.of(layout(X), codes)
    end = ascend(problem, 1e-3, 1e8)
    assert largest * (1 - 1e-3) <= margin_of(problem, end.separator) <= largest * (1 + 1e-9)
    assert bound(problem, problem.all(), end.alpha).upper >= largest * (1 - 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_working_set_widens_any_separator(seed):
    X, codes, largest = apart(seed, n=2000 if seed == 0 else 24)
    problem = Halfspaces.of(X, codes)
    v = np.array([4.0, 3.0, -12.5])
    if problem.values(v).min() <= 0:
        v = ascend(problem, 0.5, 1e7).separator
    width = refine(problem, v, 1e-7)
    assert margin_of(problem, width.v) == pytest.approx(largest, rel=2e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_whole_numbers_give_the_margin_to_the_last_digit(seed):
    X, codes, largest = apart(seed, whole=True)
    problem = Halfspaces.of(X, codes)
    nearest = closest(problem, Fraction(0))
    plane = np.array(nearest.plane, float)
    assert margin_of(problem, plane) == pytest.approx(largest, rel=1e-12)
    upper = exact_bound(problem, nearest.ids, nearest.multipliers)
    assert largest * (1 - 1e-12) <= upper.upper <= largest * (1 + 1e-12)
    polished = polish(problem, nearest.ids)
    assert margin_of(problem, polished.v) == pytest.approx(largest, rel=1e-12)
    assert sorted(polished.ids.tolist()) == sorted(nearest.ids.tolist())


@pytest.mark.parametrize("seed", SEEDS)
def test_no_combination_bounds_below_the_margin_and_balance_is_exact(seed):
    X, codes, largest = apart(seed)
    problem = Halfspaces.of(X, codes)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        alpha = rng.random(len(X)) ** 6
        assert bound(problem, problem.all(), alpha).upper >= largest * (1 - 1e-12)
        ids, numbers = balanced(problem, problem.all(), alpha)
        signs = np.where(codes[ids] == 1, 1, -1).tolist()
        assert sum(s * a for s, a in zip(signs, numbers, strict=True)) == 0
    assert bound(problem, problem.all(), np.full(len(X), np.nan)) is None


@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_without_a_free_bias_the_margin_is_the_distance_from_the_origin(constant):
    X, codes, _ = apart(1)
    X = X + np.array([3.0, -9.0]) if constant else X - np.outer(codes == 0, [4.0, 3.0])
    W, v, lower, upper = max_margin_without_bias(X, codes, 2, constant)
    Z = np.column_stack([X, np.full(len(X), constant)]) * np.where(codes == 1, 1, -1)[:, None]
    S = X @ W.T + v * constant
    own = np.arange(len(X)), codes
    lead = (S[own] - S[np.arange(len(X)), 1 - codes]).min()
    assert lower == pytest.approx(lead / np.sqrt((W**2).sum() + (v**2).sum()))
    assert 0 < lower <= upper * (1 + 1e-12) and lower >= 0.999 * upper
    if not constant:  # two classes of Kesler's are √2 as far apart
        assert lower == pytest.approx(
            np.sqrt(2) * hull_distance(Z[:, :2], np.zeros((1, 2))), rel=1e-3
        )
