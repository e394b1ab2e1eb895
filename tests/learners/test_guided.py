"""What a modeller tells: offsets, weights of penalties and bounds, against others and by KKT."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from scipy.optimize import linprog, minimize
from sklearn import datasets
from sklearn.base import clone

import linsep
from linsep import LinearRegression, LinearSVC, LogisticRegression, Status, gap
from linsep.errors import DataError, NotConverged, ParameterError

CLASSES = {"breast_cancer": 2, "wine": 3, "iris": 3, "digits": 2}


def real(name, scale=True):
    """A real set, an offset for its rows, bounds of either side, and weights of penalties."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    if name == "digits":
        X, y = X[y < 2], y[y < 2]
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0) if scale else X
    rng, d = np.random.default_rng(0), X.shape[1]
    planes = 1 if CLASSES.get(name, 1) == 2 else CLASSES[name]
    offset = rng.normal(size=len(X) if planes == 1 else (len(X), planes))
    low, high = (
        np.where(rng.random(d) < 0.4, 0.0, -np.inf),
        np.where(rng.random(d) < 0.3, 0.05, 9.0),
    )
    return X, y, offset, low, high, rng.uniform(0.3, 3.0, d)


def value(model, X, y, offset, weight):
    """The objective of fitted weights, written out in NumPy."""
    W, S = model.coef_, np.asarray(X @ model.coef_.T + model.intercept_)
    S = S + np.reshape(offset, (len(X), -1))
    if isinstance(model, LogisticRegression):
        l1 = model.l1_ratio
        if len(W) == 1:
            S = np.column_stack([np.zeros(len(X)), S])
        own = S[np.arange(len(X)), np.unique(y, return_inverse=True)[1]]
        top = S.max(axis=1)
        losses = np.log(np.exp(S - top[:, None]).sum(axis=1)) + top - own
    else:
        l1, signs = float(model.penalty == "l1"), np.where(y[:, None] == np.unique(y), 1, -1)
        inside = np.maximum(0, 1 - signs[:, -len(W) :] * S)
        losses = inside if model.loss == "hinge" else inside**2
    C = 1.0 if np.isinf(model.C) else model.C
    penalty = 0.0 if np.isinf(model.C) else (weight * (l1 * abs(W) + (1 - l1) / 2 * W**2)).sum()
    return C * losses.sum() + penalty


def by_scipy(loss, X, y, offset, low, high, weight, C, l1=0.0):
    """L-BFGS-B on halves u − v = w that are not negative; softmax for several classes."""
    n, d = X.shape
    codes = np.unique(y, return_inverse=True)[1]
    K = 1 if offset.ndim == 1 else offset.shape[1]

    def objective(t):
        t = t.reshape(K, 2 * d + 1)
        W, b = t[:, :d] - t[:, d : 2 * d], t[:, -1]
        S = X @ W.T + b + np.reshape(offset, (n, K))
        if K == 1:
            sign = 2.0 * codes[:, None] - 1
            z = sign * S
            if loss == "logistic":
                total, G = np.logaddexp(0, -z).sum(), -sign / (1 + np.exp(z))
            else:
                inside = np.maximum(0, 1 - z)
                total, G = (inside**2).sum(), -2 * sign * inside
        else:
            top = S.max(axis=1, keepdims=True)
            E = np.exp(S - top)
            total = (np.log(E.sum(axis=1)) + top[:, 0] - S[np.arange(n), codes]).sum()
            G = E / E.sum(axis=1, keepdims=True) - np.eye(K)[codes]
        slope = C * G.T @ X + (1 - l1) * weight * W
        size = t[:, :d] + t[:, d : 2 * d]
        total = C * total + (weight * ((1 - l1) / 2 * W**2 + l1 * size)).sum()
        parts = [slope + l1 * weight, -slope + l1 * weight, C * G.sum(axis=0)[:, None]]
        return total, np.hstack(parts).ravel()

    plus = [(max(0, a), max(0, b)) for a, b in zip(low, high, strict=True)]
    minus = [(max(0, -b), max(0, -a)) for a, b in zip(low, high, strict=True)]
    ends = ([(a, b) for a, b in plus] + [(a, b) for a, b in minus] + [(None, None)]) * K
    start = np.array([0.0 if a is None else a for a, _ in ends])
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=ends,
                     options={"ftol": 1e-17, "gtol": 1e-10, "maxiter": 50_000, "maxfun": 100_000,
                              "maxcor": 50})  # fmt: skip
    t = found.x.reshape(K, 2 * d + 1)
    return found.fun, t[:, :d] - t[:, d : 2 * d]


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_logistic_regression_is_that_of_scipy_on_real_sets(name, l1_ratio, form):
    X, y, offset, low, high, weight = real(name)
    bounds = list(zip(low, high, strict=True))
    model = LogisticRegression(
        0.1, l1_ratio=l1_ratio, bounds=bounds, penalty_weights=weight, tol=1e-10
    ).fit(form(X), y, offset=offset)
    wanted, W = by_scipy("logistic", X, y, offset, low, high, weight, 0.1, l1_ratio)
    assert model.status_ is Status.converged and model.gap_ <= 1e-10
    assert model.objective_ == pytest.approx(wanted, rel=3e-9)
    assert model.objective_ <= wanted * (1 + 1e-10)
    assert model.objective_ == pytest.approx(value(model, X, y, offset, weight), rel=1e-12)
    assert model.coef_ == pytest.approx(W, abs=2e-3)
    assert gap(model, form(X), y, offset=offset).relative <= 1e-8


