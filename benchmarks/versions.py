"""Two versions of linsep side by side on the grid: python -m benchmarks.versions PYTHON [options]

PYTHON is the interpreter of an environment with another version. Each version has a process of its
own for a set; fits take turns, and the least processor time counts, so that a busy machine matters
little. A cell is slower where this version takes more than `SLOWER` times as long.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.grid.cell import TOL, labels
from benchmarks.grid.learners import LEARNERS, answer_of
from benchmarks.grid.sets import SETS, get, in_order

ROOT = Path(__file__).resolve().parents[1]
SLOWER = 1.3
ROUNDS, SHORT, SHORT_ROUNDS = 3, 0.15, 12
BY_DEFAULT = [name for name, one in SETS.items() if one.here and "k1000" not in name]


class Version:
    """A process in which one version fits."""

    def __init__(self, python: str) -> None:
        env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks.versions", "--serve"],
            cwd=ROOT, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def ask(self, **what: Any) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("{"):  # compilers and the like print on their own
                return dict(json.loads(line))
        return {"error": f"exit code {self.process.wait()}"}

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def serve() -> None:
    """Read cells and fits to be made from standard input, and print what came of each."""
    X = y = Y = None
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        told = json.loads(line)
        if "set" in told:
            X, y = in_order(*get(told["set"]), told["order"])
            print(json.dumps({"rows": X.shape[0]}), flush=True)
        elif "learner" in told:
            Y, learner = labels(told["name"], y, told["learner"]), LEARNERS[told["learner"]]
            suits = Y is not None and learner.suits(X, len(np.unique(Y)))
            print(json.dumps({"suits": bool(suits)}), flush=True)
        else:
            try:
                print(
                    json.dumps(one_fit(told["fit"], X, Y, told["tol"]), default=float), flush=True
                )
            except Exception as problem:
                print(
                    json.dumps({"error": f"{type(problem).__name__}: {problem}"[:200]}), flush=True
                )


def one_fit(name: str, X: Any, y: Any, tol: float) -> dict[str, Any]:
    model = LEARNERS[name].make(tol)
    begun, processor = time.perf_counter(), time.process_time()
    model.fit(X, y)
    seconds, processor = time.perf_counter() - begun, time.process_time() - processor
    return {
        "seconds": seconds,
        "processor": processor,
        "status": model.status_.name,
        "gap": float(getattr(model, "gap_", np.nan)),
        "solver": str(getattr(model, "solver_", "")),
        "value": LEARNERS[name].value(answer_of(model), X, y),
    }


def race(versions: list[Version], name: str, tol: float) -> list[dict[str, Any]]:
    """Turns of both versions with one learner: the least times, and what the last fit said."""
    best: list[dict[str, Any]] = [{}, {}]
    turns = ROUNDS
    for turn in range(1 + SHORT_ROUNDS):
        for k, version in enumerate(versions):
            if "error" in best[k]:
                continue
            told = version.ask(fit=name, tol=tol)
            if turn == 1 or "error" in told:  # the first fit of a process loads, or compiles
                best[k] = told
            elif turn > 1:
                for clock in ("seconds", "processor"):
                    best[k][clock] = min(best[k][clock], told[clock])
        if turn == 1 and max(one.get("processor", 0.0) for one in best) < SHORT:
            turns = SHORT_ROUNDS
        if turn >= turns or (turn >= 1 and max(one.get("processor", 0.0) for one in best) > 20.0):
            break
    return best


def line_of(name: str, learner: str, new: dict[str, Any], old: dict[str, Any]) -> str:
    said = [one.get("error", f"{one.get('status')} {one.get('gap', 0):.0e}") for one in (new, old)]
    if any("error" in one for one in (new, old)):
        return f"{name:<24}{learner:<15}{said[0]} | {said[1]}"
    ratio = new["processor"] / old["processor"]
    return (
        f"{name:<24}{learner:<15}{new['processor'] * 1e3:>11.2f}{old['processor'] * 1e3:>11.2f} ms"
        f"{ratio:>7.2f}{'  SLOWER' if ratio > SLOWER else '        '}  {said[0]} | {said[1]}  "
        f"{new['solver']} | {old['solver']}"
    )


def compare(args: argparse.Namespace) -> None:
    print(f"{'set':<24}{'learner':<15}{'this':>11}{'other':>11}     ratio  endings; solvers")
    ratios: dict[str, float] = {}
    for name in args.sets.split(",") if args.sets else BY_DEFAULT:
        versions = [Version(sys.executable), Version(args.python)]
        for version in versions:  # one after the other: the first may have to make the set
            version.ask(set=name, order=args.order)
        for learner in args.learners.split(",") if args.learners else LEARNERS:
            if not all(v.ask(learner=learner, name=name)["suits"] for v in versions):
                continue
            new, old = race(versions, learner, args.tol)
            print(line_of(name, learner, new, old), flush=True)
            if "processor" in new and "processor" in old:
                ratios[f"{name} {learner}"] = new["processor"] / old["processor"]
            with Path(args.out).open("a", encoding="utf8") as kept:
                cell = {"set": name, "learner": learner, "order": args.order}
                kept.write(json.dumps({**cell, "this": new, "other": old}) + "\n")
        for version in versions:
            version.end()
    if ratios:
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        slower = sum(ratio > SLOWER for ratio in ratios.values())
        worst = max(ratios, key=lambda cell: ratios[cell])
        print(
            f"{len(ratios)} cells: geometric mean {mean:.2f} of the other version's time, "
            f"{slower} above {SLOWER}, worst {ratios[worst]:.2f} ({worst})"
        )


def main(arguments: list[str]) -> None:
    if arguments == ["--serve"]:
        return serve()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions", description=__doc__)
    parser.add_argument("python", help="interpreter of the environment of the other version")
    parser.add_argument("--sets", help="names with commas; all but the largest if not given")
    parser.add_argument("--learners", help="names with commas; all if not given")
    parser.add_argument("--order", type=int, default=0, help="another order of the rows")
    parser.add_argument("--tol", type=float, default=TOL)
    parser.add_argument("--out", default="out/versions.jsonl", help="where cells are added")
    args = parser.parse_args(arguments)
    Path(args.out).parent.mkdir(exist_ok=True)
    return compare(args)


if __name__ == "__main__":
    main(sys.argv[1:])
