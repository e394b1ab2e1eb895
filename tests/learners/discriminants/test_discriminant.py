"""Linear discriminant analysis: closed forms, re-encodings, and data without enough spread."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from scipy.stats import multivariate_normal
from sklearn.covariance import ledoit_wolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Peer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from linsep import LinearDiscriminantAnalysis, LinearRegression, Status
from linsep.data.toys import overlapping, three_classes, two_groups
from linsep.errors import DataError, NotConverged, OverflowedError, ParameterError

LDA = LinearDiscriminantAnalysis


def cloud(n=200, d=4, classes=2, seed=0):
    """Gaussian classes with a shared covariance that is far from round."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    centres = 1.5 * rng.standard_normal((classes, d))
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + centres[y], y


def fit(learner, X, y, **more):
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y, **more)


def posterior(learner, X):
    """Bayes' rule with the densities of scipy."""
    likelihood = np.column_stack(
        [multivariate_normal(m, learner.covariance_).pdf(X) for m in learner.means_]
    )
    joint = likelihood * learner.priors_
    return joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("priors", [None, "uneven"])
def test_probabilities_are_the_posterior_of_the_gaussians(classes, priors):
    X, y = cloud(classes=classes)
    learner = LDA(None if priors is None else np.arange(1, classes + 1)).fit(X, y)
    np.testing.assert_allclose(
        learner.predict_proba(X), posterior(learner, X), rtol=1e-9, atol=1e-14
    )
    assert learner.status_ is Status.solved


def test_means_covariance_and_priors_are_those_of_maximum_likelihood():
    X, y = cloud(classes=3, n=100)
    learner = LDA().fit(X, y)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    about = X - means[y]
    np.testing.assert_allclose(learner.means_, means, rtol=1e-12)
    np.testing.assert_allclose(learner.covariance_, about.T @ about / len(X), rtol=1e-12)
    np.testing.assert_allclose(learner.priors_, np.bincount(y) / len(y))


def test_two_classes_follow_the_formula_of_the_lecture():
    X, y = cloud()
    learner = LDA().fit(X, y)
    m0, m1 = learner.means_
    inverse = np.linalg.inv(learner.covariance_)
    p0, p1 = learner.priors_
    b = 0.5 * (m0 @ inverse @ m0 - m1 @ inverse @ m1) + np.log(p1 / p0)
    np.testing.assert_allclose(learner.coef_[0], (m1 - m0) @ inverse, rtol=1e-10)
    np.testing.assert_allclose(learner.intercept_, b, rtol=1e-10)
    np.testing.assert_allclose(learner.predict_proba(X)[:, 1], expit(X @ learner.coef_[0] + b))


def test_its_direction_is_that_of_least_squares_on_coded_targets():
    X, y = cloud()
    direction = LDA().fit(X, y).coef_[0]
    slope = LinearRegression().fit(X, np.where(y == 1, 1.0, -1.0)).coef_
    np.testing.assert_allclose(slope / np.linalg.norm(slope), direction / np.linalg.norm(direction))


@pytest.mark.parametrize("classes", [2, 4])
def test_it_agrees_with_another_library_where_that_one_is_stable(classes):
    X, y = cloud(classes=classes)
    peer = Peer(solver="eigen").fit(X, y)
    np.testing.assert_allclose(LDA().fit(X, y).predict_proba(X), peer.predict_proba(X), atol=1e-9)


def encodings(seed, d):
    """Eight invertible affine maps x ↦ Ax + b."""
    rng = np.random.default_rng(seed + 100)
    Q, _ = np.linalg.qr(rng.standard_normal((d, d)))
    P, _ = np.linalg.qr(rng.standard_normal((d, d)))
    one = np.eye(d)
    mixed = np.diag(10.0 ** np.linspace(-8, 8, d))
    nearly_singular = Q @ np.diag(np.logspace(0, -7, d)) @ P
    matrices = [one, one * 1e8, one * 1e-8, mixed, Q, rng.standard_normal((d, d)), nearly_singular]
    shifts = [1e6, 0.0, 0.0, 0.0, 0.0, 1e4, 0.0]
    return [*zip(matrices, shifts, strict=True), (one[::-1] * 1e200, 0.0)]