@pytest.mark.parametrize("name", ["breast_cancer", "digits"])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_the_squared_hinge_is_that_of_scipy_on_real_sets(name, penalty):
    X, y, offset, low, high, weight = real(name)
    model = LinearSVC(
        0.01, loss="squared_hinge", penalty=penalty, bounds=list(zip(low, high, strict=True)),
        penalty_weights=weight, tol=1e-10,
    ).fit(X, y, offset=offset)  # fmt: skip
    ratio = float(penalty == "l1")
    wanted, _ = by_scipy("squared", X, y, offset, low, high, weight, 0.01, ratio)
    assert model.status_ is Status.converged
    assert model.objective_ == pytest.approx(wanted, rel=1e-8)
    assert model.objective_ == pytest.approx(value(model, X, y, offset, weight), rel=1e-12)


@pytest.mark.parametrize("name", ["breast_cancer", "wine", "iris"])
def test_the_hinge_without_a_penalty_within_bounds_is_a_linear_program(name):
    X, y, offset, low, high, _ = real(name)
    high = np.minimum(high, 1.0)
    low = np.maximum(low, -1.0)
    model = LinearSVC(
        1.0, bounds=list(zip(low, high, strict=True)), penalty_weights=np.zeros(X.shape[1])
    ).fit(X, y, offset=offset)
    wanted, (n, d) = 0.0, X.shape
    for k, label in enumerate(model.classes_[1:] if offset.ndim == 1 else model.classes_):
        s = np.where(y == label, 1.0, -1.0)
        o = offset if offset.ndim == 1 else offset[:, k]
        rows = np.column_stack([-s[:, None] * X, -s, -np.eye(n)])
        ends = [*zip(low, high, strict=True), (None, None), *[(0, None)] * n]
        cost = np.concatenate([np.zeros(d + 1), np.ones(n)])
        wanted += linprog(cost, rows, s * o - 1, bounds=ends).fun
    assert wanted * (1 - 1e-8) <= model.objective_ <= wanted * (1 + 2e-4)
    assert model.status_ is Status.converged


