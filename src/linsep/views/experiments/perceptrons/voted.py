"""On classes that overlap: the last separator, their average, and their vote."""

from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from linsep import VotedPerceptron
from linsep.data.toys import overlapping, separated
from linsep.views.findings import Claim, Findings, Table

RUNS, DISTANCE = 30, 2.0
WAYS = ("last", "average", "vote")


def find(data: Path | None = None) -> Findings:
    """Train on many draws of two overlapping clouds, and decide in three ways."""
    X_new, y_new = overlapping(n=20_000, d=10, distance=DISTANCE, seed=10_000)
    errors: dict[str, list[float]] = {way: [] for way in WAYS}
    separators = []
    for seed in range(RUNS):
        X, y = overlapping(n=200, d=10, distance=DISTANCE, seed=seed)
        for way in WAYS:
            learner = VotedPerceptron(max_iter=10, decide=way).fit(X, y)
            errors[way].append(1 - learner.score(X_new, y_new))
        separators.append(learner.n_vectors_)
    spoiled = _outlier()
    best = NormalDist().cdf(-DISTANCE / 2)
    rows = [
        [way, f"{np.mean(shares):.2%}", f"{np.min(shares):.2%}", f"{np.max(shares):.2%}"]
        for way, shares in errors.items()
    ]
    rows.append(["the best possible, Φ(−1)", f"{best:.2%}", f"{best:.2%}", f"{best:.2%}"])
    mean = {way: float(np.mean(shares)) for way, shares in errors.items()}
    spread = {way: float(np.std(shares)) for way, shares in errors.items()}
    return Findings(
        "Which separator of a run should decide?",
        f"{RUNS} draws of 200 rows from two Gaussians of 10 dimensions, means {DISTANCE:g} apart",
        [
            Table("Errors on 20,000 new rows", ["decision", "mean", "least", "most"], rows),
            Table("Separators met on the way", ["fewest", "most"],
                  [[min(separators), max(separators)]]),
            Table("Two classes far apart, one pass, and a far outlier as the last row: errors on "
                  "the rows without it", ["decision", "before the outlier", "after it"],
                  [[way, f"{spoiled[way][0]:.2%}", f"{spoiled[way][1]:.2%}"] for way in WAYS]),
        ],
        [
            Claim("The vote errs less than the last separator, on average.",
                  mean["vote"] < mean["last"]),
            Claim("So does the average.", mean["average"] < mean["last"]),
            Claim("Both also vary less from draw to draw.",
                  max(spread["vote"], spread["average"]) < spread["last"]),
            Claim("An outlier just before the end spoils the last separator, not the vote.",
                  spoiled["last"][1] > 0.2 and spoiled["vote"][1] < 0.01),
            Claim("Nothing beats the best possible classifier by more than chance.",
                  min(mean.values()) > best - 0.01),
        ],
        lambda figure: _draw(figure, errors, best),
        (6.4, 4.4),
    )  # fmt: skip


def _outlier() -> dict[str, tuple[float, float]]:
    """Errors on separable rows after one pass over them, without and with an outlier at the end."""
    X, y, _ = separated(n=200, d=2, margin=1.0, seed=0)
    far = 40.0 * np.array([[1.0, 1.0]])
    with_it = np.vstack([X, far]), np.append(y, -int(np.sign(_score(X, y, far))))
    planes = {}
    for way in WAYS:
        errors = []
        for rows, labels in ((X, y), with_it):
            learner = VotedPerceptron(max_iter=1, decide=way, shuffle=False).fit(rows, labels)
            errors.append(1 - learner.score(X, y))
        planes[way] = (errors[0], errors[1])
    return planes


def _score(X: Any, y: Any, row: Any) -> float:
    """What the separator of one pass says of a row: the outlier has the other label."""
    learner = VotedPerceptron(max_iter=1, decide="last", shuffle=False).fit(X, y)
    return float(learner.decision_function(row)[0])


def _draw(figure: Any, errors: dict[str, list[float]], best: float) -> None:
    from linsep.views.scene.palette import BLACK, COLOURS, MARKS

    ax = figure.subplots()
    shake = np.random.default_rng(0).uniform(-0.12, 0.12, RUNS)
    for k, shares in enumerate(errors.values()):
        ax.scatter(
            k + shake, 100 * np.array(shares), c=COLOURS[k], marker=MARKS[k], s=24, alpha=0.8
        )
        ax.hlines(100 * np.mean(shares), k - 0.28, k + 0.28, color=BLACK, lw=2,
                  label="mean" if k == 0 else None)  # fmt: skip
    ax.axhline(100 * best, color=BLACK, ls=":", label="best possible")
    ax.set_xticks(range(len(errors)), list(errors))
    ax.set(ylabel="errors on new rows, %", xlabel="who decides", title="One dot for each draw")
    ax.legend(frameon=False)
