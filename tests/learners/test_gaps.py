"""What a fit says of its gap, recomputed from data, weights and multipliers by code of its own."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris

from linsep import LinearSVC, LogisticRegression, gap

X, Y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
IRIS, KINDS = load_iris(return_X_y=True)

MACHINES = [
    LinearSVC(),
    LinearSVC(loss="squared_hinge"),
    LinearSVC(loss="squared_hinge", solver="newton"),
    LinearSVC(solver="dual", fit_intercept=False),
    LinearSVC(multiclass="crammer-singer"),
    LogisticRegression(),
    LogisticRegression(solver="dual", tol=1e-9),
    LogisticRegression(l1_ratio=0.5),
]


@pytest.mark.parametrize("learner", MACHINES, ids=str)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("data", [(X, Y), (IRIS, KINDS)], ids=["two", "three"])
def test_the_gap_of_a_fit_is_the_one_recomputed(learner, layout, data):
    if learner.solver == "dual" and not learner.fit_intercept and data[1] is KINDS:
        learner = learner.set_params(max_iter=20_000)
    if isinstance(learner, LogisticRegression) and learner.solver == "dual" and data[1] is KINDS:
        pytest.skip("the dual of logistic regression is for two classes")
    rows = layout(data[0])
    learner.fit(rows, data[1])
    proved = gap(learner, rows, data[1])
    assert learner.objective_ == pytest.approx(proved.primal, rel=1e-9)
    # Logistic regression keeps no multipliers: the proof makes its own from the weights, and those
    # of coordinate descent on the dual are not as good as the ones it had.
    slack = 20.0 if getattr(learner, "solver_", None) == "dual" else 1.01
    assert proved.relative <= learner.tol * slack + 1e-8
    best = learner.objective_ * (1 - learner.gap_)  # a lower bound, as is the proof's
    assert proved.primal >= best * (1 - 1e-9)
    assert proved.dual <= learner.objective_ * (1 + 1e-9)


def test_many_sparse_rows_are_proved_by_their_multipliers():
    rng = np.random.default_rng(0)
    rows = sp.random(3000, 4000, 0.02, "csr", rng=rng)
    y = np.asarray(rows @ rng.normal(size=4000)) + 0.3 * rng.normal(size=3000) > 0
    for loss in ("hinge", "squared_hinge"):
        learner = LinearSVC(loss=loss, tol=1e-4).fit(rows, y)
        proved = gap(learner, rows, y)
        assert proved.relative <= 1.01 * learner.gap_ + 1e-9
