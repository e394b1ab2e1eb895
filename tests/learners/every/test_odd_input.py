"""What cannot be rows, labels, weights or axes is refused in words, by an error of linsep."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep.errors import DataError, KindError, LinsepError, ParameterError

X = np.random.default_rng(0).normal(size=(30, 3))
Y = (X[:, 0] > 0).astype(int)
ODD_ROWS = {
    "none": None,
    "text": "hello",
    "a set": {1, 2},
    "a generator": (row for row in X),
    "a function": len,
    "nothing": [],
    "one dimension": X[:, 0],
    "three dimensions": X[None],
    "ragged": [[1, 2], [3]],
    "complex": X + 1j,
    "not a number": np.where(X > 1, np.nan, X),
    "an object": [[object()] * 3] * 30,
    "other rows": X[:7],
}
ODD_LABELS = {
    "none": None,
    "nothing": [],
    "too few": Y[:7],
    "three dimensions": Y[None, None],
    "missing": [None, 1] * 15,
    "a number": 3,
    "a set": set(range(30)),
}
ODD_WEIGHTS = {
    "text": "hello",
    "too few": np.ones(7),
    "negative": -np.ones(30),
    "missing": [None] * 30,
    "infinite": np.full(30, np.inf),
    "none above zero": np.zeros(30),
    "two columns": np.ones((30, 2)),
}
KINDS = [
    "FisherDiscriminant",
    "KernelPerceptron",
    "KernelSVC",
    "Layer",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "PassiveAggressive",
    "Perceptron",
    "ThresholdNetwork",
    "VotedPerceptron",
]


def made(name):
    return getattr(linsep, name)(**({"max_iter": 3, "n_init": 1} if "Network" in name else {}))


def target(name):
    return np.column_stack([Y, 1 - Y]) if name == "Layer" else Y


@pytest.fixture(scope="module", params=KINDS)
def fitted(request):
    with warnings.catch_warnings(action="ignore"):
        return request.param, made(request.param).fit(X, target(request.param))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", ODD_ROWS)
def test_odd_rows_are_refused_in_words(fitted, what):
    name, model = fitted
    rows = ODD_ROWS[what]
    with pytest.raises(LinsepError) as fit:
        made(name).fit(rows, target(name))
    with pytest.raises(LinsepError) as score:
        model.score(rows, target(name))
    assert min(len(str(fit.value)), len(str(score.value))) > 20


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", ODD_LABELS)
def test_odd_labels_are_refused_in_words(fitted, what):
    name, model = fitted
    with pytest.raises(LinsepError):
        made(name).fit(X, ODD_LABELS[what])
    with pytest.raises(LinsepError):
        model.score(X, ODD_LABELS[what])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", ODD_WEIGHTS)
def test_odd_weights_are_refused_in_words(fitted, what):
    name, model = fitted
    with pytest.raises(DataError, match="sample_weight"):
        made(name).fit(X, target(name), sample_weight=ODD_WEIGHTS[what])
    with pytest.raises(DataError, match="sample_weight"):
        model.score(X, target(name), sample_weight=ODD_WEIGHTS[what])


def test_a_kind_that_holds_no_numbers_is_named_with_what_to_give():
    with pytest.raises(KindError, match=r"X is a generator .* give list\(X\)"):
        linsep.Perceptron().fit((row for row in X), Y)
    with pytest.raises(TypeError, match="X is a list with entries that are no numbers"):
        linsep.Perceptron().fit([[{}], [{}]], [0, 1])


def test_no_rows_have_no_coordinates():
    lda = linsep.LinearDiscriminantAnalysis().fit(X, Y)
    assert lda.transform(np.empty((0, 3))).shape == (0, 1)


def test_weights_whose_sum_is_no_float_are_refused():
    with pytest.raises(DataError, match="divide the weights"):
        linsep.FisherDiscriminant().fit(X, Y, sample_weight=np.full(30, 1e308))


def test_a_layer_takes_the_labels_of_all_its_units():
    layer = linsep.Layer().fit(X, target("Layer"))
    assert layer.score(X, target("Layer")) == layer.score(X, sp.csr_array(target("Layer")))
    with pytest.raises(DataError, match=r"Y has shape \(30,\)"):
        layer.score(X, Y)


@pytest.mark.parametrize("ax", ["left", 1, [], np.zeros(2), True])
def test_pictures_want_axes_of_matplotlib(ax):
    plot = pytest.importorskip("linsep.plot")
    with pytest.raises(ParameterError, match="give axes of matplotlib"):
        plot.losses(ax=ax)


def test_pictures_refuse_odd_parameters():
    plot = pytest.importorskip("linsep.plot")
    model = linsep.LogisticRegression().fit(X[:, :2], Y)
    run = linsep.Perceptron(fit_intercept=False, trace=True, max_iter=5)
    with warnings.catch_warnings(action="ignore"):
        run.fit(X[:, :2], Y)
    for draw in (
        lambda: plot.rejection(None, X, Y),
        lambda: plot.rejection(model, X[:, :2], Y[:5]),
        lambda: plot.rejection(model, X[:, :2], Y, cost="much"),
        lambda: plot.criteria("rows", Y, [0, 1, 2, 3], [0, 1, 2, 3]),
        lambda: plot.criteria(X, Y, "here", [0, 1, 2, 3]),
        lambda: plot.criteria(X, Y, [0, 1, 2, 3], [0, 1, 2, 3], span=3),
        lambda: plot.loss_surface(X[:, :2], Y, span=[1, 2]),
        lambda: plot.loss_surface(X[:, :2], Y, loss=X),
        lambda: plot.solution_region(X[:, :2], Y[:5]),
        lambda: plot.weight_space(run, at=1.5),
        lambda: plot.losses(which=3),
        lambda: linsep.likelihood.Gaussian.most_likely("sample"),
    ):
        with pytest.raises(LinsepError) as told:
            draw()
        assert len(str(told.value)) > 20


@pytest.mark.parametrize(
    "ask",
    [
        lambda: linsep.separability([[1, 2], [3]], [0, 1]),
        lambda: linsep.separability(X, Y, time_limit="soon"),
        lambda: linsep.separability(X, Y, gap=[]),
        lambda: linsep.mistake_bound(X, Y, separability=3),
        lambda: linsep.fewest_mistakes(X, Y, time_limit=None),
        lambda: linsep.kesler_rows("rows", Y),
        lambda: linsep.kesler_rows(X, [None] * 30),
        lambda: linsep.margin("model", X, Y),
        lambda: linsep.margin(X[0], X, Y, tolerance="some"),
        lambda: linsep.path(linsep.LogisticRegression(), X, Y, cv=[1, 2]),
        lambda: linsep.path(linsep.LogisticRegression(), X, Y, scoring="nonsense"),
        lambda: linsep.bias_variance("learner", X, Y),
        lambda: linsep.bias_variance(linsep.Perceptron(), X, ["a", None] * 15),
        lambda: linsep.sigmoid("z"),
        lambda: linsep.losses.Hinge().value(len),
        lambda: linsep.likelihood.Gaussian("mean"),
        lambda: linsep.likelihood.Bernoulli([0.5]),
        lambda: linsep.load(3),
        lambda: linsep.save(linsep.LinearSVC().fit(X, Y), None),
        lambda: linsep.save(linsep.LinearSVC().fit(X, Y), "model", data=3),
        lambda: linsep.export(linsep.LinearSVC().fit(X, Y), 3),
        lambda: linsep.export(linsep.LinearSVC().fit(X, Y), "model.sql", table=None),
        lambda: linsep.film(None, 3),
        lambda: linsep.report(linsep.LinearSVC().fit(X, Y), X, Y[:7], "report.html"),
        lambda: linsep.report(linsep.LinearSVC().fit(X, Y), X, Y, None),
        lambda: linsep.report(linsep.LinearSVC().fit(X, Y), X, Y, "r.html", test=3),
        lambda: linsep.report(linsep.LinearSVC().fit(X, Y), X, Y, "r.html", holdout="half"),
        lambda: linsep.read("rows.csv", nonsense=1),
        lambda: linsep.read(["rows.csv", 3]),
        lambda: linsep.read("rows.csv", columns=3),
        lambda: linsep.read("rows.csv", classes="yes"),
        lambda: linsep.read("rows.csv", bad_rows=3),
        lambda: linsep.read("rows.csv", cache=3),
        lambda: linsep.PairProducts(include_input=X).fit(X),
        lambda: linsep.Radial(squared="no").fit(X),
        lambda: linsep.HOG(orientations=True).fit(np.zeros((1, 256))),
        lambda: linsep.Layer(learner="perceptron").fit(X, target("Layer")),
        lambda: linsep.LinearSVC(loss=X).fit(X, Y),
        lambda: linsep.LogisticRegression(C=10**30).fit(X, Y),
        lambda: linsep.Perceptron(n_jobs=10**30).fit(X, Y),
    ],
)
def test_functions_refuse_odd_arguments_in_words(ask, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b\n1,x\n2,y\n")
    with pytest.raises(LinsepError) as told:
        ask()
    assert len(str(told.value)) > 20


def test_a_target_is_a_column_or_a_condition(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,x\n2,y\n")
    for target in (1.5, (1,), 1j):
        with pytest.raises(ParameterError, match="target is"):
            linsep.read(tmp_path / "rows.csv", target=target).load()
