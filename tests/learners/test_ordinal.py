"""Proportional odds: against statsmodels, exact sums, and what must be true of ordered classes."""

import warnings

import mpmath
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes

import linsep
from linsep import LogisticRegression, OrdinalRegression, Scaled
from linsep.errors import ParameterError
from linsep.model.files.store import from_bytes, to_bytes


def made(n=300, d=3, K=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    z = X @ rng.normal(size=d) + rng.logistic(size=n)
    return X, np.digitize(z, np.quantile(z, np.arange(1, K) / K))


def national_election():
    from statsmodels.datasets import anes96

    data = anes96.load_pandas().data
    return data[["logpopul", "selfLR", "age", "educ", "income"]].to_numpy(), data["PID"].to_numpy()


def affairs():
    from statsmodels.datasets import fair

    data = fair.load_pandas().data
    X = data[["age", "yrs_married", "children", "religious", "educ", "affairs"]].to_numpy()
    return X, data["rate_marriage"].to_numpy()


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return 20.0 * X[:, [0, 1, 2, 3, 8]], np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))


def polished(X, codes, theta):
    """Newton's method from statsmodels' end: its slopes are differences, good to some six digits.

    The score by p = F(above) − F(below) in long doubles, its derivative by differences.
    """
    X, d = X.astype(np.longdouble), X.shape[1]

    def score(theta):
        edges = np.concatenate([[-np.inf], theta[d:], [np.inf]])
        F = [1 / (1 + np.exp(X @ theta[:d] - edge)) for edge in (edges[codes + 1], edges[codes])]
        p, f = F[0] - F[1], [one * (1 - one) for one in F]
        slope = -((f[0] - f[1]) / p) @ X
        each = [(f[0] / p)[codes == k].sum() - (f[1] / p)[codes == k + 1].sum()
                for k in range(len(theta) - d)]  # fmt: skip
        return np.append(slope, each)

    theta = theta.astype(np.longdouble)
    H = np.array([score(theta + 1e-6 * e) - score(theta - 1e-6 * e) for e in np.eye(len(theta))])
    for _ in range(20):
        theta = theta - np.linalg.solve((H / 2e-6).astype(float), score(theta).astype(float))
    return theta.astype(float)


@pytest.mark.parametrize("data", [national_election, affairs, diabetes, made])
def test_maximum_likelihood_is_that_of_statsmodels(data):
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    X, y = data()
    d = X.shape[1]
    size = X.std(axis=0)
    codes = np.unique(y, return_inverse=True)[1]
    with warnings.catch_warnings(action="ignore"):  # its optimiser knows no better end than maxiter
        theirs = OrderedModel(codes, X / size, distr="logit")
        done = theirs.fit(method="bfgs", disp=0, maxiter=500, gtol=1e-9)
    model = OrdinalRegression(np.inf).fit(X, y)
    assert model.status_.name == "converged"
    thresholds = theirs.transform_threshold_params(done.params)[1:-1]
    np.testing.assert_allclose(model.coef_[0] * size, done.params[:d], rtol=2e-5, atol=1e-7)
    best = polished(X / size, codes, np.append(done.params[:d], thresholds))
    np.testing.assert_allclose(model.coef_[0] * size, best[:d], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.thresholds_, best[d:], rtol=1e-10)
    assert model.objective_ == pytest.approx(-done.llf, rel=1e-10)
    np.testing.assert_allclose(
        model.predict_proba(X), theirs.predict(done.params, X / size), rtol=1e-4, atol=1e-7
    )
    table = model.summary()
    errors = np.array(table.columns["std err"])[:d] * size
    np.testing.assert_allclose(errors, done.bse[:d], rtol=1e-5)  # theirs are by differences
    figures = table.figures
    assert figures["log-likelihood"] == pytest.approx(done.llf, rel=1e-11)
    assert figures["null log-likelihood"] == pytest.approx(done.llnull, rel=1e-6)
    assert figures["AIC"] == pytest.approx(done.aic, rel=1e-10)


