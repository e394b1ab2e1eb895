"""Pictures show what they say: the right axes, labels, marks and numbers."""

import warnings

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linsep import (
    KernelPerceptron,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    bias_variance,
    plot,
)
from linsep.data.toys import height_weight, overlapping, separated, three_classes
from linsep.errors import DataError
from linsep.logic import AND, OR, XOR, ThresholdUnit, network
from linsep.views.scene.palette import COLOURS, MARKS


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_boundary_shows_every_class_with_its_own_colour_and_mark():
    X, y = three_classes()
    figure = plot.boundary(Perceptron().fit(X, y), X, y)
    assert isinstance(figure, Figure)
    (ax,) = figure.axes
    assert labels(ax) == ["class 0", "class 1", "class 2"]
    assert len(set(COLOURS)) == len(COLOURS) == len(set(MARKS))


def test_the_regions_of_a_boundary_are_what_the_model_predicts():
    X, y = three_classes()
    model = Perceptron().fit(X, y)
    (ax,) = plot.boundary(model, X, y).axes
    mesh = ax.collections[0]
    middles = mesh.get_coordinates()
    middles = (middles[:-1, :-1] + middles[1:, 1:]) / 2  # of the drawn cells
    codes = np.asarray(mesh.get_array()).reshape(middles.shape[:2])
    assert (codes.ravel() == model.predict(middles.reshape(-1, 2))).mean() > 0.999
    assert set(np.unique(codes)) == {0, 1, 2}


def test_pictures_are_drawn_where_asked():
    X, y, _ = separated()
    figure = Figure()
    first, second = figure.subplots(1, 2)
    assert plot.boundary(KernelPerceptron("rbf").fit(X, y), X, y, ax=second) is figure
    assert not first.collections
    assert second.collections


def test_the_margin_rings_the_support_rows():
    X, y, _ = separated(n=60, margin=0.3)
    model = LinearSVC(C=1e4, tol=1e-9).fit(X, y)
    (ax,) = plot.margin(model, X, y).axes
    rings = ax.collections[-1].get_offsets()
    assert len(rings) == len(model.support_)
    np.testing.assert_allclose(sorted(map(tuple, rings)), sorted(map(tuple, X[model.support_])))


def test_confidence_runs_from_zero_to_one(monkeypatch):
    X, y = overlapping()
    drawn, whole = [], Axes.contourf

    def noted(self, *grid, **settings):
        drawn.append(grid)
        return whole(self, *grid, **settings)

    monkeypatch.setattr(Axes, "contourf", noted)
    model = LogisticRegression().fit(X, y)
    axes = plot.confidence(model, X, y).axes
    ((across, up, p),) = drawn
    for i, j in ((0, 0), (3, 17), (-1, -2)):
        assert p[j, i] == pytest.approx(model.predict_proba([[across[i], up[j]]])[0, 1])
    assert axes[1].get_ylabel() == "probability of class 1"
    assert axes[1].get_ylim() == (0, 1)


def test_curves_hold_the_numbers_of_the_runs():
    X, y, _ = separated()
    runs = {rule: Perceptron(rule, trace=True).fit(X, y) for rule in ("online", "batch")}
    (ax,) = plot.mistakes(runs).axes
    assert labels(ax) == ["online", "batch"]
    for line, run in zip(ax.lines, runs.values(), strict=True):
        assert line.get_ydata().tolist() == run.mistakes_per_epoch_
    (ax,) = plot.loss(runs["online"]).axes
    assert len(ax.lines[0].get_ydata()) == runs["online"].n_iter_
    line = LinearRegression("batch").fit(*height_weight())
    (ax,) = plot.loss({"batch": line}).axes
    assert ax.lines[0].get_ydata().tolist() == line.loss_curve_
    with pytest.raises(DataError, match="trace=True"):
        plot.loss(Perceptron().fit(X, y))


def test_bias_and_variance_are_drawn_against_the_degree():
    X, y = height_weight(20)
    found = {k: bias_variance(LinearRegression(), X, y, repeats=3, random_state=k) for k in (1, 2)}
    (ax,) = plot.bias_variance(found).axes
    assert labels(ax) == ["squared bias", "variance", "their sum: the error"]
    assert ax.lines[0].get_ydata().tolist() == [found[1].bias, found[2].bias]
    assert ax.get_xlabel() == "degree"


def test_learners_are_compared_on_the_same_rows_and_axes():
    X, y = overlapping(n=80)
    named = {"plain": Perceptron(max_iter=3), "svm": LinearSVC(), "soft": LogisticRegression()}
    with warnings.catch_warnings(action="ignore"):
        models = {name: model.fit(X, y) for name, model in named.items()}
    figure = plot.compare(models, X, y)
    assert len(figure.axes) == 3
    assert len({ax.get_xlim() for ax in figure.axes}) == 1
    for ax, (name, model) in zip(figure.axes, models.items(), strict=True):
        wrong = X[model.predict(X) != y]
        assert ax.get_title() == f"{name}: {len(wrong)} of 80 wrong"
        np.testing.assert_array_equal(ax.collections[-1].get_offsets(), wrong)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["class -1", "class 1"]
    five = plot.compare([*models.values(), models["svm"], models["soft"]], X, y)
    assert [ax.axison for ax in five.axes] == [True] * 5 + [False] * 3
    given = Figure().subplots(1, 3)
    assert plot.compare(models, X, y, ax=given) is given[0].figure
    for bad, said in (({}, "empty"), (3, "a dict of name"), ([models["svm"]] * 4, "3 axes for 4")):
        with pytest.raises(DataError, match=said):
            plot.compare(bad, X, y, ax=given)


@pytest.mark.parametrize("logic", [AND(), OR(), XOR, network([1, 0, 0, 1])], ids=str)
def test_the_region_of_a_network_holds_exactly_the_corners_where_it_says_one(logic):
    (ax,) = plot.network(logic).axes
    mesh = ax.collections[0]
    says = mesh.get_array().reshape(500, 500)
    line = np.linspace(-0.5, 1.5, 500)
    corner = [int(np.abs(line - at).argmin()) for at in (0, 1)]
    seen = [int(says[corner[v], corner[u]]) for u in (0, 1) for v in (0, 1)]
    assert seen == logic.truth_table().tolist()


def test_only_two_inputs_fit_on_a_plane():
    with pytest.raises(DataError, match="two inputs"):
        plot.network(AND(3))
    with pytest.raises(DataError, match="needs two columns"):
        plot.boundary(None, np.ones((3, 3)), [0, 1, 0])
    always = plot.network(ThresholdUnit([0, 0], 1))  # no edge, one region
    assert always.axes[0].collections[0].get_array().all()
