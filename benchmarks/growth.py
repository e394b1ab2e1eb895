"""Seconds and memory over four decades of rows, and over features: cost grows in proportion."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

SIZES = (1_000, 10_000, 100_000, 1_000_000)
WIDTHS = (10, 30, 100, 300)
LEARNERS = ("Perceptron", "LogisticRegression", "LinearSVC", "LinearDiscriminantAnalysis")
FIT = """
import json, pathlib, sys, time, warnings
import numpy as np, linsep

def held(name):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))

warnings.simplefilter("ignore")
name, n, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
X = rng.standard_normal((n, d), np.float32)
y = X @ rng.standard_normal(d).astype(np.float32) + 3 * rng.standard_normal(n, np.float32) > 0
options = {"Perceptron": {"max_iter": 10}, "LinearSVC": {"loss": "squared_hinge", "tol": 1e-3}}
learner = getattr(linsep, name)(**options.get(name, {}))
learner.fit(X[:500], y[:500])
pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak is now what is held now
before = held("VmRSS")
best = float("inf")
for _ in range(3 if n * d < 2e7 else 1):
    start = time.perf_counter()
    learner.fit(X, y)
    best = min(best, time.perf_counter() - start)
after = held("VmHWM")
print(json.dumps([best, (after - before) / 1024, X.nbytes / 2**20]))
"""


def rows() -> list[dict[str, Any]]:
    """For each learner its growth over the last decade of rows, and the peak on top of the data."""
    found: dict[str, Any] = {}
    for name in LEARNERS:
        found[name] = {
            "rows": [_fit(name, n, 50) for n in SIZES],
            "features": [_fit(name, 100_000, d) for d in WIDTHS],
        }
    out = Path("out")
    out.mkdir(exist_ok=True)
    (out / "growth.json").write_text(json.dumps(found, indent=1))
    draw(found, out / "growth.png")
    return [_line(name, found[name]["rows"]) for name in LEARNERS]


def _fit(name: str, n: int, d: int) -> list[float]:
    command = [sys.executable, "-c", FIT, name, str(n), str(d)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _line(name: str, by_rows: list[list[float]]) -> dict[str, Any]:
    last, before = by_rows[-1], by_rows[-2]
    return {
        "workload": f"{name}, 50 features, 1e5 to 1e6 rows", "linsep": last[0],
        "peer": before[0], "ratio": last[0] / before[0], "wanted": -15.0,
        "note": f"ten times the rows; {last[1]:.0f} MB on top of {last[2]:.0f} MB of data; "
                "peer column: 1e5 rows",
    }  # fmt: skip


def draw(found: dict[str, Any], path: Path) -> None:
    """Seconds against rows and against features, both logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), constrained_layout=True)
    for ax, kind, sizes in zip(axes, ("rows", "features"), (SIZES, WIDTHS), strict=True):
        for name, marker in zip(LEARNERS, "os^D", strict=True):
            seconds = [fit[0] for fit in found[name][kind]]
            ax.loglog(sizes, seconds, marker=marker, label=name)
        line = np.array(sizes, float)
        ax.loglog(line, 1e-4 * line / line[0], "k:", label="in proportion")
        ax.set(xlabel=kind, ylabel="seconds to fit")
        ax.grid(alpha=0.3)
    axes[0].set_title("50 features, float32")
    axes[1].set_title("100,000 rows, float32")
    axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)
