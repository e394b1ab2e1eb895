"""Draw what no experiment draws of the lecture pages: `python docs/pictures/lectures.py`."""

import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from linsep import (
    KernelPerceptron,
    KernelSVC,
    Layer,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    plot,
    sigmoid,
)
from linsep.data.toys import (
    age_height_weight,
    gates,
    height_weight,
    overlapping,
    rings,
    separated,
    three_points,
    two_groups,
)
from linsep.likelihood import Gaussian
from linsep.logic import XOR
from linsep.views.scene.palette import BLACK, BLUE, GREEN, ORANGE

HERE = Path(__file__).parent


def save(figure: Figure, name: str) -> None:
    figure.savefig(HERE / f"{name}.png", dpi=90)


def pair(width: float = 9.6, height: float = 4.0) -> tuple[Figure, list]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, 2))


def classifiers() -> None:
    """Lecture 1."""
    save(plot.unit(Perceptron().fit(*gates("AND"))), "unit")
    save(plot.losses(), "losses")
    save(plot.gates(XOR), "gates")
    save(plot.activation(), "activation")
    z = np.linspace(-6, 6, 201)
    figure = Figure(figsize=(5.4, 3.2), layout="constrained")
    ax = figure.subplots()
    ax.plot(z, sigmoid(z), color=BLUE, lw=2, label="σ(z) = 1/(1 + e⁻ᶻ)")
    ax.step([-6, 0, 6], [0, 0, 1], where="pre", color=BLACK, lw=1, ls=":", label="the hard step")
    ax.plot([-6, 6], [0.5, 0.5], color=BLACK, lw=0.5)
    ax.set(xlabel="score z", ylabel="probability", title="the sigmoid, a soft step")
    ax.legend(frameon=False, fontsize=8)
    save(figure, "sigmoid")
    inputs = gates("AND")[0]
    targets = np.column_stack([gates(name)[1] for name in ("AND", "OR", "NAND")])
    save(plot.layer(Layer().fit(inputs, targets)), "layer")
    rng = np.random.default_rng(0)
    U = np.vstack([rng.normal(0, 0.5, (80, 2)), rng.normal(0.5, 2.0, (80, 2))])
    kind = np.repeat([0, 1], 80)
    both = {
        "one covariance": LinearDiscriminantAnalysis().fit(U, kind),
        "two covariances": QuadraticDiscriminantAnalysis().fit(U, kind),
    }
    save(plot.compare(both, U, kind), "covariances")
    x = np.cos(np.linspace(0, np.pi, 2001))
    degrees = [1, 2, 4, 8, 16, 32, 64, 128]
    errors = []
    for D in degrees:
        powers = np.polynomial.chebyshev.chebvander(x, D)[:, 1:]
        line = LinearRegression().fit(powers, np.abs(x))
        errors.append(float(np.abs(line.predict(powers) - np.abs(x)).max()))
    figure = Figure(figsize=(5.4, 3.8), layout="constrained")
    ax = figure.subplots()
    ax.loglog(degrees, errors, "o-", color=BLUE)
    ax.set(xlabel="degree D", ylabel="largest error", title="polynomials fitted to |x|, no noise")
    ax.set_xticks(degrees, [str(D) for D in degrees])
    ax.minorticks_off()
    save(figure, "degrees")
    ring, inside = rings(200)
    machines = {
        "kernel perceptron": KernelPerceptron("rbf").fit(ring, inside),
        "kernel machine": KernelSVC(10.0, "rbf", gamma=1.0).fit(ring, inside),
    }
    save(plot.compare(machines, ring, inside), "kernels")


def threshold_units() -> None:
    """Lecture 2."""
    X, y, _ = separated(n=30, margin=0.05, seed=2)
    run = Perceptron(fit_intercept=False, shuffle=False, trace=True).fit(X, y)
    figure, axes = pair(10.4)
    for ax, name in zip(axes, ("ZeroOne", "Perceptron"), strict=True):
        plot.loss_surface(X, y, name, run=run, ax=ax)
    save(figure, "loss-surfaces")
    figure, axes = pair()
    run = Perceptron(shuffle=False, trace=True).fit(*three_points())
    for ax, show in zip(axes, ("norm", "distance"), strict=True):
        plot.squeeze(run, show=show, ax=ax)
    save(figure, "squeeze")
    X, y = three_points()
    rules = {"y·u < 0": "strict", "y·u ≤ 0": "wrong"}
    ends = {
        name: Perceptron(boundary=rule, shuffle=False).fit(X, y) for name, rule in rules.items()
    }
    save(plot.compare(ends, X, y), "strict-rule")


