"""XOR: no line separates it, one product makes it separable, two layers compute it."""

from pathlib import Path
from typing import Any

import numpy as np

from linsep import PairProducts, Perceptron, fewest_mistakes, separability
from linsep.data import toys
from linsep.logic import XOR
from linsep.views.findings import Claim, Findings, Table


def find(data: Path | None = None) -> Findings:
    """Prove it impossible, lift it, and compute it by two layers."""
    X, y = toys.xor()
    flat = separability(X, y)
    few = fewest_mistakes(X, y)
    lift = PairProducts().fit(X)
    Z = lift.transform(X)
    lifted = separability(Z, y)
    learner = Perceptron(shuffle=False).fit(Z, y)
    assert flat.multipliers is not None
    weights = " ".join(str(one) for one in flat.multipliers)
    right = int((XOR(X) == (y > 0)).sum())
    return Findings(
        "Three ways to look at exclusive or",
        "the four rows of the truth table",
        [
            Table(
                "Rows on their own side",
                ["features", "right", "of", "why"],
                [
                    ["(u, v)", 4 - few.mistakes, 4, f"rows {flat.rows.tolist()} with weights "
                     f"{weights} cancel: no line does better"],
                    ["(u, v, uv)", int((learner.predict(Z) == y).sum()), 4,
                     f"{learner.mistakes_} corrections; margin {lifted.margin:.4f}"],
                    ["AND(NAND, OR)", right, 4, "two layers of threshold units"],
                ],
            ),
            Table(
                "The perceptron's plane after the lift",
                ["u", "v", "uv", "b"],
                [[*learner.coef_[0], learner.intercept_[0]]],
            ),
        ],
        [
            Claim(
                "No line separates XOR: the certificate holds in exact arithmetic.",
                flat.separable is False and flat.verify(X, y),
            ),
            Claim(
                "No line gets more than three of the four rows right.",
                few.optimal and few.mistakes == 1,
            ),
            Claim(
                "After Φ(u, v) = (u, v, uv) a separator exists, with margin 1/√24.",
                lifted.separable is True
                and lifted.verify(Z, y)
                and abs(lifted.margin - 1 / np.sqrt(24)) < 1e-6,
            ),
            Claim("The perceptron finds one.", learner.status_.name == "separated"),
            Claim("Two layers of threshold units compute XOR.", right == 4),
        ],
        lambda figure: _draw(figure, X, y, lift, learner, few),
        (11.4, 4.0),
    )  # fmt: skip


def _draw(figure: Any, X: Any, y: Any, lift: Any, learner: Any, few: Any) -> None:
    from sklearn.pipeline import make_pipeline

    from linsep.views.plots import boundary, network
    from linsep.views.plots.boundary import points
    from linsep.views.scene.palette import BLACK

    first, second, third = figure.subplots(1, 3)
    ends = np.array([-0.5, 1.5])
    (a, b), c = few.weights.ravel(), float(np.ravel(few.bias)[0])
    at = (ends, -(a * ends + c) / b) if b else (np.full(2, -c / a), ends)
    first.plot(*at, color=BLACK)
    points(X, y, first)
    first.set(xlim=ends, ylim=ends, title="one line: three of four at best", xlabel="u", ylabel="v")
    boundary(make_pipeline(lift, learner), X, y, second)
    second.get_legend().remove()
    first.legend(loc="upper right", fontsize=8)
    second.set(title="a plane over (u, v, uv)", xlabel="u", ylabel="v")
    network(XOR, third)
    third.set(title="two layers", xlabel="x₁ = u", ylabel="x₂ = v")
