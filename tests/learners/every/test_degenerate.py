"""Degenerate data and every learner with every option: an answer with a status, or a refusal.

The options are read off the docstrings: whatever is documented as `name : {'one', 'other'}`.
"""

import inspect
import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import linsep
from degenerate import CASES
from linsep import LinearSVC, LogisticRegression, Perceptron, Scaled, Status, path
from linsep.errors import LinsepError, NotConverged
from linsep.learners.base import LinearClassifier

MORE = {"l1_ratio": (0.5, 1.0), "probability": (True,), "C": (np.inf,), "fit_intercept": (False,)}


def options(kind):
    """A learner with each documented choice of each of its parameters, one at a time."""
    known = inspect.signature(kind).parameters
    few = {"max_iter": 30} if "max_iter" in known else {}
    yield kind(**few)
    for name, choices in re.findall(r"^(\w+) : \{([^}]*)\}", inspect.getdoc(kind), re.MULTILINE):
        for choice in re.findall(r"'([^']*)'", choices):
            if choice != known[name].default:
                yield kind(**few, **{name: choice})
    for name, values in MORE.items():
        for value in values if name in known else ():
            yield kind(**few, **{name: value})


KINDS = [getattr(linsep, name) for name in linsep.__all__]
KINDS = [one for one in KINDS if inspect.isclass(one) and issubclass(one, LinearClassifier)]
LEARNERS = [learner for kind in KINDS for learner in options(kind)]
LEARNERS += [
    LinearSVC(loss="squared_hinge", solver="newton"),
    LinearSVC(loss="squared_hinge", solver="sgd", max_iter=30),
    LinearSVC(multiclass="crammer-singer", probability=True, max_iter=30),
    LogisticRegression(solver="gradient", l1_ratio=1.0, max_iter=30),
    Scaled(LogisticRegression()),
    Scaled(LinearSVC(max_iter=30), how="min-max"),
    Scaled(Perceptron(max_iter=30)),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: re.sub(r"\s+", " ", repr(one)))
def test_every_fit_ends_in_a_model_that_predicts_or_in_a_named_refusal(learner):
    turn = LEARNERS.index(learner)  # each meets each case once, as every other learner does not
    for number, (case, (X, y)) in enumerate(CASES.items()):
        if (number + turn) % 2 or len(y) < 3:
            ended(clone(learner), X, y, case)
        else:
            ended(clone(learner), sp.csr_matrix(X), np.arange(len(y)) % 3, case)


def ended(learner, rows, labels, case):
    try:
        with warnings.catch_warnings(action="ignore", category=NotConverged):
            learner.fit(rows, labels)
            found = learner.predict(rows)
    except LinsepError as refusal:
        assert len(str(refusal)) > 30, case
        return
    assert isinstance(learner.status_, Status), case
    for name in ("coef_", "intercept_"):
        assert np.isfinite(getattr(learner, name, 0.0)).all(), (case, name)
    if hasattr(learner, "predict_proba"):
        chances = learner.predict_proba(rows)
        assert np.isfinite(chances).all(), case
        assert np.allclose(chances.sum(axis=1), 1.0, atol=1e-6), case
    # for two classes an optimum is about as good as the intercept alone, or has to say so
    proved = learner.status_ is Status.converged and getattr(learner, "gap_", 1.0) < 1e-3
    if proved and learner.fit_intercept and len(learner.classes_) == 2:
        assert np.mean(found == labels) >= 0.9 * np.bincount(labels).max() / len(labels), case


@pytest.mark.parametrize("case", CASES)
def test_paths_of_penalties_end_too(case):
    X, y = CASES[case]
    for learner in (LogisticRegression(), LinearSVC()):
        try:
            with warnings.catch_warnings(action="ignore"):
                found = path(learner, X, y, Cs=[0.1, 10.0], cv=2)
        except (LinsepError, ValueError) as refusal:
            assert str(refusal)
            continue
        assert np.isfinite(found.scores).all()
        assert np.isfinite(found.model.coef_).all()
