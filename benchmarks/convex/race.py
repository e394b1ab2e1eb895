"""Every system on every problem: seconds to each accuracy, ratios, JSON and a picture.

    python -m benchmarks convex.race            all of it
    python -m benchmarks.convex.race 'IMDB hinge' --systems 'Snap ML,LIBLINEAR dual' --seconds 5

The second runs one problem, or those whose name begins so, against some systems only, and prints
the seconds of each to each accuracy. Both write what they find into out/solvers.json, where a
problem run again takes the place of its earlier results, and draw out/solvers.png from it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.convex import systems
from benchmarks.convex.picture import draw
from benchmarks.convex.workloads import WORKLOADS, Workload, objective
from benchmarks.stopwatch import peak_memory
from linsep import LinearSVC, LogisticRegression

ACCURACIES = (1e-2, 1e-3, 1e-4, 1e-6)
TOLERANCES = (3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-9)
TURNS = 3  # of linsep: before, between and after its peers
SECONDS = 20.0  # for a system on a problem, all its efforts together
PEERS = Path(sys.prefix) / "peers" / "bin" / "python"
OUT = Path("out")

Point = tuple[float, float]  # seconds, relative distance from the optimum
Curves = dict[str, list[Point]]


def rows() -> list[dict[str, Any]]:
    """A line for each problem and accuracy that some peer reached."""
    if not PEERS.exists():
        print("the peers are not installed (make bench does it): no comparison of solvers")
        return []
    lines = []
    for work in WORKLOADS:
        found = compare(work, list(systems.SYSTEMS), SECONDS)
        lines += [_line(work.name, found, accuracy, work.wanted) for accuracy in ACCURACIES]
    return [line for line in lines if line is not None]


def compare(work: Workload, names: list[str], seconds: float) -> Curves:
    """Run one problem, and keep what was found with what other problems left."""
    X, y = work.load()
    found = run(work, X, y, names, seconds)
    OUT.mkdir(exist_ok=True)
    path = OUT / "solvers.json"
    curves = json.loads(path.read_text()) if path.exists() else {}
    curves = {w.name: curves.get(w.name) for w in WORKLOADS} | {work.name: found}
    curves = {name: kept for name, kept in curves.items() if kept}
    path.write_text(json.dumps(curves, indent=1))
    draw(curves, OUT / "solvers.png")
    return found


def run(work: Workload, X: Any, y: Any, names: list[str], seconds: float) -> Curves:
    """Seconds and distance from the optimum of every fit of every system, which take turns."""
    warnings.simplefilter("ignore")
    _model(work, 1e-2).fit(X[:2000], y[:2000])  # compiles, or loads what was compiled
    turns: list[list[systems.Fit]] = []
    fits = {}
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), work, X, y)
        for k, name in enumerate(names):
            if k in (0, len(names) // 2):
                turns.append(_ours(work, X, y, seconds))
            fits[name] = _theirs(Path(folder), name, seconds)
        turns.append(_ours(work, X, y, seconds))
    fits["linsep"] = [min(same, key=lambda fit: fit[0]) for same in zip(*turns, strict=False)]
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


def _ours(work: Workload, X: Any, y: Any, seconds: float) -> list[systems.Fit]:
    """One of linsep's turns; a peer has all its runs in one go."""
    fits: list[systems.Fit] = []
    for tol in TOLERANCES:
        model = _model(work, tol)
        took, _ = systems.timed(partial(model.fit, X, y), systems.SPELL / TURNS)
        fits.append((took, model.coef_, model.intercept_))
        if sum(fit[0] for fit in fits) > seconds:
            break
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


def _theirs(folder: Path, name: str, seconds: float) -> list[systems.Fit]:
    """What a peer found in the time it has; a fit under way when it is over does not count."""
    command = [str(PEERS), systems.__file__, str(folder), name, str(seconds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 30)
        if done.returncode:
            print(f"  {name}: {(done.stderr.strip() or 'no word').splitlines()[-1][:160]}")
    except subprocess.TimeoutExpired:
        print(f"  {name}: out of time")
    found = []
    for path in sorted(folder.glob(f"{name}.*.npz")):
        kept = np.load(path)
        found.append((float(kept["took"]), kept["coef"], kept["b"]))
    return found


def seconds_to(points: list[Point], accuracy: float) -> float:
    """The shortest run that came this near."""
    return min((took for took, off in points if off <= accuracy), default=np.inf)


def _line(
    name: str, found: Curves, accuracy: float, wanted: dict[float, float]
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


def main() -> None:
    """One or some problems, and every system's seconds."""
    parser = argparse.ArgumentParser(description="Seconds of each system to each accuracy.")
    parser.add_argument("workloads", nargs="*", help="how the names of problems begin")
    parser.add_argument("--systems", help="peers, separated by commas; all of them if not given")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each system")
    asked = parser.parse_args()
    names = asked.systems.split(",") if asked.systems else list(systems.SYSTEMS)
    for work in WORKLOADS:
        if asked.workloads and not work.name.startswith(tuple(asked.workloads)):
            continue
        found = compare(work, names, asked.seconds)
        print(f"{work.name:<26}" + "".join(f"{accuracy:>10.0e}" for accuracy in ACCURACIES))
        for name, points in sorted(found.items(), key=lambda item: item[0] != "linsep"):
            times = [seconds_to(points, accuracy) for accuracy in ACCURACIES]
            print(f"  {name:<24}" + "".join(f"{took:>10.4f}" for took in times), flush=True)


if __name__ == "__main__":
    main()
