"""The wider the margin, the fewer corrections: runs against Novikoff's bound."""

from pathlib import Path
from typing import Any

import numpy as np

from linsep import Perceptron, mistake_bound
from linsep.data.toys import separated
from linsep.views.findings import Claim, Findings, Table

MARGINS = [0.02, 0.05, 0.1, 0.2, 0.4, 0.8]
RUNS = 20


def find(data: Path | None = None) -> Findings:
    """Move the classes of one cloud apart, and count corrections in several orders."""
    made: list[list[int]] = []
    bounds: list[float] = []
    for margin in MARGINS:
        X, y, _ = separated(n=300, d=5, margin=margin, seed=1)
        bounds.append(float(mistake_bound(X, y).bound))
        runs = [Perceptron(random_state=seed, max_iter=20_000).fit(X, y) for seed in range(RUNS)]
        made.append([run.mistakes_ for run in runs])
    means = [float(np.mean(counts)) for counts in made]
    rows = [
        [margin, min(counts), mean, max(counts), bound]
        for margin, counts, mean, bound in zip(MARGINS, made, means, bounds, strict=True)
    ]
    return Findings(
        "Corrections against the margin",
        f"300 points of two classes in 5 dimensions, moved apart; {RUNS} orders of the rows each",
        [Table("Corrections until none is wrong, and the most that (R/γ)² = 4R²/(2γ)² allows",
               ["margin", "fewest", "mean", "most", "bound"], rows)],
        [
            Claim("The wider the margin, the fewer corrections on average.",
                  means == sorted(means, reverse=True)),
            Claim("The bound falls with the margin.", bounds == sorted(bounds, reverse=True)),
            Claim("No run of any order makes more corrections than the bound.",
                  all(max(counts) <= bound for counts, bound in zip(made, bounds, strict=True))),
        ],
        lambda figure: _draw(figure, made, means, bounds),
        (6.4, 4.4),
    )  # fmt: skip


def _draw(figure: Any, made: list[list[int]], means: list[float], bounds: list[float]) -> None:
    from linsep.views.scene.palette import BLUE, ORANGE

    ax = figure.subplots()
    for k, (margin, counts) in enumerate(zip(MARGINS, made, strict=True)):
        ax.plot([margin] * len(counts), counts, "o", color=BLUE, ms=4, alpha=0.5,
                label="one run each" if k == 0 else None)  # fmt: skip
    ax.plot(MARGINS, means, color=BLUE, lw=1.6, label="mean")
    ax.plot(MARGINS, bounds, color=ORANGE, ls="--", marker="s", ms=4, label="bound (R/γ)²")
    ax.set(xscale="log", yscale="log", xlabel="margin along the known separator",
           ylabel="corrections", title="A wider margin needs fewer corrections")  # fmt: skip
    ax.set_xticks(MARGINS, [f"{one:g}" for one in MARGINS])
    ax.minorticks_off()
    ax.legend(frameon=False)
