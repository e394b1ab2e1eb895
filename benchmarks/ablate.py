"""What each line of the table of solvers and each part earns: python -m benchmarks.ablate [options]

A line is left out of `choose.TABLE`, so that the next one that applies is taken; a part is
replaced by what does without it. Only cells that meet the line or the part are timed again: with it
and without it in turns, by processor time. `earns` is the geometric mean of how much longer a fit
takes without; `lost` counts fits that end proved with it and not without it. What earns less than
1.25 and loses nothing has no place.
"""

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from benchmarks.grid.cell import labels
from benchmarks.grid.learners import LEARNERS
from benchmarks.grid.sets import get
from linsep.train.convex import basis, choose
from linsep.train.convex.parts.dual_bounds import DualBounds
from linsep.train.convex.parts.kept_rows import KeepsRows
from linsep.train.convex.parts.preconditioner import Preconditioner
from linsep.train.convex.solvers.newton import Newton

SETS = (
    "iris,wine-raw,cancer,small-500x8,table-5000x60,spambase-raw,winequality,adult,a9a,phishing,"
    "one-hot-4000x120,one-hot-100000x2400,short-text-60000x30000,usps,kdd99-raw,covtype"
)
PROBLEMS = ("logistic", "hinge", "squared-hinge", "l1")
EARNS, TURNS, LONGEST = 1.25, 3, 60.0

# A part: where it is, and what stands there without it.
PARTS: dict[str, tuple[Any, str, Any]] = {
    "rows near the corner alone": (KeepsRows, "_among_near", lambda self, coarse: False),
    "misjudged rows keep their losses": (KeepsRows, "_keep", lambda self, p, step, error: False),
    "samples first": (Newton, "_by_samples", lambda self, u, h: (u, h)),
    "foretold multipliers": (DualBounds, "foretold", lambda self, p, q: None),
    "a factor as preconditioner": (Preconditioner, "price", lambda self, rows: math.inf),
    "few rows in their own space": (basis, "few_rows", lambda X: False),
}


@contextmanager
def without(place: Any, name: str, other: Any) -> Iterator[None]:
    """A part replaced for a while."""
    own = getattr(place, name)
    setattr(place, name, other)
    try:
        yield
    finally:
        setattr(place, name, own)


@contextmanager
def counted(place: Any, name: str, met: set[str], label: str) -> Iterator[None]:
    """Notes in `met` whether a part was asked for anything."""
    own = getattr(place, name)

    def asked(*given: Any, **more: Any) -> Any:
        met.add(label)
        return own(*given, **more)

    with without(place, name, asked):
        yield


def fit(problem: str, X: Any, y: Any) -> tuple[float, bool]:
    """Processor seconds of a fit, and whether it ended well."""
    model = LEARNERS[problem].make(1e-4)
    begun = time.process_time()
    model.fit(X, y)
    return time.process_time() - begun, bool(model.status_.good)


def lines_met(problem: str, X: Any, y: Any) -> tuple[set[str], set[str]]:
    """The lines of the table and the parts that a fit meets."""
    lines: set[str] = set()
    parts: set[str] = set()

    def noted(line: choose.Line) -> choose.Line:
        def applies(shape: Any) -> bool:
            met = line.applies(shape)
            lines.update([line.when] if met else [])
            return met

        return line._replace(applies=applies)

    open_ones = [counted(place, name, parts, label) for label, (place, name, _) in PARTS.items()]
    for one in open_ones:
        one.__enter__()
    with without(choose, "TABLE", tuple(map(noted, choose.TABLE))):
        fit(problem, X, y)
    for one in reversed(open_ones):
        one.__exit__(None, None, None)
    return lines, parts


def raced(problem: str, X: Any, y: Any, off: Callable[[], Any]) -> tuple[float, bool]:
    """How much longer a fit takes without something, and whether it ends worse."""
    best, good = [math.inf, math.inf], [True, True]
    for _ in range(TURNS):
        for k in range(2):
            with off() if k else nullcontext():
                seconds, good[k] = fit(problem, X, y)
            best[k] = min(best[k], seconds)
        if max(best) > LONGEST:
            break
    return best[1] / best[0], good[0] and not good[1]


def switches(lines: set[str], parts: set[str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What can be switched off of these."""
    for line in choose.TABLE[:-1]:
        if line.when in lines:
            rest = tuple(one for one in choose.TABLE if one is not line)
            yield f"`{line.solver}`: {line.when}", lambda rest=rest: without(choose, "TABLE", rest)
    for label, given in PARTS.items():
        if label in parts:
            yield label, lambda given=given: without(*given)


def table(found: dict[str, list[tuple[float, bool]]]) -> str:
    lines = ["| without | cells | earns | at most | lost |", "|---|--:|--:|--:|--:|"]
    for label, cells in found.items():
        ratios = [ratio for ratio, _ in cells]
        mean, lost = math.exp(sum(map(math.log, ratios)) / len(ratios)), sum(b for _, b in cells)
        mark = "" if mean >= EARNS or lost else " (too little)"
        lines.append(f"| {label} | {len(cells)} | {mean:.2f}{mark} | {max(ratios):.2f} | {lost} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablate", description=__doc__)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    found: dict[str, list[tuple[float, bool]]] = {}
    for name in args.sets.split(","):
        X, codes = get(name)
        for problem in args.problems.split(","):
            y = labels(name, codes, problem)
            if y is None:
                continue
            for label, off in switches(*lines_met(problem, X, y)):
                ratio, lost = raced(problem, X, y, off)
                found.setdefault(label, []).append((ratio, lost))
                print(f"{name:<24}{problem:<15}{ratio:>7.2f}{' LOST' if lost else ''}  {label}")
    print(table(found))


if __name__ == "__main__":
    main()
