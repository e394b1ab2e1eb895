"""Displays follow scikit-learn's convention, and pictures take what people have."""

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from linsep import LinearRegression, LinearSVC, LogisticRegression, Perceptron, plot
from linsep.data.toys import height_weight, overlapping, separated, three_classes, two_groups
from linsep.errors import DataError, NotConverged


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", [
    "BoundaryDisplay", "MarginDisplay", "ConfidenceDisplay", "WeightsDisplay", "WeightSpaceDisplay",
])  # fmt: skip
def test_a_display_is_drawn_by_pyplot_or_where_asked(name):
    kind = getattr(plot, name)
    X, y = overlapping(n=40)
    with pytest.warns(NotConverged):
        model = LogisticRegression(trace=True, solver="sgd", max_iter=3).fit(X, y)
    data = () if name == "WeightsDisplay" else (X, y)
    display = kind.from_estimator(model, *data)
    assert isinstance(display, kind)
    assert display.figure_.number in plt.get_fignums()
    assert display.ax_ is display.figure_.axes[0]
    ax = Figure().subplots()
    again = display.plot(ax=ax)
    assert again is display and display.ax_ is ax
    assert ax.has_data()


def test_curves_have_displays_too():
    X, y, _ = separated()
    model = Perceptron(trace=True).fit(X, y)
    shown = plot.MistakesDisplay.from_estimator(model).ax_.lines[0].get_ydata().tolist()
    assert shown == model.mistakes_per_epoch_
    assert plot.LossDisplay.from_estimator(model, of="hard").ax_.get_ylabel().startswith("mean")


def test_pyplot_knows_figures_unless_a_notebook_shows_them(monkeypatch):
    X, y = two_groups()
    model = LinearSVC().fit(X, y)
    assert plot.boundary(model, X, y) is plt.gcf()
    plt.close("all")
    monkeypatch.setattr(plt, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    figure = plot.boundary(model, X, y)
    assert isinstance(figure, Figure) and figure._repr_png_().startswith(b"\x89PNG")
    assert plt.get_fignums() == []


def test_frames_lend_their_names_and_sparse_rows_are_drawn(recwarn):
    pandas = pytest.importorskip("pandas")
    X, y = two_groups()
    table = pandas.DataFrame(X, columns=["size", "a$e"])
    model = LogisticRegression().fit(table, y)
    for draw in (plot.boundary, plot.margin, plot.confidence):
        ax = draw(model, table, y).axes[0]
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("size", r"a\$e")
    names = [text.get_text() for text in plot.weights(model).axes[0].get_xticklabels()]
    assert names == ["size", r"a\$e"]
    some = sp.csr_matrix(X)
    ax = plot.boundary(LinearSVC().fit(some, y), some, y).axes[0]
    assert ax.collections
    assert [str(one.message) for one in recwarn] == []


def test_many_classes_are_all_shown():
    X, y = three_classes(60)
    model = LogisticRegression().fit(X, y)
    axes = plot.confidence(model, X, y).axes
    assert axes[1].get_ylabel() == "probability of the likeliest class"
    ax = plot.weights(model, ax=Figure().subplots()).axes[0]
    assert len(ax.containers) == 3
    heights = [[bar.get_height() for bar in group] for group in ax.containers]
    np.testing.assert_allclose(heights, model.coef_)
    assert plot.weights(LinearRegression().fit(*height_weight())).axes[0].get_title() == "weights"


def test_what_cannot_be_drawn_is_said_plainly():
    X, y = three_classes(60)
    model = LinearSVC().fit(X, y)
    cases = [
        (lambda: plot.boundary(LinearSVC(), X, y), "not fitted; call fit first"),
        (lambda: plot.weights(LinearSVC()), "not fitted"),
        (lambda: plot.mistakes(Perceptron()), "not fitted"),
        (lambda: plot.boundary(model, X[:0], y[:0]), "no rows"),
        (lambda: plot.boundary(model, X, y[:3]), r"y has shape \(3,\); X has 60 rows"),
        (lambda: plot.boundary(model, [["a", "b"]], [0]), "no numbers"),
        (lambda: plot.margin(model, X, y), "3 classes"),
        (lambda: plot.confidence(model, X, y), "no predict_proba"),
        (lambda: plot.weights(model, shape=(1, 2), ax=Figure().subplots()), "leave ax out"),
        (lambda: plot.weights(model, shape=(8, 8)), "has 2 features"),
    ]
    for draw, said in cases:
        with pytest.raises(DataError, match=said):
            draw()
