"""Zeros against ones: the perceptron's changes and errors, epoch by epoch."""

from pathlib import Path
from typing import Any

from linsep import Perceptron, mistake_bound, separability
from linsep.views.digits import digits
from linsep.views.findings import Claim, Findings, Table

# On MNIST, in the order of the file: without a bias, and with a constant feature of 1.
CHANGES = {
    False: [42, 23, 17, 17, 13, 9, 3, 6, 14, 10, 6, 3, 0],
    True: [48, 23, 20, 9, 11, 6, 0],
}


def find(data: Path | None = None) -> Findings:
    """Train in file order from w = 0, and hold the corrections against Novikoff's bound."""
    given = digits(data).only(0, 1)
    tables, claims, runs = [], [], {}
    for bias in (False, True):
        words = "with a constant feature for the bias" if bias else "without a bias"
        rows: list[list[Any]] = []
        learner = Perceptron(shuffle=False, fit_intercept=bias)

        def note(done: Any, learner: Any = learner, rows: Any = rows) -> None:
            train = 1 - learner.score(given.X, given.y)
            test = 1 - learner.score(given.X_test, given.y_test)
            rows.append([done.epoch - 1, done.updates, f"{train:.2%}", f"{test:.2%}"])

        learner.fit(given.X, given.y, callback=note)
        runs[words] = learner
        columns = ["epoch", "nb_changes", "train_error", "test_error"]
        tables.append(Table(f"The perceptron {words}", columns, rows))
        claims.append(
            Claim(f"It ends without an error on the training images ({words}).",
                  learner.status_.name == "separated" and learner.score(given.X, given.y) == 1)
        )  # fmt: skip
        test_error = 1 - learner.score(given.X_test, given.y_test)
        limit = 0.003 if given.mnist else 0.06
        claims.append(
            Claim(f"At most {limit:.1%} of the new images are misread ({words}).",
                  test_error <= limit)
        )  # fmt: skip
        if given.mnist:
            claims.append(
                Claim(f"The changes are those known for this file ({words}).",
                      learner.mistakes_per_epoch_ == CHANGES[bias])
            )  # fmt: skip
    proof = separability(given.X, given.y)
    bound = mistake_bound(given.X, given.y, proof)
    made = runs["with a constant feature for the bias"].mistakes_
    tables.append(
        Table("Novikoff's bound on all corrections", ["R", "margin", "(R/margin)²", "made"],
              [[bound.radius, bound.margin, bound.bound, made]])
    )  # fmt: skip
    claims.append(Claim("The corrections stay within the certified bound.", made <= bound.bound))
    name = f"{given.name}; {len(given.X):,} zeros and ones to learn from, {len(given.X_test):,} new"
    return Findings(
        "MNIST's zeros against ones by the perceptron" if given.mnist
        else "Zeros against ones by the perceptron",
        name, tables, claims, lambda figure: _draw(figure, runs, given.shape),
    )  # fmt: skip


def _draw(figure: Any, runs: dict[str, Any], shape: tuple[int, int]) -> None:
    from linsep.views.plots import mistakes, weights

    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1])
    mistakes(runs, left)
    left.set_title("changes in each epoch")
    learner = runs["without a bias"]
    weights(learner, shape, right)
    right.set_title("weights: red pulls towards 1, blue towards 0")
    figure.colorbar(right.images[0], ax=right, shrink=0.8, label="weight")