def regression() -> None:
    """Lecture 3."""
    H, kg = height_weight(100)
    (x1, x2), (y1, y2) = H[:2, 0], kg[:2]
    w = (y2 - y1) / (x2 - x1)
    figure = Figure(figsize=(5.8, 4.2), layout="constrained")
    ax = figure.subplots()
    ax.scatter(H[:, 0], kg, s=12, color="#999999", label="100 people")
    ax.scatter([x1, x2], [y1, y2], s=70, color=BLACK, zorder=3, label="the two samples")
    at = np.array([140.0, 200.0])
    for b, colour, style, words in (
        (-w * x1, ORANGE, "--", "b = −w₁x₁, as printed"),
        (y2 - y1, GREEN, ":", "b = y₂ − y₁, as printed"),
        (y1 - w * x1, BLUE, "-", "b = y₁ − w₁x₁, as used here"),
    ):
        ax.plot(at, w * at + b, color=colour, ls=style, lw=1.8, label=words)
    ax.set(xlabel="height, cm", ylabel="weight, kg", title="the two-sample start")
    ax.legend(frameon=False, fontsize=8)
    save(figure, "two-point")
    A, weight = age_height_weight(120)
    plane = LinearRegression().fit(A, weight)
    figure = Figure(figsize=(5.8, 4.6), layout="constrained")
    ax = figure.add_subplot(projection="3d")
    age, height = np.meshgrid(np.linspace(20, 70, 8), np.linspace(145, 195, 8))
    above = plane.predict(np.column_stack([age.ravel(), height.ravel()])).reshape(age.shape)
    ax.plot_surface(age, height, above, alpha=0.35, color=BLUE)
    ax.scatter(A[:, 0], A[:, 1], weight, color=ORANGE, s=10)
    ax.set(xlabel="age, years", ylabel="height, cm", zlabel="weight, kg",
           title="weight from age and height")  # fmt: skip
    save(figure, "plane")


def delta_rule() -> None:
    """Lecture 4."""
    X, y, _ = separated(n=100, d=2, margin=0.02, seed=1)
    X = X + np.array([1.5, -1.0])
    runs = {
        "online": Perceptron(trace=True, max_iter=200).fit(X, y),
        "batch": Perceptron("batch", trace=True, max_iter=200).fit(X, y),
    }
    save(plot.loss(runs, of="hard"), "hard-outputs")
    x = np.random.default_rng(0).normal(3.0, 2.0, 40)
    figure, (left, right) = pair(10.4)
    some = {"N(0, 1)": Gaussian(0.0, 1.0), "N(2, 4²)": Gaussian(2.0, 4.0)}
    plot.densities(x, {**some, "most likely": Gaussian.most_likely(x)}, ax=left)
    plot.likelihood(x, Gaussian(0.0, 1.0), ax=right)
    save(figure, "likelihood")
    model = LogisticRegression().fit(*overlapping(n=400, seed=0))
    save(plot.rejection(model, *overlapping(n=5000, seed=1), cost=0.2), "rejection")


def single_layer() -> None:
    """Lecture 5."""
    X, y = two_groups()
    start, end = [0.0, 1.0, -0.5], [1.45, -0.6, -0.5]
    save(plot.criteria(X, y, start, end), "criteria")
    one = Perceptron("batch", init=start).fit(X, y)
    wide = {"one step": one, "widest margin": LinearSVC(C=1e4).fit(X, y)}
    save(plot.compare(wide, X, y), "good-boundary")
    rows, signs = np.array([[1.0, 1.5], [2.0, 0.5], [-1.0, 1.0], [-0.5, -1.5]]), [1, 1, -1, -1]
    figure, axes = pair(9.6, 4.4)
    for ax, turned in zip(axes, (False, True), strict=True):
        plot.solution_region(rows, signs, normalised=turned, ax=ax)
    save(figure, "solution-region")


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"):
        for draw in (classifiers, threshold_units, regression, delta_rule, single_layer):
            draw()
