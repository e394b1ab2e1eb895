"""Passive-aggressive steps against their closed form in exact arithmetic."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import reference
from linsep import PassiveAggressive
from linsep.errors import NotConverged


def integers(seed, classes, n=20, d=3):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return rng.integers(-3, 4, (n, d)), codes


def exact_runs(X, codes, way, **more):
    rows = X.tolist()
    if way == "ovr":
        asked = [(codes == k).astype(int).tolist() for k in range(codes.max() + 1)]
        return [reference.passive_aggressive(rows, a, 1, 1, **more) for a in asked]
    planes = 1 if way == "binary" else int(codes.max()) + 1
    return [reference.passive_aggressive(rows, codes.tolist(), planes, 1, **more)]


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("way", ["binary", "kesler", "ovr"])
@pytest.mark.parametrize("C", [Fraction(1, 8), Fraction(1), Fraction(100)])
@pytest.mark.parametrize("variant", ["PA-I", "PA-II"])
@pytest.mark.parametrize("bias", [0, 1])
def test_the_weights_after_every_row_are_the_closed_form(variant, C, way, bias, layout):
    X, codes = integers(0, 2 if way == "binary" else 3)
    learner = PassiveAggressive(
        float(C), variant=variant, fit_intercept=bool(bias),
        multiclass="ovr" if way == "ovr" else "kesler",
    )  # fmt: skip
    runs = exact_runs(X, codes, way, C=C, variant=variant, bias=bias)
    rows = layout(X.astype(float))
    for i in range(len(X)):
        learner.partial_fit(rows[[i]], codes[[i]], classes=np.unique(codes))
        exact = [[float(v) for v in w] for shown in runs for w in shown[i].weights]
        got = np.column_stack([learner.coef_, learner.intercept_])
        np.testing.assert_allclose(got, exact, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("variant", ["PA-I", "PA-II"])
def test_the_average_is_the_mean_of_the_weights_after_every_presentation(variant):
    X, codes = integers(1, 3)
    learner = PassiveAggressive(0.5, variant=variant, keep="average", max_iter=1, shuffle=False)
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        learner.fit(X, codes)
    (shown,) = exact_runs(X, codes, "kesler", C=Fraction(1, 2), variant=variant)
    mean = [[float(v) for v in w] for w in reference.average(shown)]
    got = np.column_stack([learner.coef_, learner.intercept_])
    np.testing.assert_allclose(got, mean, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_an_unbounded_step_lands_exactly_on_margin_one(seed):
    """With C so large that it never binds, a corrected row scores one right after."""
    X, codes = integers(seed, 2)
    learner = PassiveAggressive(1e9)
    for x, c in zip(X.astype(float), codes, strict=True):
        learner.partial_fit([x], [c], classes=[0, 1])
        z = (2 * c - 1) * learner.decision_function([x])[0]
        assert z >= 1 - 1e-12


def test_a_step_never_exceeds_C():
    X, codes = integers(3, 2)
    C = 1 / 64
    learner, before = PassiveAggressive(C), 0.0
    for x, c in zip(X.astype(float), codes, strict=True):
        learner.partial_fit([x], [c], classes=[0, 1])
        assert abs(learner.intercept_[0] - before) <= C
        before = learner.intercept_[0]


def test_mistakes_are_rows_met_on_the_wrong_side_not_rows_inside_the_margin():
    X, y = np.array([[1.0], [-1.0]] * 3), [1, 0] * 3
    learner = PassiveAggressive(0.25, fit_intercept=False, max_iter=1, shuffle=False)
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        learner.fit(X, y)
    assert learner.mistakes_per_epoch_ == [1]  # the first row scores 0, the next 1/4, 1/2, ...
    assert learner.coef_ == [[1.0]]
