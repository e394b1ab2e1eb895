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

# The lecture's table for MNIST: changes, training and test error in per cent, epoch by epoch.
LECTURE = [
    [64, 0.23, 0.19], [24, 0.07, 0.00], [10, 0.06, 0.05], [6, 0.03, 0.14], [5, 0.03, 0.09],
    [4, 0.02, 0.14], [3, 0.01, 0.14], [2, 0.00, 0.14], [0, 0.00, 0.14],
]  # fmt: skip
COLUMNS = ["nb_changes", "train_error", "test_error"]


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
            rows.append([done.updates, f"{train:.2%}", f"{test:.2%}"])

        learner.fit(given.X, given.y, callback=note)
        runs[words] = learner
        tables.append(_epochs(f"The perceptron {words}", rows, beside=given.mnist))
        claims.append(
            Claim(f"It ends without an error on the training images ({words}).",
                  learner.status_.name == "separated" and learner.score(given.X, given.y) == 1)
        )  # fmt: skip
        test_error = 1 - learner.score(given.X_test, given.y_test)
        if given.mnist:
            claims += [
                Claim(f"The changes are those known for this file ({words}).",
                      learner.mistakes_per_epoch_ == CHANGES[bias]),
                Claim(f"At the end no more of the new images are wrong than in the lecture, "
                      f"0.14% ({words}).", test_error <= LECTURE[-1][-1] / 100),
            ]  # fmt: skip
        else:
            claims.append(
                Claim(f"At most 6% of the new images are wrong ({words}).", test_error <= 0.06)
            )
    if not given.mnist:
        tables.append(_epochs("The table of the lecture, for MNIST (--data FOLDER)", _printed()))
    proof = separability(given.X, given.y)
    bound = mistake_bound(given.X, given.y, proof)
    made = runs["with a constant feature for the bias"].mistakes_
    tables.append(
        Table("Novikoff's bound on all corrections", ["R", "margin", "(R/margin)²", "made"],
              [[bound.radius, bound.margin, bound.bound, made]])
    )  # fmt: skip
    claims.append(Claim("The corrections stay within the certified bound.", made <= bound.bound))
    name = f"{given.name}; {len(given.X):,} zeros and ones to learn from, {len(given.X_test):,} new"
    if given.mnist:
        name += (
            "\nThe lecture says neither in which order the images come nor how pixels are scaled."
        )
    return Findings(
        "MNIST's zeros against ones by the perceptron" if given.mnist
        else "Zeros against ones by the perceptron",
        name, tables, claims, lambda figure: _draw(figure, runs, given.shape),
    )  # fmt: skip


def _printed() -> list[list[Any]]:
    return [[changes, f"{train:.2f}%", f"{test:.2f}%"] for changes, train, test in LECTURE]


def _epochs(title: str, rows: list[list[Any]], beside: bool = False) -> Table:
    """A row for each epoch, the lecture's three numbers beside ours where the data is the same."""
    columns = ["epoch", *COLUMNS]
    if beside:
        title += ", beside the lecture's run"
        columns += [f"lecture_{name}" for name in COLUMNS]
        none = [[None] * 3]
        longest = max(len(rows), len(LECTURE))
        ours, theirs = (run + none * (longest - len(run)) for run in (rows, _printed()))
        rows = [[*own, *other] for own, other in zip(ours, theirs, strict=True)]
    return Table(title, columns, [[epoch, *row] for epoch, row in enumerate(rows)])


def _draw(figure: Any, runs: dict[str, Any], shape: tuple[int, int]) -> None:
    from linsep.views.plots import mistakes, weights

    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1])
    mistakes(runs, left)
    left.set_title("changes in each epoch")
    learner = runs["without a bias"]
    weights(learner, shape, right)
    right.set_title("weights: red pulls towards 1, blue towards 0")
    figure.colorbar(right.images[0], ax=right, shrink=0.8, label="weight")
