"""The cut along a line that misplaces the least weight of rows."""

import numpy as np
import pytest

from linsep.learners.discriminants import best_threshold
from linsep.learners.discriminants.best_threshold import Levels, Line, best_cut


def line_of(scores, positive, weights=None):
    def of(i, j):
        return scores[i:j], positive[i:j], None if weights is None else weights[i:j]

    return Line(len(scores), of, scores)


def misplaced(cut, scores, positive, weights):
    return float(weights[(scores > cut) != positive].sum())


@pytest.mark.parametrize("run", [1 << 18, 64], ids=["one run", "many runs"])
@pytest.mark.parametrize("seed", range(4))
def test_no_other_cut_misplaces_less(seed, run, monkeypatch):
    monkeypatch.setattr(best_threshold, "RUN", run)
    rng = np.random.default_rng(seed)
    scores = np.round(rng.standard_normal(400), 1)  # many ties
    positive = scores + rng.standard_normal(400) > 0.2
    weights = rng.random(400)
    cut = best_cut(line_of(scores, positive, weights))
    edges = np.unique(scores)
    cuts = np.concatenate([[edges[0] - 1], (edges[1:] + edges[:-1]) / 2, [edges[-1] + 1]])
    least = min(misplaced(one, scores, positive, weights) for one in cuts)
    assert misplaced(cut, scores, positive, weights) == pytest.approx(least, abs=1e-12)


def test_levels_of_two_parts_are_those_of_all():
    one = Levels(np.array([1.0, 2.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    two = Levels(np.array([2.0, 3.0]), np.array([5.0, 1.0]), np.array([0.0, 0.0]))
    both = one.plus(two)
    assert both.at.tolist() == [1.0, 2.0, 3.0]
    assert both.positive.tolist() == [1.0, 5.0, 1.0] and both.negative.tolist() == [0.0, 1.0, 0.0]
