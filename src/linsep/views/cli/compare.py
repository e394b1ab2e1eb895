"""`linsep compare`: every learner on the same data, in one table."""

import json
from collections.abc import Iterator
from typing import Any

import click

from linsep.views import arguments

LEARNERS = [name for name in arguments.LEARNERS if name != "LinearRegression"]  # it has no classes
UNORDERED = [name for name in LEARNERS if name != "OrdinalRegression"]
MANY_ROWS = 10_000
REPEAT_BELOW = 10.0  # seconds; a first fit may have compiled its kernels


@click.command("compare", short_help="Fit every learner to the same data, in one table.")
@click.argument("data", default="cancer", type=arguments.DATA)
@arguments.target
@arguments.classes
@arguments.bad_rows
@arguments.columns
@arguments.base
@arguments.reading
@click.option(
    "--test-share",
    type=arguments.Share(0, 1, min_open=True, max_open=True),
    default=0.25,
    show_default=True,
    help="Share of the rows kept for testing.",
)
@click.option(
    "--learner", "learners", type=click.Choice(LEARNERS, case_sensitive=False), multiple=True,
    help="Only this one; may be given several times. All by default, but for kernels on "
    f"more than {MANY_ROWS} rows.",
)  # fmt: skip
@arguments.as_json
def command(
    data: str,
    target: str | None,
    classes: str | None,
    bad_rows: str,
    columns: tuple[str, ...],
    base: str | None,
    reading: tuple[str, ...],
    test_share: float,
    learners: tuple[str, ...],
    as_json: bool,
) -> None:
    """Fit every learner to DATA, a file or a built-in set, and compare.

    Features are brought to mean zero and spread one first. The last rows, after shuffling, are kept
    for testing. The margin is the distance from the boundary to the nearest training row, negative
    where a row is on the wrong side.
    """
    from linsep.data.sources.raw_table import splittable
    from linsep.views.sources import open_source

    how = arguments.how_to_read(columns, base, reading)
    source = open_source(data, target, arguments.split_classes(classes), bad_rows, **how)
    X, y = source.load()
    table = splittable(source, X)
    if not as_json:
        names = (
            f"{'learner':<28}{'train err':>10}{'test err':>10}{'balanced':>10}{'ROC AUC':>9}"
            f"{'margin':>10}{'gap':>9}{'s':>8}"
        )
        click.echo(f"{names}  end")
    rows = []
    for row in _rows(table, y, test_share, _chosen(learners, len(y))):
        rows.append(row)
        click.echo(json.dumps(row) if as_json else _line(row))
    if not as_json:
        click.echo(f"\n{_in_words(rows)}")


def _chosen(names: tuple[str, ...], n_rows: int) -> list[str]:
    if names or n_rows <= MANY_ROWS:
        return list(dict.fromkeys(names)) or UNORDERED
    click.echo(
        f"KernelPerceptron and KernelSVC are left out: on {n_rows} rows they take long, for rows "
        "are compared with each other. Ask for them by --learner KernelPerceptron.",
        err=True,
    )
    return [name for name in UNORDERED if not name.startswith("Kernel")]


def _in_words(rows: list[dict[str, Any]]) -> str:
    """Which learner has the fewest errors on the test rows, and which others may be as good."""
    best = min(rows, key=lambda row: row["test_error"])
    most = 1 - best["test"]["accuracy_interval"][0]
    like = [r["learner"] for r in rows if r is not best and r["test_error"] <= most]
    text = f"{best['learner']} has the fewest errors: {best['test_error']:.2%} of the test rows "
    text += "wrong, "
    text += (
        f"where always guessing the most frequent class gets {best['baseline_error']:.2%} wrong."
    )
    if like:
        text += (
            f" On {best['test']['rows']} rows that may be {most:.2%} as well (95 % interval), so "
            f"these may do as well: {', '.join(like)}."
        )
    return text


def _line(row: dict[str, Any]) -> str:
    gap = "-" if row["gap"] is None else f"{row['gap']:.0e}"
    margin = "-" if row["margin"] is None else f"{row['margin']:.3g}"
    area = "-" if row["test"]["roc_auc"] is None else f"{row['test']['roc_auc']:.4f}"
    return (
        f"{row['learner']:<28}{row['train_error']:>10.2%}{row['test_error']:>10.2%}"
        f"{row['test']['balanced_accuracy']:>10.4f}{area:>9}"
        f"{margin:>10}{gap:>9}{row['seconds']:>8.3f}  {row['status']}"
    )


def _timed(learner: Any, X: Any, y: Any) -> float:
    """Fit; the seconds it took, of two fits where they are short: the first brings in libraries."""
    import time
    import warnings

    from linsep.errors import NotConverged

    seconds: list[float] = []
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        while len(seconds) < 2 and sum(seconds) < REPEAT_BELOW:
            start = time.perf_counter()
            learner.fit(X, y)
            seconds.append(time.perf_counter() - start)
    return min(seconds)


def _figures(learner: Any, X: Any, y: Any) -> dict[str, Any]:
    from linsep.model.files.store import as_model
    from linsep.views.metrics import tally_for
    from linsep.views.scoring import add_rows

    model = as_model(learner)
    seen = tally_for(model.classes_)
    add_rows(seen, model, X, y)
    record: dict[str, Any] = seen.record()
    return record


def _margin(learner: Any, X: Any, y: Any) -> float | None:
    """None where there is no plane: with a kernel, or where weights are zero."""
    import linsep
    from linsep.errors import DataError

    try:
        return float(linsep.margin(learner, X, y).margin) if hasattr(learner, "coef_") else None
    except DataError:
        return None


def _rows(table: Any, y: Any, test_share: float, names: list[str]) -> Iterator[dict[str, Any]]:
    import numpy as np
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    import linsep

    train, test = train_test_split(np.arange(len(y)), test_size=test_share, random_state=0)
    X, X_test = table.split(train, test)  # what fills gaps comes from the training rows alone
    y, y_test = np.asarray(y)[train], np.asarray(y)[test]
    scaler = MaxAbsScaler() if hasattr(X, "tocsr") else StandardScaler()
    X = scaler.fit_transform(X)
    X_test = scaler.transform(X_test)
    labels, counts = np.unique(y, return_counts=True)
    baseline = float(np.mean(np.asarray(y_test) != labels[counts.argmax()]))
    for name in names:
        learner = getattr(linsep, name)()
        seconds = _timed(learner, X, y)
        gap = getattr(learner, "gap_", None)
        yield {
            "command": "compare",
            "linsep": linsep.__version__,
            "learner": name,
            "train_error": 1 - float(learner.score(X, y)),
            "test_error": 1 - float(learner.score(X_test, y_test)),
            "baseline_error": baseline,
            "train": _figures(learner, X, y),
            "test": _figures(learner, X_test, y_test),
            "margin": _margin(learner, X, y),
            "gap": None if gap is None else float(gap),
            "seconds": seconds,
            "status": learner.status_.name,
            "sentence": learner.status_.value,
        }
