"""The fewest mistakes are confirmed by code of its own, and nothing else is."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.data import toys
from linsep.proofs.mistakes.fewest import fewest_mistakes
from linsep.proofs.verify.mistakes import check_mistakes


def problem(seed):
    """Few whole numbers, so that rows repeat, cancel and are zero; one to five columns."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 12)), 1 + seed % 5
    X, y = rng.integers(-1, 3, (n, d)).astype(float), rng.choice([-1, 1], n)
    y[:2] = 1, -1
    return X * float(rng.choice([1.0, 0.1, 1e150])), y


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(25))
def test_what_is_found_is_confirmed_and_one_mistake_more_or_less_is_not(seed, fit_intercept):
    X, y = problem(seed)
    found = fewest_mistakes(X, y, fit_intercept=fit_intercept)
    assert found.optimal
    assert check_mistakes(found, X, y) == ""
    assert found.verify(sp.csr_array(X), y)
    too_high = replace(found, lower_bound=found.lower_bound + 1, optimal=False)
    assert "mistakes" in check_mistakes(too_high, X, y)
    if len(found.rows):
        fewer = replace(found, mistakes=found.mistakes - 1, rows=found.rows[1:])
        assert "other rows" in check_mistakes(fewer, X, y)


def test_conflicts_among_many_rows_add_up_to_the_bound():
    X, y = toys.overlapping(n=1500, d=5, distance=1.0)
    found = fewest_mistakes(X, y, time_limit=3)
    assert 10 < found.lower_bound <= len(found.conflicts)
    assert found.verify(X, y)
    fewer = replace(found, conflicts=found.conflicts[1:])
    assert "do not show" in check_mistakes(fewer, X, y)


CONFLICTS = np.random.default_rng(0).integers(0, 3, (30, 4)).astype(float), np.arange(30) % 2


def test_conflicts_that_were_altered_are_refused():
    X, y = CONFLICTS
    found = fewest_mistakes(X, y)
    assert found.lower_bound > 0
    assert not found.enumerated
    assert found.verify(X, y)
    first = found.conflicts[0]
    other = tuple(a + Fraction((-1) ** k, 10**30) for k, a in enumerate(first.multipliers))
    for changed in (
        first._replace(multipliers=other),
        first._replace(rows=tuple((i + 1) % 30 for i in first.rows)),
        first._replace(multipliers=tuple(-a for a in first.multipliers)),
    ):
        altered = replace(found, conflicts=(changed, *found.conflicts[1:]))
        assert "a conflict is none" in check_mistakes(altered, X, y)
    unshared = tuple(c._replace(share=Fraction(0)) for c in found.conflicts)
    assert replace(found, conflicts=unshared).verify(X, y)  # all ways to break them are tried
    shares = tuple(c._replace(share=c.share + 1) for c in found.conflicts)
    greedy = replace(found, lower_bound=found.lower_bound + 1, optimal=False, conflicts=shares)
    assert "do not show" in check_mistakes(greedy, X, y)


def test_other_data_a_bias_at_the_origin_and_too_many_points_are_refused():
    X, y = CONFLICTS
    found = fewest_mistakes(X, y)
    assert not found.verify(X, 1 - y)
    assert "columns" in check_mistakes(found, X[:, :3], y)
    assert "classes" in check_mistakes(found, X, np.arange(30) % 3)
    through = fewest_mistakes(X, y, fit_intercept=False)
    assert "bias" in check_mistakes(replace(through, bias=1.0), X, y)
    assert "bounds" in check_mistakes(replace(found, optimal=not found.optimal), X, y)
    X, y = toys.overlapping(n=700, d=2, distance=4.0)
    many = fewest_mistakes(X, y)
    assert many.enumerated
    assert "too many" in check_mistakes(many, X, y)
