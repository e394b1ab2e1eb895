"""LogisticRegression(l1_ratio=...): exact zeros, the optimum, and its certificate."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import linsep
from degenerate import CASES
from linsep import LogisticRegression, Status
from linsep.errors import LinsepError, NotConverged, ParameterError
from proofs.gap.second_prover import LOGISTIC, Penalty, many_class, two_class


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def objective(learner, X, y, C, ratio):
    S = X @ learner.coef_.T + learner.intercept_
    if S.shape[1] == 1:
        losses = np.logaddexp(0, -np.where(y == 1, 1, -1) * S[:, 0])
    else:
        losses = np.logaddexp.reduce(S, axis=1) - S[np.arange(len(y)), y]
    W = learner.coef_
    return C * losses.sum() + ratio * np.abs(W).sum() + (1 - ratio) / 2 * (W**2).sum()


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("C", [0.02, 1.0, 50.0])
def test_the_optimality_conditions_hold_and_zeros_are_exact(cancer, C, ratio, layout):
    """wⱼ = 0: |slope| ≤ ρ; else slope + ρ sign(w) + (1 − ρ)w = 0; the intercept has no slope."""
    X, y = cancer
    learner = LogisticRegression(C, l1_ratio=ratio, tol=1e-12).fit(layout(X), y)
    w = learner.coef_[0]
    residual = C * (learner.predict_proba(X)[:, 1] - (y == 1))
    slope = X.T @ residual
    zero = w == 0
    assert (np.abs(slope[zero]) <= ratio * (1 + 1e-6)).all()
    rest = slope + ratio * np.sign(w) + (1 - ratio) * w
    np.testing.assert_allclose(rest[~zero], 0, atol=1e-5)
    assert residual.sum() == pytest.approx(0, abs=1e-9)
    assert learner.status_ is Status.converged
    if C < 1:
        assert 0 < (~zero).sum() < X.shape[1]


@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_it_is_as_good_as_scikit_learns_and_agrees_with_it(cancer, iris, ratio):
    for X, y in (cancer, iris):
        peer = Peer(C=0.5, l1_ratio=ratio, solver="saga", tol=1e-10, max_iter=20_000)
        with warnings.catch_warnings(action="ignore"):
            peer.fit(X, y)
        learner = LogisticRegression(0.5, l1_ratio=ratio, tol=1e-10).fit(X, y)
        ours, theirs = (objective(one, X, y, 0.5, ratio) for one in (learner, peer))
        assert ours == pytest.approx(learner.objective_, rel=1e-10)
        assert ours <= theirs * (1 + 1e-9)
        np.testing.assert_allclose(learner.predict_proba(X), peer.predict_proba(X), atol=2e-3)


@pytest.mark.parametrize("solver", ["auto", "gradient", "sgd"])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_every_solver_keeps_what_its_certificate_promises(iris, ratio, solver):
    X, y = iris
    for codes in (y, (y == 1).astype(int)):
        best = LogisticRegression(l1_ratio=ratio, tol=1e-12).fit(X, codes)
        learner = LogisticRegression(l1_ratio=ratio, solver=solver, max_iter=300)
        with warnings.catch_warnings(action="ignore", category=NotConverged):
            learner.fit(X, codes)
        found = linsep.gap(learner, X, codes)
        assert found.dual <= best.objective_ * (1 + 1e-12)
        assert found.primal == pytest.approx(learner.objective_, rel=1e-9)
        assert learner.objective_ - best.objective_ <= learner.gap_ * learner.objective_ + 1e-9
        if solver == "auto":  # its own multipliers prove more than those that follow from weights
            assert learner.gap_ <= 1e-6
            assert found.relative <= 1e-4
        else:
            assert found.relative <= 2 * learner.gap_ + 1e-9


@pytest.mark.parametrize("penalty", [Penalty(1.0, 0.0), Penalty(0.4, 0.6)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_dual_stays_below_every_model(penalty, seed):
    rng = np.random.default_rng(seed)
    X, codes, C = rng.normal(size=(40, 3)), rng.integers(0, 3, 40), rng.uniform(0.1, 2, 40)
    y = np.where(codes > 0, 1, -1)

    def value(W, b):
        S = X @ W.T + b
        if len(W) == 1:
            losses = np.logaddexp(0, -y * S[:, 0])
        else:
            losses = np.logaddexp.reduce(S, axis=1) - S[np.arange(40), codes]
        return C @ losses + penalty.l1 * np.abs(W).sum() + penalty.l2 / 2 * (W**2).sum()

    for scale in (0.0, 0.1, 3.0):
        W, b = rng.normal(size=(3, 3)) * scale, rng.normal(size=3)
        two = two_class(LOGISTIC, X, y, W[0], b[0], C, penalty=penalty)
        many = many_class(X, codes, W, b, C, penalty=penalty)
        assert two[0] == pytest.approx(value(W[:1], b[:1]), rel=1e-10)
        assert many[0] == pytest.approx(value(W, b), rel=1e-10)
        for _ in range(100):
            V = rng.normal(size=(3, 3)) * 10.0 ** rng.integers(-3, 1)
            a = rng.normal(size=3)
            assert 0 <= two[1] <= value(V[:1], a[:1])
            assert 0 <= many[1] <= value(V, a)


def test_weight_k_is_k_copies(cancer):
    X, y = cancer[0][:150], cancer[1][:150]
    times = np.random.default_rng(0).integers(0, 4, len(y))
    learner = LogisticRegression(l1_ratio=0.7, tol=1e-12)
    weighted = learner.fit(X, y, sample_weight=times).coef_.copy()
    repeated = learner.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).coef_
    np.testing.assert_allclose(weighted, repeated, atol=1e-7)
    assert ((weighted == 0) == (repeated == 0)).all()


def test_many_sparse_features_are_looked_at_a_few_at_a_time():
    rng = np.random.default_rng(0)
    X = sp.random_array((400, 5000), density=0.01, rng=rng, format="csr")
    y = X[:, :20] @ rng.normal(size=20) > 0
    learner = LogisticRegression(5.0, l1_ratio=1.0).fit(X, y)
    assert learner.status_ is Status.converged
    assert 0 < np.count_nonzero(learner.coef_) < 300
    assert linsep.gap(learner, X, y).relative <= 1e-6


def test_a_heavy_penalty_leaves_the_intercept_alone(cancer):
    X, y = cancer
    learner = LogisticRegression(1e-4, l1_ratio=1.0).fit(X, y)
    assert not learner.coef_.any()
    assert learner.intercept_[0] == pytest.approx(np.log(y.mean() / (1 - y.mean())))


def test_the_dual_solver_says_that_it_cannot(cancer):
    with pytest.raises(ParameterError, match="l1_ratio=0"):
        LogisticRegression(l1_ratio=0.5, solver="dual").fit(*cancer)


@parametrize_with_checks([LogisticRegression(l1_ratio=0.5)])
@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("case", CASES)
def test_every_fit_ends_in_a_finite_model_or_in_a_named_refusal(ratio, case):
    X, y = CASES[case]
    learner = LogisticRegression(l1_ratio=ratio, max_iter=50)
    try:
        with warnings.catch_warnings(action="ignore", category=NotConverged):
            learner.fit(X, y)
    except LinsepError as refusal:
        assert "X" in str(refusal)
        return
    assert np.isfinite(learner.coef_).all()
    assert np.isfinite(learner.predict_proba(X)).all()
    assert 0 <= learner.gap_ <= 1
