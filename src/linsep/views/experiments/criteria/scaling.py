"""Features of very different size, before and after scaling, with weights in their own units."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from linsep import LinearRegression, Perceptron, Scaled
from linsep.errors import NotConverged
from linsep.views.findings import Claim, Findings, Table

LIMIT = 3000


def find(data: Path | None = None) -> Findings:
    """Age in years and income in euros: a perceptron, and batch descent to a straight line."""
    X, y, target = _people()
    exact = LinearRegression().fit(X, target)
    perceptrons, lines = {}, {}
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        for name in ("raw", "min-max", "mean"):
            learner: Any = Perceptron(max_iter=LIMIT)
            descent: Any = LinearRegression("batch", scale=False, tol=1e-10, max_iter=500)
            if name != "raw":
                learner, descent = Scaled(learner, how=name), Scaled(descent, how=name)
            perceptrons[name] = learner.fit(X, y)
            lines[name] = descent.fit(X, target)
    rows = []
    for name, model in perceptrons.items():
        run = model if name == "raw" else model.learner_
        line = lines[name]
        curve = line.loss_curve_ if name == "raw" else line.learner_.loss_curve_
        rows.append([name, run.mistakes_, run.n_iter_, run.status_.name,
                     *model.coef_[0], len(curve), *line.coef_.tolist()])  # fmt: skip
    signs = y * (X @ perceptrons["mean"].coef_[0] + perceptrons["mean"].intercept_)
    return Findings(
        "Why features should have one size",
        "120 simulated people: age in years, income in euros; separable",
        [
            Table("The perceptron until no mistake is left",
                  ["scaling", "corrections", "passes", "end", "w per year", "w per euro"],
                  [row[:6] for row in rows]),
            Table("Batch descent to a line (at most 500 passes)",
                  ["scaling", "passes", "w per year", "w per euro"],
                  [[row[0], *row[6:]] for row in rows]
                  + [["exact", 1, *(float(v) for v in exact.coef_)]]),
        ],
        [
            Claim("Scaled, the perceptron needs a hundredth of the corrections or fewer.",
                  max(rows[1][1], rows[2][1]) <= rows[0][1] / 100),
            Claim("Its weights, in years and euros, separate the raw rows.",
                  bool((signs > 0).all())),
            Claim("Scaled descent reaches the exact line, in its own units.",
                  np.allclose(lines["mean"].coef_, exact.coef_, rtol=1e-3)
                  and np.allclose(lines["min-max"].coef_, exact.coef_, rtol=1e-2)),
            Claim("Raw descent is still far away after as many passes.",
                  abs(lines["raw"].coef_[0] / exact.coef_[0] - 1) > 0.5),
        ],
        lambda figure: _draw(figure, lines, rows),
    )  # fmt: skip


def _people(seed: int = 0) -> tuple[Any, Any, Any]:
    """Ages and incomes, a class that both decide, and a number that depends on both."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(20, 70, 150)
    income = rng.uniform(1e4, 9e4, 150)
    side = (age - 45) / 25 + (income - 5e4) / 4e4
    kept = np.abs(side) > 0.15
    X = np.column_stack([age, income])[kept]
    target = 2 * age[kept] + income[kept] / 1000 + rng.normal(0, 2, kept.sum())
    return X, np.where(side[kept] > 0, 1, -1), target


def _draw(figure: Any, lines: dict[str, Any], rows: list[list[Any]]) -> None:
    from linsep.views.scene.palette import COLOURS, MARKS

    left, right = figure.subplots(1, 2)
    names = [row[0] for row in rows]
    bars = left.bar(names, [row[1] for row in rows], color=COLOURS[: len(rows)])
    left.bar_label(bars, [f"{row[1]:,}" for row in rows])
    left.set(yscale="log", ylabel="corrections", title="perceptron: corrections made")
    left.margins(y=0.15)
    for k, (name, model) in enumerate(lines.items()):
        curve = model.loss_curve_ if name == "raw" else model.learner_.loss_curve_
        right.plot(np.arange(1, len(curve) + 1), curve, color=COLOURS[k], marker=MARKS[k], ms=3,
                   label=name)  # fmt: skip
    right.set(yscale="log", xscale="log", xlabel="pass over the data", ylabel="½ MSE",
              title="batch descent to a line")  # fmt: skip
    right.legend(frameon=False, loc="center right")
