"""Every system on every problem: seconds to each accuracy, ratios, JSON and a picture."""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.convex import systems
from benchmarks.convex.workloads import WORKLOADS, Workload, objective
from benchmarks.stopwatch import peak_memory
from linsep import LinearSVC, LogisticRegression

ACCURACIES = (1e-2, 1e-3, 1e-4, 1e-6)
SECONDS = 40.0  # for a system on a problem, all its efforts together
PEERS = Path(sys.prefix) / "peers" / "bin" / "python"

Point = tuple[float, float]  # seconds, relative distance from the optimum


def rows() -> list[dict[str, Any]]:
    """A line for each problem and accuracy that has a goal."""
    if not PEERS.exists():
        print("the peers are not installed (make bench does it): no comparison of solvers")
        return []
    lines, curves = [], {}
    for work in WORKLOADS:
        X, y = work.load()
        curves[work.name] = found = run(work, X, y)
        lines += [_line(work.name, found, accuracy, work.wanted) for accuracy in ACCURACIES]
    out = Path("out")
    out.mkdir(exist_ok=True)
    (out / "solvers.json").write_text(json.dumps(curves, indent=1))
    draw(curves, out / "solvers.png")
    return [line for line in lines if line is not None]


def run(work: Workload, X: Any, y: Any) -> dict[str, list[Point]]:
    """Seconds and distance from the optimum of every fit of every system."""
    fits = {"linsep": _ours(work, X, y)}
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), work, X, y)
        for name in systems.SYSTEMS:
            fits[name] = _theirs(Path(folder), name)
    values = {
        name: [(took, objective(work, X, y, coef, b)) for took, coef, b in found]
        for name, found in fits.items()
    }
    best = min(value for found in values.values() for _, value in found)
    return {
        name: sorted((took, max(value / best - 1, 0.0)) for took, value in found)
        for name, found in values.items()
        if found
    }


def _ours(work: Workload, X: Any, y: Any) -> list[tuple[float, Any, Any]]:
    warnings.simplefilter("ignore")
    fits = []
    _model(work, 1e-2).fit(X[:2000], y[:2000])
    for tol in (3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-9):
        best = np.inf
        for _ in range(2 if tol < 1e-8 else 5):
            model, start = _model(work, tol), time.perf_counter()
            model.fit(X, y)
            best = min(best, time.perf_counter() - start)
        fits.append((best, model.coef_, model.intercept_))
    return fits


def _model(work: Workload, tol: float) -> Any:
    if work.loss in ("logistic", "multinomial"):
        return LogisticRegression(C=work.C, tol=tol, fit_intercept=work.intercept)
    return LinearSVC(C=work.C, loss=work.loss, tol=tol, fit_intercept=work.intercept)


def _write(folder: Path, work: Workload, X: Any, y: Any) -> None:
    about = {"loss": work.loss, "C": work.C, "intercept": work.intercept}
    (folder / "about.json").write_text(json.dumps(about))
    np.save(folder / "y.npy", np.asarray(y))
    if sp.issparse(X):
        sp.save_npz(folder / "X.npz", X, compressed=False)
    else:
        np.save(folder / "X.npy", X)


def _theirs(folder: Path, name: str) -> list[tuple[float, Any, Any]]:
    command = [str(PEERS), systems.__file__, str(folder), name, str(SECONDS)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=4 * SECONDS)
    except subprocess.TimeoutExpired:
        print(f"  {name}: nothing within {4 * SECONDS:.0f} s")
        return []
    if done.returncode:
        print(f"  {name}: {(done.stderr.strip() or 'no word').splitlines()[-1][:160]}")
    path = folder / f"{name}.npz"
    if not path.exists():
        return []
    kept = np.load(path)
    efforts = range(sum(key.startswith("took") for key in kept))
    return [(float(kept[f"took{e}"]), kept[f"coef{e}"], kept[f"b{e}"]) for e in efforts]


def seconds_to(points: list[Point], accuracy: float) -> float:
    """The shortest run that came this near."""
    return min((took for took, off in points if off <= accuracy), default=np.inf)


def _line(
    name: str, found: dict[str, list[Point]], accuracy: float, wanted: dict[float, float]
) -> dict[str, Any] | None:
    times = {system: seconds_to(points, accuracy) for system, points in found.items()}
    ours = times.pop("linsep")
    peer = min(times, key=lambda system: times[system], default="")
    if not peer or not np.isfinite(times[peer]):
        return None
    return {
        "workload": f"{name} to {accuracy:.0e}", "linsep": ours, "peer": times[peer],
        "ratio": times[peer] / ours, "wanted": wanted.get(accuracy, 1.0),
        "note": f"best peer: {peer}; memory {peak_memory():.0f} MB",
    }  # fmt: skip


def draw(curves: dict[str, dict[str, list[Point]]], path: Path) -> None:
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
    figure.savefig(path, dpi=110)
    plt.close(figure)
