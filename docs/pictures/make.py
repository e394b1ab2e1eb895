"""Draw the pictures of the README, of films and of the lab: `python docs/pictures/make.py`.

Film and lab are photographed in Chromium, if it is installed.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from linsep import Perceptron, film, plot
from linsep.data.toys import separated, three_points

HERE = Path(__file__).parent
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"


def main() -> None:
    X, y, _ = separated(n=60, d=2, margin=0.15, seed=4)
    learner = Perceptron(shuffle=False, trace=True).fit(X, y)
    figure = Figure(figsize=(9.6, 4.0), layout="constrained")
    plane, curve = figure.subplots(1, 2, width_ratios=[1.25, 1])
    for sign, colour, mark in ((1, BLUE, "o"), (-1, ORANGE, "s")):
        some = X[y == sign]
        plane.scatter(some[:, 0], some[:, 1], c=colour, marker=mark, s=28, zorder=3)
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
        )
    plane.set(
        xlim=ends,
        ylim=(X[:, 1].min() - 0.3, X[:, 1].max() + 0.3),
        xlabel="x₁",
        ylabel="x₂",
        title=f"{learner.mistakes_} corrections to a separator",
    )
    for rule, colour, mark in (("online", BLUE, "o"), ("batch", ORANGE, "s")):
        run = Perceptron(rule, shuffle=False).fit(X, y)
        passes = np.arange(1, run.n_iter_ + 1)
        curve.plot(passes, run.mistakes_per_epoch_, color=colour, marker=mark, ms=4, label=rule)
    curve.set(xlabel="pass over the data", ylabel="rows corrected", title="Online against batch")
    curve.set_yscale("symlog", linthresh=1)
    curve.legend(frameon=False)
    figure.savefig(HERE / "perceptron.png", dpi=110)


def films() -> None:
    X, y = three_points()
    learner = Perceptron(shuffle=False, trace=True).fit(X, y)
    plot.weight_space(learner).savefig(HERE / "weight-space.png", dpi=110)
    browser = shutil.which("chromium")
    if browser is None:
        print("no chromium: the picture of the film stays as it is")
        return
    with tempfile.TemporaryDirectory() as folder:
        page = film(learner.trace_, Path(folder) / "run.html").path
        photograph(browser, f"{page.as_uri()}#t=6", "film.png", "1340,720")


def lab() -> None:
    browser = shutil.which("chromium")
    if browser is None:
        print("no chromium: the picture of the lab stays as it is")
        return
    serve = [
        sys.executable,
        "-c",
        "from linsep.views.cli import main; main()",
        "lab",
        "--port",
        "0",
        "--no-browser",
    ]
    with subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as server:
        address = server.stderr.readline().split()[4] if server.stderr else ""
        end = "#v=1&data=two-groups&learner=online+passive-aggressive&t=5"
        photograph(browser, address + end, "lab.png", "1340,1530")
        server.terminate()


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
    films()
    lab()
