"""Relations that hold exactly: what may change in the data or the parameters, and what follows."""

import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import reference
from linsep import PassiveAggressive, Perceptron, VotedPerceptron
from linsep.data.toys import separated
from linsep.errors import NotConverged


def fit(learner, X, y, **more):
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y, **more)


def cloud(seed, classes=2, n=40, d=4):
    """Rows with rounding to lose, and every class in the first rows."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return rng.standard_normal((n, d)) + codes[:, None], codes


def whole(seed, classes=2, n=24, d=3):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return rng.integers(-3, 4, (n, d)).astype(float), codes


def same_planes(a, b):
    return (
        a.coef_.tobytes() == b.coef_.tobytes() and a.intercept_.tobytes() == b.intercept_.tobytes()
    )


BINARY = [
    Perceptron(max_iter=20),
    Perceptron(max_iter=20, keep="average"),
    Perceptron(max_iter=20, keep="pocket"),
    Perceptron(max_iter=20, bias_step="radius", margin=0.5),
    Perceptron("batch", max_iter=20),
    Perceptron("batch", max_iter=20, schedule="line-search"),
    Perceptron("minibatch", max_iter=20, batch_size=4, step="mean"),
    PassiveAggressive(max_iter=20),
    PassiveAggressive(max_iter=20, variant="PA-II", keep="average"),
    VotedPerceptron(decide="average"),
    VotedPerceptron(decide="last"),
]


@pytest.mark.parametrize("learner", BINARY, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_swapping_the_two_labels_negates_the_weights(learner, seed):
    X, codes = cloud(seed)
    straight = fit(learner, X, codes)
    w, b = straight.coef_.copy(), straight.intercept_.copy()
    swapped = fit(learner, X, 1 - codes)
    assert (-swapped.coef_).tolist() == w.tolist()
    assert (-swapped.intercept_).tolist() == b.tolist()


@pytest.mark.parametrize("power", [-500, -40, 3, 40, 500])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("keep", ["last", "average", "pocket"])
def test_scaling_rows_by_a_power_of_two_changes_no_mistake(keep, classes, power):
    X, codes = cloud(0, classes)
    X = np.column_stack([X, np.ones(len(X))])  # the constant feature is scaled with the rest
    learner = Perceptron(keep=keep, max_iter=15, fit_intercept=False)
    w, made = fit(learner, X, codes).coef_.copy(), learner.mistakes_per_epoch_
    fit(learner, X * 2.0**power, codes)
    assert learner.mistakes_per_epoch_ == made
    assert (learner.coef_ / 2.0**power).tobytes() == w.tobytes()


@pytest.mark.parametrize("power", [-300, -5, 5, 300])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rule", ["online", "minibatch", "batch"])
def test_a_learning_rate_times_a_power_of_two_changes_no_prediction(rule, classes, power):
    X, codes = cloud(1, classes)
    one = fit(Perceptron(rule, max_iter=15, keep="average"), X, codes)
    other = fit(Perceptron(rule, max_iter=15, keep="average", eta0=2.0**power), X, codes)
    assert other.mistakes_per_epoch_ == one.mistakes_per_epoch_
    assert (other.coef_ / 2.0**power).tobytes() == one.coef_.tobytes()
    assert (other.predict(X) == one.predict(X)).all()


ONLINE = [
    Perceptron(max_iter=3, shuffle=False),
    Perceptron(max_iter=3, shuffle=False, keep="average"),
    Perceptron(max_iter=3, shuffle=False, keep="pocket"),
    Perceptron(max_iter=3, shuffle=False, multiclass="ovr"),
    PassiveAggressive(max_iter=3, shuffle=False),
    PassiveAggressive(max_iter=3, shuffle=False, variant="PA-II", multiclass="ovr"),
    VotedPerceptron(max_iter=3, shuffle=False),
    VotedPerceptron(max_iter=3, shuffle=False, decide="average"),
]


@pytest.mark.parametrize("learner", ONLINE, ids=repr)
@pytest.mark.parametrize("classes", [2, 4])
def test_an_integer_weight_is_that_many_presentations_in_a_row(learner, classes):
    X, codes = cloud(2, classes)
    times = np.random.default_rng(0).integers(0, 4, len(X))
    times[: 2 * classes] = 1
    repeated = np.repeat(np.arange(len(X)), times)
    weighted = fit(learner, X, codes, sample_weight=times)
    scores, made = weighted.decision_function(X), weighted.mistakes_per_epoch_
    plain = fit(learner, X[repeated], codes[repeated])
    if learner.get_params().get("keep") != "pocket":  # whose mistakes are counted with weights
        assert plain.mistakes_per_epoch_ == made
    if learner.get_params().get("decide") == "average":  # each row is stored once: another sum
        np.testing.assert_allclose(plain.decision_function(X), scores, rtol=1e-12, atol=1e-12)
    else:
        assert plain.decision_function(X).tobytes() == scores.tobytes()


@pytest.mark.parametrize("classes", [2, 3])
def test_a_broken_weight_ends_with_a_presentation_of_part_of_a_step(classes):
    X, codes = whole(3, classes)
    weights = np.random.default_rng(1).choice([0.0, 0.25, 0.5, 1.0, 2.5], len(X))
    weights[:classes] = 0.5
    learner = Perceptron(max_iter=4, shuffle=False)
    fit(learner, X, codes, sample_weight=weights)
    shown = reference.online(
        X.astype(int).tolist(), codes.tolist(), 1 if classes == 2 else classes, 4,
        times=[Fraction(w) for w in weights],
    )  # fmt: skip
    W = np.array([[float(v) for v in w] for w in shown[-1].weights])
    assert np.column_stack([learner.coef_, learner.intercept_]).tolist() == W.tolist()


@pytest.mark.parametrize("step", ["sum", "mean"])
@pytest.mark.parametrize("classes", [2, 3])
def test_in_a_batch_a_weight_multiplies_what_a_row_asks_for(classes, step):
    X, codes = whole(4, classes)
    weights = np.random.default_rng(1).choice([0, 1, 2, 5], len(X))
    weights[:classes] = 1
    weights[-1] += -weights.sum() % 32  # so that the mean divides by a power of two
    weights[-1] += 64 - weights.sum() if weights.sum() < 64 else 0
    learner = Perceptron("batch", step=step, max_iter=4)
    fit(learner, X, codes, sample_weight=weights)
    shown = reference.batches(
        X.astype(int).tolist(), codes.tolist(), 1 if classes == 2 else classes, 4,
        mean=step == "mean", weights=weights.tolist(),
    )  # fmt: skip
    W = np.array([[float(v) for v in w] for w in shown[-1].weights])
    assert weights.sum() == 64
    assert np.column_stack([learner.coef_, learner.intercept_]).tolist() == W.tolist()


@pytest.mark.parametrize(
    "learner",
    [Perceptron(max_iter=5), PassiveAggressive(max_iter=5), VotedPerceptron(5, decide="last")],
    ids=repr,
)
def test_class_weights_multiply_sample_weights(learner):
    X, codes = cloud(5, 3)
    y = np.array(["ham", "news", "spam"])[codes]
    weights = np.random.default_rng(0).integers(1, 3, len(X)).astype(float)
    asked = learner.set_params(class_weight={"spam": 3.0, "ham": 2})
    w = fit(asked, X, y, sample_weight=weights).coef_.copy()
    plain = learner.set_params(class_weight=None)
    fit(plain, X, y, sample_weight=weights * np.array([2.0, 1.0, 3.0])[codes])
    assert plain.coef_.tobytes() == w.tobytes()


def test_balanced_classes_weigh_the_same_in_all():
    X, codes = cloud(6, 2)
    counts = np.bincount(codes)
    balanced = fit(Perceptron("batch", max_iter=4, class_weight="balanced"), X, codes)
    weights = len(X) / (2 * counts)[codes]
    plain = fit(Perceptron("batch", max_iter=4), X, codes, sample_weight=weights)
    assert same_planes(balanced, plain)


STREAMS = [
    Perceptron(max_iter=1, shuffle=False),
    Perceptron(max_iter=1, shuffle=False, keep="average"),
    Perceptron(max_iter=1, shuffle=False, keep="pocket"),
    Perceptron(max_iter=1, shuffle=False, multiclass="ovr"),
    Perceptron(max_iter=1, shuffle=False, multiclass="ovr", keep="average"),
    Perceptron(max_iter=1, shuffle=False, multiclass="ovr", keep="pocket"),
    Perceptron("minibatch", max_iter=1, shuffle=False, batch_size=5),
    Perceptron("minibatch", max_iter=1, shuffle=False, batch_size=5, keep="average"),
    PassiveAggressive(max_iter=1, shuffle=False),
    PassiveAggressive(max_iter=1, shuffle=False, keep="average"),
    PassiveAggressive(max_iter=1, shuffle=False, variant="PA-II", multiclass="ovr"),
    VotedPerceptron(max_iter=1, shuffle=False),
    VotedPerceptron(max_iter=1, shuffle=False, decide="average"),
    VotedPerceptron(max_iter=1, shuffle=False, decide="last"),
]


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("learner", STREAMS, ids=repr)
@pytest.mark.parametrize("classes", [2, 9])
def test_rows_in_parts_end_where_one_pass_over_them_ends(learner, classes, layout):
    X, codes = cloud(7, classes, n=60)
    whole_pass = fit(learner, layout(X), codes)
    scores = whole_pass.decision_function(X)
    stream = type(learner)(**learner.get_params())
    for part in (slice(0, 5), slice(5, 10), slice(10, 45), slice(45, 60)):
        stream.partial_fit(layout(X)[part], codes[part], classes=np.arange(classes))
    assert stream.mistakes_ == whole_pass.mistakes_
    assert stream.decision_function(X).tobytes() == scores.tobytes()
    assert stream.status_.name == "streaming"


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "learner",
    [
        Perceptron("minibatch", max_iter=1, shuffle=False, batch_size=7),
        Perceptron("minibatch", max_iter=1, shuffle=False, batch_size=7, step="mean"),
        Perceptron("minibatch", max_iter=1, shuffle=False, keep="average", multiclass="ovr"),
        Perceptron("minibatch", max_iter=1, shuffle=False, batch_size=5000),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("classes", "n"), [(2, 60), (9, 60), (2, 9000)])
def test_minibatches_do_not_depend_on_how_rows_are_cut(learner, classes, n, layout):
    X, codes = cloud(7, classes, n=n)
    weights = np.random.default_rng(1).integers(1, 4, n).astype(float)
    for given in (None, weights):
        whole_pass = fit(learner, layout(X), codes, sample_weight=given)
        rng = np.random.default_rng(0)
        for pieces in (1, 2, 5, 20):
            stream = type(learner)(**learner.get_params())
            ends = [0, *sorted(rng.integers(1, n, pieces - 1)), n]
            for start, stop in pairwise(ends):
                if start < stop:
                    some = None if given is None else given[start:stop]
                    rows, labels = layout(X)[start:stop], codes[start:stop]
                    stream.partial_fit(rows, labels, np.arange(classes), sample_weight=some)
            assert stream.coef_.tobytes() == whole_pass.coef_.tobytes()
            assert stream.intercept_.tobytes() == whole_pass.intercept_.tobytes()
            assert stream.mistakes_ == whole_pass.mistakes_


def test_a_short_minibatch_counts_before_the_rest_of_it_has_come():
    X, codes = cloud(7, 2, n=60)
    stream = Perceptron("minibatch", batch_size=32).partial_fit(X[:10], codes[:10], [0, 1])
    once = Perceptron("minibatch", batch_size=32, max_iter=1, shuffle=False)
    alone = fit(once, X[:10], codes[:10])
    assert stream.coef_.tobytes() == alone.coef_.tobytes()
    assert stream.coef_.any()


@pytest.mark.parametrize("learner", STREAMS, ids=repr)
@pytest.mark.parametrize("classes", [2, 9])
def test_parts_may_change_between_dense_and_sparse_and_between_precisions(learner, classes):
    X, codes = whole(8, classes, n=60)
    whole_pass = fit(learner, X, codes)
    scores = whole_pass.decision_function(X)
    layouts = [
        lambda rows: rows.astype(np.float32),
        sp.csr_array,
        np.asarray,
        lambda rows: sp.csr_array(rows.astype(np.float32)),
    ]
    for turn in range(4):
        stream = type(learner)(**learner.get_params())
        for k, part in enumerate((slice(0, 10), slice(10, 30), slice(30, 45), slice(45, 60))):
            rows = layouts[(k + turn) % 4](X[part])
            stream.partial_fit(rows, codes[part], classes=np.arange(classes))
        assert stream.mistakes_ == whole_pass.mistakes_
        # Passive-aggressive steps are fractions, which float32 rounds.
        close = 1e-6 if isinstance(learner, PassiveAggressive) else 1e-12
        np.testing.assert_allclose(stream.decision_function(X), scores, rtol=close, atol=close)


def test_a_fit_can_be_gone_on_from_with_new_rows():
    X, codes = whole(9, 2, n=40)
    both = fit(Perceptron(max_iter=1, shuffle=False), X, codes)
    gone_on = fit(Perceptron(max_iter=1, shuffle=False), X[:20], codes[:20])
    gone_on.partial_fit(X[20:], codes[20:])
    assert same_planes(gone_on, both)


@pytest.mark.parametrize("margin", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_no_more_mistakes_than_novikoff_allows(seed, margin):
    X, y, u = separated(n=200, d=5, margin=margin, seed=seed)
    gamma = min(float(sum(Fraction(a) * Fraction(b) for a, b in zip(x, u, strict=True))) * s
                for x, s in zip(X.tolist(), y.tolist(), strict=True))  # fmt: skip
    squares = (X**2).sum(axis=1)
    norm = float(u @ u)
    through_origin = Perceptron(fit_intercept=False, random_state=seed, max_iter=10**6).fit(X, y)
    assert through_origin.mistakes_ <= squares.max() * norm / gamma**2
    with_intercept = Perceptron(random_state=seed, max_iter=10**6).fit(X, y)
    assert with_intercept.mistakes_ <= (squares.max() + 1) * norm / gamma**2
    assert through_origin.score(X, y) == with_intercept.score(X, y) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_is_part_of_the_question(seed):
    """Online rules depend on the order; the same order gives the same answer."""
    X, codes = cloud(seed)
    one, same, other = (
        fit(Perceptron(max_iter=3, random_state=state), X, codes) for state in (0, 0, 1)
    )
    assert same_planes(one, same)
    assert not same_planes(one, other)
