"""A growing set of rows leads to a separator of all rows, or to multipliers that exclude one."""

import numpy as np
import pytest

from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.proofs.separability.search import Frame, search


def test_a_frame_shifts_weights_back():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((50, 3)) * [1.0, 100.0, 1e-4] + [5.0, -3.0, 0.0]
    frame = Frame.of(F)
    v = rng.standard_normal(4)
    back = frame.back(v, 1)
    framed = np.column_stack([frame.apply(F), np.ones(50)]) @ v
    assert np.allclose(np.column_stack([F, np.ones(50)]) @ back, framed)
    assert (Frame.of(F, fit_intercept=False).centre == 0).all()


@pytest.mark.parametrize("n", [100, 6000], ids=["all rows", "working set"])
def test_separators_separate_all_rows(n):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 4))
    score = X @ rng.standard_normal(4) + 0.3
    problem = Halfspaces.of(X[np.abs(score) > 0.01], (score[np.abs(score) > 0.01] > 0).astype(int))
    finding = search(problem)
    assert problem.values(finding.separator).min() > 0 and finding.multipliers is None


@pytest.mark.parametrize("n", [100, 6000], ids=["all rows", "working set"])
def test_multipliers_annihilate_the_rows_they_come_with(n):
    rng = np.random.default_rng(2)
    problem = Halfspaces.of(rng.standard_normal((n, 4)), rng.integers(0, 2, n))
    finding = search(problem)
    assert finding.separator is None and finding.multipliers.min() > 0
    assert np.abs(finding.rows.T @ finding.multipliers).max() < 1e-9
    assert len(finding.ids) == len(finding.rows) == len(finding.multipliers)


def test_no_time_is_no_finding():
    problem = Halfspaces.of(np.eye(2), np.array([0, 1]))
    finding = search(problem, out_of_time=lambda: True)
    assert finding.separator is None and finding.multipliers is None
