"""What `linsep fit` tells of a fit: numbers by name, sentences, and a page."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from linsep import __version__
from linsep.model.files.store import as_model
from linsep.views import arguments
from linsep.views.metrics import Progressive
from linsep.views.scoring import proof_of, score_rows
from linsep.views.sources import left_out, open_source
from linsep.views.validation import Validation

Refit = Callable[..., Any]
"""Fits the learner that was asked for to other features and labels, and rows before encoding."""


def account_of(
    learner: Any, source: Any, data: str, seconds: float, options: dict[str, Any], refit: Refit
) -> tuple[dict[str, Any], list[str]]:
    """How a fit ended and how well it does, on rows seen and unseen: by name, and in lines."""
    model = as_model(learner)
    judged = getattr(source, "judged", None)
    if judged is not None:
        train = Progressive(model.classes_, *judged)
    else:
        train = score_rows(model, source, "scoring", options["quiet"])
    test, skipped = None, 0
    if options["test"]:
        rows = _test_rows(model, options)
        test = score_rows(model, rows, "testing", options["quiet"])
        skipped = rows.skipped
    spare = 0.0 if options["test"] or model.status_.name == "interrupted" else None
    holdout = options["holdout"] if options["holdout"] is not None else spare
    unseen = Validation(refit, source, holdout, options["cv"])
    record = {
        "command": "fit",
        "linsep": __version__,
        "data": data,
        "learner": model.learner,
        "status": model.status_.name,
        "sentence": model.status_.value,
        "reached": model.status_.good,
        "rows": source.n_rows,
        "features": model.n_features_in_,
        "skipped": source.skipped,
        "left_out": source.left_out,
        "passes": model.results["n_iter"],
        "gap": model.results["gap"],
        "objective": model.results["objective"],
        "mistakes": model.results["mistakes"],
        "diagnosis": getattr(getattr(learner, "learner_", learner), "diagnosis_", None),
        "proof": proof_of(learner),
        "seconds": seconds,
        "progressive": judged is not None,
        "train": train.record(),
        "test": None if test is None else test.record() | {"skipped": skipped},
        **unseen.record(),
        "C": None,
        "model": None,
        "report": None,
    }
    lines = _ending(record)
    lines += ["", f"Training rows: {train.text()}"]
    lines += _left_out("training", source.skipped, options["bad_rows"])
    lines += unseen.lines
    lines += [] if test is None else ["", f"Test rows: {test.text()}"]
    lines += _left_out("test", skipped, _beside(options["bad_rows"]))
    return record, lines


def _ending(record: dict[str, Any]) -> list[str]:
    n, diagnosis, proof = record["passes"], record["diagnosis"], record["proof"]
    passes = "" if n is None else f"{n} pass{'' if n == 1 else 'es'}, "
    lines = [
        f"{record['learner']} on {record['rows']:,} rows of {record['features']:,} features: "
        f"{passes}{record['seconds']:.2f} s.",
        f"End: {arguments.in_options(record['sentence'])}",
    ]
    lines += [f"Why: {arguments.in_options(diagnosis)}"] if diagnosis else []
    return lines + ([f"Proof: {proof}"] if proof else [])


def _left_out(which: str, count: int, bad_rows: str) -> list[str]:
    """That rows were left out, whether or not notes are wanted: nothing is dropped in silence."""
    if not count:
        return []
    listed = "" if bad_rows == "skip" else f", and listed in {bad_rows}"
    return [f"{left_out(count, f'{which} ')}{listed}."]


def _beside(bad_rows: str) -> str:
    """Where bad rows of the test data go: `bad.csv` is for those of the training data."""
    if bad_rows in ("fail", "skip"):
        return bad_rows
    path = Path(bad_rows)
    return str(path.with_name(f"{path.stem}-test{path.suffix}"))


def _test_rows(model: Any, options: dict[str, Any]) -> Any:
    """The rows of --test, read as those of the fit."""
    how = arguments.how_to_read(reading=options["reading"])
    kept, bad_rows = arguments.split_classes(options["classes"]), _beside(options["bad_rows"])
    return open_source(options["test"], None, kept, bad_rows, like=model, **how)


def write_page(learner: Any, source: Any, data: str, options: dict[str, Any], refit: Refit) -> str:
    """Write the report that was asked for; its path."""
    import shlex

    from linsep.views.report import write_report

    path = options["report"]
    test = _test_rows(learner, options).load() if options["test"] else None
    gaps = getattr(getattr(source, "source", None), "missing", {})
    missing = {name: n for name, n in gaps.items() if n}
    X, y = source.load()
    target = getattr(getattr(source, "encoding", None), "target", None)
    said = "" if target is None else f", predicting {target}"
    write_report(path, learner, X, y, test=test, holdout=options["holdout"], refit=refit,
                 command=shlex.join(["linsep", *sys.argv[1:]]) if sys.argv[1:2] == ["fit"] else "",
                 source=f"{data}{said}", missing=missing)  # fmt: skip
    size = f" ({Path(path).stat().st_size:,} bytes)" if Path(path).is_file() else ""
    click.echo(f"Report in {path}{size}.", err=True)
    return str(path)
