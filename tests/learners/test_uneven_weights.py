"""Rows that outweigh all others leave the closed forms exact, and light rows in play."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import FisherDiscriminant, LinearDiscriminantAnalysis, LinearRegression
from linsep.status import Status

X = np.array([[0.1, 1.0], [1.3, 0.0], [0.7, 0.4], [2.2, 2.0], [3.7, 1.0], [2.9, 1.1]])
Y = np.array([0, 0, 0, 1, 1, 1])
WEIGHTS = {
    "one row of the first class": [1e300, 1, 1, 1, 1, 1],
    "one row of the second class": [1, 1, 1, 1, 1, 0.7e300],
    "a row of each": [1e200, 3, 1, 1e200, 2, 1],
    "less than a thousand": [900, 1, 1, 1, 1, 1],
    "very light ones": [1, 1e-250, 1e-250, 1e-250, 2e-250, 1e-250],
}


def exact_direction(rows, weights):
    """S_w⁻¹(μ₁ − μ₀) and the sum of the weights, in fractions, by Cramer's rule."""
    x = [[Fraction(v) for v in row] for row in rows.tolist()]
    c = [Fraction(v) for v in weights]
    d = rows.shape[1]
    means = []
    for k in (0, 1):
        own = [i for i in range(len(x)) if Y[i] == k]
        total = sum(c[i] for i in own)
        means.append([sum(c[i] * x[i][j] for i in own) / total for j in range(d)])
    dev = [[x[i][j] - means[Y[i]][j] for j in range(d)] for i in range(len(x))]
    S = [[sum(c[i] * z[a] * z[b] for i, z in enumerate(dev)) for b in range(d)] for a in range(d)]
    gap = [means[1][j] - means[0][j] for j in range(d)]
    if d == 1:
        return [gap[0] / S[0][0]], sum(c)
    det = S[0][0] * S[1][1] - S[0][1] * S[1][0]
    w = [gap[0] * S[1][1] - gap[1] * S[0][1], S[0][0] * gap[1] - S[1][0] * gap[0]]
    return [one / det for one in w], sum(c)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_both_discriminants_have_the_direction_of_exact_arithmetic(weights, columns, form):
    rows = X[:, :columns]
    wanted, total = exact_direction(rows, weights)
    fisher = FisherDiscriminant().fit(form(rows), Y, sample_weight=weights)
    assert fisher.status_ is Status.solved
    assert fisher.coef_[0] == pytest.approx([float(w) for w in wanted], rel=1e-9)
    assert (fisher.predict(rows) == Y).all()  # the cut lets no light row lie on the wrong side
    analysis = LinearDiscriminantAnalysis().fit(form(rows), Y, sample_weight=weights)
    assert analysis.status_ is Status.solved
    assert analysis.coef_[0] == pytest.approx([float(w * total) for w in wanted], rel=1e-9)


def test_a_line_through_the_heaviest_row_is_turned_by_the_others():
    x, y = X[:, :1], np.array([0.0, 1.0, 0.5, 2.0, 5.0, 3.0])
    learner = LinearRegression().fit(x, y, sample_weight=WEIGHTS["one row of the first class"])
    from_there = x[:, 0] - x[0, 0]
    assert learner.coef_ == pytest.approx([from_there @ y / (from_there @ from_there)], rel=1e-9)
    assert learner.predict(x[:1]) == pytest.approx([0.0], abs=1e-12)
    assert learner.rank_ == 1


def test_classes_with_the_same_means_are_still_told():
    rows, labels = np.array([[1.0], [1.0], [1.0], [1.0]]), [0, 0, 1, 1]
    for kind in (FisherDiscriminant, LinearDiscriminantAnalysis):
        with pytest.warns(UserWarning, match="same means"):
            learner = kind().fit(rows, labels, sample_weight=[1e300, 1, 1, 1])
        assert learner.status_ is Status.no_difference
