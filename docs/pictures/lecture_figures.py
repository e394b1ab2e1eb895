"""Figures that explain one sentence of a lecture: `python docs/pictures/lecture_figures.py`."""

import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from linsep import Channels, Perceptron, margin, sigmoid
from linsep.data.toys import three_points
from linsep.views.scene.palette import BLACK, BLUE, GREEN, GREY, ORANGE

HERE = Path(__file__).parent


def tensor_of_channels() -> Figure:
    """Lecture 1: an image becomes a stack of channels, and a row of their sums over cells."""
    image = load_digits().images[3]
    fine = Channels(cell=(1, 1), orientations=4).fit([image.ravel()])
    stack = fine.transform([image.ravel()]).reshape(-1, 8, 8)
    coarse = Channels(cell=(4, 4), orientations=4).fit([image.ravel()])
    sums = coarse.transform([image.ravel()])[0]
    figure = Figure(figsize=(10.4, 4.2), layout="constrained")
    over, below = figure.subfigures(2, 1, height_ratios=[1.7, 1])
    names = ["brightness", "gradient", "edges 0°", "edges 45°", "edges 90°", "edges 135°"]
    for ax, name, channel in zip(over.subplots(1, 6), names, stack, strict=True):
        ax.imshow(channel, cmap="gray_r")
        ax.set(title=name, xticks=[3.5], yticks=[3.5], xticklabels=[], yticklabels=[])
        ax.grid(color=ORANGE, lw=1.2)
        ax.tick_params(length=0)
    ax = below.subplots()
    ax.bar(np.arange(24), sums, color=[GREY] * 4 + [BLACK] * 4 + [BLUE] * 16)
    ax.set(title="sums over the 2 × 2 cells of each: the 24 features of this image", xticks=[],
           yticks=[], xlim=(-0.7, 23.7))  # fmt: skip
    return figure


def signed_distances() -> Figure:
    """Lecture 2: w is perpendicular to the boundary; scores over ‖w‖ are signed distances."""
    X, y = three_points()
    learner = Perceptron(shuffle=False).fit(X, y)
    learner.coef_, learner.intercept_ = np.array([[-2.0, 1.0]]), np.array([0.5])
    w, b = learner.coef_[0], learner.intercept_[0]
    long = np.linalg.norm(w)
    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    ax = figure.subplots()
    at = np.array([-0.2, 2.6])
    ax.plot(at, -(w[0] * at + b) / w[1], color=BLACK, lw=2, label="⟨w, x⟩ + b = 0")
    foot = np.array([0.9, 1.3])
    ax.annotate("", foot + 0.8 * w / long, foot, arrowprops={"arrowstyle": "-|>", "lw": 2})
    ax.annotate("w", foot + 0.92 * w / long, ha="center", va="center")
    for x, sign, away in zip(X, y, margin(learner, X, y).distances * y, strict=True):
        colour, mark = (BLUE, "o") if sign == 1 else (ORANGE, "s")
        ax.plot(*np.transpose([x, x - away * w / long]), color=colour, lw=1, ls="--")
        ax.plot(*x, mark, color=colour, ms=9)
        ax.annotate(f"({w @ x + b:+.1f})/‖w‖ = {away:+.2f}", x, xytext=(9, 4),
                    textcoords="offset points", fontsize=9)  # fmt: skip
    ax.set(xlabel="x₁", ylabel="x₂", aspect="equal", xlim=(-0.4, 3.4), ylim=(0, 3.6),
           title="score over ‖w‖: the signed distance")  # fmt: skip
    ax.legend(frameon=False, loc="lower right")
    return figure


def any_two_densities() -> Figure:
    """Lecture 1: the posterior is the sigmoid of the log-odds, whatever the densities."""
    x = np.linspace(-1, 9, 400)

    def normal(m, s):
        return np.exp(-0.5 * ((x - m) / s) ** 2) / (s * np.sqrt(2 * np.pi))

    waiting = np.where(x >= 0, 0.5 * np.exp(-0.5 * np.maximum(x, 0)), 1e-300)
    pairs = {
        "Gaussians, one spread": (normal(3, 1.2), normal(5, 1.2)),
        "Gaussians, two spreads": (normal(4, 0.8), normal(4.5, 2.0)),
        "exponential, Gaussian": (waiting, normal(5, 1.2)),
    }
    figure = Figure(figsize=(10.4, 3.8), layout="constrained")
    for ax, (name, (first, second)) in zip(figure.subplots(1, 3), pairs.items(), strict=True):
        ax.fill_between(x, first, color=ORANGE, alpha=0.3, label="p(x | 0)")
        ax.fill_between(x, second, color=BLUE, alpha=0.3, label="p(x | 1)")
        odds = np.log(second) - np.log(first)
        ax.plot(x, sigmoid(odds), color=BLACK, lw=1.8, label="P(1 | x) = σ(log-odds)")
        ax.set(title=name, xlabel="x", ylim=(0, 1.05))
    figure.axes[0].legend(frameon=False, fontsize=8)
    return figure


def stops_at_a_maximum() -> Figure:
    """Lecture 5: the slope is zero at maxima too, and a descent that begins there stays."""

    def loss(w):
        return np.cos(2 * w) + 0.25 * w**2

    def slope(w):
        return -2 * np.sin(2 * w) + 0.5 * w

    w = np.linspace(-3.4, 3.4, 400)
    figure = Figure(figsize=(6.4, 3.9), layout="constrained")
    ax = figure.subplots()
    ax.plot(w, loss(w), color=GREY)
    for start, colour, words in (
        (0.0, ORANGE, "from 0, a maximum: stays"),
        (0.01, BLUE, "from 0.01: a minimum"),
        (-3.2, GREEN, "from −3.2: another"),
    ):
        path = [start]
        for _ in range(60):
            path.append(path[-1] - 0.1 * slope(path[-1]))
        ax.plot(path, loss(np.array(path)), "o-", ms=3, lw=0.8, color=colour, label=words)
        ax.plot(path[-1], loss(path[-1]), "o", ms=9, color=colour)
    ax.set(xlabel="w", ylabel="E(w)", title="where descent ends depends on where it begins")
    ax.legend(frameon=False, fontsize=8)
    return figure


def minibatches() -> Figure:
    """Lecture 4: paths of one pass, by rows, by folds and by the batch."""
    from docs.interactive.sliders import fold

    figure = Figure(figsize=(10.4, 3.6), layout="constrained")
    for part, size in zip(figure.subfigures(1, 3), (1, 16, 400), strict=True):
        said = fold(size, part)
        part.axes[0].set_title(said.split(";")[0], fontsize=9)
    return figure


FIGURES = {
    "channels": tensor_of_channels,
    "distances": signed_distances,
    "two-densities": any_two_densities,
    "maximum": stops_at_a_maximum,
    "minibatches": minibatches,
}

if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"):
        for name, draw in FIGURES.items():
            draw().savefig(HERE / f"{name}.png", dpi=90)
