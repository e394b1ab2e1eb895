"""Distances are distances, and no perceptron errs more often than its certified bound."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.data import toys
from linsep.errors import DataError, ParameterError
from linsep.proofs.mistakes.margin import margin
from linsep.proofs.mistakes.mistake_bound import mistake_bound


def perceptron_mistakes(X, y, order, constant2=Fraction(1)):
    """Rosenblatt's rule in exact arithmetic until a pass without mistakes; constant² enters b."""
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    w, b, mistakes, wrong = [Fraction(0)] * X.shape[1], Fraction(0), 0, True
    while wrong:
        wrong = False
        for i in order:
            sign = int(y[i])
            if sign * (sum(a * v for a, v in zip(w, rows[i], strict=True)) + b) <= 0:
                w = [a + sign * v for a, v in zip(w, rows[i], strict=True)]
                b += sign * constant2
                mistakes, wrong = mistakes + 1, True
    return mistakes


def longest(X):
    return max(sum(Fraction(v) ** 2 for v in row) for row in X.tolist())


@pytest.mark.parametrize("seed", range(8))
def test_no_order_of_presentation_exceeds_novikoffs_bound(seed):
    rng = np.random.default_rng(seed)
    X, y, _ = toys.separated(n=12, d=2, margin=0.3, seed=seed)
    X = X.round(2) + 0.5
    unit = mistake_bound(X, y)
    wide = mistake_bound(X, y, bias_step="radius")
    for _ in range(5):
        order = rng.permutation(12)
        assert perceptron_mistakes(X, y, order) <= unit.bound
        assert perceptron_mistakes(X, y, order, longest(X)) <= wide.bound


@pytest.mark.parametrize("seed", range(5))
def test_without_intercept_the_bound_holds_through_the_origin(seed):
    X, y, _ = toys.separated(n=20, d=3, margin=0.3, seed=seed)
    order = np.arange(20)
    bound = mistake_bound(X, y, fit_intercept=False)
    assert perceptron_mistakes(X, y, order, Fraction(0)) <= bound.bound
    assert bound.bias == 0


def test_the_lectures_thirteen_mistakes_stay_within_the_bound():
    X, y = toys.three_points()
    assert perceptron_mistakes(X, y, range(3)) == 13 <= mistake_bound(X, y).bound


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_no_worse_than_that_of_a_known_separator(seed):
    X, y, u = toys.separated(n=100, d=5, margin=0.2, seed=seed)
    radius2, gamma = (X**2).sum(axis=1).max() + 1, (y * (X @ u)).min()
    found = mistake_bound(X, y)
    assert found.bound <= radius2 / gamma**2
    assert found.radius**2 == pytest.approx(radius2)


def test_the_bound_of_two_points_is_known_exactly():
    X, y = np.array([[1.0], [-1.0]]), [1, -1]
    # the widest augmented separator is w = 1, b = 0: R² = 2, γ = 1
    found = mistake_bound(X, y)
    assert found.bound == 2
    assert found.margin <= 1 <= found.margin * (1 + 1e-3)
    assert found.radius >= math.sqrt(2)
    assert mistake_bound(X, y, fit_intercept=False).bound == 1


def test_the_certified_margin_never_exceeds_that_of_its_own_separator():
    for seed in range(20):
        X, y, _ = toys.separated(n=30, d=4, margin=0.05, seed=seed)
        found = mistake_bound(X, y)
        w, b = [Fraction(v) for v in found.weights.tolist()], Fraction(found.bias)
        lead = min(
            int(s) * (sum(a * Fraction(v) for a, v in zip(w, row, strict=True)) + b)
            for s, row in zip(y, X.tolist(), strict=True)
        )
        assert Fraction(found.margin) ** 2 <= lead**2 / (sum(a * a for a in w) + b * b)
        assert found.bound == math.floor(found.bound)


@pytest.mark.parametrize("scale", [2.0**-400, 2.0**-30, 2.0**40, 2.0**400])
def test_scaling_leaves_the_radius_step_bound_unchanged(scale):
    X, y, _ = toys.separated(n=40, d=3, margin=0.2)
    bound = mistake_bound(X, y, bias_step="radius").bound
    assert mistake_bound(X * scale, y, bias_step="radius").bound == pytest.approx(bound, rel=0.01)


def test_rows_without_a_separator_have_no_bound():
    found = mistake_bound(*toys.xor())
    assert (found.bound, found.margin, found.weights) == (math.inf, 0.0, None)
    assert "No bound" in str(found)


