"""Robust and clustered errors, marginal effects, comparisons and intervals against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.base import clone

import linsep
from linsep.errors import DataError, ParameterError

NINE_DIGITS = {"rtol": 1e-9, "atol": 1e-12}


def fair():
    table = sm.datasets.fair.load_pandas().data.iloc[::3]
    X = table[["rate_marriage", "age", "yrs_married", "children", "religious"]].to_numpy()
    return X, (table["affairs"] > 0).to_numpy().astype(int), table["educ"].to_numpy()


def spector():
    data = sm.datasets.spector.load_pandas()
    X = data.exog.to_numpy()
    return X, data.endog.to_numpy().astype(int), np.arange(len(X)) // 4


def made():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4)) * [1.0, 100.0, 1e-3, 1.0] + [0.0, 50.0, 0.0, 3.0]
    return X, (X[:, 0] + X[:, 3] - 3 + rng.logistic(size=400) > 0).astype(int), np.arange(400) % 17


def longley():
    data = sm.datasets.longley.load_pandas()
    return data.exog.to_numpy()[:, :3], data.endog.to_numpy(), np.arange(16) // 3


SETS = {"fair": fair, "spector": spector, "made": made}
COVARIANCES = ["model", "HC0", "HC1", "cluster"]


def asked(cov, groups):
    """The same question for linsep and for statsmodels, whose likelihoods take HC1 for HC0."""
    ours = {"cov": cov, **({"groups": groups} if cov == "cluster" else {})}
    if cov == "model":
        return ours, {}
    theirs = {"cov_type": cov}
    if cov == "cluster":
        theirs["cov_kwds"] = {"groups": groups}
    return ours, theirs


@pytest.fixture(scope="module", params=SETS)
def fitted(request):
    X, y, groups = SETS[request.param]()
    model = linsep.LogisticRegression(C=np.inf).fit(X, y)
    return model, sm.Logit(y, sm.add_constant(X)), groups


def reference(logit, **how):
    return logit.fit(method="newton", tol=1e-14, maxiter=100, disp=0, **how)


def larger(cov, logit):
    """What n/(n − p) makes of errors; statsmodels leaves it out for likelihoods."""
    n, p = logit.exog.shape
    return np.sqrt(n / (n - p)) if cov == "HC1" else 1.0


@pytest.mark.parametrize("cov", COVARIANCES)
def test_errors_and_covariances_are_those_of_statsmodels(fitted, cov):
    model, logit, groups = fitted
    ours, theirs = asked(cov, groups)
    wanted = reference(logit, **theirs)
    found = model.summary(**ours)
    factor = larger(cov, logit)
    np.testing.assert_allclose(found.columns["std err"], factor * wanted.bse, **NINE_DIGITS)
    if factor == 1.0:
        np.testing.assert_allclose(found.columns["P>|z|"], wanted.pvalues, rtol=1e-7, atol=1e-14)
        odds = [found.columns[one] for one in ("OR low 95%", "OR high 95%")]
        np.testing.assert_allclose(odds, np.exp(wanted.conf_int()).T, rtol=1e-8)
    cells = model.covariance(**ours) / factor**2
    size = np.sqrt(np.outer(np.diag(cells), np.diag(cells)))
    np.testing.assert_allclose(cells / size, wanted.cov_params() / size, atol=1e-9)


@pytest.mark.parametrize("cov", COVARIANCES)
@pytest.mark.parametrize(("at", "theirs_at"), [("rows", "overall"), ("mean", "mean")])
def test_marginal_effects_are_those_of_statsmodels(fitted, cov, at, theirs_at):
    model, logit, groups = fitted
    ours, theirs = asked(cov, groups)
    wanted = reference(logit, **theirs).get_margeff(at=theirs_at)
    found = model.marginal_effects(at=at, **ours)
    np.testing.assert_allclose(found.columns["effect"], wanted.margeff, **NINE_DIGITS)
    error = larger(cov, logit) * wanted.margeff_se
    np.testing.assert_allclose(found.columns["std err"], error, **NINE_DIGITS)


@pytest.mark.parametrize("against", [0, 2])
def test_several_classes_are_those_of_statsmodels(against):
    data = sm.datasets.anes96.load_pandas()
    X, y = data.exog.to_numpy()[:, [0, 2, 3]], data.endog.to_numpy().astype(int) % 3
    order = {against: 0} | {k: n for n, k in enumerate((k for k in range(3) if k != against), 1)}
    codes = np.array([order[k] for k in y])
    wanted = sm.MNLogit(codes, sm.add_constant(X)).fit(method="newton", tol=1e-14, disp=0)
    model = linsep.LogisticRegression(C=np.inf).fit(X, y)
    found = model.summary(against=against)
    np.testing.assert_allclose(found.columns["coef"], np.ravel(wanted.params, "F"), rtol=1e-8)
    np.testing.assert_allclose(found.columns["std err"], np.ravel(wanted.bse, "F"), rtol=1e-8)
    assert found.notes == [f"Weights are against the class {against}."]
    if against == 0:
        effects = model.marginal_effects()
        margins = wanted.get_margeff()
        np.testing.assert_allclose(
            effects.columns["effect"], np.ravel(margins.margeff, "F"), rtol=1e-8, atol=1e-12
        )
        np.testing.assert_allclose(
            effects.columns["std err"], np.ravel(margins.margeff_se, "F"), rtol=1e-8
        )


@pytest.mark.parametrize("cov", COVARIANCES)
def test_least_squares_errors_are_those_of_statsmodels(cov):
    X, y, groups = longley()
    ours, theirs = asked(cov, groups)
    ols = sm.OLS(y, sm.add_constant(X))
    wanted = ols.fit(use_t=True, **theirs) if theirs else ols.fit()
    found = linsep.LinearRegression().fit(X, y).summary(**ours)
    np.testing.assert_allclose(found.columns["std err"], wanted.bse, rtol=1e-8)
    np.testing.assert_allclose(found.columns["P>|t|"], wanted.pvalues, rtol=1e-7)


@pytest.mark.parametrize(("new", "name"), [(False, "mean_ci"), (True, "obs_ci")])
def test_intervals_of_numbers_are_those_of_statsmodels(new, name):
    X, y, _ = longley()
    wanted = sm.OLS(y, sm.add_constant(X)).fit().get_prediction(sm.add_constant(X))
    frame = wanted.summary_frame(alpha=0.1)
    ends = frame[[f"{name}_lower", f"{name}_upper"]].to_numpy()
    found = linsep.LinearRegression().fit(X, y).predict_interval(X, level=0.9, new=new)
    np.testing.assert_allclose(found, ends, rtol=1e-8)


def test_intervals_of_probabilities_are_those_of_statsmodels(fitted):
    model, logit, _ = fitted
    wanted = reference(logit).get_prediction(logit.exog).conf_int(alpha=0.05)
    found = model.predict_interval(logit.exog[:, 1:])
    np.testing.assert_allclose(found, wanted, rtol=1e-7)


def test_nested_fits_are_compared_by_their_likelihoods():
    X, y, _ = fair()
    large = linsep.LogisticRegression(C=np.inf).fit(X, y)
    small = linsep.LogisticRegression(C=np.inf).fit(X[:, :3], y)
    logits = [reference(sm.Logit(y, sm.add_constant(one))) for one in (X, X[:, :3])]
    found = large.compare(small)
    assert found == small.compare(large)
    assert found.ratio == pytest.approx(2 * (logits[0].llf - logits[1].llf), rel=1e-9)
    assert (found.freedom, found.left_out) == (2, ["x3", "x4"])
    assert pytest.approx(logits[0].aic - logits[1].aic, rel=1e-8) == found.AIC
    assert str(found).startswith("x3, x4: likelihood-ratio chi2 ")
    lines = [linsep.LinearRegression().fit(one, y) for one in (X, X[:, :3])]
    exact = [sm.OLS(y, sm.add_constant(one)).fit() for one in (X, X[:, :3])]
    ratio = exact[0].compare_lr_test(exact[1])[0]
    assert lines[0].compare(lines[1]).ratio == pytest.approx(ratio, rel=1e-8)


def test_weights_scale_the_scores_of_rows():
    X, y, _ = spector()
    weights = np.linspace(0.5, 2.0, len(y))
    model = linsep.LogisticRegression(C=np.inf).fit(X, y, weights)
    whole = linsep.LogisticRegression(C=np.inf).fit(X, y, 3.0 * weights)
    np.testing.assert_allclose(  # robust errors do not ask in which unit weights are
        whole.summary(cov="HC0").columns["std err"],
        model.summary(cov="HC0").columns["std err"],
        rtol=1e-8,
    )


def test_scaled_learners_tell_of_the_units_of_the_data():
    X, y, groups = made()
    plain = linsep.LogisticRegression(C=np.inf).fit(X, y)
    scaled = linsep.Scaled(linsep.LogisticRegression(C=np.inf)).fit(X, y)
    for how in ({}, {"cov": "robust"}, {"cov": "cluster", "groups": groups}):
        one, two = plain.summary(**how), scaled.summary(**how)
        for name, column in one.columns.items():
            if name != "name":
                np.testing.assert_allclose(column, two.columns[name], rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(plain.covariance(**how), scaled.covariance(**how), rtol=1e-6)
    effects = [one.marginal_effects().columns["effect"] for one in (plain, scaled)]
    np.testing.assert_allclose(*effects, rtol=1e-8)
    assert not hasattr(linsep.Scaled(linsep.LinearDiscriminantAnalysis()).fit(X, y), "summary")
    assert clone(scaled).get_params()["how"] == "mean"


def test_texts_are_told_against_the_one_that_is_asked_for():
    rng = np.random.default_rng(0)
    table = {"size": rng.normal(size=90), "city": list(rng.choice(["a", "b", "c"], 90))}
    y = (np.array(table["size"]) + rng.normal(size=90) > 0).astype(int)
    model = linsep.LogisticRegression(C=np.inf).fit(table, y)
    found = model.summary(table, y, reference={"city": "b"})
    assert found.columns["name"] == ["(intercept)", "size", "city=a", "city=c"]
    assert found.notes[-1] == "Weights of city are against city=b."
    with pytest.raises(ParameterError, match="its texts are a, b, c"):
        model.summary(table, y, reference={"city": "z"})
    with pytest.raises(ParameterError, match="'size'"):
        model.summary(table, y, reference={"size": 1})


def test_what_cannot_be_told_is_refused_in_words():
    X, y, groups = spector()
    model = linsep.LogisticRegression(C=np.inf).fit(X, y)
    line = linsep.LinearRegression().fit(X, y)
    for wrong, said in [
        ({"cov": "HC3"}, "choose 'model', 'HC0'"), ({"cov": "cluster"}, "needs groups="),
        ({"groups": groups}, "set cov='cluster'"), ({"against": 7}, "the classes are 0, 1"),
        ({"cov": "HC0", "interval": "profile"}, "profile intervals"),
        ({"cov": "cluster", "groups": groups[:5]}, "a label for each of 32 rows"),
    ]:  # fmt: skip
        with pytest.raises(ParameterError, match=said):
            model.summary(**wrong)
    with pytest.raises(DataError, match="one group"):
        model.summary(cov="cluster", groups=np.zeros(32))
    with pytest.raises(ParameterError, match="choose 'rows'"):
        model.marginal_effects(at="median")
    with pytest.raises(ParameterError, match="same kind"):
        model.compare(line)
    with pytest.raises(ParameterError, match="left out"):
        model.compare(linsep.LogisticRegression(C=np.inf).fit(X, y))
    with pytest.raises(ParameterError, match="not of the same rows"):
        model.compare(linsep.LogisticRegression(C=np.inf).fit(X[:, :2], 1 - y))
    with pytest.raises(ParameterError, match="new=True is for numbers"):
        model.predict_interval(X, new=True)
    assert not hasattr(line, "marginal_effects")


def test_scaled_learners_compare_and_tell_intervals_as_plain_ones_do():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 3)) * [1.0, 1e3, 1e-3]
    y = (X[:, 0] + rng.logistic(size=200) > 0).astype(int)
    plain = [linsep.LogisticRegression(np.inf).fit(X[:, :d], y) for d in (3, 2)]
    scaled = [linsep.Scaled(linsep.LogisticRegression(np.inf)).fit(X[:, :d], y) for d in (3, 2)]
    for other in (scaled[1], plain[1]):
        assert scaled[0].compare(other).ratio == pytest.approx(plain[0].compare(plain[1]).ratio)
    ends = scaled[0].predict_interval(X[:5])
    np.testing.assert_allclose(ends, plain[0].predict_interval(X[:5]), rtol=1e-7)
