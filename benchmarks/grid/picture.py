"""The grid as pictures of ratios, wins and losses alike: a heat map, and a small strip of dots.

python -m benchmarks.grid.picture out/grid.json docs/pictures
"""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.grid.judge import Verdict, read, summary
from benchmarks.grid.learners import LEARNERS

WIDEST = 16.0  # the ratio at which colours end
SLOWER, EVEN, FASTER = "#D55E00", "#FFFFFF", "#0072B2"
STRIP = (0.125, 64.0)


def draw(verdicts: list[Verdict], folder: Path) -> None:
    """`grid.png`, sets down and learners across, and `grid-strip.png`, a dot for each cell."""
    _save(_heat_map(verdicts), folder / "grid.png", 100)
    _save(
        _strip([v for v in verdicts if v.ratio > 0 and not v.failure]),
        folder / "grid-strip.png",
        110,
    )


def _save(figure: Any, path: Path, dpi: int) -> None:
    """In 256 colours: a third of the bytes."""
    from PIL import Image

    figure.savefig(path, dpi=dpi)
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(256)
    small.save(path, optimize=True)


def _heat_map(verdicts: list[Verdict]) -> Any:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(v.name for v in verdicts))
    learners = _learners(verdicts)
    logs = np.full((len(names), len(learners)), np.nan)
    figure = Figure(
        figsize=(2.4 + 0.78 * len(learners), 1.3 + 0.21 * len(names)), layout="constrained"
    )
    ax = figure.subplots()
    for v in verdicts:
        i, j = names.index(v.name), learners.index(v.learner)
        word, style = _word(v)
        if v.ratio > 0 and not v.failure:
            logs[i, j] = math.log2(v.ratio)
        ax.text(j, i, word, ha="center", va="center", fontsize=7.5, **style)
    limit = math.log2(WIDEST)
    colours = LinearSegmentedColormap.from_list("ratio", [SLOWER, EVEN, FASTER])
    image = ax.imshow(logs, cmap=colours, vmin=-limit, vmax=limit, aspect="auto", alpha=0.8)
    ax.set_xticks(range(len(learners)), learners, rotation=35, ha="left", fontsize=8)
    ax.xaxis.tick_top()
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.tick_params(length=0)
    ax.set_facecolor("#EEEEEE")
    for side in ax.spines.values():
        side.set_visible(False)
    bar = figure.colorbar(image, ax=ax, shrink=0.4, aspect=30, pad=0.02)
    bar.set_ticks([-4, -2, 0, 2, 4], labels=["1/16", "1/4", "1", "4", "16"], fontsize=8)
    bar.set_label("best peer's seconds / linsep's", fontsize=8)
    return figure


def _learners(verdicts: list[Verdict]) -> list[str]:
    some = {v.learner for v in verdicts}
    return [learner for learner in LEARNERS if learner in some]


def _word(v: Verdict) -> tuple[str, dict[str, Any]]:
    if v.failure:
        return "failed", {"color": "black", "weight": "bold"}
    if not v.ratio > 0:
        return "no peer", {"color": "grey"}
    number = f"{v.ratio:.0f}" if v.ratio >= 9.95 else f"{v.ratio:.{1 if v.ratio >= 1 else 2}f}"
    far = abs(math.log2(v.ratio)) > 0.7 * math.log2(WIDEST)
    return number, {"color": "white" if far else "black", "weight": "bold" if v.ratio < 1 else None}


def _strip(rated: list[Verdict]) -> Any:
    """A line of dots for each learner, on a scale of powers of two; a bar at the mean."""
    from matplotlib.figure import Figure

    learners = _learners(rated)
    figure = Figure(figsize=(7.2, 0.7 + 0.24 * len(learners)), layout="constrained")
    ax = figure.subplots()
    low, high = STRIP
    for row, learner in enumerate(learners):
        ratios = np.array(sorted(v.ratio for v in rated if v.learner == learner))
        lift = 0.22 * np.sin(2.4 * np.arange(len(ratios)))  # apart, so that all can be seen
        ax.scatter(
            np.clip(ratios, low, high), row + lift, s=16, alpha=0.75, linewidths=0,
            c=np.where(ratios < 1, SLOWER, FASTER),
        )  # fmt: skip
        mean = math.exp(float(np.mean(np.log(ratios))))
        ax.plot([mean, mean], [row - 0.4, row + 0.4], color="black", lw=1.6)
    ax.axvline(1, color="grey", lw=0.8)
    ax.set_xscale("log", base=2)
    ax.set_xlim(low / 1.2, 1.2 * high)
    ticks = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64]
    ax.set_xticks(ticks, ["¼", "½", *(f"{tick:.0f}×" for tick in ticks[2:])], fontsize=8)
    ax.set_yticks(range(len(learners)), learners, fontsize=8)
    ax.invert_yaxis()
    ax.tick_params(length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    won = sum(v.ratio > 1 for v in rated)
    mean = summary(rated).mean
    ax.set_title(
        f"best peer's seconds / linsep's: {len(rated)} cells, {won} faster, {len(rated) - won} "
        f"slower, geometric mean {mean:.1f}",
        fontsize=8.5,
    )
    return figure


if __name__ == "__main__":
    draw(read(Path(sys.argv[1])), Path(sys.argv[2]))
