"""A loss that is not convex: where descent gets stuck, and whether noise helps."""

from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from linsep import LogisticRegression, ThresholdNetwork
from linsep.data.toys import overlapping, xor
from linsep.train.online.backpropagation import Descent, Weights
from linsep.views.findings import Claim, Findings, Table

STARTS = 400  # the same for both ways of stepping, so that pairs can be counted
CURVES = 12  # that are drawn
STUCK = 0.15  # a mean loss above this is no solution


def band() -> tuple[Any, Any]:
    """60 points on a line: +1 in the middle, −1 at both ends, which takes two units."""
    X = np.random.default_rng(0).uniform(-1, 1, (60, 1))
    return X, np.where(np.abs(X[:, 0]) < 0.4, 1, -1)


def find(data: Path | None = None) -> Findings:
    """Train networks of two hidden units from random starts, by batches and row by row."""
    cases = {
        ("xor", "batch"): _train(*xor(), rule="batch", max_iter=3000),
        ("xor", "row by row"): _train(*xor(), rule="online", max_iter=3000),
        ("band", "batch"): _train(*band(), rule="batch", max_iter=800),
        ("band", "row by row"): _train(*band(), rule="online", max_iter=800),
    }
    ends = {case: np.array([net.loss_curve_[-1] for net in nets]) for case, nets in cases.items()}
    solved = {case: int((losses < STUCK).sum()) for case, losses in ends.items()}
    only = {
        case: int(((ends[case] < STUCK) & (ends[case[0], other] >= STUCK)).sum())
        for case in cases
        for other in ("batch", "row by row")
        if other != case[1]
    }
    X, y = xor()
    stuck = [net for net in cases["xor", "batch"] if net.loss_curve_[-1] >= STUCK]
    slopes = [_steepest(net, X, (y > 0).astype(float)) for net in stuck]
    A, t = overlapping(n=200)
    planes = [
        LogisticRegression(start="random", random_state=seed, tol=1e-8).fit(A, t).coef_[0]
        for seed in range(CURVES)
    ]
    apart = float(np.ptp(planes, axis=0).max())
    rows = [
        [*case, solved[case], STARTS, only[case], float(losses.mean())]
        for case, losses in ends.items()
    ]
    return Findings(
        "Local minima of a network of two hidden units",
        f"XOR, and a band of 60 points; {STARTS} random starts each",
        [
            Table("Starts that lead to a solution",
                  ["data", "steps", "solved", "of", "not by the other", "mean loss"], rows),
        ],
        [
            Claim("From some starts XOR is solved, from others descent gets stuck.",
                  0 < len(stuck) < STARTS),
            Claim("Where it is stuck the slope has almost vanished, at a loss far above zero.",
                  max(slopes) < 0.02 and min(net.loss_curve_[-1] for net in stuck) > 0.3),
            Claim("On the band, steps of single rows solve more of the starts than batch steps.",
                  _more(only["band", "row by row"], only["band", "batch"])),
            Claim("On XOR, with four rows, they solve fewer.",
                  _more(only["xor", "batch"], only["xor", "row by row"])),
            Claim("Logistic regression is convex: all starts end at one place.", apart < 1e-2),
        ],
        lambda figure: _draw(figure, cases),
        (10.4, 4.2),
    )  # fmt: skip


def _more(first: int, second: int) -> bool:
    """Whether so many pairs for the first cannot be chance: one in a thousand, by the sign test."""
    return first > second and binomtest(first, first + second).pvalue < 1e-3


def _train(X: Any, y: Any, **how: Any) -> list[Any]:
    return [
        ThresholdNetwork(random_state=seed, n_init=1, tol=0.05, **how).fit(X, y)
        for seed in range(STARTS)
    ]


def _steepest(net: Any, X: Any, t: Any) -> float:
    """The largest slope of the mean loss: how far a step of size 1 leads."""
    weights = Weights(*(part.copy() for part in net._parts()))
    Descent(X, t, np.ones(len(t)), weights, 1.0, 0).batch(1, 0.0)
    steps = (after - part for after, part in zip(weights, net._parts(), strict=True))
    return max(float(np.abs(step).max()) for step in steps)


def _draw(figure: Any, cases: dict[tuple[str, str], list[Any]]) -> None:
    from linsep.views.scene.palette import BLUE, ORANGE

    left, right = figure.subplots(1, 2)
    for net in cases["xor", "batch"][:CURVES]:
        fine = net.loss_curve_[-1] < STUCK
        left.plot(net.loss_curve_, color=BLUE if fine else ORANGE, ls="-" if fine else "--", lw=1.1)
    left.plot([], [], color=BLUE, label="solved")
    left.plot([], [], color=ORANGE, ls="--", label="stuck in a local minimum")
    left.set(xlabel="pass", ylabel="mean loss", title="XOR by batch descent, twelve of the starts")
    left.legend(frameon=False, fontsize=8)
    # The surface between a solution and a stuck end, along the straight line of all weights.
    nets = cases["xor", "batch"]
    good = next(net for net in nets if net.loss_curve_[-1] < STUCK)
    bad = next(net for net in nets if net.loss_curve_[-1] >= STUCK)
    X, y = xor()
    at = np.linspace(-0.3, 1.3, 161)
    values = []
    for t in at:
        net = copy(good)
        parts = [(1 - t) * p + t * q for p, q in zip(bad._parts(), good._parts(), strict=True)]
        net.hidden_coef_, net.hidden_intercept_, net.coef_, net.intercept_ = parts
        lead = np.where(y > 0, 1, -1) * net.decision_function(X)
        values.append(float(np.logaddexp(0.0, -lead).mean()))
    right.plot(at, values, color=BLUE)
    for t, word in ((0.0, "stuck"), (1.0, "solved")):
        right.axvline(t, color="#999999", lw=0.7)
        right.text(t, max(values), word, ha="center", va="bottom", fontsize=8)
    right.set(xlabel="on the line from one end to the other", ylabel="mean loss",
              title="the loss between two ends: not convex")  # fmt: skip
