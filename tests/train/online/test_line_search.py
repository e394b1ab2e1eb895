"""The step that minimises the perceptron criterion along a line, against exact brute force."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep import Perceptron
from linsep.data.toys import overlapping, three_classes
from linsep.errors import NotConverged
from linsep.train.online.line_search import best_step


def criterion(step, z, dz, c, margin):
    terms = zip(z, dz, c, strict=True)
    return sum(k * max(Fraction(0), margin - (a + step * b)) for a, b, k in terms)


def brute_force(z, dz, c, margin):
    """The least value over η ≥ 0: a convex piecewise linear function has it at 0 or at a corner."""
    corners = [Fraction(margin - a, b) for a, b in zip(z, dz, strict=True) if b != 0]
    return min(criterion(s, z, dz, c, margin) for s in [Fraction(0), *corners] if s >= 0)


small = st.integers(-4, 4)


@given(
    st.lists(st.tuples(small, small, st.integers(0, 3)), min_size=1, max_size=8), st.integers(0, 2)
)
def test_no_step_gives_a_smaller_criterion(rows, margin):
    z, dz, c = zip(*rows, strict=True)
    step = best_step(np.array(z, float), np.array(dz, float), np.array(c, float), float(margin))
    least = brute_force(z, dz, c, margin)
    assert step >= 0
    assert float(criterion(Fraction(step), z, dz, c, margin) - least) <= 1e-12 * (1 + sum(c) * 8)


@given(st.lists(st.tuples(small, small), min_size=1, max_size=8))
def test_no_weights_are_weights_of_one(rows):
    z, dz = (np.array(column, float) for column in zip(*rows, strict=True))
    assert best_step(z, dz, np.empty(0), 0.0) == best_step(z, dz, np.ones(len(z)), 0.0)


def test_where_the_minimum_is_flat_its_middle_is_taken():
    z, dz = np.array([-1.0, 4.0]), np.array([1.0, -1.0])
    assert best_step(z, dz, np.empty(0), 0.0) == 2.5  # zero from η = 1, where row 1 is right, to 4


def test_corners_that_coincide_are_passed_together():
    """Two rows cross at η = 1, where the slope jumps from −1 through 0 to 1: no flat piece."""
    z, dz = np.array([-1.0, 1.0, 9.0]), np.array([1.0, -1.0, -1.0])
    c = np.array([1.0, 1.0, 1.0])
    assert best_step(z, dz, c, 0.0) == 1.0


def test_nothing_to_gain_means_no_step():
    assert best_step(np.array([1.0, 2.0]), np.array([1.0, -1.0]), np.empty(0), 0.0) == 0.0
    assert best_step(np.array([-1.0]), np.array([-1.0]), np.empty(0), 0.0) == 0.0


def test_a_flat_piece_without_end_is_entered():
    assert best_step(np.array([-2.0]), np.array([1.0]), np.empty(0), 0.0) > 2.0


def charge(W, X, codes):
    """Σ max(0, −z) over all questions, weights with the intercept in the last column."""
    scores = X @ W[:, :-1].T + W[:, -1]
    if len(W) == 1:
        return np.maximum(0, -scores[:, 0] * (2 * codes - 1)).sum()
    own = scores[np.arange(len(X)), codes][:, None]
    return np.maximum(0, scores - own).sum()


@pytest.mark.parametrize("classes", [2, 3])
def test_no_other_step_along_the_correction_would_have_cost_less(classes):
    X, y = overlapping(n=80, seed=0) if classes == 2 else three_classes(60, spread=2.0)
    codes = (y > 0).astype(int) if classes == 2 else y
    planes = 1 if classes == 2 else 3
    start = 50 * np.random.default_rng(0).standard_normal((planes, 3))
    learner = Perceptron(
        "batch", schedule="line-search", eta0=1e-9, max_iter=1, init=start, trace=True
    )
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        learner.fit(X, y)
    eta = learner.trace_.passes[0]["eta"]
    end = np.column_stack([learner.coef_, learner.intercept_])
    least = charge(end, X, codes)
    assert eta > 1e-3
    assert least < charge(start, X, codes)
    for other in np.linspace(0, 3, 301):
        assert least <= charge(start + other * (end - start), X, codes) * (1 + 1e-12)


def test_a_step_is_never_smaller_than_asked_for():
    """From zero the criterion is zero and cannot fall, so that only eta0 starts the run."""
    X, y = overlapping(n=80, seed=0)
    learner = Perceptron("batch", schedule="line-search", eta0=0.5, max_iter=9, trace=True)
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        etas = [event["eta"] for event in learner.fit(X, y).trace_.passes]
    assert etas[0] == 0.5
    assert min(etas) == 0.5
