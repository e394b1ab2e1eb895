"""Steps that are too small crawl, steps that are too large leave for good."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from linsep import LinearRegression
from linsep.data.toys import height_weight
from linsep.errors import NotConverged
from linsep.views.findings import Claim, Findings, Table

STEPS = [0.01, 0.1, 0.9, 1.8, 2.05]
PASSES = 40


def find(data: Path | None = None) -> Findings:
    """Descend on half the mean squared error with constant steps, in columns of spread one."""
    X, y = height_weight(100)
    best = LinearRegression().fit(X, y).loss_curve_[0]
    runs = {}
    for eta in STEPS:
        learner = LinearRegression("batch", eta0=eta, schedule="constant", max_iter=PASSES, tol=0.0)
        with warnings.catch_warnings(action="ignore", category=NotConverged):
            learner.fit(X, y)
        runs[eta] = learner
    above = {eta: np.array(run.loss_curve_) - best for eta, run in runs.items()}
    needed = {eta: _needed(curve) for eta, curve in above.items()}
    return Findings(
        "The choice of η",
        "weight from height, 100 people; the loss has curvature 1, so that η = 2 is the limit",
        [
            Table(f"Batch descent, {PASSES} steps",
                  ["η", "steps to within 1 kg² of the least", "above it at the end", "end"],
                  [[eta, needed[eta], float(above[eta][-1]), runs[eta].status_.name]
                   for eta in STEPS]),
        ],
        [
            Claim("A small η crawls: 0.01 does not arrive in time, 0.1 needs many steps.",
                  needed[0.01] is None and (needed[0.1] or 0) > 10),
            Claim("A good η arrives in a few steps.", (needed[0.9] or 99) <= 3),
            Claim("Near 2 it overshoots back and forth, and still arrives.",
                  (needed[1.8] or 0) > 5 and above[1.8][-1] < 0.01),
            Claim("Beyond 2 each step leads further away.",
                  bool((np.diff(above[2.05]) > 0).all())),
        ],
        lambda figure: _draw(figure, above),
        (6.6, 4.4),
    )  # fmt: skip


def _needed(curve: Any) -> int | None:
    near = np.flatnonzero(curve <= 1.0)
    return int(near[0]) + 1 if len(near) else None


def _draw(figure: Any, above: dict[float, Any]) -> None:
    from linsep.views.scene.palette import COLOURS, MARKS

    ax = figure.subplots()
    for k, (eta, curve) in enumerate(above.items()):
        ax.plot(np.arange(1, len(curve) + 1), np.maximum(curve, 1e-12), color=COLOURS[k],
                marker=MARKS[k], ms=4, lw=1.2, label=f"η = {eta:g}")  # fmt: skip
    ax.set(yscale="log", xlabel="step", ylabel="loss above the least, kg²", ylim=(1e-9, None),
           title="too small crawls, too large diverges")  # fmt: skip
    ax.legend(frameon=False, fontsize=8)
