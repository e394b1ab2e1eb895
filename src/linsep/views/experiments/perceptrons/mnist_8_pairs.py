"""Eights against all other digits: errors against the number of random pixel products added."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from linsep import PairProducts, Perceptron
from linsep.data.blocks.blocks import spans
from linsep.parallel import in_order
from linsep.views.digits import Digits, digits
from linsep.views.findings import Claim, Findings, Table

BLOCK = 512  # rows whose products exist at the same time
PASSES = 6
COUNTS = [0, 10, 32, 100, 316, 1000, 3162, 10_000]


def find(data: Path | None = None) -> Findings:
    """Train averaged perceptrons on pixels and products, a block of products at a time."""
    given = digits(data)
    d = given.X.shape[1]
    counts = [k for k in COUNTS if k < d * (d - 1) // 2]
    if not given.mnist:
        counts.append(d * (d - 1) // 2)
    passes = PASSES if given.mnist else 30
    rows = [[k, d + k, *_errors(given, k, passes)] for k in counts]
    train = [row[2] for row in rows]
    test = [row[3] for row in rows]
    shown = [[k, features, f"{a:.2%}", f"{b:.2%}"] for k, features, a, b in rows]
    return Findings(
        "Eights against the rest, with products of random pairs of pixels",
        given.name,
        [
            Table(
                f"Averaged perceptron, {passes} passes; at most {BLOCK} rows of products at once",
                ["pairs", "features", "train_error", "test_error"],
                shown,
            )
        ],
        [
            Claim("The most pairs leave less than a third of the training errors.",
                  train[-1] < train[0] / 3),
            Claim("New images gain too: their errors "
                  + ("at least halve." if given.mnist else "fall by a quarter or more."),
                  test[-1] < test[0] * (0.5 if given.mnist else 0.75)),
            Claim("From 100 pairs on, every step to more pairs lowers the training error.",
                  all(b <= a for a, b in pairwise(train[3:]))),
        ],
        lambda figure: _draw(figure, [row[0] for row in rows], train, test),
        (6.4, 4.4),
    )  # fmt: skip


def _errors(given: Digits, pairs: int, passes: int) -> tuple[float, float]:
    """Training and test error with this many products."""
    lift = PairProducts(pairs).fit(given.X[:1])
    eights, new = given.y == 8, given.y_test == 8
    learner = Perceptron(keep="average")
    for _ in range(passes):
        for (start, stop), Z in _blocks(given.X, lift):
            learner.partial_fit(Z, eights[start:stop], classes=[False, True])
    wrong = [
        sum(
            int((learner.predict(Z) != y[start:stop]).sum())
            for (start, stop), Z in _blocks(X, lift)
        ) / len(X)
        for X, y in ((given.X, eights), (given.X_test, new))
    ]  # fmt: skip
    return wrong[0], wrong[1]


def _blocks(X: Any, lift: PairProducts) -> Iterator[tuple[tuple[int, int], Any]]:
    """Blocks of rows with their products, made ahead by another thread while one is learned."""
    return in_order(
        lambda span: (span, lift.transform(X[span[0] : span[1]])), spans(len(X), BLOCK), 2
    )


def _draw(figure: Any, pairs: list[int], train: list[float], test: list[float]) -> None:
    from linsep.views.scene.palette import BLUE, ORANGE

    ax = figure.subplots()
    at = np.maximum(pairs, 3)  # zero has no place on a logarithmic axis
    ax.plot(at, 100 * np.array(train), color=BLUE, marker="o", label="training images")
    ax.plot(at, 100 * np.array(test), color=ORANGE, marker="s", ls="--", label="new images")
    ax.set_xscale("log")
    ax.set_xticks(at, [f"{k:,}" for k in pairs])
    ax.minorticks_off()
    ax.set(xlabel="products of random pairs added to the pixels", ylabel="errors, %",
           title="Eights against the rest", ylim=(0, None))  # fmt: skip
    ax.legend(frameon=False)
