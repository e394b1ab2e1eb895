"""`linsep.gap` bounds what is left to gain, as an oracle that shares nothing with it does."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import linsep
from linsep.data import toys
from linsep.errors import DataError, ParameterError
from linsep.proofs.gap.duality_gap import gap
from proofs.gap.joint_prover import joint_hinge
from proofs.gap.second_prover import HINGE, LOGISTIC, SQUARED_HINGE, many_class, two_class
from proofs.gap.test_second_prover import optimum


class LinearSVC:
    """A machine of given weights, without multipliers."""

    C, fit_intercept, class_weight = 1.0, True, None

    def __init__(self, loss, planes, multiclass="ovr"):
        self.loss, self.multiclass = loss, multiclass
        self.coef_ = np.array([w for w, _ in planes])
        self.intercept_ = np.array([b for _, b in planes])
        self.classes_ = np.arange(max(2, len(planes)))


def agree(bounds, primal, dual):
    """Each lower bound lies below each objective, and the objectives are one."""
    assert bounds.primal == pytest.approx(primal, rel=1e-11)
    assert bounds.dual <= primal and dual <= bounds.primal
    assert 0 <= bounds.gap == bounds.primal - bounds.dual


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("size", [0.0, 1e-6, 1e-2, 3.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_planes_without_multipliers_are_bounded_as_the_oracle_bounds_them(loss, size, layout):
    X, y = toys.overlapping(n=80, d=4, distance=1.5, seed=1)
    rng, kind = np.random.default_rng(2), {"hinge": HINGE, "squared_hinge": SQUARED_HINGE}[loss]
    w, b = optimum(kind, X, y, np.ones(80), True)
    w, b = w + size * rng.standard_normal(4), b + size
    bounds = gap(LinearSVC(loss, [(w, b)]), layout(X), (y > 0).astype(int))
    agree(bounds, *two_class(kind, X, y, w, b, np.ones(80)))
    if size <= 1e-6:
        assert bounds.relative < (1e-9 if size == 0 else 1e-4)


@pytest.mark.parametrize("size", [0.0, 1e-3, 3.0])
def test_softmax_and_joint_machines_are_bounded_as_the_oracle_bounds_them(size):
    X, y = toys.three_classes(n=90, spread=1.5)
    rng, C = np.random.default_rng(3), np.ones(90)
    model = LogisticRegression(tol=1e-10, max_iter=1000).fit(X, y)
    model.coef_ = model.coef_ + size * rng.standard_normal((3, 2))
    bounds = gap(model, X, y)
    agree(bounds, *many_class(X, y, model.coef_, model.intercept_, C))
    assert size or bounds.relative < 1e-8
    planes = [(w, b) for w, b in zip(model.coef_, model.intercept_, strict=True)]
    machine = LinearSVC("hinge", planes, "crammer-singer")
    agree(gap(machine, X, y), *joint_hinge(X, y, machine.coef_, machine.intercept_, C))


def test_one_plane_of_a_joint_machine_is_half_of_a_plain_one():
    X, y = toys.overlapping(n=80, d=4, distance=1.5, seed=1)
    w, b = optimum(HINGE, X, y, np.full(80, 2.0), True)
    bounds = gap(LinearSVC("hinge", [(w, b)], "crammer-singer"), X, (y > 0).astype(int))
    primal, dual = two_class(HINGE, X, y, w, b, np.full(80, 2.0))
    agree(bounds, 0.5 * primal, 0.5 * dual)
    assert bounds.relative < 1e-9


@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_sparse_weights_are_bounded_as_the_oracle_bounds_them(ratio):
    from proofs.gap.second_prover import Penalty

    X, y = toys.overlapping(n=80, d=4, distance=1.5, seed=1)
    model = linsep.LogisticRegression(l1_ratio=ratio, tol=1e-8).fit(X, y)
    bounds = gap(model, X, y)
    penalty = Penalty(ratio, 1 - ratio)
    w, b = model.coef_[0], model.intercept_[0]
    agree(bounds, *two_class(LOGISTIC, X, y, w, b, np.ones(80), penalty=penalty))
    assert bounds.relative < 1e-6


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 0.5, 2: 1.0}])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_logistic_model_is_measured_with_its_own_weights(classes, class_weight):
    X, y = toys.three_classes(n=90, spread=1.5)
    X, y = X[y < classes], y[y < classes]
    if isinstance(class_weight, dict) and classes == 2:
        class_weight = {0: 2.0, 1: 0.5}
    weight = np.arange(len(y)) % 4.0
    model = LogisticRegression(C=0.7, class_weight=class_weight, tol=1e-10, max_iter=1000)
    found = gap(model.fit(X, y, weight), X, y, weight)
    assert 0 <= found.relative < 1e-8
    assert found.gap == found.primal - found.dual


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_support_vector_machine_sums_its_planes(loss):
    X, y = toys.three_classes(n=60, spread=1.0)
    kind = HINGE if loss == "hinge" else SQUARED_HINGE
    planes = [optimum(kind, X, np.where(y == k, 1, -1), np.ones(60), True) for k in range(3)]
    assert 0 <= gap(LinearSVC(loss, planes), X, y).relative < 1e-8


def test_learners_without_a_convex_objective_are_told_what_to_ask():
    from sklearn.linear_model import Perceptron

    X, y = toys.three_points()
    with pytest.raises(ParameterError, match=r"separability.*mistake_bound"):
        gap(Perceptron().fit(X, y), X, y)


def test_models_that_cannot_be_measured_are_refused():
    X, y = toys.overlapping(n=40)
    with pytest.raises(ParameterError, match="fitted"):
        gap(LogisticRegression(), X, y)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(DataError, match="columns"):
        gap(model, X[:, :1], y)
    model.C = np.inf
    with pytest.raises(ParameterError, match="finite"):
        gap(model, X, y)


def test_gaps_that_have_no_second_count_say_so():
    X, y = toys.overlapping(n=40)
    machine = linsep.KernelSVC().fit(X, y)
    with pytest.raises(ParameterError, match=r"whose gap_, .*multipliers"):
        gap(machine, X, y)
    with pytest.raises(ParameterError, match="Firth's penalised likelihood has no dual"):
        gap(linsep.LogisticRegression(penalty="firth").fit(X, y), X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "learner",
    [
        linsep.LogisticRegression,
        linsep.LinearSVC,
        partial(linsep.LinearSVC, multiclass="crammer-singer"),
    ],
    ids=["logistic", "hinges", "joint hinge"],
)
def test_without_an_intercept_the_optimum_is_that_of_planes_through_the_origin(learner, n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((80, 3)) + 2
    y = (X @ rng.standard_normal((3, n_classes)) + rng.standard_normal((80, n_classes))).argmax(1)
    through = gap(learner(fit_intercept=False, tol=1e-7).fit(X, y), X, y)
    free = gap(learner(tol=1e-7).fit(X, y), X, y)
    assert 0 <= through.relative <= 1e-6
    assert 0 <= free.relative <= 1e-6
    assert free.primal < through.dual  # the intercept is worth something on these rows
