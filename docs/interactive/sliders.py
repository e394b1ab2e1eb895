"""Pictures with a slider: one for each value, drawn by the library when the pages are built."""

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from linsep import (
    FisherDiscriminant,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    mistake_bound,
    plot,
)
from linsep.data.toys import height_weight, overlapping, two_groups
from linsep.views.scene.palette import BLACK, BLUE, ORANGE


class Slider(NamedTuple):
    """What is moved, its values, what draws one and says what is seen, which comes first."""

    label: str
    values: tuple[float, ...]
    draw: Callable[[float, Figure], str]
    first: int  # the value that is shown at first
    size: tuple[float, float] = (7.2, 4.0)


def strip(C: float, figure: Figure) -> str:
    """Lecture 1: a weak penalty of margins leaves a wide strip and many rows inside."""
    X, y = overlapping(n=60, distance=3.0, seed=4)
    machine = LinearSVC(C=C).fit(X, y)
    plot.margin(machine, X, y, ax=figure.subplots())
    wide = 2 / float(np.linalg.norm(machine.coef_))
    wrong = int((machine.predict(X) != y).sum())
    return (f"C = {C:g}: a strip {wide:.2f} wide; {len(machine.support_)} of 60 rows hold it, "
            f"{wrong} are on the wrong side")  # fmt: skip


def gap(margin: float, figure: Figure) -> str:
    """Lecture 2: the narrower the gap, the more corrections, and the higher the bound."""
    rng = np.random.default_rng(3)
    y = np.where(rng.random(60) < 0.5, -1, 1)
    along, across = rng.uniform(-1, 1, 60), y * (margin + 0.3 * rng.random(60))
    X = np.outer(along, [-0.6, 0.8]) + np.outer(across, [0.8, 0.6])
    run = Perceptron(fit_intercept=False, shuffle=False).fit(X, y)
    bound = mistake_bound(X, y, fit_intercept=False)
    plot.boundary(run, X, y, ax=figure.subplots())
    return (f"margin {bound.margin:.3f}: {run.mistakes_} corrections, "
            f"of at most (R/γ)² = {bound.bound:,.0f}")  # fmt: skip


def step(share: float, figure: Figure) -> str:
    """Lecture 3: below 2/λ a step of descent converges, above it diverges."""
    H, kg = height_weight(100)
    H = (H - H.mean()) / H.std()
    eta = share * 2.0  # λ of XᵀX/M is 1: the feature has mean zero and variance one
    with warnings.catch_warnings(action="ignore"):
        line = LinearRegression("batch", eta0=eta, schedule="constant", scale=False, max_iter=60,
                                tol=1e-9).fit(H, kg)  # fmt: skip
    ax = figure.subplots()
    least = float(((kg - LinearRegression().fit(H, kg).predict(H)) ** 2).mean() / 2)
    ax.set(xlabel="pass over the data", ylabel="½ mean squared error, kg²", xlim=(0, 61),
           yscale="log", ylim=(least / 2, 1e5))  # fmt: skip
    curve = np.asarray(line.loss_curve_)
    ax.plot(np.arange(1, len(curve) + 1), curve, "o-", ms=3, color=BLUE)
    ax.axhline(least, color=BLACK, lw=0.8, ls=":", label="the least possible")
    ax.legend(frameon=False)
    return f"η = {eta:.2f}, the limit is 2/λ = 2: {line.status_.name} after {line.n_iter_} passes"


