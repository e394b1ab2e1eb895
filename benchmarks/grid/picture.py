"""The grid as a heat map of ratios, wins and losses alike."""

import math
from pathlib import Path

import numpy as np

from benchmarks.grid.judge import Verdict

WIDEST = 16.0  # the ratio at which colours end


def draw(verdicts: list[Verdict], path: Path, title: str = "") -> None:
    """Sets down, learners across; blue where linsep is faster, red where it is slower."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(v.name for v in verdicts))
    learners = list(dict.fromkeys(v.learner for v in verdicts))
    logs = np.full((len(names), len(learners)), np.nan)
    figure, ax = plt.subplots(
        figsize=(2.2 + 0.95 * len(learners), 1.2 + 0.27 * len(names)), constrained_layout=True
    )
    for v in verdicts:
        i, j = names.index(v.name), learners.index(v.learner)
        if v.failure:
            ax.text(j, i, "failed", ha="center", va="center", fontsize=7, color="darkred")
        elif v.ratio > 0:
            logs[i, j] = math.log2(v.ratio)
            ax.text(j, i, _short(v.ratio), ha="center", va="center", fontsize=7)
        else:
            ax.text(j, i, "no peer", ha="center", va="center", fontsize=7, color="grey")
    limit = math.log2(WIDEST)
    image = ax.imshow(logs, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto", alpha=0.75)
    ax.set_xticks(range(len(learners)), learners, rotation=35, ha="right", fontsize=8)
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_title(title or "best peer's seconds / linsep's", fontsize=9)
    bar = figure.colorbar(image, ax=ax, shrink=0.5)
    ticks = [-4, -2, 0, 2, 4]
    bar.set_ticks(ticks, labels=["1/16", "1/4", "1", "4", "16"])
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _short(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}"
