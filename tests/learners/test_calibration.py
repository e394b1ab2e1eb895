"""Probabilities of a machine: Platt's optimum, fair scores, and files that keep them."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import linsep
from linsep import LinearSVC
from linsep.learners.platt import fit_sigmoid, folds
from linsep.model.chances import calibrated_chances
from linsep.rows.row_hash import row_hashes


@parametrize_with_checks([LinearSVC(probability=True)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:, :6], y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_sigmoid_is_the_minimum_of_platts_loss(seed, unit):
    rng = np.random.default_rng(seed)
    s, c = rng.normal(size=80), rng.uniform(0, 2, 80)
    positive = s + rng.normal(size=80) > 0.3
    plus, minus = c[positive].sum(), c[~positive].sum()
    t = np.where(positive, (plus + 1) / (plus + 2), 1 / (minus + 2))

    def cost(u):
        z = u[0] * s + u[1]
        return c @ (np.logaddexp(0, z) - t * z)

    best = minimize(cost, np.zeros(2), method="BFGS", options={"gtol": 1e-9}).x
    a, b = fit_sigmoid(s * unit, positive, c)
    np.testing.assert_allclose([a * unit, b], best, rtol=1e-5, atol=1e-7)


def test_scores_all_on_their_own_side_give_a_finite_sigmoid():
    s = np.array([-3.0, -2.0, 2.0, 3.0])
    assert np.isfinite(fit_sigmoid(s, s > 0, np.ones(4))).all()


def test_probabilities_are_hidden_unless_asked_for(cancer):
    assert not hasattr(LinearSVC().fit(*cancer), "predict_proba")
    assert not hasattr(LinearSVC(), "predict_log_proba")
    assert not hasattr(LinearSVC(probability=True, solver="sgd"), "partial_fit")


def test_of_rows_given_a_chance_of_p_about_p_are_positive(cancer):
    X, y = cancer
    half = np.random.default_rng(0).random(len(y)) < 0.5
    learner = LinearSVC(probability=True).fit(X[half], y[half])
    p = learner.predict_proba(X[~half])
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert p[:, 1].mean() == pytest.approx(y[~half].mean(), abs=0.04)
    for low, high in ((0.0, 0.2), (0.8, 1.0)):
        inside = (p[:, 1] >= low) & (p[:, 1] <= high)
        assert y[~half][inside].mean() == pytest.approx(p[inside, 1].mean(), abs=0.06)
    np.testing.assert_allclose(np.exp(learner.predict_log_proba(X)), learner.predict_proba(X))


@pytest.mark.parametrize("multiclass", ["ovr", "crammer-singer"])
def test_several_classes_sum_to_one_and_survive_a_file(tmp_path, multiclass):
    X, y = load_iris(return_X_y=True)
    learner = LinearSVC(probability=True, multiclass=multiclass, max_iter=300).fit(X, y)
    p = learner.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert (p.argmax(axis=1) == y).mean() > 0.93
    linsep.save(learner, tmp_path / "model.linsep")
    again = linsep.load(tmp_path / "model.linsep")
    assert again.probabilistic
    assert again.predict_proba(X).tobytes() == p.tobytes()
    np.testing.assert_allclose(np.exp(again.predict_log_proba(X)), p)
    assert again.to_estimator().predict_proba(X).tobytes() == p.tobytes()


def test_the_predicted_class_is_the_likeliest_whatever_the_sigmoids_say():
    rng = np.random.default_rng(0)
    for K in (1, 4):
        scores, sigmoids = rng.normal(size=(200, K)), rng.normal(size=(K, 2))
        if K == 1:
            scores, chosen = scores[:, 0], (scores[:, 0] >= 0).astype(int)
        else:
            chosen = scores.argmax(axis=1)
        p = calibrated_chances(scores, sigmoids)
        assert (p.argmax(axis=1) == chosen).all()
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-11)


def test_the_hyperplanes_are_those_of_a_machine_without_probabilities(cancer):
    with_, without = LinearSVC(probability=True).fit(*cancer), LinearSVC().fit(*cancer)
    assert with_.coef_.tobytes() == without.coef_.tobytes()


def test_equal_rows_share_a_fold_whatever_their_order_and_layout():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (300, 4)).astype(float)
    codes = rng.integers(0, 3, 300)
    found = folds(row_hashes(X), codes)
    assert (row_hashes(sp.csr_array(X)) == row_hashes(X)).all()
    order = rng.permutation(300)
    assert (folds(row_hashes(X[order]), codes[order]) == found[order]).all()
    for code in range(3):
        seen = {}
        for row, fold in zip(X[codes == code].tolist(), found[codes == code], strict=True):
            assert seen.setdefault(tuple(row), fold) == fold
        sizes = np.bincount(list(seen.values()), minlength=5)
        assert sizes.max() - sizes.min() <= 1