def fold(size: float, figure: Figure) -> str:
    """Lecture 4: the path of the weights for folds of one row, of some, of all."""
    A, t = overlapping(n=400, seed=0)
    ax, steps = figure.subplots(), 0
    for seed, colour in enumerate((BLUE, ORANGE)):
        with warnings.catch_warnings(action="ignore"):
            run = LogisticRegression(
                solver="minibatch", C=np.inf, eta0=0.5, schedule="constant", scale=False,
                keep="last", max_iter=1, batch_size=int(size), fit_intercept=False, trace=True,
                random_state=seed,
            ).fit(A, t)  # fmt: skip
        path = np.array([np.zeros(2), *(step["w"][0] for step in run.trace_.updates)])
        steps = len(path) - 1
        ax.plot(path[:, 0], path[:, 1], "-", lw=0.9, color=colour, label=f"order {seed + 1}")
        ax.plot(*path[-1], "o", color=colour)
    best = LogisticRegression(C=np.inf, fit_intercept=False).fit(A, t).coef_[0]
    ax.plot(*best, "*", ms=14, color=BLACK, label="most likely weights")
    ax.set(xlabel="w₁", ylabel="w₂", xlim=(-0.3, 3.2), ylim=(-0.8, 1.2))
    ax.legend(frameon=False, fontsize=8)
    rows_in = "one row" if size == 1 else "all 400 rows" if size == 400 else f"{size:.0f} rows"
    return (
        f"folds of {rows_in}: one pass is {steps} step{'s' * (steps > 1)}; two orders of the rows"
    )


def axis(angle: float, figure: Figure) -> str:
    """Lecture 5: rows projected on a direction, and Fisher's criterion of it."""
    X, y = two_groups()
    w = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    left, right = figure.subplots(1, 2)
    plot_rows(left, X, y)
    middle = X.mean(axis=0)
    left.plot(*np.transpose([middle - w, middle + w]), color=BLACK, lw=1.4)
    left.set(xlabel="x₁", ylabel="x₂", aspect="equal", xlim=(-0.6, 1.6), ylim=(-0.6, 1.7))
    at = X @ w
    plot_rows(right, np.column_stack([at, np.zeros(8)]), y)
    right.set(xlabel="rows projected on the line", yticks=[], xlim=(-1.7, 1.9), ylim=(-1, 1))
    first, second = at[y == 1], at[y == -1]
    scatter = ((first - first.mean()) ** 2).sum() + ((second - second.mean()) ** 2).sum()
    here = (first.mean() - second.mean()) ** 2 / scatter
    best = FisherDiscriminant().fit(X, y)
    at_best = np.degrees(np.arctan2(*best.coef_[0][::-1]))
    return (f"direction {angle:g}°: Fisher's criterion is {here:.3f}; "
            f"the largest is {best.criterion_:.3f}, at {at_best:.1f}°")  # fmt: skip


def plot_rows(ax: Any, X: Any, y: Any) -> None:
    """Rows of two classes, in colour and mark."""
    for label, colour, mark in ((1, BLUE, "o"), (-1, ORANGE, "s")):
        ax.plot(*X[y == label].T, mark, color=colour, ms=7, alpha=0.8)


SLIDERS = {
    "strip": Slider("C", (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0), strip, 5),
    "gap": Slider("margin", (0.0, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3), gap, 3),
    "step": Slider("η · λ/2", (0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.03, 1.2), step, 2),
    "fold": Slider("rows in a fold", (1, 4, 16, 50, 100, 400), fold, 2),
    "axis": Slider("direction", (-60, -45, -30, -15, -3, 0, 15, 30, 45, 60), axis, 8, (8.2, 3.8)),
}


def drawn(slider: Slider, value: float) -> tuple[bytes, str]:
    """The picture for a value, as PNG, and what it shows."""
    figure, buffer = Figure(figsize=slider.size, layout="constrained"), io.BytesIO()
    said = slider.draw(value, figure)
    figure.savefig(buffer, format="png", dpi=90)
    return buffer.getvalue(), said


def build(folder: Path) -> dict[str, list[str]]:
    """Draw all pictures; what each shows, by slider."""
    folder.mkdir(parents=True, exist_ok=True)
    words: dict[str, list[str]] = {}
    for name, slider in SLIDERS.items():
        words[name] = []
        for k, value in enumerate(slider.values):
            picture, said = drawn(slider, value)
            (folder / f"{name}-{k}.png").write_bytes(picture)
            words[name].append(said)
    return words
