"""The descents as the lectures write them: where they start, when they stop, what they keep."""

import warnings

import numpy as np
import pytest

from linsep import LinearRegression, LinearSVC, LogisticRegression, sigmoid
from linsep.data.toys import age_height_weight, height_weight, overlapping, separated, two_groups
from linsep.errors import NotConverged, ParameterError
from linsep.train.order import row_order

BY_HAND = {
    "C": np.inf, "solver": "sgd", "eta0": 0.1, "schedule": "constant", "scale": False,
    "shuffle": False, "tol": 1e-300, "keep": "last",
}  # fmt: skip


def by_the_delta_rule(X, t, eta, epochs):
    """w = 0, b = 0; for M epochs, for each sample: w ← w + η(t − σ(⟨w, x⟩ + b))x."""
    w, rows = np.zeros(X.shape[1] + 1), np.column_stack([X, np.ones(len(X))])
    for _ in range(epochs):
        for x, one in zip(rows, t, strict=True):
            w += eta * (one - 1 / (1 + np.exp(-x @ w))) * x
    return w


@pytest.mark.parametrize("data", [overlapping(n=60), separated(n=60, margin=0.5)[:2]])
def test_the_last_weights_are_those_of_the_lectures_loop(data):
    X, y = data
    with pytest.warns(NotConverged):
        model = LogisticRegression(max_iter=7, **BY_HAND).fit(X, y)
    wanted = by_the_delta_rule(X, y > 0, 0.1, 7)
    np.testing.assert_allclose([*model.coef_[0], *model.intercept_], wanted, rtol=1e-9)
    assert model.n_iter_ == 7


def test_the_best_weights_are_never_worse_than_the_last():
    X, y = overlapping(n=80, seed=2)
    found = {}
    for keep in ("best", "last"):
        with pytest.warns(NotConverged):
            settings = {**BY_HAND, "keep": keep, "eta0": 2.0, "max_iter": 6}
            found[keep] = LogisticRegression(**settings).fit(X, y).objective_
    assert found["best"] < found["last"]


@pytest.mark.parametrize("solver", ["newton", "dual", "gradient"])
def test_a_convex_loss_ends_at_one_place_whatever_the_start(solver):
    X, y = overlapping(n=80, seed=2)
    zero = LogisticRegression(solver=solver, tol=1e-8).fit(X, y)
    for seed in range(3):
        start = {"start": "random", "random_state": seed}
        model = LogisticRegression(solver=solver, tol=1e-8, **start).fit(X, y)
        np.testing.assert_allclose(model.coef_, zero.coef_, rtol=2e-3, atol=2e-4)


def test_a_random_start_is_where_the_first_step_begins():
    X, y = overlapping(n=30)
    H, kg = height_weight(30)
    tiny = {"start": "random", "max_iter": 1, "eta0": 1e-12, "schedule": "constant"}
    ends = []
    for seed in (0, 0, 1):
        with pytest.warns(NotConverged):
            model = LogisticRegression(solver="sgd", keep="last", random_state=seed, **tiny)
            ends.append(model.fit(X, y).coef_[0].round(6).tolist())
        with pytest.warns(NotConverged):
            line = LinearRegression("sgd", random_state=seed, **tiny).fit(H, kg)
            ends[-1].append(float(line.coef_[0]))
    assert ends[0] == ends[1] != ends[2]
    assert all(abs(value) > 1e-3 for value in ends[0])


def test_an_absolute_stop_ends_where_the_loss_first_changes_by_less():
    H, kg = height_weight(100)
    eps = 1e-3
    line = LinearRegression("batch", eta0=0.1, stop="absolute", tol=eps).fit(H, kg)
    changes = np.abs(np.diff(line.loss_curve_))
    assert changes[-1] < eps
    assert (changes[:-1] >= eps).all()
    z = (H[:, 0] - H.mean()) / H.std()  # the loss is that of the lecture, in kg²
    own = 0.5 * np.mean((kg - kg.mean() - 0.1 * z * np.mean(z * kg)) ** 2)
    centred = LinearRegression("batch", eta0=0.1, max_iter=1, stop="absolute", tol=eps)
    with pytest.warns(NotConverged):
        first = centred.fit(H, kg - kg.mean())
    np.testing.assert_allclose(first.loss_curve_[0], own, rtol=1e-9)
    assert line.status_.name == "converged"


def test_drawing_rows_takes_some_twice_and_some_not_at_all():
    """Row i alone moves weight i, once for each time it is drawn: (1 − η)ᵗ is left of its error."""
    X, y = np.eye(40), np.ones(40)
    how = {"eta0": 0.5, "schedule": "constant", "scale": False, "fit_intercept": False}
    with pytest.warns(NotConverged):
        line = LinearRegression("sgd", shuffle="draw", max_iter=1, **how).fit(X, y)
    times = np.round(np.log2(1 / (1 - line.coef_))).astype(int)
    assert times.sum() == 40
    assert times.min() == 0
    assert times.max() >= 2
    with pytest.warns(NotConverged):
        each = LinearRegression("sgd", shuffle=True, max_iter=1, **how).fit(X, y)
    assert each.coef_.tolist() == [0.5] * 40


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (LinearRegression("batch", start="middle"), "start is 'middle'"),
        (LinearRegression("batch", stop="soon"), "stop is 'soon'"),
        (LinearRegression("sgd", shuffle="deal"), "shuffle is 'deal'"),
        (LogisticRegression(start="two-point"), "start is 'two-point'"),
        (LogisticRegression(keep="average"), "keep is 'average'"),
    ],
)
def test_words_that_are_not_known_are_refused_by_name(learner, words):
    X, y = overlapping(n=20)
    with pytest.raises(ParameterError, match=f"{words}; choose one of"):
        learner.fit(X, y)


