"""What a perceptron says when it ran out of passes."""

import numpy as np
import pytest

from linsep import LogisticRegression, Perceptron, Status
from linsep.data import toys
from linsep.errors import NotConverged


def test_on_xor_it_says_that_no_separator_exists_and_holds_the_proof():
    X, y = toys.xor()
    with pytest.warns(NotConverged, match="no separator exists"):
        learner = Perceptron().fit(X, y)
    assert learner.status_ is Status.not_separable
    assert learner.proof_.verify(X, y)


def test_out_of_passes_on_separable_points_it_says_that_a_separator_exists():
    X, y, _ = toys.separated(n=200, d=5, margin=0.01, seed=0)
    with pytest.warns(NotConverged, match="although a separator exists"):
        learner = Perceptron(max_iter=1).fit(X, y)
    assert learner.status_ is Status.separable
    assert learner.proof_.separable
    assert learner.proof_.verify(X, y)


def test_large_data_are_not_asked_the_question():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 20)), rng.integers(0, 2, 5000)
    with pytest.warns(NotConverged, match="Raise max_iter"):
        learner = Perceptron(max_iter=2).fit(X, y)
    assert learner.status_ is Status.budget
    assert learner.proof_ is None


def test_logistic_regression_without_a_penalty_says_that_separable_data_have_no_optimum():
    X, y, _ = toys.separated(n=50, d=3, margin=0.3, seed=0)
    with pytest.warns(NotConverged, match="no finite optimum"):
        learner = LogisticRegression(np.inf).fit(X, y)
    assert learner.status_ is Status.no_optimum
    assert (np.sign(learner.decision_function(X)) == y).all()
    assert learner.proof_.separable
    assert learner.proof_.verify(X, y)
