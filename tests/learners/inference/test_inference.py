"""Summaries against published digits and statsmodels; Firth's penalty against published fits."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import linsep
from linsep.errors import DataError, ParameterError
from linsep.learners.inference.likelihood import LogisticLikelihood


def numbers(text):
    return np.array(list(map(float, text.split())))


# Spector and Mazzeo's grades (Greene, Econometric Analysis): GPA, TUCE, PSI, and the improvement.
SPECTOR = numbers("""
2.66 20 0 0 2.89 22 0 0 3.28 24 0 0 2.92 12 0 0 4.00 21 0 1 2.86 17 0 0
2.76 17 0 0 2.87 21 0 0 3.03 25 0 0 3.92 29 0 1 2.63 20 0 0 3.32 23 0 0
3.57 23 0 0 3.26 25 0 1 3.53 26 0 0 2.74 19 0 0 2.75 25 0 0 2.83 19 0 0
3.12 23 1 0 3.16 25 1 1 2.06 22 1 0 3.62 28 1 1 2.89 14 1 0 3.51 26 1 0
3.54 24 1 1 2.83 27 1 1 3.39 17 1 1 2.67 24 1 0 3.65 21 1 1 4.00 23 1 1
3.10 21 1 0 2.39 19 1 1
""").reshape(32, 4)

# NIST, Longley: certified coefficients and standard errors of y on x1 to x6.
LONGLEY = numbers("""
60323 83.0 234289 2356 1590 107608 1947 61122 88.5 259426 2325 1456 108632 1948
60171 88.2 258054 3682 1616 109773 1949 61187 89.5 284599 3351 1650 110929 1950
63221 96.2 328975 2099 3099 112075 1951 63639 98.1 346999 1932 3594 113270 1952
64989 99.0 365385 1870 3547 115094 1953 63761 100.0 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955 67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957 66513 110.8 444546 4681 2637 121950 1958
68655 112.6 482704 3813 2552 123366 1959 69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961 70551 116.9 554894 4007 2827 130081 1962
""").reshape(16, 7)
CERTIFIED = [-3482258.63459582, 15.0618722713733, -0.358191792925910e-01, -2.02022980381683,
             -1.03322686717359, -0.511041056535807e-01, 1829.15146461355]  # fmt: skip
CERTIFIED_ERRORS = [890420.383607373, 84.9149257747669, 0.334910077722432e-01, 0.488399681651699,
                    0.214274163161675, 0.226073200069370, 455.478499142212]  # fmt: skip


@pytest.fixture(scope="module")
def spector():
    X, y = SPECTOR[:, :3], SPECTOR[:, 3].astype(int)
    return linsep.LogisticRegression(C=np.inf).fit(X, y), X, y


def test_least_squares_has_the_certified_digits_of_nist():
    model = linsep.LinearRegression().fit(LONGLEY[:, 1:], LONGLEY[:, 0])
    found = model.summary()
    np.testing.assert_allclose(found.columns["coef"], CERTIFIED, rtol=1e-9)
    np.testing.assert_allclose(found.columns["std err"], CERTIFIED_ERRORS, rtol=1e-9)
    assert found.figures["R2"] == pytest.approx(0.995479004577296, rel=1e-12)
    assert found.figures["F"] == pytest.approx(330.285339234588, rel=1e-9)
    assert found.figures["residual std err"] == pytest.approx(304.854073561965, rel=1e-9)


def test_a_logistic_summary_has_the_published_digits(spector):
    model, _, _ = spector
    found = model.summary()  # Greene's table, and Stata's: logit grade gpa tuce psi
    assert np.round(found.columns["coef"], 4).tolist() == [-13.0213, 2.8261, 0.0952, 2.3787]
    assert np.round(found.columns["std err"], 3).tolist() == [4.931, 1.263, 0.142, 1.065]
    assert round(found.figures["log-likelihood"], 4) == -12.8896
    assert "odds ratio" in str(found) and "AIC" in str(found)


def test_summaries_equal_those_of_statsmodels(spector):
    sm = pytest.importorskip("statsmodels.api")
    model, X, y = spector
    found = model.summary()
    peer = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14, method="newton")
    for name, expected in (("coef", peer.params), ("std err", peer.bse), ("P>|z|", peer.pvalues)):
        np.testing.assert_allclose(found.columns[name], expected, rtol=1e-8)
    ends = np.column_stack([found.columns["low 95%"], found.columns["high 95%"]])
    np.testing.assert_allclose(ends, peer.conf_int(), rtol=1e-8)
    for name, expected in (("AIC", peer.aic), ("BIC", peer.bic), ("P>chi2", peer.llr_pvalue)):
        assert found.figures[name] == pytest.approx(expected, rel=1e-8)


def test_several_classes_equal_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = (X @ rng.normal(size=(2, 3)) + rng.gumbel(size=(300, 3))).argmax(axis=1)
    found = linsep.LogisticRegression(C=np.inf).fit(X, y).summary()
    peer = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14, method="newton")
    np.testing.assert_allclose(found.columns["coef"], peer.params.T.ravel(), rtol=1e-8)
    np.testing.assert_allclose(found.columns["std err"], peer.bse.T.ravel(), rtol=1e-8)


def test_the_ends_of_a_profile_interval_lie_where_the_likelihood_says(spector):
    model, X, y = spector
    found = model.summary(interval="profile")
    top = found.figures["log-likelihood"]
    likelihood = LogisticLikelihood(np.column_stack([np.ones(32), X]), y, None, 2)
    for end in ("low 95%", "high 95%"):
        fixed = np.array([[False, True, False, False]])
        start = np.array([found.columns["coef"]])
        start[0, 1] = found.columns[end][1]
        held = likelihood.peak(start, fixed=fixed)
        assert 2 * (top - held.value) == pytest.approx(3.841458820694124, rel=1e-8)
    reduced = linsep.LogisticRegression(C=np.inf).fit(X[:, 1:], y).summary()
    ratio = 2 * (top - reduced.figures["log-likelihood"])
    assert found.columns["LR"][1] == pytest.approx(ratio, rel=1e-8)


def test_penalised_and_separated_fits_are_refused_with_the_way_out(spector):
    _, X, y = spector
    with pytest.raises(ParameterError, match="penalty='firth'; or give summary"):
        linsep.LogisticRegression().fit(X, y).summary()
    with pytest.warns(linsep.errors.NotConverged):
        parted = linsep.LogisticRegression(C=np.inf).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    with pytest.raises(ParameterError, match=r"no maximum exists.*penalty='firth'"):
        parted.summary()
    with pytest.raises(DataError, match="'x2' is a sum of others"):
        both = np.column_stack([X[:, :2], X[:, 0] + X[:, 1]])
        linsep.LinearRegression().fit(both, y).summary()
    found = linsep.LogisticRegression().fit(X, y).summary(bootstrap=5)
    assert found.figures["resamples"] == 5 and len(found.columns["std err"]) == 4


def test_rows_are_at_hand_after_a_fit_but_in_no_pickle(spector):
    model, X, y = spector
    again = pickle.loads(pickle.dumps(model))
    with pytest.raises(ParameterError, match="no longer at hand"):
        again.summary()
    assert again.summary(X, y).columns == model.summary().columns


def test_texts_are_told_against_the_first():
    rng = np.random.default_rng(0)
    table = {"size": rng.normal(size=80).tolist(), "city": rng.choice(["a", "b", "c"], 80).tolist()}
    y = (np.array(table["size"]) + rng.normal(size=80) > 0).astype(int)
    found = linsep.LogisticRegression(C=np.inf).fit(table, y).summary(table, y)
    assert found.columns["name"] == ["(intercept)", "size", "city=b", "city=c"]
    assert found.notes[1:] == ["Weights of city are against city=a."]


def test_firth_has_the_published_digits_of_a_separated_table():
    # Two by two with an empty cell: Firth's estimate adds a half to every cell, so that
    # it is the logarithm of the odds ratio of the table with halves (Heinze and Schemper 2002).
    X = np.array([[0.0]] * 10 + [[1.0]] * 8)
    y = np.array([0] * 6 + [1] * 4 + [1] * 8)
    model = linsep.LogisticRegression(penalty="firth").fit(X, y)
    assert model.coef_[0, 0] == pytest.approx(np.log(8.5 / 0.5) - np.log(4.5 / 6.5), rel=1e-10)
    assert model.intercept_[0] == pytest.approx(np.log(4.5 / 6.5), rel=1e-10)
    assert model.certificate_.residual < 1e-10 and "modified score" in model.certificate_.verdict
    assert model.status_.good and model.solver_ == "firth"
    assert linsep.load.__name__ == "load" and model.predict_proba(X).shape == (18, 2)


def test_firth_agrees_with_another_library(spector):
    other = pytest.importorskip("firthmodels")
    _, X, y = spector
    model = linsep.LogisticRegression(penalty="firth").fit(X, y)
    peer = other.FirthLogisticRegression().fit(X, y)  # asked for four digits
    np.testing.assert_allclose(model.coef_[0], np.ravel(peer.coef_), rtol=1e-4)


def test_firth_leaves_nothing_of_an_earlier_fit_when_it_fails(spector):
    _, X, y = spector
    model = linsep.LogisticRegression(penalty="firth")
    for bad in ((np.hstack([X, X]), y), (X, np.arange(len(y)) % 3)):
        model.fit(X, y)
        with pytest.raises((DataError, ParameterError)):
            model.fit(*bad)
        for name in ("coef_", "intercept_", "certificate_", "objective_", "status_"):
            assert not hasattr(model, name)
        with pytest.raises(NotFittedError):
            model.predict(X)


def test_firth_refuses_what_it_cannot_do():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    with pytest.raises(DataError, match="no single answer"):
        linsep.LogisticRegression(penalty="firth").fit(X, [0, 1, 0, 1])
    with pytest.raises(ParameterError, match="several classes"):
        linsep.LogisticRegression(penalty="firth").fit(X[:, :1], [0, 1, 2, 1])
    with pytest.raises(ParameterError, match="Leave solver out"):
        linsep.LogisticRegression(penalty="firth", solver="dual").fit(X, [0, 1, 0, 1])
