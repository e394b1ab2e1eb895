"""The race as a picture: who is how near to the optimum after how many seconds."""

from pathlib import Path

import numpy as np

Curves = dict[str, list[tuple[float, float]]]


def draw(curves: dict[str, Curves], path: Path) -> None:
    """Distance from the optimum against seconds, a panel for each problem."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(15, 9), constrained_layout=True)
    names = sorted({name for found in curves.values() for name in found} - {"linsep"})
    colours = dict(zip(names, plt.get_cmap("tab20").colors, strict=False))
    for ax, (title, found) in zip(axes.flat, curves.items(), strict=False):
        for name, points in sorted(found.items(), key=lambda item: item[0] == "linsep"):
            ours = name == "linsep"
            reached = np.minimum.accumulate([max(off, 1e-10) for _, off in points])
            ax.loglog(
                [took for took, _ in points], reached, marker="o" if ours else ".", label=name,
                color="black" if ours else colours[name], linewidth=2.5 if ours else 1.2,
            )  # fmt: skip
        ax.set(title=title, xlabel="seconds", ylabel="objective above the optimum, relative")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=7)
    for ax in axes.flat[len(curves) :]:
        ax.set_axis_off()
    figure.savefig(path, dpi=110)
    plt.close(figure)
