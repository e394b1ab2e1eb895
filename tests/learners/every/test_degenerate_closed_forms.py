"""Degenerate data and the learners in closed form: an answer with a status, or a named refusal."""

import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from degenerate import CASES
from linsep import FisherDiscriminant, LinearDiscriminantAnalysis, LinearRegression, Status
from linsep.errors import NotConverged, OverflowedError

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
