"""Degenerate data and the learners in closed form: an answer with a status, or a named refusal."""

import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from linsep import FisherDiscriminant, LinearDiscriminantAnalysis, LinearRegression, Status
from linsep.errors import NotConverged, OverflowedError

N = 60
Y = (np.arange(N) % 3 == 0).astype(int)
X = np.random.default_rng(0).standard_normal((N, 3)) + 1.5 * Y[:, None]


def with_outlier():
    wild = X.copy()
    wild[5, 1] = 1e12
    return wild


CASES = {
    "zero": (np.zeros((N, 3)), Y),
    "minus zero": (np.full((N, 3), -0.0), Y),
    "constant": (np.full((N, 2), 0.1), Y),
    "one constant column": (np.column_stack([X, np.full(N, 0.1)]), Y),
    "duplicate column": (np.column_stack([X, X[:, 0]]), Y),
    "collinear columns": (np.column_stack([X, X @ [0.3, 0.7, -1.1]]), Y),
    "n < d": (np.random.default_rng(1).standard_normal((10, 40)), Y[:10]),
    "two rows": (X[:2], Y[:2]),
    "outlier 1e12": (with_outlier(), Y),
    "mixed scales": (X * [1e-8, 1.0, 1e8], Y),
    "one row against many": (X, np.append(1, np.zeros(N - 1, int))),
    "both labels for each row": (np.repeat(X[:20], 2, axis=0), np.tile([0, 1], 20)),
    "largest floats": (np.where(X > 0, 1.7e308, -1.7e308), Y),
    "smallest float": (np.where(Y[:, None] == 1, 5e-324, 0.0) * np.ones((1, 2)), Y),
    "denormal": (X * 1e-312, Y),
    **{f"times {s:g}": (X * s, Y) for s in (1e150, 1e-150, 1e300, 1e-300)},
    **{f"plus {s:g}": (X + s, Y) for s in (1e6, 1e9, 1e12, 1e15)},
}
REFUSED = {"smallest float", "denormal"}  # their weights would be larger than any float
LEARNERS = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(shrinkage="auto"),
    LinearDiscriminantAnalysis(shrinkage=0.2),
    FisherDiscriminant(),
    FisherDiscriminant("midpoint"),
    LinearRegression(),
    LinearRegression("batch"),
    LinearRegression("minibatch", start="two-point", max_iter=50),
    LinearRegression("sgd", max_iter=50),
    LinearRegression("batch", scale=False, max_iter=50),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("case", CASES)
def test_every_fit_ends_in_a_finite_model_or_in_a_named_refusal(learner, case):
    rows, labels = CASES[case]
    try:
        with warnings.catch_warnings(action="ignore", category=NotConverged):
            learner.fit(rows, labels)
    except OverflowedError:
        assert case in REFUSED
        return
    assert isinstance(learner.status_, Status)
    assert np.isfinite(learner.coef_).all()
    assert np.isfinite(learner.intercept_).all()
    assert np.isfinite(learner.predict(rows)).all()
    # an answer that is worse than none has to say so
    if isinstance(learner, LinearRegression):
        assert learner.score(rows, labels) > -1e-9 or not learner.status_.good
    elif learner.get_params().get("bias") != "midpoint":
        none = DummyClassifier(strategy="most_frequent").fit(rows, labels).score(rows, labels)
        assert learner.score(rows, labels) >= none
