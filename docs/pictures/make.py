"""Draw the pictures of the README and of films: `make pictures`, with all others.

Films are photographed in Chromium, if it is installed.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_breast_cancer

from linsep import LinearSVC, LogisticRegression, Perceptron, Scaled, film, plot, report
from linsep.data.toys import separated, three_points

HERE = Path(__file__).parent
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"


def rows() -> tuple[np.ndarray, np.ndarray]:
    """A few rows on which the online rule is done before the batch rule is."""
    X, y, _ = separated(n=24, d=2, margin=0.03, seed=48)
    return X, y


def four_points() -> tuple[np.ndarray, list[int]]:
    """The four points of the lecture on the solution region."""
    return np.array([[1.0, 1.5], [2.0, 0.5], [-1.0, 1.0], [-0.5, -1.5]]), [1, 1, -1, -1]


def hero() -> Perceptron:
    """The run that README and front page show: without an intercept two weights are all."""
    return Perceptron(shuffle=False, fit_intercept=False, trace=True).fit(*rows())


def main() -> None:
    X, y = rows()
    learner = hero()
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    plane, curve = figure.subplots(1, 2, width_ratios=[1.25, 1])
    for sign, colour, mark in ((1, BLUE, "o"), (-1, ORANGE, "s")):
        some = X[y == sign]
        plane.scatter(some[:, 0], some[:, 1], c=colour, marker=mark, s=28, zorder=3,
                      label=f"class {sign}")  # fmt: skip
    ends = np.array([X[:, 0].min() - 0.3, X[:, 0].max() + 0.3])
    updates = learner.trace_.updates
    for age, event in enumerate(updates, 1):
        (w1, w2), b = event["w"][0], event["b"][0]
        if w2 == 0:
            continue
        last = age == len(updates)
        plane.plot(
            ends,
            -(w1 * ends + b) / w2,
            color="black" if last else GREY,
            lw=2.2 if last else 0.9,
            alpha=1.0 if last else 0.12 + 0.5 * age / len(updates),
            label="the last boundary" if last else "boundaries on the way" if age == 2 else None,
        )
    plane.set(
        xlim=ends,
        ylim=(X[:, 1].min() - 0.3, X[:, 1].max() + 0.3),
        xlabel="x₁",
        ylabel="x₂",
        title=f"online: {learner.mistakes_} corrections to a separator",
    )
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": 4}
    plane.legend(fontsize=8, frameon=False, columnspacing=1.0, handletextpad=0.4, **below)
    most = 1
    for rule, colour, mark in (("online", BLUE, "o"), ("batch", ORANGE, "s")):
        run = Perceptron(rule, shuffle=False, fit_intercept=False).fit(X, y)
        passes = np.arange(1, run.n_iter_ + 1)
        curve.plot(passes, run.mistakes_per_epoch_, color=colour, marker=mark, ms=5, label=rule)
        most = max(most, run.n_iter_)
    curve.set(xlabel="pass over the rows", ylabel="rows corrected in the pass",
              title="online is done after fewer passes", xticks=range(1, most + 1))  # fmt: skip
    curve.legend(frameon=False)
    figure.savefig(HERE / "perceptron.png", dpi=90)
    film(learner.trace_, HERE / "film.gif")
    shrink(HERE / "film.gif")


def shrink(path: Path) -> None:
    """The same frames in 64 colours and at most 640 pixels wide."""
    with Image.open(path) as moving:
        frames, times = [], []
        for k in range(moving.n_frames):
            moving.seek(k)
            times.append(moving.info["duration"])
            frame = moving.convert("RGB")
            frame.thumbnail((640, 640))
            frames.append(frame.quantize(64, Image.Quantize.MAXCOVERAGE))
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=times, loop=0,
                   optimize=True)  # fmt: skip


def front() -> None:
    """What is proved, in three pictures for the front page."""
    X, y = rows()
    size = {"figsize": (4.2, 3.6), "layout": "constrained"}
    figure = Figure(**size)
    plot.solution_region(*four_points(), normalised=True, ax=figure.subplots())
    figure.axes[0].set_title("weights that are right for all rows: shaded", fontsize=10)
    figure.savefig(HERE / "front-separable.png", dpi=90)
    figure = Figure(**size)
    plot.squeeze(hero(), ax=figure.subplots())
    figure.axes[0].set_title("corrections so far, between their bounds", fontsize=10)
    figure.savefig(HERE / "front-bound.png", dpi=90)
    figure = Figure(**size)
    plot.margin(LinearSVC(C=100.0).fit(X, y), X, y, ax=figure.subplots())
    figure.axes[0].set_title("the widest margin and the rows that hold it", fontsize=10)
    figure.savefig(HERE / "front-margin.png", dpi=90)


def films() -> None:
    four = Perceptron(fit_intercept=False, shuffle=False, trace=True).fit(*four_points())
    plot.weight_space(four).savefig(HERE / "weight-space.png", dpi=90)
    X, y = three_points()
    learner = Perceptron(shuffle=False, trace=True).fit(X, y)
    browser = shutil.which("chromium")
    if browser is None:
        print("no chromium: the picture of the film stays as it is")
        return
    with tempfile.TemporaryDirectory() as folder:
        page = film(learner.trace_, Path(folder) / "run.html").path
        photograph(browser, f"{page.as_uri()}#t=6", "film.png", "1340,720")
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        model = Scaled(LogisticRegression()).fit(X, y)
        page = report(model, X, y, Path(folder) / "report.html")
        photograph(browser, page.as_uri(), "report.png", "1000,790")
    with Image.open(HERE / "report.png") as picture:
        picture.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(
            HERE / "report.png", optimize=True
        )


def photograph(browser: str, address: str, name: str, size: str) -> None:
    flags = ("--headless", "--no-sandbox", "--disable-gpu", f"--window-size={size}",
             "--disable-background-networking", "--no-first-run",
             "--virtual-time-budget=20000")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([browser, *flags, f"--user-data-dir={folder}/profile",
                        f"--screenshot={HERE / name}", address], check=True,
                       capture_output=True)  # fmt: skip


if __name__ == "__main__":
    main()
    front()
    films()
