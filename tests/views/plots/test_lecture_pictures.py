"""Pictures of units, losses, proofs and likelihoods hold the numbers they are about."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linsep import Layer, LogisticRegression, Perceptron, losses, plot, proof_steps, sigmoid
from linsep.data.toys import overlapping, separated, three_classes, three_points, two_groups
from linsep.errors import DataError, ParameterError
from linsep.likelihood import Bernoulli, Gaussian
from linsep.logic import AND, network, parse
from linsep.views.plots.curves import hard_errors


def texts(figure):
    return [one.get_text() for ax in figure.axes for one in ax.texts]


def test_a_unit_shows_the_weights_of_the_learner_on_its_edges():
    X, y = two_groups()
    model = Perceptron("batch", init=[0.0, 1.0, -0.5]).fit(X, y)
    found = texts(plot.unit(model))
    assert {"1.45", "−0.6", "−0.5", "Σ", "±1", "x₁", "x₂"} <= set(found)
    assert "σ" in texts(plot.unit(LogisticRegression().fit(X, y)))
    assert "−1.5" in texts(plot.unit(AND()))


def test_a_layer_of_three_inputs_and_two_outputs_has_eight_edges():
    X = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], float)
    layer = Layer().fit(X, np.column_stack([X.sum(axis=1) >= 2, X[:, 0] > 0.5]))
    figure = plot.layer(layer)
    assert len(figure.axes[0].lines) == 8
    assert {"y₁", "y₂", "x₃"} <= set(texts(figure))
    with pytest.raises(DataError, match=r"3 hyperplanes; use plot\.layer"):
        plot.unit(Perceptron().fit(*three_classes(n=60, spread=0.2)))
    with pytest.raises(DataError, match="a diagram shows 12 at most"):
        plot.layer(Perceptron().fit(*separated(n=30, d=20, margin=0.5)[:2]))


def test_gates_are_wired_by_every_weight_that_is_not_zero():
    figure = plot.gates(network(parse("(x1 & x2) | (x3 & x4)")))
    assert len(figure.axes[0].lines) == 4 + 2
    assert texts(figure).count("≥ 2") == 2 and {"≥ 1", "x₄", "y"} <= set(texts(figure))
    with pytest.raises(DataError, match=r"use plot\.unit"):
        plot.gates(AND())


def test_activations_are_the_functions_they_are_named():
    soft, sign, step, _ = plot.activation().axes[0].lines
    z, value = soft.get_data()
    np.testing.assert_allclose(value, sigmoid(z))
    assert sign.get_ydata().tolist() == [-1, -1, 1] and step.get_ydata().tolist() == [0, 0, 1]


def test_the_losses_are_drawn_as_they_are_defined():
    (ax,) = plot.losses().axes
    assert len(ax.lines) == 7  # six losses, and the line at zero
    for line in ax.lines[:6]:
        name = line.get_label().split(":")[0]
        kinds = {"0/1": "ZeroOne", "squared hinge": "SquaredHinge"}
        loss = getattr(losses, kinds.get(name, name.capitalize()))()
        z, values = line.get_data()
        known = ~np.isnan(values)
        np.testing.assert_allclose(values[known], loss.value(z[known]))
    with pytest.raises(DataError, match="loss is 'hing'"):
        plot.losses(["hing"])


def test_a_surface_is_the_mean_loss_and_the_path_is_the_run(monkeypatch):
    X, y, _ = separated(n=30, margin=0.05, seed=2)
    run = Perceptron(fit_intercept=False, shuffle=False, trace=True).fit(X, y)
    ax, drawn, whole = Figure().subplots(), [], Axes.contourf

    def noted(self, *grid, **settings):
        drawn.append(grid)
        return whole(self, *grid, **settings)

    monkeypatch.setattr(Axes, "contourf", noted)
    plot.loss_surface(X, y, "ZeroOne")
    plot.loss_surface(X, y, "Perceptron", run=run, ax=ax)
    for (first, second, values), cost in zip(
        drawn, [lambda z: z <= 0, lambda z: np.maximum(0, -z)], strict=True
    ):
        for i, j in ((0, 0), (3, 17), (-1, -2)):
            z = y * (X @ [first[i], second[j]])
            assert values[j, i] == pytest.approx(cost(z).mean())
    path = np.column_stack(ax.lines[0].get_data())
    np.testing.assert_allclose(path[1:], [event["w"][0] for event in run.trace_.updates])
    assert path[0].tolist() == [0.0, 0.0]
    with pytest.raises(DataError, match="use fit_intercept=False"):
        plot.loss_surface(X, y, run=Perceptron(trace=True).fit(X + 1, y))
    with pytest.raises(DataError, match="fit it with trace=True"):
        plot.loss_surface(X, y, run=Perceptron().fit(X, y))


def test_both_criteria_are_those_of_the_eight_points_at_both_ends():
    X, y = two_groups()
    ax = Figure().subplots()
    plot.criteria(X, y, [0.0, 1.0, -0.5], [1.45, -0.6, -0.5], ax=ax)
    true, criterion = ax.lines[0].get_data(), ax.lines[1].get_data()
    at = lambda curve, t: curve[1][np.abs(np.asarray(curve[0]) - t).argmin()]  # noqa: E731
    assert at(true, 0.0) == 4
    assert at(true, 1.0) == 0
    assert at(criterion, 0.0) == pytest.approx(0.5 + 0.1 + 0.5 + 0.5)
    assert at(criterion, 1.0) == 0
    with pytest.raises(DataError, match="the intercept last"):
        plot.criteria(X, y, [0.0, 1.0], [1.0, 1.0])


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_every_correction_keeps_both_inequalities_of_the_proof(free, seed):
    X, y, _ = separated(n=80, d=3, margin=0.05, seed=seed)
    run = Perceptron(fit_intercept=free, trace=True, random_state=seed).fit(X, y)
    steps = proof_steps(run)
    k, slack = steps.k, 1e-9
    assert len(k) == run.mistakes_ + 1 > 1
    assert (np.diff(steps.along) >= steps.margin - slack).all()
    assert (steps.along >= k * steps.margin - slack).all()  # ⟨w_k, w*⟩ ≥ kγ/2 of the lecture
    assert (np.diff(steps.square) <= steps.radius**2 + slack).all()
    assert (steps.square <= k * steps.radius**2 + slack).all()
    assert (steps.along**2 <= steps.square + slack).all()


def test_the_distance_from_a_scaled_solution_falls_by_the_square_of_the_radius():
    for rows, labels in (three_points(), separated(n=60, margin=0.05, seed=1)[:2]):
        steps = proof_steps(Perceptron(shuffle=False, trace=True).fit(rows, labels))
        assert (np.diff(steps.distance) <= -(steps.radius**2) + 1e-6).all()
        assert (steps.distance >= -1e-9).all()


def test_the_proof_is_drawn_only_where_it_holds():
    run = Perceptron(shuffle=False, trace=True).fit(*three_points())
    (ax,) = plot.squeeze(run).axes
    assert "13 corrections" in ax.get_title()
    assert len(plot.squeeze(run, show="distance").axes[0].lines) == 3
    with pytest.raises(ParameterError, match="show is 'both'"):
        plot.squeeze(run, show="both")
    with pytest.raises(ParameterError, match="eta0"):
        plot.squeeze(Perceptron(eta0=0.5, trace=True).fit(*three_points()))


def test_the_hard_error_is_four_times_the_share_of_wrong_rows():
    X, y = three_points()
    run = Perceptron(shuffle=False, trace=True).fit(X, y)
    ends = []
    Perceptron(shuffle=False).fit(X, y, callback=lambda done: ends.append(None))
    learner = Perceptron(shuffle=False)
    learner.fit(X, y, callback=lambda done: ends.append(4 * np.mean(learner.predict(X) != y)))
    before, *after = hard_errors(run)
    assert before == pytest.approx(4 * np.mean(y < 0))  # all scores are 0: every output is +1
    assert after == pytest.approx([one for one in ends if one is not None])
    (ax,) = plot.loss({"online": run}, of="hard").axes
    assert "hard outputs" in ax.get_ylabel()
    assert ax.lines[0].get_ydata().tolist() == hard_errors(run)
    assert ax.lines[0].get_xdata()[0] == 0
    with pytest.raises(ParameterError, match="of is 'soft'"):
        plot.loss(run, of="soft")


def test_the_descent_of_a_likelihood_ends_at_the_star():
    x = np.random.default_rng(0).normal(3.0, 2.0, 40)
    (ax, *_) = plot.likelihood(x, Gaussian(0.0, 1.0)).axes
    path, star = (np.column_stack(line.get_data()) for line in ax.lines)
    assert path[0].tolist() == [0.0, 1.0]
    np.testing.assert_allclose(path[-1], star[0], rtol=1e-3)
    (ax,) = plot.likelihood([0, 1, 1, 1], Bernoulli(0.5)).axes
    assert ax.lines[2].get_xdata()[0] == 0.75
    (ax,) = plot.densities(x, {"best": Gaussian.most_likely(x)}).axes
    assert f"{Gaussian.most_likely(x).log_likelihood(x):.1f}" in ax.lines[0].get_label()
    with pytest.raises(DataError, match="give a distribution"):
        plot.likelihood(x, "normal")


def test_the_cost_of_leaving_rows_undecided_runs_from_all_mistakes_to_all_rejected():
    X, y = overlapping(n=2000)
    model = LogisticRegression().fit(X, y)
    (ax,) = plot.rejection(model, X, y, cost=0.2).axes
    left, wrong, cost = (line.get_ydata() for line in ax.lines[:3])
    assert left[0] == 0.0
    assert wrong[0] == pytest.approx(100 * np.mean(model.predict(X) != y))
    np.testing.assert_allclose(cost, wrong + 0.2 * left)
    assert cost.min() < min(cost[0], cost[-1])
    with pytest.raises(DataError, match="cost is 2"):
        plot.rejection(model, X, y, cost=2)


@pytest.mark.parametrize("normalised", [False, True])
def test_the_solution_region_is_where_every_row_is_right(normalised):
    X, y = np.array([[1.0, 1.5], [2.0, 0.5], [-1.0, 1.0], [-0.5, -1.5]]), np.array([1, 1, -1, -1])
    (ax,) = plot.solution_region(X, y, normalised=normalised).axes
    (region,) = [path for drawn in ax.collections[:1] for path in drawn.get_paths()]
    rng = np.random.default_rng(0)
    W = rng.uniform(-2.9, 2.9, (400, 2))
    own = ((W @ X.T) * y).min(axis=1)
    clear = np.abs(own) > 0.05  # the picture has pixels
    assert (region.contains_points(W) == (own > 0))[clear].all()
    drawn = np.vstack([np.asarray(one.get_offsets()) for one in ax.collections[1:]])
    wanted = X * y[:, None] if normalised else X
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, wanted))
    assert len(ax.lines) == 4


def test_a_region_that_cannot_be_drawn_is_refused_or_said_to_be_empty():
    (ax,) = plot.solution_region([[1.0, 0.0], [2.0, 0.0]], [0, 1]).axes
    assert "no solution" in ax.get_title()
    with pytest.raises(DataError, match="3 classes; this picture is drawn for two"):
        plot.solution_region(*three_classes(n=30))
