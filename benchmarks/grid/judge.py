"""Who came near enough, and how fast: one verdict for each cell, from the runs that it told."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.grid.learners import LEARNERS

OURS = "linsep"
TOL = 1e-4


class Verdict(NamedTuple):
    """What a cell came to.

    Attributes
    ----------
    seconds : linsep's best at tol 1e-4; NaN where it did not answer
    peers : best seconds of each system that came as near as asked
    away : how far linsep's objective is from the best known, relative
    status, gap, solver : how linsep's fit ended
    spread : slowest over fastest row order of linsep
    failure : why the cell counts as failed, or ''
    errors : what systems said that could not answer, or were not tried
    commit : of linsep's sources
    """

    name: str
    learner: str
    seconds: float
    peers: dict[str, float]
    away: float
    status: str
    gap: float
    solver: str
    spread: float
    failure: str
    errors: dict[str, str]
    commit: str = ""

    @property
    def rival(self) -> str:
        """The fastest peer."""
        return min(self.peers, key=lambda name: self.peers[name], default="")

    @property
    def ratio(self) -> float:
        """Its seconds for each of linsep's: above one linsep is faster. NaN without a peer."""
        return self.peers[self.rival] / self.seconds if self.peers else math.nan


def judge(name: str, learner: str, told: Iterable[dict[str, Any]], ending: str = "") -> Verdict:
    """The verdict on what a cell told; `ending` says why it stopped early, if it did."""
    told = list(told)
    runs = [fact for fact in told if "seconds" in fact]
    ours = [run for run in runs if run["system"] == OURS and run["tol"] == TOL]
    errors = {fact["system"]: fact["error"] for fact in told if "error" in fact}
    if ending:
        errors[_last(told)] = ending
    best = min((run["value"] for run in runs if not run.get("order")), default=math.nan)
    exact, allowed = LEARNERS[learner].exact, LEARNERS[learner].allowed(best)
    usual = [run for run in ours if not run.get("compared") and not run.get("first")] or ours
    peers: dict[str, float] = {}
    for run in runs:
        if run["system"] != OURS and run["value"] <= allowed:
            peers[run["system"]] = min(run["seconds"], peers.get(run["system"], math.inf))
    if not ours:
        failure = f"no answer ({ending or 'ended'} during {_last(told)})"
        return Verdict(
            name, learner, math.nan, peers, math.nan, "", math.nan, "", math.nan, failure, errors
        )
    last = usual[-1]
    away = (last["value"] - best) / abs(best) if exact and best else last["value"] - best
    failure = ""
    if exact and last["status"] in ("gap_left", "unproved", "budget"):
        failure = f"{last['status']}, gap {last['gap']:.1e}"
    elif last["value"] > allowed:
        failure = f"{away:.1e} above the best objective" if exact else f"{away:.3f} more errors"
    return Verdict(
        name, learner, min(run["seconds"] for run in usual), peers, away, last["status"],
        last["gap"], last["solver"], _spread(ours), failure, errors,
    )  # fmt: skip


def _last(told: list[dict[str, Any]]) -> str:
    """The system that was at work last."""
    return next((fact["began"] for fact in reversed(told) if "began" in fact), "the set")


def _spread(ours: list[dict[str, Any]]) -> float:
    """Slowest over fastest row order, each at its best among the runs that compare orders."""
    best: dict[int, float] = {}
    for run in ours:
        if run.get("compared"):
            best[run["order"]] = min(run["seconds"], best.get(run["order"], math.inf))
    return max(best.values()) / min(best.values()) if len(best) > 1 else math.nan


class Summary(NamedTuple):
    """The grid in one line."""

    cells: int
    won: int
    mean: float
    worst: float
    where: str
    failed: list[str]
    spread: float

    def __str__(self) -> str:
        failed = "; ".join(self.failed) or "none"
        spread = f"; row orders within {self.spread:.2f}" if self.spread == self.spread else ""
        return (
            f"GRID {self.cells} cells with a ratio: won {self.won}, geometric mean "
            f"{self.mean:.2f}, worst {self.worst:.2f} ({self.where}); failed: {failed}{spread}"
        )


def summary(verdicts: list[Verdict]) -> Summary:
    """Cells with a ratio, those won, geometric mean, the worst, those that failed, the spread.

    A cell that failed has no ratio: to be wrong sooner is not to be fast.
    """
    rated = sorted((v for v in verdicts if v.ratio > 0 and not v.failure), key=lambda v: v.ratio)
    mean = math.exp(sum(math.log(v.ratio) for v in rated) / len(rated)) if rated else math.nan
    where = f"{rated[0].name} {rated[0].learner}" if rated else "no peer"
    spreads = [v.spread for v in verdicts if v.spread > 0]
    return Summary(
        len(rated), sum(v.ratio > 1 for v in rated), mean, rated[0].ratio if rated else math.nan,
        where, [f"{v.name} {v.learner}: {v.failure}" for v in verdicts if v.failure],
        max(spreads, default=math.nan),
    )  # fmt: skip


def write(verdicts: list[Verdict], path: Path) -> None:
    """The summary and a line of JSON for each cell; numbers that are not known become null."""
    lines = []
    for v in verdicts:
        known = v._asdict() | {
            "ratio": v.ratio,
            "peers": {k: _short(s) for k, s in v.peers.items()},
        }
        known = {k: _short(x) if isinstance(x, float) else x for k, x in known.items()}
        lines.append(json.dumps(known))
    cells = ",\n".join(lines)
    path.write_text(
        f'{{"summary": {json.dumps(str(summary(verdicts)))},\n"cells": [\n{cells}\n]}}\n'
    )


def read(path: Path) -> list[Verdict]:
    """What `write` wrote."""
    cells = json.loads(path.read_text())["cells"]
    return [
        Verdict(
            **{k: math.nan if cell[k] is None else cell[k] for k in Verdict._fields if k in cell}
        )
        for cell in cells
    ]


def _short(number: float) -> float | None:
    return float(f"{number:.4g}") if math.isfinite(number) else None
