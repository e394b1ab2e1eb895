"""`linsep compare`: every learner on the same data, in one table."""

import json
from collections.abc import Iterator
from typing import Any

import click

from linsep.views import arguments

LEARNERS = [
    "Perceptron",
    "VotedPerceptron",
    "PassiveAggressive",
    "LogisticRegression",
    "LinearSVC",
    "LinearDiscriminantAnalysis",
    "FisherDiscriminant",
]


@click.command("compare")
@click.argument("data", default="cancer")
@arguments.target
@arguments.classes
@arguments.bad_rows
@click.option(
    "--test-share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.25,
    show_default=True,
    help="Share of the rows kept for testing.",
)
@arguments.as_json
def command(
    data: str,
    target: str | None,
    classes: str | None,
    bad_rows: str,
    test_share: float,
    as_json: bool,
) -> None:
    """Fit every learner to DATA, a file or an embedded set, and compare.

    Features are brought to mean zero and spread one first. The last rows, after shuffling, are kept
    for testing. The margin is the distance from the boundary to the nearest training row, negative
    where a row is on the wrong side.
    """
    from linsep.views.sources import open_data

    X, y = open_data(data, target, arguments.split_classes(classes), bad_rows)
    rows = list(_rows(X, y, test_share))
    if as_json:
        for row in rows:
            click.echo(json.dumps(row))
        return
    names = f"{'learner':<28}{'train err':>10}{'test err':>10}{'margin':>10}{'gap':>9}{'s':>8}"
    click.echo(f"{names}  end")
    for row in rows:
        gap = "-" if row["gap"] is None else f"{row['gap']:.0e}"
        margin = "-" if row["margin"] is None else f"{row['margin']:.3g}"
        click.echo(
            f"{row['learner']:<28}{row['train_error']:>10.2%}{row['test_error']:>10.2%}"
            f"{margin:>10}{gap:>9}{row['seconds']:>8.3f}  {row['status']}"
        )
    baseline = rows[0]["baseline_error"]
    click.echo(f"\nAlways guessing the commonest class: {baseline:.2%} of the test rows wrong.")


def _rows(X: Any, y: Any, test_share: float) -> Iterator[dict[str, Any]]:
    import time
    import warnings

    import numpy as np
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    import linsep
    from linsep.errors import NotConverged

    X, X_test, y, y_test = train_test_split(X, y, test_size=test_share, random_state=0)
    scaler = MaxAbsScaler() if hasattr(X, "tocsr") else StandardScaler()
    X = scaler.fit_transform(X)
    X_test = scaler.transform(X_test)
    labels, counts = np.unique(y, return_counts=True)
    baseline = float(np.mean(np.asarray(y_test) != labels[counts.argmax()]))
    for name in LEARNERS:
        learner = getattr(linsep, name)()
        with warnings.catch_warnings(action="ignore", category=NotConverged):
            learner.fit(X, y)  # compiles, on a cold cache
            start = time.perf_counter()
            learner.fit(X, y)
            seconds = time.perf_counter() - start
        linear = hasattr(learner, "coef_")
        gap = getattr(learner, "gap_", None)
        yield {
            "command": "compare",
            "linsep": linsep.__version__,
            "learner": name,
            "train_error": 1 - float(learner.score(X, y)),
            "test_error": 1 - float(learner.score(X_test, y_test)),
            "baseline_error": baseline,
            "margin": float(linsep.margin(learner, X, y).margin) if linear else None,
            "gap": None if gap is None else float(gap),
            "seconds": seconds,
            "status": learner.status_.name,
            "sentence": learner.status_.value,
        }