@pytest.mark.parametrize("C", [np.inf, 1e9])
def test_the_intercept_is_that_of_the_rule_itself(C):
    X, y = overlapping(n=60)
    with pytest.warns(NotConverged):
        model = LogisticRegression(max_iter=1, **{**BY_HAND, "C": C, "keep": "best"}).fit(X, y)
    wanted = by_the_delta_rule(X, y > 0, 0.1, 1)
    np.testing.assert_allclose([*model.coef_[0], *model.intercept_], wanted, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_step_too_small_crawls_one_too_large_diverges_and_auto_does_neither(scale):
    x = scale * np.linspace(-1, 1, 40)[:, None]
    y = 3 * x[:, 0] / scale + 1
    longest = 2 / max((x**2).mean(), 1.0)  # 2 over the largest curvature: the mean of x is 0

    def ending(eta0):
        raw = {"solver": "batch", "scale": False, "schedule": "constant", "max_iter": 1000}
        with warnings.catch_warnings(action="ignore", category=NotConverged):
            return LinearRegression(eta0=eta0, tol=1e-10, **raw).fit(x, y).status_.name

    assert ending(1e-6 * longest) == "unfinished"
    assert ending(1.1 * longest) == "diverged"
    with warnings.catch_warnings(action="error"):
        model = LinearRegression("batch", tol=1e-10).fit(x, y)
    assert model.status_.name == "converged"
    np.testing.assert_allclose(model.predict(x), y, atol=1e-3)


def test_the_two_sample_start_of_several_features_goes_through_both():
    A, kg = age_height_weight(20)
    settings = {"max_iter": 1, "eta0": 1e-12, "tol": 0, "scale": False}
    with pytest.warns(NotConverged):
        start = LinearRegression("batch", start="two-point", **settings).fit(A, kg)
    np.testing.assert_allclose(start.predict(A[:2]), kg[:2], rtol=1e-6)
    whole = (kg[1] - kg[0]) / (A[1] - A[0])  # as the lecture prints it: each gets the whole slope
    np.testing.assert_allclose(whole @ (A[1] - A[0]), 2 * (kg[1] - kg[0]))


def test_the_printed_start_of_a_lecture_is_where_every_descent_begins():
    """w̃[0] = (0, 1, −0.5) of the eight points, one batch step by Σ(t − σ)x̃/n, in both scales."""
    X, y = two_groups()
    extended, w = np.column_stack([X, np.ones(8)]), np.array([0.0, 1.0, -0.5])
    wanted = w + 0.1 * ((y > 0) - sigmoid(extended @ w)) @ extended / 8
    steps = {"C": np.inf, "eta0": 0.1, "schedule": "constant", "keep": "last", "max_iter": 1}
    with pytest.warns(NotConverged):
        one = LogisticRegression(solver="gradient", scale=False, init=w, **steps).fit(X, y)
    np.testing.assert_allclose([*one.coef_[0], *one.intercept_], wanted, rtol=1e-12)
    still = {"eta0": 1e-30, "schedule": "constant", "max_iter": 1}
    with pytest.warns(NotConverged):
        for model in (
            LogisticRegression(solver="sgd", init=w, **still),
            LinearSVC(solver="sgd", init=w, **still),
        ):
            model.fit(X, y)
            np.testing.assert_allclose([*model.coef_[0], *model.intercept_], w, atol=1e-15)


@pytest.mark.parametrize("scale", [False, True])
def test_regression_begins_at_the_line_it_is_given(scale):
    H, kg = height_weight(100)
    still = LinearRegression(
        "batch", init=([1.0], -100.0), scale=scale, eta0=1e-30, max_iter=1, schedule="constant"
    )
    with pytest.warns(NotConverged):
        still.fit(H, kg)
    assert still.predict([[0.0], [180.0]]) == pytest.approx([-100.0, 80.0], abs=1e-9)
    assert still.loss_curve_[0] == pytest.approx(((H[:, 0] - 100 - kg) ** 2).mean() / 2)


@pytest.mark.parametrize("learner", [LogisticRegression(), LinearRegression()])
def test_a_start_of_another_shape_is_refused_with_the_shape_wanted(learner):
    learner.set_params(solver="sgd", init=[1.0])
    with pytest.raises(ParameterError, match="X asks for 1 of 2"):
        learner.fit(*two_groups())


@pytest.mark.parametrize("solver", ["minibatch", "sgd"])
def test_rows_may_be_drawn_independently_for_folds_and_single_rows(solver):
    """Of 60 rows drawn 60 times about 38 come: a pass differs from that of a permutation."""
    X, y = overlapping(n=60)
    ends = []
    for shuffle in (True, "draw"):
        model = LogisticRegression(
            **{**BY_HAND, "solver": solver, "shuffle": shuffle, "max_iter": 1, "batch_size": 10}
        )
        with pytest.warns(NotConverged):
            ends.append(model.fit(X, y).coef_[0].tolist())
    assert ends[0] != ends[1]
    order = row_order(60, 0, 1, 0, "draw")
    assert 30 <= len(set(order.tolist())) <= 46
    w, rows = np.zeros(3), np.column_stack([X, np.ones(60)])
    size = 10 if solver == "minibatch" else 1
    for k in range(0, 60, size):
        fold = order[k : k + size]
        pull = ((y[fold] > 0) - sigmoid(rows[fold] @ w)) @ rows[fold]
        w = w + 0.1 * pull / len(fold)
    np.testing.assert_allclose(ends[1], w[:2], rtol=1e-9)
