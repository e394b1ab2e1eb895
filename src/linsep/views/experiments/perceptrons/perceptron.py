"""The worked perceptron examples: eight points in one batch step, three points one by one."""

from pathlib import Path
from typing import Any

import numpy as np

from linsep import LogisticRegression, Perceptron
from linsep.data.toys import three_points, two_groups
from linsep.views.findings import Claim, Findings, Table

START = (0.0, 1.0, -0.5)
AFTER = [1.45, -0.6, -0.5]
SCORES = [0.95, 0.35, 0.01, 0.275, -0.5, -1.1, -0.7375, -0.305]


def find(data: Path | None = None) -> Findings:
    """Run both examples, and logistic regression on the eight points beside them."""
    X, y = two_groups()
    batch = Perceptron("batch", init=START, trace=True).fit(X, y)
    before = X @ START[:2] + START[2]
    after = batch.decision_function(X)
    likely = LogisticRegression(C=10).fit(X, y)
    rows = [
        [f"{1 if y[i] > 0 else 2}.{i % 4 + 1}", X[i, 0], X[i, 1], before[i],
         bool(y[i] * before[i] <= 0), after[i], float(likely.predict_proba(X)[i, 1])]
        for i in range(8)
    ]  # fmt: skip
    points, signs = three_points()
    online = Perceptron(shuffle=False, trace=True).fit(points, signs)
    weights = [*batch.coef_[0], *batch.intercept_]
    wrong = np.flatnonzero(y * before <= 0).tolist()
    return Findings(
        "The perceptron by hand",
        "the lectures' eight points and three points",
        [
            Table(
                "Eight points, from w̃ = (0, 1, -0.5) by one batch step; P: logistic regression",
                ["point", "x1", "x2", "z before", "wrong", "z after", "P(class 1)"],
                rows,
            ),
            Table(
                "Three points, one by one from w = 0: corrections in each pass",
                ["pass", "corrections"],
                list(enumerate(online.mistakes_per_epoch_, 1)),
            ),
            Table(
                "Planes found",
                ["learner", "w1", "w2", "b"],
                [
                    ["batch perceptron", *weights],
                    ["logistic, C = 10", *likely.coef_[0], likely.intercept_[0]],
                    ["online, three points", *online.coef_[0], online.intercept_[0]],
                ],
            ),
        ],
        [
            Claim("Points 1 and 4 of class 1, 2 and 3 of class 2 are wrong at first.",
                  wrong == [0, 3, 5, 6]),
            Claim("One step reaches w̃ = (1.45, -0.6, -0.5).", np.allclose(weights, AFTER)),
            Claim("All eight points are then on their own side, with the lecture's scores.",
                  np.allclose(after, SCORES) and bool((y * after > 0).all())),
            Claim("Three points take 2 2 3 2 1 2 1 0 corrections to w̃ = (-2.5, 0, 3).",
                  online.mistakes_per_epoch_ == [2, 2, 3, 2, 1, 2, 1, 0]
                  and [*online.coef_[0], *online.intercept_] == [-2.5, 0.0, 3.0]),
            Claim("Logistic regression also gets all eight right, and says how sure it is.",
                  likely.score(X, y) == 1.0),
        ],
        lambda figure: _draw(figure, X, y, batch, likely, online),
        (9.6, 4.8),
    )  # fmt: skip


def _draw(figure: Any, X: Any, y: Any, batch: Any, likely: Any, online: Any) -> None:
    from linsep.views.plots.boundary import points
    from linsep.views.scene.palette import BLACK, GREEN, GREY, PINK

    left, right = figure.subplots(1, 2)
    points(X, y, left)
    ends = np.array([-0.3, 1.3])
    planes = [
        (START[:2], START[2], "start", GREY, ":"),
        (batch.coef_[0], batch.intercept_[0], "after one batch step", BLACK, "-"),
        (likely.coef_[0], likely.intercept_[0], "logistic regression", GREEN, "--"),
    ]
    for (a, b), c, label, colour, style in planes:
        left.plot(ends, -(a * ends + c) / b, color=colour, ls=style, label=label)
    left.set(xlim=ends, ylim=ends, title="eight points")
    left.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3)
    three, signs = three_points()
    points(three, signs, right)
    updates = online.trace_.updates
    for k, event in enumerate(updates):
        (a, b), c = event["w"][0], event["b"][0]
        last = k == len(updates) - 1
        ends = np.array([-1.0, 5.0])
        if b == 0 and a == 0:
            continue
        at = (ends, -(a * ends + c) / b) if b else (np.full(2, -c / a), ends)
        right.plot(*at, color=BLACK if last else PINK, lw=2 if last else 0.8,
                   alpha=1 if last else 0.6)  # fmt: skip
    right.set(xlim=(0, 2.6), ylim=(0, 3.6), title=f"three points: {len(updates)} corrections")
    right.plot([], [], color=PINK, label="on the way")
    right.plot([], [], color=BLACK, lw=2, label="the end: x₁ = 1.2")
    right.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=4)