@pytest.mark.parametrize("seed", range(20))
def test_no_prediction_depends_on_an_affine_re_encoding(seed):
    d = 6
    X, y = cloud(d=d, classes=2 + seed % 3, seed=seed)
    T = 3 * np.random.default_rng(seed + 50).standard_normal((300, d))
    plain = LDA().fit(X, y)
    for A, b in encodings(seed, d):
        coded = LDA().fit(X @ A + b, y)
        assert coded.status_ is Status.solved
        assert coded.predict(T @ A + b).tolist() == plain.predict(T).tolist()


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e300, 1e-300])
def test_no_scale_is_too_large_or_too_small(scale):
    X, y = cloud(classes=3)
    plain, scaled = LDA().fit(X, y), LDA().fit(X * scale, y)
    np.testing.assert_allclose(scaled.predict_proba(X * scale), plain.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(
        scaled.transform(X * scale), plain.transform(X), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("offset", [1e6, 1e9, 1e12])
def test_an_offset_costs_only_the_digits_that_the_data_lose(offset):
    X, y = cloud(classes=3)
    moved = X + offset
    back = moved - offset  # what is left of X
    np.testing.assert_allclose(
        LDA().fit(moved, y).predict_log_proba(moved),
        LDA().fit(back, y).predict_log_proba(back),
        rtol=1e-7,
        atol=1e-9,
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_an_offset_of_1e15_leaves_a_useful_model(classes):
    X, y = cloud(classes=classes)
    back = (X + 1e15) - 1e15
    assert LDA().fit(X + 1e15, y).score(X + 1e15, y) > LDA().fit(back, y).score(back, y) - 0.02


def test_one_point_and_its_double_are_told_apart():
    learner = fit(LDA(), [[0], [1], [1]], [0, 1, 1])
    assert learner.predict([[0], [1]]).tolist() == [0, 1]
    assert learner.status_ is Status.no_spread
    assert "spread" in learner.status_.value


def test_a_bad_ending_is_told_once():
    with pytest.warns(NotConverged, match="no class has any spread"):
        LDA().fit([[0], [1], [1]], [0, 1, 1])


@pytest.mark.parametrize("classes", [2, 3])
def test_fewer_rows_than_columns_are_separated_and_said(classes):
    rng = np.random.default_rng(0)
    y = np.arange(12) % classes
    X = rng.standard_normal((12, 50)) + y[:, None]
    learner = fit(LDA(), X, y)
    assert learner.status_ is Status.no_spread
    assert learner.rank_ == 12 - classes
    assert learner.score(X, y) == 1.0
    assert np.isfinite(learner.transform(X)).all()
    shrunk = LDA(shrinkage="auto").fit(X, y)
    assert shrunk.status_ is Status.solved
    assert shrunk.score(X, y) == 1.0


def test_a_difference_in_a_direction_without_spread_decides():
    X, y = overlapping(n=200, d=3)
    hidden = np.column_stack([X, X[:, 0] + 1e-3 * y])  # collinear within each class
    learner = fit(LDA(), hidden, y)
    assert learner.score(hidden, y) == 1.0
    assert learner.status_ is Status.no_spread


@pytest.mark.parametrize(
    "more",
    [
        lambda X: X[:, :1],
        lambda X: np.full((len(X), 1), 0.1),
        lambda X: X @ np.array([[0.3], [0.7], [-1.1]]),
        lambda X: np.zeros((len(X), 2)),
    ],
    ids=["duplicate", "constant", "collinear", "zero"],
)
def test_a_column_that_adds_nothing_changes_no_probability(more):
    X, y = overlapping(n=200, d=3)
    wide = np.column_stack([X, more(X)])
    plain, learner = LDA().fit(X, y), LDA().fit(wide, y)
    np.testing.assert_allclose(learner.predict_proba(wide), plain.predict_proba(X), rtol=1e-9)
    assert learner.status_ is Status.deficient
    assert learner.rank_ == 3


@pytest.mark.parametrize("X", [np.zeros((9, 2)), np.full((9, 2), 0.1)], ids=["zero", "constant"])
def test_classes_that_do_not_differ_get_their_priors(X):
    y = [0, 1, 1] * 3
    learner = fit(LDA(), X, y)
    assert learner.status_ is Status.no_difference
    np.testing.assert_allclose(learner.predict_proba(X[:1]), [[1 / 3, 2 / 3]])


def test_the_same_rows_with_both_labels_get_even_odds():
    X, _ = cloud(n=20)
    learner = fit(LDA(), np.repeat(X, 2, axis=0), np.tile([0, 1], 20))
    assert learner.status_ is Status.no_difference
    assert learner.predict_proba(X).tolist() == [[0.5, 0.5]] * 20


def test_one_outlier_and_one_row_in_many_do_no_harm():
    X, y = overlapping(n=200, d=3, distance=6.0)
    wild = X.copy()
    wild[5, 1] = 1e12
    assert LDA().fit(wild, y).score(wild, y) > 0.98
    rng = np.random.default_rng(0)
    rare = np.vstack([rng.standard_normal((5000, 3)), [[9.0, 9.0, 9.0]]])
    labels = np.append(np.zeros(5000), 1)
    assert LDA().fit(rare, labels).score(rare, labels) == 1.0


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 1.0])
def test_fixed_shrinkage_is_that_of_another_library(alpha):
    X, y = cloud(classes=3)
    peer = Peer(solver="lsqr", shrinkage=alpha).fit(X, y)
    learner = LDA(shrinkage=alpha).fit(X, y)
    np.testing.assert_allclose(learner.covariance_, peer.covariance_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(learner.predict_proba(X), peer.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("n", [30, 200])
def test_automatic_shrinkage_is_ledoit_and_wolfs_of_the_standardised_rows(n):
    X, y = cloud(n=n, d=40, classes=3)
    learner = LDA(shrinkage="auto").fit(X, y)
    about = X - np.array([X[y == k].mean(axis=0) for k in range(3)])[y]
    spread = about.std(axis=0)
    covariance, alpha = ledoit_wolf(about / spread, assume_centered=True)
    assert learner.shrinkage_ == pytest.approx(alpha, rel=1e-9)
    np.testing.assert_allclose(
        learner.covariance_, covariance * spread * spread[:, None], rtol=1e-8, atol=1e-9
    )


def test_transform_whitens_the_classes_and_sorts_the_axes():
    X, y = cloud(classes=4, d=6)
    learner = LDA().fit(X, y)
    Z = learner.transform(X)
    assert Z.shape == (len(X), 3)
    means = np.array([Z[y == k].mean(axis=0) for k in range(4)])
    about = Z - means[y]
    np.testing.assert_allclose(about.T @ about / len(Z), np.eye(3), atol=1e-10)
    between = means.T @ np.diag(learner.priors_) @ means
    np.testing.assert_allclose(between, np.diag(between.diagonal()), atol=1e-10)
    assert (np.diff(between.diagonal()) <= 0).all()
    ratio = between.diagonal() / between.trace()
    np.testing.assert_allclose(learner.explained_variance_ratio_, ratio, atol=1e-10)


def test_transform_agrees_with_another_library_up_to_scale_and_sign():
    X, y = cloud(classes=4, d=6)
    mine, theirs = (
        LDA(n_components=2).fit(X, y).transform(X),
        Peer(n_components=2).fit_transform(X, y),
    )
    for a, b in zip(mine.T, theirs.T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1.0, abs=1e-9)


def test_transformed_columns_have_names():
    learner = LDA(n_components=1).fit(*three_classes())
    assert learner.get_feature_names_out().tolist() == ["lineardiscriminantanalysis0"]


def test_a_row_of_weight_three_is_three_rows():
    X, y = cloud(classes=3)
    times = np.random.default_rng(5).integers(0, 4, len(X))
    weighted = LDA().fit(X, y, sample_weight=times)
    repeated = LDA().fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-10)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-10)


@pytest.mark.parametrize("shrinkage", [None, "auto"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_threads_change_no_byte(layout, shrinkage):
    X, y = cloud(n=9000, d=10, classes=3)
    one, two = (LDA(shrinkage=shrinkage, n_jobs=k).fit(layout(X), y) for k in (1, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert one.intercept_.tobytes() == two.intercept_.tobytes()


def test_sparse_rows_give_what_dense_rows_give():
    X, y = cloud(n=500, d=8, classes=3)
    X *= np.random.default_rng(6).random(X.shape) < 0.3
    dense, sparse = LDA().fit(X, y), LDA().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(X)),
        dense.decision_function(X),
        rtol=1e-11,
        atol=1e-12,
    )


def test_float32_stays_float32():
    X, y = cloud()
    learner = LDA().fit(X.astype(np.float32), y)
    assert learner.coef_.dtype == np.float32
    assert learner.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(learner.coef_, LDA().fit(X, y).coef_, rtol=1e-4)


def test_swapping_the_two_labels_negates_the_weights():
    X, y = cloud()
    straight, swapped = LDA().fit(X, y), LDA().fit(X, 1 - y)
    np.testing.assert_allclose(swapped.coef_, -straight.coef_, rtol=1e-12)
    np.testing.assert_allclose(swapped.intercept_, -straight.intercept_, rtol=1e-12)


def test_log_probabilities_do_not_underflow():
    X, y = two_groups()
    far = LDA().fit(X, y).predict_log_proba([[1e6, 0.0]])
    assert np.isfinite(far).all()
    assert far[0, 0] < -1e6


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"shrinkage": 1.5}, "shrinkage is 1.5"),
        ({"shrinkage": "much"}, "shrinkage is 'much'"),
        ({"priors": [1.0]}, "priors is"),
        ({"priors": [1.0, 0.0]}, "positive numbers"),
        ({"n_components": 2}, "at most 1 discriminant"),
        ({"n_components": 0}, "n_components is 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        LDA(**parameters).fit(*two_groups())


def test_a_covariance_that_no_float_can_hold_is_refused_and_the_fit_is_not():
    X, y = cloud()
    learner = LDA().fit(X * 1e300, y)
    assert learner.score(X * 1e300, y) > 0.5
    with pytest.raises(OverflowedError, match="although the fit itself is sound"):
        _ = learner.covariance_


def test_weights_beyond_the_range_of_floats_are_refused():
    X, y = cloud()
    with pytest.raises(OverflowedError, match="Multiply X"):
        LDA().fit(X * 1e-312, y)


def test_too_many_columns_are_refused_with_advice():
    X = sp.random_array((25_000, 30_000), density=1e-6, format="csr", rng=0)
    with pytest.raises(DataError, match="TruncatedSVD"):
        LDA().fit(X, np.arange(25_000) % 2)


def test_the_fit_listens_once_and_tells_the_mistakes():
    told = []
    X, y = overlapping(n=100)
    learner = LDA(callback=told.append).fit(X, y)
    assert [done.mistakes for done in told] == [(learner.predict(X) != y).sum()]


def test_it_takes_the_place_of_another_librarys_in_a_pipeline():
    X, y = cloud(classes=3)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LDA()),
        {"lineardiscriminantanalysis__shrinkage": [None, 0.1, "auto"]},
        cv=3,
    )
    assert search.fit(X, y).best_score_ > 0.5


@pytest.mark.filterwarnings("ignore")
def test_it_keeps_the_contract_of_scikit_learn():
    results = check_estimator(LDA(), on_fail=None)
    assert [r["check_name"] for r in results if r["status"] in ("failed", "xfail")] == []