def test_the_hinge_with_bounds_is_that_of_a_quadratic_program():
    X, y, offset, low, high, weight = real("breast_cancer")
    X, low, high, weight = X[:, :6], low[:6], high[:6], weight[:6]
    X, y, offset = X[::8], y[::8], offset[::8]
    (n, d), s = X.shape, np.where(y == 1, 1.0, -1.0)

    def objective(t):
        w, slack = t[:d], t[d + 1 :]
        return 0.5 * (weight * w * w).sum() + slack.sum(), np.concatenate(
            [weight * w, [0.0], np.ones(n)]
        )

    A = np.column_stack([s[:, None] * X, s, np.eye(n)])
    inside = {"type": "ineq", "fun": lambda t: A @ t + s * offset - 1, "jac": lambda t: A}
    ends = [*zip(low, high, strict=True), (None, None), *[(0, None)] * n]
    wanted = minimize(objective, np.concatenate([np.clip(0, low, high), [0], 9 * np.ones(n)]),
                      jac=True, method="SLSQP", bounds=ends, constraints=[inside],
                      options={"ftol": 1e-13, "maxiter": 1000})  # fmt: skip
    model = LinearSVC(
        1.0, bounds=list(zip(low, high, strict=True)), penalty_weights=weight, tol=1e-7
    )
    model.fit(X, y, offset=offset)
    assert model.objective_ == pytest.approx(wanted.fun, rel=1e-6)
    assert model.coef_[0] == pytest.approx(wanted.x[:d], abs=1e-3)
    shown = gap(model, X, y, offset=offset)
    assert shown.relative <= 1e-6


@pytest.mark.parametrize("single", [False, True])
def test_linear_regression_is_that_of_scipy(single):
    X, y = datasets.load_diabetes(return_X_y=True)
    X, d = X * 20, X.shape[1]
    rng = np.random.default_rng(1)
    offset, weight = 50 * rng.normal(size=len(X)), rng.uniform(0, 3, d)
    model = LinearRegression(bounds=(-5, 15), penalty_weights=weight)
    rows = X.astype(np.float32) if single else X
    model.fit(rows, y, offset=offset)

    def objective(t):
        r = X @ t[:-1] + t[-1] + offset - y
        return 0.5 * r @ r + 0.5 * weight @ t[:-1] ** 2, np.append(
            X.T @ r + weight * t[:-1], r.sum()
        )

    wanted = minimize(objective, np.zeros(d + 1), jac=True, method="L-BFGS-B",
                      bounds=[(-5, 15)] * d + [(None, None)],
                      options={"ftol": 1e-17, "gtol": 1e-9, "maxiter": 10_000})  # fmt: skip
    assert model.gap_ <= 1e-8 and model.status_ is Status.solved
    assert model.coef_ == pytest.approx(wanted.x[:-1], abs=1e-3)
    assert model.predict(rows, offset) == pytest.approx(
        X @ wanted.x[:-1] + wanted.x[-1] + offset, abs=0.1
    )
    sparse = LinearRegression(bounds=(-5, 15), penalty_weights=weight).fit(
        sp.csr_array(X), y, offset=offset
    )
    assert sparse.coef_ == pytest.approx(wanted.x[:-1], abs=1e-3)
    assert {c.side for c in model.constraints_} == {"lower", "upper"}


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "spector"])
def test_maximum_likelihood_with_an_offset_is_that_of_statsmodels(name):
    sm = pytest.importorskip("statsmodels.api")
    if name == "spector":
        data = sm.datasets.spector.load()
        X, y = data.exog.to_numpy(float), data.endog.to_numpy(int)
    else:
        X, y, *_ = real(name)
        X = X[:, :4]
    offset = np.random.default_rng(2).normal(size=len(X))
    fine = 1e-11 if name == "spector" else 1e-9  # rounding allows no more
    model = LogisticRegression(np.inf, tol=fine).fit(X, y, offset=offset)
    wanted = sm.GLM(y, sm.add_constant(X), sm.families.Binomial(), offset=offset).fit(tol=1e-13)
    assert model.coef_[0] == pytest.approx(wanted.params[1:], rel=1e-7, abs=1e-8)
    assert model.objective_ == pytest.approx(-wanted.llf, rel=1e-10)
    assert model.gap_ <= 1e-9
    p = model.predict_proba(X, offset)[:, 1]
    assert p == pytest.approx(wanted.predict(sm.add_constant(X), offset=offset), abs=1e-9)


