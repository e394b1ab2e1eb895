"""Online, minibatch and batch corrections on the same points, and how the order matters."""

from pathlib import Path
from typing import Any

import numpy as np

from linsep import Perceptron, mistake_bound
from linsep.data.toys import separated
from linsep.views.findings import Claim, Findings, Table

ORDERS = 20


def find(data: Path | None = None) -> Findings:
    """Run the rules side by side, the online one also in many orders."""
    X, y, _ = separated(n=200, d=2, margin=0.1, seed=3)
    X += np.array([3.0, 1.0])  # away from the origin, so that the bias has to be learned as well
    bound = mistake_bound(X, y).bound
    rules = {
        "online": Perceptron(shuffle=False, trace=True),
        "minibatches of 32": Perceptron("minibatch", shuffle=True, trace=True),
        "batch": Perceptron("batch", trace=True),
        "batch, line search": Perceptron("batch", schedule="line-search", trace=True),
    }
    for learner in rules.values():
        learner.fit(X, y)
    rows = [
        [name, run.n_iter_, int(run.trace_.count), run.mistakes_] for name, run in rules.items()
    ]
    ends = []
    for seed in range(ORDERS):
        order = np.random.default_rng(seed).permutation(len(X))
        ends.append(Perceptron(shuffle=False).fit(X[order], y[order]))
    made = [run.mistakes_ for run in ends]
    planes = {run.coef_.tobytes() + run.intercept_.tobytes() for run in ends}
    delta = _delta_rule(X, y, rules["online"].n_iter_)
    return Findings(
        "Online, minibatch and batch corrections",
        "200 points with a known margin of 0.1",
        [
            Table("From w = 0 to a separator",
                  ["rule", "passes", "weight changes", "rows corrected"], rows),
            Table(f"The online rule in {ORDERS} orders", ["fewest", "median", "most", "bound"],
                  [[min(made), float(np.median(made)), max(made), bound]]),
        ],
        [
            Claim("Every rule ends with a separator.",
                  all(run.status_.name == "separated" for run in rules.values())),
            Claim("The online rule needs fewer passes than the batch rule.",
                  rules["online"].n_iter_ < rules["batch"].n_iter_),
            Claim("The order of the rows changes the plane the online rule ends with.",
                  len(planes) > ORDERS // 2),
            Claim("In no order are there more corrections than Novikoff allows.",
                  max(made) <= bound),
            Claim("The delta rule Δw = η(t − y)x with η = ½ is the online perceptron.",
                  np.array_equal(delta[:2], rules["online"].coef_[0])
                  and delta[2] == rules["online"].intercept_[0]),
        ],
        lambda figure: _draw(figure, X, y, rules, ends),
    )  # fmt: skip


def _delta_rule(X: Any, y: Any, passes: int, eta: float = 0.5) -> Any:
    """w ← w + η(t − sign(⟨w, x⟩ + b))x, where a score of zero on a row is taken as wrong."""
    w = np.zeros(3)
    for _ in range(passes):
        for x, t in zip(np.column_stack([X, np.ones(len(X))]), y, strict=True):
            z = float(x @ w)
            said = np.sign(z) if z else -t
            w = w + eta * (t - said) * x
    return w


def _draw(figure: Any, X: Any, y: Any, rules: dict[str, Any], ends: list[Any]) -> None:
    from linsep.views.plots import mistakes
    from linsep.views.plots.boundary import points
    from linsep.views.scene.palette import GREY

    left, right = figure.subplots(1, 2)
    mistakes(rules, left)
    left.set(title="rows corrected in each pass", xscale="log")
    points(X, y, right)
    across = np.array([X[:, 0].min(), X[:, 0].max()])
    for run in ends:
        (a, b), c = run.coef_[0], run.intercept_[0]
        right.plot(across, -(a * across + c) / b, color=GREY, lw=0.7, alpha=0.7)
    right.set(ylim=(X[:, 1].min() - 0.2, X[:, 1].max() + 0.2),
              title=f"{len(ends)} orders of the rows, {len(ends)} ends")  # fmt: skip
    right.legend(frameon=True, fontsize=8, loc="lower right")
