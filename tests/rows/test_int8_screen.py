"""Screening dense rows by eight bits saves time and never changes a decision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep import Perceptron
from linsep.rows import int8_screen as screening
from linsep.rows.int8_screen import Int8Screen, int8_screen

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")


def cloud(n, d, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    return X, (X @ rng.normal(size=d) + rng.normal(size=n) > 0).astype(int)


def of_any_size(X):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screening, "FEWEST", 0)
        return int8_screen(X, 2)


def both_ways(learner, X, y):
    """What is learned with screening, and without."""
    found = []
    for fewest in (0, screening.FEWEST):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(screening, "FEWEST", fewest)
            patch.setattr(screening, "NARROW", 1)
            learner.fit(X, y)
        facts = (learner.coef_, learner.intercept_, learner.mistakes_per_epoch_)
        found.append([np.copy(fact) for fact in facts])
    return found


def same(one, other):
    return all((a == b).all() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("magnitude", [1e-25, 1.0, 1e15])
def test_rounded_rows_are_as_far_off_as_they_say_at_most(dtype, magnitude):
    X = (magnitude * np.random.default_rng(0).normal(size=(300, 40))).astype(dtype)
    Q, unit, error, length = of_any_size(X)
    rounded = unit[:, None] * Q[:, :40]
    assert (np.linalg.norm(X.astype(float) - rounded, axis=1) <= error).all()
    assert (np.linalg.norm(rounded, axis=1) <= length).all() and not Q[:, 40:].any()
    assert (error < 0.01 * np.linalg.norm(X.astype(float), axis=1)).all()


def test_rows_without_a_usable_screen_say_so():
    X = np.ones((4, 32), np.float32)
    X[0] = 0
    X[1] = 1e-35
    X[2, 3] = 1e35
    assert (of_any_size(X).error[:3] == np.inf).all()
    assert np.isfinite(of_any_size(X).error[3])


def test_small_narrow_and_huge_rows_are_not_screened():
    assert int8_screen(np.ones((10, 100)), 1) is None
    assert int8_screen(np.ones((1 << 19, 8)), 1) is None
    assert int8_screen(np.broadcast_to(np.float32(1), (1 << 20, 1 << 10)), 1) is None
    assert isinstance(int8_screen(np.ones((1 << 16, 32), np.float32), 1), Int8Screen)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "options",
    [{}, {"keep": "average", "margin": 0.5}, {"keep": "pocket"}, {"bias_step": "radius"}],
    ids=["plain", "average", "pocket", "radius"],
)
def test_a_screen_changes_no_byte(options, dtype):
    X, y = cloud(600, 40, 0, dtype)
    assert same(*both_ways(Perceptron(max_iter=8, **options), X, y))


def test_a_screen_changes_no_byte_of_one_against_the_rest():
    X, _ = cloud(600, 40, 1)
    y = np.random.default_rng(0).integers(0, 4, 600)
    assert same(*both_ways(Perceptron(max_iter=5, multiclass="ovr"), X, y))


def test_a_screen_changes_no_correction_on_record():
    X, y = cloud(300, 40, 2)
    learner = Perceptron(max_iter=5, trace=True)
    both_ways(learner, X, y)
    without = str(learner.trace_.updates)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screening, "FEWEST", 0)
        learner.fit(X, y)
    assert str(learner.trace_.updates) == without


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(-7, 7), st.integers(-7, 7), st.booleans())
def test_no_magnitude_fools_a_screen(seed, large, small, single):
    X, y = cloud(60, 5, seed)
    X[::2] *= 10.0 ** (large if single else 8 * large)
    X[:, ::3] *= 10.0**small
    X = X.astype(np.float32 if single else np.float64)
    assert same(*both_ways(Perceptron(max_iter=5, shuffle=False), X, y))


def test_rows_on_the_boundary_are_read():
    tiny = 2.0**-40
    X = np.array([[1.0, 1.0], [1.0 + tiny, -1.0], [1.0 - tiny, -1.0], [1.0, -1.0]] * 20)
    y = np.array([1, 1, 0, 0] * 20)
    assert same(*both_ways(Perceptron(max_iter=6, shuffle=False, fit_intercept=False), X, y))