@pytest.mark.parametrize("learner", [
    LogisticRegression(), LogisticRegression(l1_ratio=0.5), LinearSVC(),
    LinearSVC(loss="squared_hinge"), LinearRegression(),
], ids=str)  # fmt: skip
def test_an_offset_is_a_column_whose_weight_is_one(learner):
    X, y, offset, *_ = real("breast_cancer")
    frame = pd.DataFrame(X).rename(columns=str)
    known = frame.assign(known=offset)
    numbers = clone(learner).set_params(tol=1e-7).fit(frame, y, offset=offset)
    named = clone(learner).set_params(tol=1e-7).fit(known, y, offset="known")
    assert np.ravel(named.coef_)[-1] == 1.0 and named.offset_ == "known"
    assert np.ravel(named.coef_)[:-1] == pytest.approx(np.ravel(numbers.coef_), abs=2e-2)
    assert named.constraints_ == [] and named.gap_ <= 1e-7
    np.testing.assert_array_equal(named.predict(known), named.predict(known, offset="known"))
    if isinstance(learner, LinearRegression):
        assert named.predict(known) == pytest.approx(numbers.predict(frame, offset), abs=1e-6)
    else:
        assert (named.predict(known) != numbers.predict(frame, offset=offset)).mean() < 0.02
        assert named.score(known, y) == pytest.approx(
            numbers.score(frame, y, offset=offset), abs=0.02
        )


@pytest.mark.parametrize("learner", [
    LogisticRegression(), LogisticRegression(l1_ratio=1.0), LinearSVC(),
    LinearSVC(loss="squared_hinge"), LinearRegression(),
], ids=str)  # fmt: skip
def test_what_says_nothing_changes_no_byte_and_wide_bounds_no_answer(learner):
    X, y, *_ = real("breast_cancer")
    free = clone(learner).fit(X, y)
    wide = clone(learner).set_params(bounds=(-1e6, 1e6), tol=1e-8).fit(X, y)
    close = clone(learner).set_params(tol=1e-8).fit(X, y)
    assert wide.constraints_ == [] and wide.gap_ <= 1e-8
    assert wide.coef_ == pytest.approx(close.coef_, abs=2e-3)
    told = [clone(learner).fit(X, y, offset=one) for one in (0, np.zeros(len(X)))]
    assert told[0].coef_.tobytes() == told[1].coef_.tobytes()
    assert told[0].coef_ == pytest.approx(free.coef_, abs=0.1)
    named = clone(learner).set_params(bounds={}, penalty_weights=None).fit(X, y)
    assert named.coef_ == pytest.approx(free.coef_, abs=0.1)


@pytest.mark.parametrize("name", ["breast_cancer", "wine"])
def test_no_penalty_on_any_weight_is_maximum_likelihood(name):
    X, y, *_ = real(name)
    X = X[:, :3]
    free = LogisticRegression(np.inf, tol=1e-10).fit(X, y)
    loose = LogisticRegression(3.0, penalty_weights=np.zeros(3), tol=1e-10).fit(X, y)
    spread = loose.coef_ - loose.coef_.mean(axis=0) if name == "wine" else loose.coef_
    wanted = free.coef_ - free.coef_.mean(axis=0) if name == "wine" else free.coef_
    assert spread == pytest.approx(wanted, abs=1e-4)
    assert loose.objective_ == pytest.approx(3.0 * free.objective_, rel=1e-9)
    assert loose.gap_ <= 1e-8


def test_a_bound_costs_what_its_multiplier_says():
    X, y, offset, *_ = real("breast_cancer")
    frame = pd.DataFrame(X[:, :5], columns=list("abcde"))
    settings = {"penalty_weights": {"b": 0.5}, "tol": 1e-12}
    free = LogisticRegression(**settings).fit(frame, y, offset=offset)
    at = float(free.coef_[0, 1]) + 0.3
    for l1_ratio in (0.0, 0.7):
        held = LogisticRegression(l1_ratio=l1_ratio, bounds={"b": (at, None)}, **settings)
        held.fit(frame, y, offset=offset)
        (cost,) = held.constraints_
        assert (cost.feature, cost.side, cost.bound, cost.plane) == ("b", "lower", at, None)
        less = clone(held).set_params(bounds={"b": (at - 1e-4, None)}).fit(frame, y, offset=offset)
        fell = (held.objective_ - less.objective_) / 1e-4
        assert cost.multiplier == pytest.approx(fell, rel=1e-3)
        assert "b: held at its lower bound" in str(cost) and "costs" in str(cost)