def exact_objective(model, X, y, C):
    """P by the formula of the class docstring, in 60 digits."""
    with mpmath.workdps(60):
        ranks = {label: k for k, label in enumerate(model.order_.tolist())}
        theta = [-mpmath.inf, *map(mpmath.mpf, model.thresholds_.tolist()), mpmath.inf]
        w = [mpmath.mpf(float(one)) for one in model.coef_[0]]
        total = sum(one * one for one in w) / 2
        for x, label in zip(X.tolist(), y.tolist(), strict=True):
            s = sum(mpmath.mpf(a) * b for a, b in zip(x, w, strict=True))
            k = ranks[label]
            up = 1 / (1 + mpmath.exp(s - theta[k + 1]))
            down = 1 / (1 + mpmath.exp(s - theta[k]))
            total -= C * mpmath.log(up - down)
        return total


HOSTILE = {
    "plain": lambda: made(60),
    "unscaled": lambda: (made(60)[0] * [1e-6, 1.0, 1e6], made(60)[1]),
    "collinear": lambda: (made(60)[0][:, [0, 1, 2, 0, 0]], made(60)[1]),
    "separable": lambda: (np.arange(60.0)[:, None], np.arange(60) // 15),
    "no signal": lambda: (np.zeros((60, 2)), np.arange(60) % 3),
    "far away": lambda: (made(60)[0] + 1e4, made(60)[1]),
    "many levels": lambda: made(60, K=30),
    "two levels": lambda: made(60, K=2),
    "wide": lambda: made(40, d=300, K=3),
    "uneven": lambda: (made(60)[0], np.where(np.arange(60) == 7, 1, 2 * (np.arange(60) > 30))),
}


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", HOSTILE)
def test_every_penalised_fit_ends_with_a_proved_gap(name, C):
    X, y = HOSTILE[name]()
    model = OrdinalRegression(C).fit(X, y)
    assert model.status_.name == "converged" and 0 <= model.gap_ <= 1e-6
    assert (np.diff(model.thresholds_) >= 0).all()
    exact = exact_objective(model, X, y, C)
    again = linsep.gap(model, X, y)
    assert again.dual <= exact <= again.primal
    assert again.relative <= 2e-6
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).all()


def test_two_classes_are_a_logistic_regression():
    X, y = made(K=2)
    ours, other = OrdinalRegression(2.0, tol=1e-10).fit(X, y), LogisticRegression(2.0, tol=1e-10)
    other.fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-6)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, rtol=1e-6, atol=1e-8)
    assert ours.objective_ == pytest.approx(other.objective_, rel=1e-10)
    turned = OrdinalRegression(2.0, tol=1e-10, order=[1, 0]).fit(X, y)
    np.testing.assert_allclose(turned.decision_function(X), other.decision_function(X), rtol=1e-5)


def test_sparse_rows_are_dense_ones_and_a_weight_is_a_repeated_row():
    X, y = made()
    X[np.abs(X) < 0.7] = 0.0
    dense = OrdinalRegression(tol=1e-10).fit(X, y)
    sparse = OrdinalRegression(tol=1e-10).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-7)
    times = np.arange(len(y)) % 3
    times[:10] = 1
    weighted = OrdinalRegression(tol=1e-10).fit(X, y, times)
    repeated = OrdinalRegression(tol=1e-10).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7)
    np.testing.assert_allclose(weighted.thresholds_, repeated.thresholds_, rtol=1e-7)


def test_many_features_are_fitted_by_products_alone():
    X, y = made(400, 600, 3)
    model = OrdinalRegression(0.01).fit(X, y)
    assert model.status_.name == "converged"
    free = model.coef_.copy()
    again = OrdinalRegression(0.01, tol=1e-10).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(again.coef_, free, atol=1e-3)
    assert again.gap_ <= 1e-10


