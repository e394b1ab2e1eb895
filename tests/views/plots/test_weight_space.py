"""The picture of the space of weights: lines, region and path are those of the run."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from linsep import LinearSVC, Perceptron, plot
from linsep.data.toys import separated, three_classes, three_points, xor
from linsep.errors import DataError, ParameterError


def regions(ax):
    return [patch for patch in ax.patches if isinstance(patch, Polygon)]


@pytest.mark.parametrize("asked", [{"fit_intercept": False}, {}], ids=str)
def test_the_region_drawn_holds_the_weights_of_a_separator(asked):
    X, y, _ = separated(n=30, margin=0.2, seed=1)
    learner = Perceptron(trace=True, **asked).fit(X, y)
    (ax,) = plot.weight_space(learner).axes
    (drawn,) = regions(ax)
    assert drawn.get_path().contains_point(learner.coef_[0])
    assert not drawn.get_path().contains_point(-learner.coef_[0])
    said = "all of the space" if asked else f"at b = {learner.intercept_[0]:.4g}"
    assert said in ax.get_title()


def test_the_path_is_that_of_the_corrections():
    learner = Perceptron(shuffle=False, trace=True).fit(*three_points())
    (ax,) = plot.weight_space(learner, at=6).axes
    way = next(line for line in ax.lines if len(line.get_xdata()) == 7)
    weights = [[0, 0], *(event["w"][0].tolist() for event in learner.trace_.updates[:6])]
    assert np.column_stack(way.get_data()).tolist() == weights
    assert "after 6 of 13 corrections" in ax.get_title()


def test_where_nothing_separates_there_is_no_region():
    with pytest.warns(UserWarning, match="no separator exists"):
        learner = Perceptron(max_iter=5, trace=True).fit(*xor())
    (ax,) = plot.weight_space(learner).axes
    assert regions(ax) == []
    assert "no solution in this view" in [t.get_text() for t in ax.get_legend().get_texts()]


def test_a_model_without_a_trace_shows_where_its_weights_are():
    X, y, _ = separated(n=30, margin=0.2, seed=1)
    model = LinearSVC(C=1e4).fit(X, y)
    (ax,) = plot.weight_space(model, X, y).axes
    (drawn,) = regions(ax)
    assert drawn.get_path().contains_point(model.coef_[0])
    with pytest.raises(DataError, match="with the rows as X and y"):
        plot.weight_space(model)
    with pytest.raises(DataError, match="give a fitted model"):
        plot.weight_space(3)


def test_more_classes_have_a_path_each_and_axes_are_where_asked():
    X, y = three_classes()
    learner = Perceptron(trace=True).fit(X, y)
    figure = Figure()
    first, second = figure.subplots(1, 2)
    assert plot.weight_space(learner, ax=second) is figure
    assert not first.lines
    names = [t.get_text() for t in second.get_legend().get_texts()]
    assert names == [f"weights of class {k}" for k in range(3)]
    with pytest.raises(ParameterError, match="at is 99"):
        plot.weight_space(learner, at=99)