def test_many_classes_are_bounded_through_kesler():
    X, y = toys.three_classes(n=30, spread=0.3)
    found = mistake_bound(X, y)
    W, mistakes, wrong = np.zeros((3, 3)), 0, True
    Z = np.column_stack([X, np.ones(30)])
    while wrong:
        wrong = False
        for z, own in zip(Z, y, strict=True):
            for other in {0, 1, 2} - {int(own)}:
                if (W[own] - W[other]) @ z <= 0:
                    W[own] += z
                    W[other] -= z
                    mistakes, wrong = mistakes + 1, True
    assert 0 < mistakes <= found.bound < math.inf


def test_sparse_rows_give_the_same_bound():
    X, y, _ = toys.separated(n=50, d=4, margin=0.2)
    X[np.abs(X) < 0.2] = 0
    y = np.where(X @ np.ones(4) + 0.1 > 0, 1, -1)
    assert mistake_bound(sp.csr_array(X), y).bound == pytest.approx(
        mistake_bound(X, y).bound, rel=0.01
    )


def test_an_unknown_bias_step_is_refused():
    with pytest.raises(ParameterError, match="radius"):
        mistake_bound(*toys.three_points(), bias_step="double")


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_margin_measures_signed_distances(as_rows):
    X, y = np.array([[3.0, 4.0], [0.0, 0.0], [-3.0, -4.0]]), ["yes", "no", "yes"]
    found = margin(([3.0, 4.0], 5.0), as_rows(X), y)
    assert found.distances.tolist() == [6, -1, -4]
    assert found.margin == -4
    assert found.support.tolist() == [2]


def test_margin_reads_any_fitted_model():
    from sklearn.svm import SVC

    X, y, _ = toys.separated(n=60, d=3, margin=0.3)
    model = SVC(kernel="linear", C=1e6, tol=1e-8).fit(X, y)
    found = margin(model, X, y, tolerance=1e-4)
    assert found.margin == pytest.approx(1 / np.linalg.norm(model.coef_), rel=1e-5)
    assert set(model.support_) <= set(found.support)


def test_margin_of_many_classes_is_the_distance_from_the_nearest_plane_between_two():
    X, y = toys.three_classes(n=12)
    W, b = np.array([[-2.0, -1.0], [2.0, -1.0], [0.5, 2.0]]), np.array([0.1, 0.0, -0.2])
    model = SimpleNamespace(coef_=W, intercept_=b, classes_=np.arange(3))
    found = margin(model, X, y)
    for x, own, distance in zip(X, y, found.distances, strict=True):
        pairs = [(W[own] - W[k], b[own] - b[k]) for k in range(3) if k != own]
        assert distance == pytest.approx(min((w @ x + c) / np.linalg.norm(w) for w, c in pairs))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_margin_does_not_depend_on_the_length_of_the_weights(scale):
    X, y = toys.three_points()
    found = margin((np.array([-2.5, 0.5]) * scale, 3.0 * scale), X, y)
    assert found.distances == pytest.approx(margin(([-2.5, 0.5], 3.0), X, y).distances)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (([0.0, 0.0], 1.0), "weights are zero"),
        (([1.0], 1.0), "shape"),
        (SimpleNamespace(weights=None, bias=None), "no separator"),
        (SimpleNamespace(coef_=[[1, 1]], intercept_=[0], classes_=np.array([0, 1])), "label -1"),
    ],
)
def test_margin_refuses_what_is_no_separator_of_these_rows(model, message):
    with pytest.raises(DataError, match=message):
        margin(model, *toys.three_points())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "settings", [{}, {"bias_step": "radius"}, {"fit_intercept": False}], ids=str
)
def test_linseps_own_perceptron_stays_within_the_bound(settings, seed):
    from linsep import Perceptron

    X, y, _ = toys.separated(n=200, d=5, margin=0.2, seed=seed)
    learner = Perceptron(random_state=seed, **settings).fit(X, y)
    assert learner.score(X, y) == 1
    assert 0 < learner.mistakes_ <= mistake_bound(X, y, **settings).bound


def test_linseps_own_perceptron_of_three_classes_stays_within_the_bound():
    from linsep import Perceptron

    X, y = toys.three_classes(n=90, spread=0.4)
    learner = Perceptron().fit(X, y)
    assert learner.score(X, y) == 1
    assert 0 < learner.mistakes_ <= mistake_bound(X, y).bound