@pytest.mark.parametrize(
    "kind", ["collinear", "separable", "unscaled", "far from zero", "one-sided"]
)
@pytest.mark.parametrize("learner", [
    LogisticRegression(), LogisticRegression(l1_ratio=0.5), LinearSVC(loss="squared_hinge"),
    LinearSVC(),
], ids=str)  # fmt: skip
def test_hostile_rows_are_solved_and_proved(kind, learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = X[:, 0] + rng.normal(size=200) > 0
    X[:, 1] = X[:, 0] if kind == "collinear" else X[:, 1]
    y = X[:, 0] > 0 if kind == "separable" else y
    X *= 10.0 ** np.arange(-6, 6, 2) if kind == "unscaled" else 1.0
    X += 1e4 if kind == "far from zero" else 0.0
    bounds = (
        "positive" if kind == "one-sided" else [(0, None), (None, 1), None, (-2, 2), None, None]
    )
    weight = [1, 0.5, 2, 1, 1, 3]
    model = clone(learner).set_params(bounds=bounds, penalty_weights=weight, tol=1e-4)
    model.fit(X, y, offset=rng.normal(size=200))
    assert model.status_ is Status.converged and model.gap_ <= 1e-4


def test_separable_rows_without_a_penalty_have_no_optimum_and_bounds_give_them_one():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    with pytest.warns(NotConverged):
        loose = LogisticRegression(penalty_weights=[0], max_iter=50).fit(X, y)
    assert loose.status_ is not Status.converged
    held = LogisticRegression(penalty_weights=[0], bounds=(0, 5)).fit(X, y)
    assert held.status_ is Status.converged and held.coef_[0, 0] == 5.0


def test_single_precision_stays_within_its_bounds():
    X, y, offset, *_ = real("breast_cancer")
    model = LogisticRegression(bounds=(-0.1, 0.1)).fit(X.astype(np.float32), y, offset=offset)
    assert model.coef_.dtype == np.float32 and model.status_ is Status.converged
    W = model.coef_.astype(np.float64)
    assert (W >= -0.1).all() and (W <= 0.1).all() and len(model.constraints_) > 5


def test_weights_of_rows_and_classes_go_with_what_is_told():
    X, y, offset, low, high, weight = real("breast_cancer")
    counts = np.random.default_rng(0).integers(1, 3, len(X))
    told = {"bounds": list(zip(low, high, strict=True)), "penalty_weights": weight, "tol": 1e-10}
    one = LogisticRegression(**told).fit(X, y, counts, offset)
    other = LogisticRegression(**told).fit(
        np.repeat(X, counts, axis=0), np.repeat(y, counts), offset=np.repeat(offset, counts)
    )
    assert one.coef_ == pytest.approx(other.coef_, abs=1e-5)
    balanced = LogisticRegression(class_weight="balanced", **told).fit(X, y, offset=offset)
    assert gap(balanced, X, y, offset=offset).relative <= 2e-10


def test_the_same_bytes_whatever_the_threads_and_after_a_pickle():
    X, y, offset, *_ = real("wine")
    one = LogisticRegression(bounds="positive", n_jobs=1).fit(X, y, offset=offset)
    two = LogisticRegression(bounds="positive", n_jobs=2).fit(X, y, offset=offset)
    assert one.coef_.tobytes() == two.coef_.tobytes()
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.predict(X, offset=offset), one.predict(X, offset=offset))
    assert clone(one).get_params() == one.get_params()


def test_metadata_routing_knows_the_offset():
    with sklearn.config_context(enable_metadata_routing=True):
        for kind, known in ((LogisticRegression, True), (linsep.Perceptron, False)):
            assert ("offset" in kind().get_metadata_routing().fit.requests) is known


