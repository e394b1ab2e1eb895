"""Fisher's discriminant: the lecture's numbers, the best direction and the best cut along it."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from linsep import FisherDiscriminant, LinearDiscriminantAnalysis, Status, separability
from linsep.data.toys import overlapping, separated, three_classes, two_groups
from linsep.errors import NotConverged, ParameterError
from linsep.learners.discriminants import best_threshold as cuts

Fisher = FisherDiscriminant


def fit(learner, X, y, **more):
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y, **more)


def criterion(w, X, y):
    """J(w) by its definition."""
    first, second = X[y == y.min()], X[y == y.max()]
    apart = w @ (second.mean(axis=0) - first.mean(axis=0))
    scatter = sum(np.square((part - part.mean(axis=0)) @ w).sum() for part in (first, second))
    return apart**2 / scatter


def test_the_worked_example_of_the_lecture():
    learner = Fisher().fit(*two_groups())
    np.testing.assert_allclose(learner.means_, [[0.1375, 0.6], [0.825, 0.5]], rtol=1e-12)
    np.testing.assert_allclose(learner.scatter_, [[0.204375, 0.03], [0.03, 1.24]], rtol=1e-12)
    np.testing.assert_allclose(learner.coef_, [[3.38778, -0.16261]], atol=5e-6)
    np.testing.assert_allclose(learner.intercept_, [-1.44320], atol=5e-6)
    assert learner.status_ is Status.solved


def test_its_weights_solve_the_scatter_against_the_difference_of_the_means():
    X, y = overlapping(n=100, d=5)
    learner = Fisher().fit(X, y)
    apart = X[y == 1].mean(axis=0) - X[y == -1].mean(axis=0)
    np.testing.assert_allclose(learner.scatter_ @ learner.coef_[0], apart, rtol=1e-10)


def test_no_direction_has_a_larger_criterion():
    X, y = overlapping(n=100, d=4)
    learner = Fisher().fit(X, y)
    best = criterion(learner.coef_[0], X, y)
    assert learner.criterion_ == pytest.approx(best, rel=1e-10)
    others = np.random.default_rng(0).standard_normal((200, 4))
    nearby = learner.coef_[0] + 1e-2 * others
    assert max(criterion(w, X, y) for w in [*others, *nearby]) <= best


def test_its_direction_is_that_of_discriminant_analysis():
    X, y = overlapping(n=300, d=6)
    a, b = Fisher().fit(X, y).coef_[0], LinearDiscriminantAnalysis().fit(X, y).coef_[0]
    np.testing.assert_allclose(a / np.linalg.norm(a), b / np.linalg.norm(b), rtol=1e-10)


def test_the_margin_bias_lies_midway_between_the_closest_rows():
    X, y, _ = separated(n=60, d=2, margin=1.0)
    learner = Fisher().fit(X, y)
    scores = learner.decision_function(X)
    assert separability(X, y).separable
    assert (y * scores).min() > 0
    assert scores[y == 1].min() == pytest.approx(-scores[y == -1].max(), rel=1e-9)


def test_the_midpoint_bias_lies_midway_between_the_means():
    X, y = overlapping(n=80)
    learner = Fisher("midpoint").fit(X, y)
    first, second = learner.decision_function(learner.means_)
    assert first == pytest.approx(-second, rel=1e-10)


def best_cut(scores, positive, weights):
    def of(i, j):
        return scores[i:j], positive[i:j], weights[i:j]

    return cuts.best_cut(cuts.Line(len(scores), of, scores))


@given(
    scores=st.lists(st.integers(-6, 6), min_size=1, max_size=12),
    data=st.data(),
)
def test_no_cut_misplaces_fewer_rows(scores, data):
    n = len(scores)
    positive = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), float)
    s = np.array(scores, float)

    def mistakes(cut):
        return weights[(s >= cut) != positive].sum()

    cut = best_cut(s, positive, weights)
    ends = [s.min() - 1, *(s + 0.25), s.max() + 1]
    assert mistakes(cut) == min(mistakes(c) for c in ends)
    assert cut not in s
    # in the middle of its gap, and no gap as good is wider
    gaps = np.diff(np.unique(s))
    middles = np.unique(s)[:-1] + gaps / 2
    equal = [g for g, m in zip(gaps, middles, strict=True) if mistakes(m) == mistakes(cut)]
    if equal:
        assert cut in middles
        assert gaps[middles == cut][0] == max(equal)


def test_rows_without_weight_do_not_move_the_cut():
    s, positive = np.array([0.0, 1.0, 3.0, 4.0, 2.9]), np.array([False, False, True, True, False])
    assert best_cut(s, positive, np.array([1.0, 1.0, 1.0, 1.0, 0.0])) == 2.0


@pytest.mark.parametrize("kinds", [3, 40, 10**6])
def test_scores_sorted_in_runs_give_the_same_cut(kinds, monkeypatch, tmp_path):
    rng = np.random.default_rng(kinds)
    scores = np.sort(rng.integers(-kinds, kinds, 3000) / 8.0)
    positive = scores + rng.normal(0, kinds / 16, 3000) > 0
    weights = rng.integers(0, 4, 3000).astype(float)
    whole = best_cut(scores, positive, weights)
    monkeypatch.setattr(cuts, "RUN", 256)
    assert best_cut(scores, positive, weights) == whole
    order = rng.permutation(3000)
    mapped = np.memmap(tmp_path / "scores", float, "w+", shape=3000)
    mapped[:] = scores[order]
    assert best_cut(mapped, positive[order], weights[order]) == whole


def test_each_class_against_the_rest_is_a_fit_of_two_classes():
    X, y = three_classes(n=120)
    learner = Fisher().fit(X, y)
    for k in range(3):
        alone = Fisher().fit(X, y == k)
        np.testing.assert_allclose(learner.coef_[k], alone.coef_[0], rtol=1e-10)
        np.testing.assert_allclose(learner.intercept_[k], alone.intercept_[0], rtol=1e-10)
        assert learner.criterion_[k] == pytest.approx(alone.criterion_, rel=1e-10)
    assert learner.score(X, y) == 1.0


@pytest.mark.parametrize("columns", [2, 60], ids=["collinear", "n < d"])
def test_each_class_against_the_rest_where_spread_is_missing(columns):
    rng = np.random.default_rng(0)
    X, y = three_classes(n=30)
    X = np.column_stack([X, X @ rng.standard_normal((2, columns))])
    learner = fit(Fisher(), X, y)
    plain = Fisher().fit(X[:, :2], y)
    assert learner.status_ is Status.deficient
    assert learner.rank_ == 2
    np.testing.assert_allclose(learner.decision_function(X), plain.decision_function(X[:, :2]))


def test_a_direction_without_scatter_has_an_infinite_criterion():
    X, y = overlapping(n=40, d=3)
    hidden = np.column_stack([X, X[:, 1] + 1e-3 * y])
    learner = fit(Fisher(), hidden, y)
    assert learner.status_ is Status.no_spread
    assert learner.criterion_ == np.inf
    assert learner.score(hidden, y) == 1.0


@pytest.mark.parametrize("bias", ["margin", "midpoint"])
@pytest.mark.parametrize("labels", [[0, 1, 1], ["c", "a", "a", "b", "a"]])
def test_classes_that_do_not_differ_get_the_more_frequent_one(bias, labels):
    X = np.full((len(labels), 2), 0.1)
    learner = fit(Fisher(bias), X, labels)
    assert learner.status_ is Status.no_difference
    assert learner.predict(X[:1]).tolist() == [max(set(labels), key=labels.count)]


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e300, 1e-300])
def test_no_scale_is_too_large_or_too_small(scale):
    X, y = overlapping(n=60, d=3)
    plain, scaled = Fisher().fit(X, y), Fisher().fit(X * scale, y)
    np.testing.assert_allclose(
        scaled.decision_function(X * scale), plain.decision_function(X), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("offset", [1e6, 1e9, 1e12, 1e15])
def test_an_offset_costs_only_the_digits_that_the_data_lose(offset):
    X, y = overlapping(n=60, d=3)
    moved = X + offset
    back = moved - offset
    mine, theirs = Fisher().fit(moved, y), Fisher().fit(back, y)
    np.testing.assert_allclose(
        mine.decision_function(moved), theirs.decision_function(back), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("seed", range(5))
def test_no_prediction_depends_on_an_affine_re_encoding(seed):
    rng = np.random.default_rng(seed)
    X, y = overlapping(n=100, d=4, seed=seed)
    A, b = rng.standard_normal((4, 4)) * 10.0 ** rng.integers(-6, 6, 4), 100.0
    T = rng.standard_normal((300, 4))
    coded = Fisher().fit(X @ A + b, y).predict(T @ A + b)
    assert coded.tolist() == Fisher().fit(X, y).predict(T).tolist()


def test_swapping_the_two_labels_negates_the_weights():
    X, y, _ = separated(n=60, d=3)
    straight, swapped = Fisher().fit(X, y), Fisher().fit(X, -y)
    np.testing.assert_allclose(swapped.coef_, -straight.coef_, rtol=1e-12)
    np.testing.assert_allclose(swapped.intercept_, -straight.intercept_, rtol=1e-9, atol=1e-12)


def test_a_row_of_weight_three_is_three_rows():
    X, y = overlapping(n=60, d=3)
    times = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = Fisher().fit(X, y, sample_weight=times)
    repeated = Fisher().fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-10)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-9)
    np.testing.assert_allclose(weighted.scatter_, repeated.scatter_, rtol=1e-10)


def test_threads_change_no_byte():
    X, y = overlapping(n=9000, d=8)
    one, two = (Fisher(n_jobs=k).fit(X, y) for k in (1, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert one.intercept_.tobytes() == two.intercept_.tobytes()


def test_sparse_rows_give_what_dense_rows_give():
    X, y = overlapping(n=300, d=6)
    X *= np.random.default_rng(2).random(X.shape) < 0.4
    dense, sparse = Fisher().fit(X, y), Fisher().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, rtol=1e-11)


def test_fewer_rows_than_columns_are_separated_and_said():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((10, 40)), np.arange(10) % 2
    learner = fit(Fisher(), X, y)
    assert learner.score(X, y) == 1.0
    assert learner.status_ is Status.no_spread
    about = X - learner.means_[y]
    np.testing.assert_allclose(learner.scatter_, about.T @ about, atol=1e-10)


def test_an_unknown_bias_is_refused():
    with pytest.raises(ParameterError, match="bias is 'left'"):
        Fisher("left").fit(*two_groups())


@pytest.mark.filterwarnings("ignore")
def test_it_keeps_the_contract_of_scikit_learn():
    results = check_estimator(Fisher(), on_fail=None)
    assert [r["check_name"] for r in results if r["status"] in ("failed", "xfail")] == []
