"""The widest margin: few rows carry it, and noise disturbs it less than a perceptron's plane."""

from pathlib import Path
from typing import Any

import numpy as np

from linsep import LinearSVC, Perceptron, margin
from linsep.data.toys import separated
from linsep.views.findings import Claim, Findings, Table

NOISE = [0.0, 0.1, 0.2, 0.3, 0.4]
DRAWS = 20


def find(data: Path | None = None) -> Findings:
    """Fit both on separable clouds, count support rows, and add noise to new rows."""
    X, y, _ = separated(n=200, d=2, margin=0.3, seed=4)
    machine = LinearSVC(C=1e4, tol=1e-8).fit(X, y)
    kept = machine.support_
    again = LinearSVC(C=1e4, tol=1e-8).fit(X[kept], y[kept])
    moved = float(np.abs(again.coef_ - machine.coef_).max() / np.abs(machine.coef_).max())
    first = Perceptron(shuffle=False).fit(X, y)
    widths = {"perceptron": margin(first, X, y).margin, "machine": margin(machine, X, y).margin}
    errors = _noisy()
    least = [float(np.mean(errors["machine"][s])) for s in NOISE]
    most = [float(np.mean(errors["perceptron"][s])) for s in NOISE]
    return Findings(
        "Support vectors, margin planes, and noise",
        f"200 separable points; {DRAWS} clouds of 40 rows in 5 dimensions, and 2,000 noisy copies",
        [
            Table("Margin, and rows that matter", ["plane", "margin", "rows that carry it", "of"],
                  [["perceptron, first separator", widths["perceptron"], "-", 200],
                   ["support vector machine", widths["machine"], len(kept), 200]]),
            Table("Errors on copies of the rows with noise added, mean over the clouds",
                  ["deviation of the noise", "perceptron", "machine"],
                  [[s, f"{p:.2%}", f"{m:.2%}"]
                   for s, p, m in zip(NOISE, most, least, strict=True)]),
        ],
        [
            Claim("At most one row in twenty carries the machine.", len(kept) <= len(X) // 20),
            Claim("Without all the others it is the same plane.", moved < 1e-3),
            Claim("Its margin is wider than that of the perceptron's first separator.",
                  widths["machine"] > widths["perceptron"]),
            Claim("Both are right without noise, and noise costs the machine less.",
                  least[0] == most[0] == 0.0
                  and all(m < p for m, p in zip(least[1:], most[1:], strict=True))),
        ],
        lambda figure: _draw(figure, machine, first, X, y, least, most),
        (10.4, 4.4),
    )  # fmt: skip


def _noisy() -> dict[str, dict[float, list[float]]]:
    """Errors of both on noisy copies of their own training rows."""
    errors: dict[str, dict[float, list[float]]] = {
        name: {s: [] for s in NOISE} for name in ("perceptron", "machine")
    }
    for seed in range(DRAWS):
        X, y, _ = separated(n=40, d=5, margin=0.3, seed=seed)
        learners = {
            "perceptron": Perceptron(random_state=seed).fit(X, y),
            "machine": LinearSVC(C=1e4).fit(X, y),
        }
        copies = np.repeat(np.arange(40), 50)
        shake = np.random.default_rng(seed).standard_normal((2000, 5))
        for s in NOISE:
            for name, learner in learners.items():
                error = 1 - learner.score(X[copies] + s * shake, y[copies])
                errors[name][s].append(error)
    return errors


def _draw(
    figure: Any, machine: Any, first: Any, X: Any, y: Any, least: list[float], most: list[float]
) -> None:
    from linsep.views.plots import margin as planes
    from linsep.views.scene.palette import BLUE, GREEN, ORANGE

    left, right = figure.subplots(1, 2)
    planes(machine, X, y, left)
    (a, b), c = first.coef_[0], float(first.intercept_[0])
    ends = np.array([X[:, 0].min(), X[:, 0].max()])
    limits = left.get_ylim()
    left.plot(ends, -(a * ends + c) / b, color=GREEN, ls=":", lw=1.8, label="perceptron")
    left.set(ylim=limits, title=f"{len(machine.support_)} of {len(X)} rows carry the machine")
    left.legend(frameon=True, fontsize=8, loc="upper right")
    right.plot(NOISE, 100 * np.array(most), color=ORANGE, marker="s", label="perceptron")
    right.plot(NOISE, 100 * np.array(least), color=BLUE, marker="o", label="widest margin")
    right.set(xlabel="deviation of the noise added", ylabel="errors, %",
              title="reading noisy copies of the rows")  # fmt: skip
    right.legend(frameon=False)