def test_the_order_is_given_or_that_of_categories():
    X, y = made(K=3)
    names = np.array(["low", "mid", "high"])[y]
    wanted = OrdinalRegression().fit(X, y)
    given = OrdinalRegression(order=["low", "mid", "high", "highest"]).fit(X, names)
    column = pd.Series(pd.Categorical(names, ["low", "mid", "high"], ordered=True))
    for model in (given, OrdinalRegression().fit(X, column)):
        assert model.order_.tolist() == ["low", "mid", "high"]
        assert model.classes_.tolist() == ["high", "low", "mid"]
        assert (model.coef_ == wanted.coef_).all() and (
            model.thresholds_ == wanted.thresholds_
        ).all()
        p = model.predict_proba(X)[:, [1, 2, 0]]
        np.testing.assert_allclose(p, wanted.predict_proba(X), rtol=1e-14)
        assert (model.predict(X) == np.array(["low", "mid", "high"])[wanted.predict(X)]).all()
        loaded = from_bytes(to_bytes(model))
        assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
        assert loaded.to_estimator().order_.tolist() == ["low", "mid", "high"]
    with pytest.raises(ParameterError, match=r"order is .* lacks 'high'"):
        OrdinalRegression(order=["low", "mid"]).fit(X, names)
    with pytest.raises(ParameterError, match="give a list of all labels"):
        OrdinalRegression(order="low").fit(X, names)


def test_classes_that_can_be_separated_have_no_maximum_likelihood():
    X, y = HOSTILE["separable"]()
    for data in ((X, y), (np.column_stack([X, np.sin(X)]), np.where(y == 2, 1, y))):
        with pytest.warns(linsep.errors.NotConverged, match="separable"):
            model = OrdinalRegression(np.inf).fit(*data)
        assert model.status_.name == "no_optimum"
        with pytest.raises(linsep.errors.LinsepError):
            model.summary()
    # only the upper two can be: thresholds and weights still run away
    X = np.array([[0.0], [1.0], [0.0], [1.0], [5.0], [6.0]])
    model = OrdinalRegression(1e6).fit(X, [0, 0, 1, 1, 2, 2])
    assert model.status_.name == "converged"


def test_a_class_without_weight_gets_probability_zero():
    X, y = made()
    for absent in range(4):
        weights = np.where(y == absent, 0.0, 1.0)
        model = OrdinalRegression().fit(X, y, weights)
        rest = OrdinalRegression().fit(X[y != absent], y[y != absent])
        assert model.predict_proba(X)[:, absent].max() < 1e-300
        np.testing.assert_allclose(model.coef_, rest.coef_, rtol=1e-9)
        assert model.status_.name == "converged"
        assert linsep.gap(model, X, y, sample_weight=weights).relative <= 2e-6
        assert from_bytes(to_bytes(model)).predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("suffix", ["sql", "py", "onnx"])
@pytest.mark.parametrize("order", [None, [2, 0, 3, 1]])
@pytest.mark.parametrize("kind", [OrdinalRegression, lambda **o: Scaled(OrdinalRegression(**o))])
def test_exports_answer_as_the_model_does(suffix, order, kind, tmp_path):
    if suffix == "onnx":
        pytest.importorskip("onnx")
    X, y = made(seed=3)
    y[40:50] = 1  # and a level that is seldom the likeliest
    model = kind(order=order).fit(X * [1.0, 100.0, 0.01] + 5.0, y)
    assert linsep.export(model, tmp_path / f"model.{suffix}").rows == 40
    if suffix == "py":
        module = {"__name__": "exported"}
        exec((tmp_path / "model.py").read_text(), module)
        rows = X * [1.0, 100.0, 0.01] + 5.0
        p = np.array(module["predict_proba"](rows.tolist()))
        np.testing.assert_allclose(p, model.predict_proba(rows), rtol=1e-9)
        assert module["predict"](rows) == model.predict(rows).tolist()


