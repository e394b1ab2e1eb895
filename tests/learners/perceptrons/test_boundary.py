"""What the perceptron makes of a score of exactly 0, and of the radius of rows still to come."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import Perceptron
from linsep.data.toys import separated, three_classes, two_groups
from linsep.errors import NotConverged, ParameterError


def delta_rule(X, y, passes, batch=False):
    """The lecture's rule in plain Python: w ← w + ½(t − y)x with sign(0) = +1."""
    rows, w = np.column_stack([X, np.ones(len(X))]), np.zeros(X.shape[1] + 1)
    for _ in range(passes):
        if batch:
            w = w + 0.5 * (y - np.where(rows @ w >= 0, 1, -1)) @ rows
            continue
        for x, t in zip(rows, y, strict=True):
            w = w + 0.5 * (t - (1 if x @ w >= 0 else -1)) * x
    return w


@pytest.mark.parametrize("rule", ["online", "batch"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_right_is_the_delta_rule_in_which_the_sign_of_zero_is_plus_one(rule, layout):
    X, y = two_groups()
    learner = Perceptron(rule, boundary="right", shuffle=False).fit(layout(X), y)
    wanted = delta_rule(X, y, learner.n_iter_, rule == "batch")
    np.testing.assert_allclose([*learner.coef_[0], *learner.intercept_], wanted, rtol=1e-12)


def test_the_eight_points_end_elsewhere_when_zero_is_on_the_positive_side():
    X, y = two_groups()
    ends = {side: Perceptron(boundary=side, shuffle=False).fit(X, y) for side in ("right", "wrong")}
    np.testing.assert_allclose(ends["right"].coef_, [[2.35, -0.4]], rtol=1e-12)
    np.testing.assert_allclose(ends["wrong"].coef_, [[3.0, 0.0]], atol=1e-12)
    assert [one.intercept_.tolist() for one in ends.values()] == [[-1.0], [-1.0]]
    assert {one.status_.name for one in ends.values()} == {"separated"}


@pytest.mark.parametrize("rule", ["online", "minibatch", "batch"])
def test_the_strict_rule_never_leaves_zero_and_that_is_said(rule):
    X, y = two_groups()
    with pytest.warns(NotConverged, match="on the hyperplane itself"):
        learner = Perceptron(rule, boundary="strict").fit(X, y)
    assert learner.mistakes_ == 0
    assert not learner.coef_.any()
    assert learner.status_.name == "touching"
    moved = Perceptron(rule, boundary="strict", init=[0.0, 1.0, -0.5]).fit(X, y)
    assert moved.status_.name == "separated"


def test_of_equal_scores_the_first_class_wins_where_zero_is_right():
    X, y = three_classes(n=60, spread=0.3)
    learner = Perceptron(boundary="right", shuffle=False, trace=True).fit(X, y)
    assert learner.trace_.updates[0]["row"] == int(np.flatnonzero(y > 0)[0])  # class 0 wins ties
    assert learner.score(X, y) == 1.0


def test_a_boundary_of_another_name_is_refused():
    with pytest.raises(ParameterError, match=r"boundary is 'left'; choose one of 'wrong', 'right'"):
        Perceptron(boundary="left").fit(*two_groups())


def test_the_radius_grows_with_the_rows_however_they_are_cut():
    X, y, _ = separated(n=300, d=3, margin=0.05, seed=3)
    whole = Perceptron(bias_step="radius").partial_fit(X, y)
    parts = Perceptron(bias_step="radius")
    for start in range(0, 300, 7):
        parts.partial_fit(X[start : start + 7], y[start : start + 7], classes=[-1, 1])
    w, b, square = np.zeros(3), 0.0, 0.0
    for x, t in zip(X, y, strict=True):
        square = max(square, x @ x)
        if t * (w @ x + b) <= 0:
            w, b = w + t * x, b + t * square
    for learner in (whole, parts):
        np.testing.assert_allclose(learner.coef_[0], w, rtol=1e-12)
        np.testing.assert_allclose(learner.intercept_, b, rtol=1e-12, atol=1e-12)
    assert whole.n_iter_ == 1
    assert whole.mistakes_ == parts.mistakes_ > 1


def test_a_radius_that_is_given_serves_parts_as_it_serves_the_whole():
    X, y, _ = separated(n=200, d=3, margin=0.2, seed=1)
    R = float(np.linalg.norm(X, axis=1).max())
    settings = {"shuffle": False, "max_iter": 1}
    with pytest.warns(NotConverged):
        whole = Perceptron(bias_step="radius", **settings).fit(X, y)
    parts = Perceptron(bias_step=R)
    for start in range(0, 200, 50):
        parts.partial_fit(X[start : start + 50], y[start : start + 50], classes=[-1, 1])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-12)
    with pytest.raises(ParameterError, match=r"bias_step is -1\.0"):
        Perceptron(bias_step=-1.0).fit(X, y)
    with pytest.raises(ParameterError, match="bias_step=R"):
        Perceptron("minibatch", bias_step="radius").partial_fit(X, y)