X4, Y4 = np.arange(12.0).reshape(6, 2) % 5, np.array([0, 1, 0, 1, 1, 0])
FRAME = pd.DataFrame(X4, columns=["age", "size"])
BAD = [
    ({"bounds": (2, 1)}, "must not be above"),
    ({"bounds": (np.nan, 1)}, "neither NaN"),
    ({"bounds": (np.inf, None)}, "no weight is infinite"),
    ({"bounds": "up"}, "'positive', 'negative'"),
    ({"bounds": [(0, 1)] * 3}, "2 of these"),
    ({"bounds": {"weight": "positive"}}, "age, size"),
    ({"bounds": {7: "positive"}}, "no feature"),
    ({"penalty_weights": [1.0, -1.0]}, "-1.0 for feature 'size'"),
    ({"penalty_weights": [1.0, np.inf]}, "finite numbers"),
    ({"penalty_weights": [1.0]}, "2 features"),
    ({"penalty_weights": {"weight": 1}}, "age, size"),
    ({"penalty_weights": "none"}, "a number for each feature"),
]


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, LinearRegression])
@pytest.mark.parametrize(("given", "words"), BAD)
def test_bad_parameters_are_refused_in_words(kind, given, words):
    with pytest.raises(ParameterError, match=words):
        kind(**given).fit(FRAME, Y4)


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, LinearRegression])
@pytest.mark.parametrize(("offset", "words"), [
    (np.zeros(3), r"shape \(3,\)"), ([0, 1, np.nan, 0, 0, 0], "nan at row 2"),
    ("income", "age, size"),
    ([0, 1, np.inf, 0, 0, 0], "inf at row 2"), (["a"] * 6, "a number for each row"),
])  # fmt: skip
def test_bad_offsets_are_refused_in_words(kind, offset, words):
    with pytest.raises((DataError, ParameterError), match=words):
        kind().fit(FRAME, Y4, offset=offset)
    fitted = kind().fit(FRAME, Y4, offset=np.arange(6))
    with pytest.raises(DataError, match="offset"):
        fitted.predict(FRAME)
    with pytest.raises(DataError, match="offset"):
        fitted.predict(FRAME, offset=np.zeros(5))
    with pytest.raises(DataError, match="offset"):
        gap(fitted, FRAME, Y4)


@pytest.mark.parametrize(("learner", "words"), [
    (LogisticRegression(solver="sgd", bounds="positive"), "solver='auto'"),
    (LogisticRegression(solver="dual", bounds="positive"), "solver='auto'"),
    (LogisticRegression(penalty="firth", penalty_weights=[1, 2]), "firth"),
    (LinearSVC(solver="sgd", bounds="positive"), "solver='auto'"),
    (LinearSVC(probability=True, bounds="positive"), "probability=True"),
    (LinearSVC(multiclass="crammer-singer", bounds="positive"), "crammer-singer"),
    (LinearRegression("sgd", bounds="positive"), "solver='exact'"),
], ids=str)  # fmt: skip
def test_what_cannot_be_combined_is_refused_in_words(learner, words):
    with pytest.raises(ParameterError, match=words):
        learner.fit(FRAME, Y4)


def test_a_column_is_an_offset_once_and_for_one_plane():
    with pytest.raises(ParameterError, match="classes alike"):
        LogisticRegression().fit(FRAME, [0, 1, 2, 0, 1, 2], offset="age")
    with pytest.raises(ParameterError, match="bounds or penalty of its own"):
        LogisticRegression(bounds={"age": "positive"}).fit(FRAME, Y4, offset="age")
    with pytest.raises(ParameterError, match="checkpoint"):
        LogisticRegression(bounds="positive").fit(FRAME, Y4, checkpoint="run.ckpt")


def test_what_knows_nothing_of_what_is_told_says_so():
    told = LogisticRegression(bounds="positive").fit(X4, Y4)
    with pytest.raises(ParameterError, match="table of errors"):
        told.summary()
    offset = LogisticRegression().fit(X4, Y4, offset=np.ones(6))
    with pytest.raises(ParameterError, match="an offset"):
        offset.marginal_effects()
    with pytest.raises(ParameterError, match="along a path"):
        linsep.path(LogisticRegression(bounds="positive"), X4, Y4)
    with pytest.raises(ParameterError, match="partial_fit"):
        LogisticRegression(solver="sgd", bounds="positive").partial_fit(X4, Y4)