def test_slopes_of_the_table_are_those_of_the_likelihood():
    from linsep.learners.inference.ordinal_errors import OrdinalFit

    X, y = made(200, 3, 4)
    weights = 1.0 + np.arange(200) % 2
    model = OrdinalRegression(np.inf).fit(X, y, weights)
    fit = OrdinalFit(model, X, y, weights, ["a", "b", "c"])
    theta, scores, bent = fit.theta.copy(), fit._scores(), fit._information()
    each = np.full(200, 1 / 200)
    effects = np.array(fit.effects(X, each)[1])

    def rows(at):
        edges = np.concatenate([[-np.inf], at[3:], [np.inf]])
        s, sigma = X @ at[:3], lambda z: 1 / (1 + np.exp(-z))
        return weights * np.log(sigma(edges[y + 1] - s) - sigma(edges[y] - s))

    h = 1e-6
    for j, step in enumerate(h * np.eye(6)):
        slope = (rows(theta + step) - rows(theta - step)) / (2 * h)
        np.testing.assert_allclose(slope, scores[:, j], atol=1e-8)
        sums = []
        for at in (theta + step, theta - step):
            fit.theta = at
            sums.append((fit._scores().sum(axis=0), np.array(fit.effects(X, each)[0])))
        fit.theta = theta
        np.testing.assert_allclose((sums[1][0] - sums[0][0]) / (2 * h), bent[j], atol=1e-6)
        np.testing.assert_allclose((sums[0][1] - sums[1][1]) / (2 * h), effects[:, :, j], atol=1e-8)


def test_effects_of_all_classes_cancel_and_two_are_those_of_logistic_regression():
    X, y = made(K=3)
    table = OrdinalRegression(np.inf).fit(X, y).marginal_effects()
    np.testing.assert_allclose(
        np.reshape(table.columns["effect"], (3, 3)).sum(axis=0), 0, atol=1e-14
    )
    X, y = made(K=2)
    ours = OrdinalRegression(np.inf).fit(X, y)
    theirs = LogisticRegression(np.inf).fit(X, y)
    for cov in ("model", "robust"):
        a, b = (one.marginal_effects(cov=cov) for one in (ours, theirs))
        for name in ("effect", "std err"):
            np.testing.assert_allclose(a.columns[name], b.columns[name], rtol=1e-8)
    c, d = (one.summary(cov="HC0").columns["std err"] for one in (ours, theirs))
    np.testing.assert_allclose(c, [*d[1:], d[0]], rtol=1e-8)
    assert ours.compare(OrdinalRegression(np.inf).fit(X[:, :2], y)).freedom == 1


def test_what_the_table_is_not_for_is_refused():
    X, y = made()
    model = OrdinalRegression().fit(X, y)
    with pytest.raises(ParameterError, match=r"C is 1\.0: the weights are held back"):
        model.summary()
    model = OrdinalRegression(np.inf).fit(X, y)
    with pytest.raises(ParameterError, match="ordered classes"):
        model.predict_interval(X)
    with pytest.raises(ParameterError, match="profile"):
        model.summary(interval="profile")
    with pytest.raises(ParameterError, match="against"):
        model.summary(against=1)
    assert "0 < 1 < 2 < 3" in str(model.summary())


def test_a_stopped_fit_goes_on_with_the_same_bytes(tmp_path):
    X, y = made(500, 5, 5)
    whole = OrdinalRegression(1e4, tol=1e-10).fit(X, y)
    path = tmp_path / "run.checkpoint"
    with pytest.warns(linsep.errors.NotConverged, match="Stopped"):
        OrdinalRegression(1e4, tol=1e-10).fit(
            X, y, checkpoint=path, callback=lambda done: done.epoch == 3
        )
    again = OrdinalRegression(1e4, tol=1e-10).fit(X, y, checkpoint=path)
    assert again.coef_.tobytes() == whole.coef_.tobytes()
    assert again.n_iter_ == whole.n_iter_


def test_the_report_names_the_order_and_the_thresholds(tmp_path):
    X, y = made(K=3)
    model = OrdinalRegression(order=[2, 1, 0]).fit(X, y)
    linsep.report(model, X, y, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "towards higher classes, 2 &lt; 1 &lt; 0; thresholds" in page
    assert f"{model.thresholds_[1]:.4g}" in page


def test_a_diagram_of_units_is_refused_in_words():
    pytest.importorskip("matplotlib")
    X, y = made(K=3)
    with pytest.raises(linsep.errors.DataError, match="one set of weights and 2 thresholds"):
        linsep.plot.layer(OrdinalRegression().fit(X, y))
