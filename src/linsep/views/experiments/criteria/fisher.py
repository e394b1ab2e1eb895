"""Fisher's discriminant on the lecture's eight points: scatter, direction, and the bias between."""

from pathlib import Path
from typing import Any

import numpy as np

from linsep import FisherDiscriminant, LinearSVC, margin
from linsep.data.toys import two_groups
from linsep.views.findings import Claim, Findings, Table


def find(data: Path | None = None) -> Findings:
    """Compute it, and put it beside the lecture's numbers and the widest margin of all."""
    X, y = two_groups()
    learner = FisherDiscriminant().fit(X, y)
    middle = FisherDiscriminant(bias="midpoint").fit(X, y)
    widest = LinearSVC(C=1e6).fit(X, y)
    S, w, b = learner.scatter_, learner.coef_[0], float(learner.intercept_[0])
    rng = np.random.default_rng(0)
    others = rng.normal(size=(1000, 2))
    apart = learner.means_[1] - learner.means_[0]
    criterion = (others @ apart) ** 2 / np.einsum("ij,jk,ik->i", others, S, others)
    rows = [
        ["S_w[1,1]", S[0, 0], 0.204375],
        ["S_w[1,2]", S[0, 1], 0.03],
        ["S_w[2,2]", S[1, 1], 1.24],
        ["w1", w[0], 3.38778],
        ["w2", w[1], -0.16261],
        ["b", b, -1.44320],
    ]
    margins: dict[str, float] = {
        "Fisher, bias in the widest gap": margin(learner, X, y).margin,
        "Fisher, bias at the midpoint of the means": margin(middle, X, y).margin,
        "the widest of all planes (LinearSVC)": margin(widest, X, y).margin,
    }
    gap, midpoint, most = margins.values()
    return Findings(
        "Fisher's discriminant by hand",
        "the lecture's eight points",
        [
            Table("Scatter, direction and bias", ["number", "found", "lecture"], rows),
            Table("Distance of the nearest point", ["plane", "margin"], list(margins.items())),
        ],
        [
            Claim("Scatter, direction and bias are the lecture's.",
                  all(abs(float(measured) - wanted) < 6e-6 for _, measured, wanted in rows)),
            Claim("No other of 1,000 directions has a larger criterion.",
                  bool((criterion <= learner.criterion_ * (1 + 1e-12)).all())),
            Claim("Its bias separates the points with a wider margin than the midpoint.",
                  gap > midpoint),
            Claim("The support vector machine's margin is wider still.",
                  most > gap),
        ],
        lambda figure: _draw(figure, X, y, learner),
    )  # fmt: skip


def _draw(figure: Any, X: Any, y: Any, learner: Any) -> None:
    from linsep.views.plots.boundary import points
    from linsep.views.scene.palette import BLACK, COLOURS, GREY, MARKS

    plane, line = figure.subplots(1, 2)
    points(X, y, plane)
    (a, b), c = learner.coef_[0], float(learner.intercept_[0])
    ends = np.array([-0.3, 1.3])
    plane.plot(-(b * ends + c) / a, ends, color=BLACK, label="boundary")
    centre = learner.means_.mean(axis=0)
    tip = centre + 0.3 * learner.coef_[0] / np.hypot(a, b)
    plane.annotate("", tip, centre, arrowprops={"arrowstyle": "->", "color": GREY, "lw": 2})
    plane.text(tip[0] - 0.04, tip[1] + 0.05, "w", color=GREY, fontsize=12)
    for mean in learner.means_:
        plane.scatter(*mean, marker="x", c=BLACK, s=50, zorder=4)
    plane.set(xlim=ends, ylim=ends, title="eight points, means ×, boundary", aspect="equal")
    plane.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3)
    at = learner.decision_function(X)
    for k, sign in enumerate((-1, 1)):
        line.scatter(at[y == sign], np.full(4, 0.0), c=COLOURS[k], marker=MARKS[k], s=60,
                     label=f"class {sign}", zorder=3)  # fmt: skip
    line.axvline(0, color=BLACK, label="cut in the middle of the gap")
    line.set(yticks=[], xlabel="⟨w, x⟩ + b", title="the same points along w", ylim=(-1, 1))
    line.legend(fontsize=8, loc="upper right")
