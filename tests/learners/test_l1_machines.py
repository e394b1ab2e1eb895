"""LinearSVC(penalty="l1"): exact zeros, the optimum, and its certificate."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as Peer

import linsep
from linsep import LinearSVC, Status
from linsep.errors import ParameterError


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def machine(C=1.0, **more):
    return LinearSVC(C, penalty="l1", loss="squared_hinge", **{"tol": 1e-10, **more})


def objective(w, b, X, signs, C, c=1.0):
    return C * (c * np.maximum(0, 1 - signs * (X @ w + b)) ** 2).sum() + np.abs(w).sum()


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("C", [0.002, 0.1, 20.0])
def test_the_optimality_conditions_hold_and_zeros_are_exact(cancer, C, free, layout):
    """wⱼ = 0: |slope| ≤ 1; else slope + sign(w) = 0; a free intercept has no slope."""
    X, y = cancer
    learner = machine(C, fit_intercept=free).fit(layout(X), y)
    w, signs = learner.coef_[0], np.where(y == 1, 1.0, -1.0)
    pull = -2 * C * signs * np.maximum(0, 1 - signs * (X @ w + learner.intercept_[0]))
    slope, zero = X.T @ pull, w == 0
    assert learner.status_ is Status.converged and learner.gap_ <= 1e-9
    assert (np.abs(slope[zero]) <= 1 + 1e-6).all()
    np.testing.assert_allclose((slope + np.sign(w))[~zero], 0, atol=1e-4)
    assert free == (abs(pull.sum()) < 1e-6)
    assert 0 < (~zero).sum() <= X.shape[1] - (C < 1)
    bounds = linsep.gap(learner, X, y)
    assert bounds.dual <= objective(w, learner.intercept_[0], X, signs, C) <= bounds.primal
    assert bounds.relative <= 1e-6


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_without_an_intercept_it_is_the_machine_of_scikit_learn(cancer, C):
    """Theirs penalises the intercept: without one the two are the same problem."""
    X, y = cancer
    balance, c = {0: 2.0, 1: 0.5}, np.linspace(0.0, 2.0, len(y))
    peer = Peer(C=C, penalty="l1", dual=False, fit_intercept=False, class_weight=balance, tol=1e-9)
    peer.set_params(max_iter=100_000).fit(X, y, sample_weight=c)
    learner = machine(C, fit_intercept=False, class_weight=balance).fit(X, y, sample_weight=c)
    signs, c = np.where(y == 1, 1.0, -1.0), c * np.where(y == 1, 0.5, 2.0)
    ours, theirs = (objective(one.coef_[0], 0.0, X, signs, C, c) for one in (learner, peer))
    assert ours == pytest.approx(learner.objective_, rel=1e-9)
    assert ours <= theirs * (1 + 1e-9)
    np.testing.assert_allclose(learner.coef_, peer.coef_, atol=2e-3)
    assert ((learner.coef_ == 0) >= (np.abs(peer.coef_) < 1e-6)).all()


def test_several_classes_are_one_machine_each_against_the_rest():
    X, y = load_iris(return_X_y=True)
    whole = machine(0.1).fit(X, y)
    for k in range(3):
        one = machine(0.1).fit(X, y == k)
        np.testing.assert_allclose(whole.coef_[k], one.coef_[0], atol=1e-4)
    assert whole.gap_ <= 1e-9 and not hasattr(whole, "dual_coef_")
    few = machine(0.01).fit(X, y)
    assert (few.coef_ == 0).any() and few.score(X, y) > 0.6


@pytest.mark.parametrize(("shift", "size"), [(1e7, 1.0), (0.0, 1e100), (0.0, 1e-100)])
def test_columns_far_from_zero_or_of_any_size_have_the_same_optimum(cancer, shift, size):
    """With sX and C/s the objective at w/s is that at w, divided by s."""
    X, y = cancer
    at = machine(1.0 / size, tol=1e-4).fit(X * size + shift, y)
    assert at.objective_ * size == pytest.approx(machine(1.0).fit(X, y).objective_, rel=1e-3)
    assert at.status_.good


def test_stochastic_steps_come_near_the_same_optimum(cancer):
    X, y = cancer
    steps = machine(0.01, solver="sgd", tol=1e-2, max_iter=300).fit(X, y)
    assert steps.objective_ == pytest.approx(machine(0.01).fit(X, y).objective_, rel=3e-2)


@pytest.mark.parametrize(
    "more",
    [{"loss": "hinge"}, {"solver": "dual"}, {"dual": True}, {"multi_class": "crammer_singer"}],
)
def test_what_has_no_l1_penalty_is_refused_with_what_has(more, cancer):
    with pytest.raises(ParameterError, match="LinearSVC\\(penalty='l1', loss='squared_hinge'\\)"):
        LinearSVC(**{"penalty": "l1", "loss": "squared_hinge", **more}).fit(*cancer)


def test_it_is_saved_and_goes_on_from_where_it_was(cancer, tmp_path):
    X, y = cancer
    learner = machine(warm_start=True).fit(X, y)
    first = learner.n_iter_
    assert learner.fit(X, y).n_iter_ < first
    linsep.save(learner, tmp_path / "m.linsep")
    np.testing.assert_array_equal(linsep.load(tmp_path / "m.linsep").predict(X), learner.predict(X))


def test_separable_tables_of_categories_converge():
    """Few rows are inside the margin, and columns repeat each other: H says little there."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 6, (400, 8))
    X = (kinds[:, :, None] == np.arange(6)).reshape(400, -1).astype(float)
    y = (kinds[:, 0] < 3) ^ (kinds[:, 1] == 5)
    for C in (1.0, 100.0):
        learner = machine(C, tol=1e-6).fit(X, y)
        assert learner.status_ is Status.converged and learner.gap_ <= 1e-6
