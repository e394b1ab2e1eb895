"""Classes in other shares than in the fit: Bayes' rule is what probabilities must follow."""

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep import LogisticRegression, Scaled
from linsep.errors import ParameterError
from linsep.model.files.store import from_bytes, to_bytes


def population(K, seed=0):
    """p(x, y) of a feature with four values and K classes."""
    p = np.random.default_rng(seed).uniform(1, 10, size=(4, K))
    return p / p.sum()


def drawn(p, shares, n=1000.0):
    """Rows with weights in which class k has this share, and x is as it is in the class."""
    K = p.shape[1]
    x, y = np.divmod(np.arange(4 * K), K)
    weights = n * (p / p.sum(axis=0) * shares).ravel()
    return np.eye(4)[x][:, 1:], y, weights


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_probabilities_are_those_of_the_population_exactly(K, layout):
    p = population(K)
    tau = p.sum(axis=0)
    X, y, weights = drawn(p, np.full(K, 1 / K))
    labels = np.array(list("abcde"))[y]
    prior = dict(zip("abcde", tau.tolist(), strict=False))
    model = LogisticRegression(np.inf, prior=prior).fit(layout(X), labels, weights)
    values = np.eye(4)[:, 1:]
    wanted = p / p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(values), wanted, rtol=1e-9)
    loaded = from_bytes(to_bytes(model))
    np.testing.assert_array_equal(loaded.predict_proba(values), model.predict_proba(values))
    scaled = Scaled(LogisticRegression(np.inf, prior=prior)).fit(X, labels, weights)
    np.testing.assert_allclose(scaled.predict_proba(values), wanted, rtol=1e-7)


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 10.0, 1: 0.5}])
def test_weighted_classes_give_the_probabilities_of_the_rows(K, class_weight):
    p = population(K, 1)
    X, y, weights = drawn(p, p.sum(axis=0))
    model = LogisticRegression(np.inf, class_weight=class_weight, prior="data").fit(X, y, weights)
    plain = LogisticRegression(np.inf).fit(X, y, weights)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-9)


def test_the_shift_is_that_of_king_and_zeng():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + rng.logistic(size=400) > 1).astype(int)
    before = LogisticRegression(tol=1e-9).fit(X, y)
    model = LogisticRegression(tol=1e-9, prior={0: 0.98, 1: 0.02}).fit(X, y)
    share = y.mean()
    wanted = np.log((1 - 0.02) / 0.02 * share / (1 - share))  # their formula (7)
    np.testing.assert_allclose(before.intercept_ - model.intercept_, wanted, rtol=1e-12)
    assert (model.coef_ == before.coef_).all() and model.gap_ == before.gap_
    assert linsep.gap(model, X, y).relative <= 2e-9
    with pytest.raises(ParameterError, match="prior moved the intercept"):
        LogisticRegression(np.inf, prior="data").fit(X, y).summary()
    found = linsep.path(LogisticRegression(prior={0: 0.98, 1: 0.02}), X, y, cv=3)
    assert found is not None


def test_the_gap_is_that_of_the_fit_for_several_weighted_classes():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 3, 300)
    model = LogisticRegression(class_weight="balanced", prior={0: 0.5, 1: 0.3, 2: 0.2}).fit(X, y)
    assert linsep.gap(model, X, y).relative <= 2e-6
    assert linsep.gap(from_bytes(to_bytes(model)).to_estimator(), X, y).relative <= 2e-6


@pytest.mark.parametrize(
    ("prior", "said"),
    [
        ({0: 0.5, 1: 0.6}, "sum to one"),
        ({0: 0.0, 1: 1.0}, "above zero"),
        ({0: 0.5, 2: 0.5}, r"prior names \[0, 2\], but the classes are \[0, 1\]"),
        ({0: np.nan, 1: 0.5}, "sum to one"),
        ([0.5, 0.5], "give a dict of label: share, or 'data'"),
        ("sample", "give a dict of label: share, or 'data'"),
    ],
)
def test_what_is_no_prior_is_refused(prior, said):
    X, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    with pytest.raises(ParameterError, match=said):
        LogisticRegression(prior=prior).fit(X, y)
    with pytest.raises(ParameterError, match="fit_intercept is False"):
        LogisticRegression(prior="data", fit_intercept=False).fit(X, y)
    with pytest.raises(ParameterError, match="prior is for fit"):
        LogisticRegression(prior="data", solver="sgd").partial_fit(X, y, [0, 1])


def test_a_table_of_weighted_classes_is_of_the_weights_that_were_fitted():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.logistic(size=300) > 1.5).astype(int)
    model = LogisticRegression(np.inf, class_weight="balanced").fit(X, y)
    table = model.summary(cov="robust")
    np.testing.assert_allclose(
        table.columns["coef"], [*model.intercept_, *model.coef_[0]], rtol=1e-8
    )
    assert any("class_weight" in note for note in table.notes)
