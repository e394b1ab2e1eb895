"""`linsep fit`: learn from data, say how well, and keep the model."""

import sys
from pathlib import Path
from typing import Any

import click

from linsep.views import arguments

NOT_CONVERGED, INTERRUPTED = 5, 130


@click.command("fit", short_help="Learn from data, say how well, and keep the model.")
@click.argument("data", default="cancer", type=arguments.DATA)
@arguments.target
@click.option(
    "--learner",
    type=arguments.LEARNER,
    default="LogisticRegression",
    show_default=True,
    help="What to fit.",
)
@click.option(
    "-p", "--param", "parameters", metavar="NAME=VALUE", multiple=True,
    help="A parameter of the learner, such as C=10 or keep=average; may be given several times.",
)  # fmt: skip
@click.option(
    "--formula", metavar="FORMULA",
    help="Labels and features as a formula, such as 'y ~ a + C(region) + log(size):b'; the model "
    "keeps it. Needs the extra formula.",
)  # fmt: skip
@click.option(
    "--offset", metavar="COL",
    help="The column that is added to the scores as it stands: what is known of each row "
    "beforehand. New rows have it too.",
)  # fmt: skip
@click.option(
    "--scale",
    type=click.Choice(["mean", "min-max"]),
    help="Bring the features to one size first (linsep.Scaled); the model takes rows as they are.",
)
@click.option(
    "--out",
    metavar="MODEL",
    type=arguments.FILE,
    help="Where to keep the model; - is standard output.",
)
@click.option(
    "--trace",
    metavar="FILE",
    type=arguments.FILE,
    help="Write every correction of the run as JSON lines, for linsep film; - is standard output.",
)
@click.option(
    "--report",
    metavar="HTML",
    type=arguments.FILE,
    help="Write one page about the model and its errors.",
)
@click.option(
    "--resume", is_flag=True,
    help="Keep a checkpoint beside the model while fitting, and go on from one that is there.",
)  # fmt: skip
@click.option(
    "--test",
    metavar="DATA",
    type=arguments.DATA,
    help="Score these rows too, read as the training rows.",
)
@click.option(
    "--holdout", metavar="SHARE", type=arguments.Share(0, 1, max_open=True),
    help="Share of rows to tell figures of, by a fit to the others; the model kept is fitted on "
    "all rows. 0.2 by default, where there is no --test and a second fit is cheap; 0 for none.",
)  # fmt: skip
@click.option(
    "--cv", metavar="FOLDS", type=click.IntRange(2),
    help="Also figures of every row, each by a fit to the other folds.",
)  # fmt: skip
@click.option(
    "--tune", is_flag=True,
    help="Choose C by cross-validation (linsep.path), for LogisticRegression and LinearSVC.",
)  # fmt: skip
@arguments.classes
@arguments.bad_rows
@arguments.columns
@arguments.base
@arguments.reading
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Fit on a Dask cluster, whose workers read the files: local, or such as tcp://HOST:8786.",
)
@click.option(
    "--log", metavar="FILE", type=arguments.FILE,
    help="Write progress to FILE as lines with time and level, by Python's logging; not on stderr.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit with 5 where the fit did not reach its goal.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@arguments.as_json
def command(data: str, as_json: bool, strict: bool, **options: Any) -> None:
    """Learn from DATA: a file, a folder, - for standard input, or a built-in set.

    DATA is CSV, Parquet, Feather, svmlight, NPY, NPZ or IDX, perhaps packed by gzip, bzip2 or
    zstd. Built in are cancer (used when DATA is left out), digits, digits01, iris, wine and xor.

    \b
    Examples:
      linsep fit people.csv --target income --out people.linsep
      linsep fit flights.parquet --target "delay > 15" --column date=drop
      linsep fit a9a --learner Perceptron -p keep=average -p max_iter=20
      zcat big.csv.gz | linsep fit - --target y --out y.linsep --json
    """
    _foresee(data, as_json, options)
    out = options["out"]
    learner, source, record, texts = _fit(data, options)
    for note in source.notes if not options["quiet"] else []:
        click.echo(arguments.in_options(note), err=True)
    if out is not None:
        record["model"] = _keep(learner, out)
    if options["report"] is not None:
        from linsep.views.fit_account import write_page

        record["report"] = write_page(learner, source, data, options, _again(options, source))
    if as_json:
        import json

        click.echo(json.dumps(record))
    else:
        click.echo("\n".join(texts), err="-" in (out, options["trace"]))
        _next_steps(learner, data, out, options)
    if record["status"] == "interrupted":
        kept = out if out not in (None, "-") else "nowhere: no --out was given"
        click.echo(f"Interrupted. The best model so far is in {kept}.", err=True)
        sys.exit(INTERRUPTED)
    if strict and not record["reached"]:
        sys.exit(NOT_CONVERGED)


def _foresee(data: str, as_json: bool, options: dict[str, Any]) -> None:
    """Refuse before the fit what would otherwise be refused after it."""
    from linsep.data.files.special_files import kind_of
    from linsep.views.output_paths import (
        is_stdout,
        require_matplotlib,
        require_one,
        require_other,
        require_place,
    )
    from linsep.views.sources import require_there

    for name in ("out", "trace"):
        options[name] = "-" if is_stdout(options[name]) else options[name]
    if options["resume"] and (options["out"] in (None, "-") or kind_of(options["out"])):
        raise click.UsageError("--resume keeps its checkpoint beside the model: give --out FILE.")
    writes = {f"--{name}": options[name] == "-" for name in ("out", "trace")}
    require_one("output", writes | {"--json": as_json})
    require_one("input", {"DATA": data == "-", "--test": options["test"] == "-"})
    if options["report"] == "-":
        raise click.BadParameter("'-'; a report is a page: name a file.", param_hint="--report")
    for read in (data, options["test"] or data):
        require_other(read, {f"--{n}": options[n] for n in ("out", "trace", "report", "log")})
        require_other(read, {"--bad-rows": options["bad_rows"]})
    require_place("--out", options["out"])
    require_place("--trace", options["trace"])
    require_place("--log", options["log"])
    require_place("--report", options["report"], ".html")
    if options["report"] is not None:
        require_matplotlib()
    if options["test"] is not None:
        require_there("--test", options["test"])


def _fit(data: str, options: dict[str, Any]) -> tuple[Any, Any, dict[str, Any], list[str]]:
    import time
    import warnings

    from linsep.views.sources import open_source

    classes = arguments.split_classes(options["classes"])
    how = arguments.how_to_read(options["columns"], options["base"], options["reading"])
    if options["cluster"] is not None:
        how["cluster"] = options["cluster"]
    if options["formula"] is not None:
        how["formula"] = options["formula"]
    source = open_source(data, options["target"], classes, options["bad_rows"], **how)
    settings: dict[str, Any] = {"verbose": not options["quiet"]}
    if options["log"] is not None:
        _log_to(options["log"])
        settings["verbose"] = "log"
    if options["resume"]:
        settings["checkpoint"] = f"{options['out']}.checkpoint"
    if options["offset"] is not None:
        _require_offset(options)
        settings["offset"] = options["offset"]
    start = time.perf_counter()
    chosen = _tune(source, options) if options["tune"] else None
    learner = _learner(options)
    from linsep.errors import NotConverged

    with warnings.catch_warnings(action="ignore", category=NotConverged):
        _train(learner, source, settings)
    seconds = time.perf_counter() - start
    if options["resume"]:
        for left in (settings["checkpoint"], f"{settings['checkpoint']}.previous"):
            Path(left).unlink(missing_ok=True)
    if options["trace"]:
        _write_trace(getattr(learner, "learner_", learner).trace_, options["trace"])
    from linsep.views.fit_account import account_of  # brings in more than a fit needs

    again = _again(options, source)
    record, texts = account_of(learner, source, data, seconds, options, again)
    if chosen is not None:
        record["C"] = chosen[0]
        texts[2:2] = [f"C = {chosen[0]:.4g} by cross-validation:", *chosen[1]]
    return learner, source, record, texts


def _log_to(path: str) -> None:
    """Records of the logger `linsep` go to a file, added to what is there."""
    import logging

    logger, handler = logging.getLogger("linsep"), logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


def _tune(source: Any, options: dict[str, Any]) -> tuple[float, list[str]]:
    """Choose C, and ask for it in the fits to come."""
    from linsep.data.sources.raw_table import splittable
    from linsep.views.validation import rows_in_memory, tuned

    if options["learner"] not in ("LogisticRegression", "LinearSVC"):
        raise click.UsageError("--tune chooses C of LogisticRegression or LinearSVC.")
    known = rows_in_memory(source)
    if known is None:
        raise click.UsageError("--tune wants all rows in memory; give fewer, or -p C=...")
    X, y = known
    chosen = tuned(_learner(options | {"trace": None}), splittable(source, X), y)
    options["parameters"] = (*options["parameters"], f"C={chosen[0]!r}")
    return chosen


def _require_offset(options: dict[str, Any]) -> None:
    import linsep

    kind = getattr(linsep, options["learner"])
    if not hasattr(kind, "_told_of") or options["scale"] is not None or options["tune"]:
        raise click.UsageError(
            "--offset is for LogisticRegression, LinearSVC and LinearRegression, without --scale "
            "and --tune."
        )


def _again(options: dict[str, Any], source: Any) -> Any:
    """A function that fits the learner asked for to other rows, C chosen anew with --tune."""
    import warnings

    from linsep.errors import NotConverged

    def fit(X: Any, y: Any, rows: Any = None) -> Any:
        own = options | {"trace": None}
        with warnings.catch_warnings(action="ignore", category=NotConverged):
            if options["tune"]:
                from linsep.data.sources.raw_table import Slices
                from linsep.views.validation import tuned

                C = tuned(_learner(own), Slices(X) if rows is None else rows, y)[0]
                own["parameters"] = (*own["parameters"], f"C={C!r}")
            learner = _learner(own)
            if not hasattr(learner, "_told_of"):
                return learner.fit(X, y)
            encoding = source.encoding
            if hasattr(rows, "settled"):
                encoding = rows.settled(range(rows.n))
            learner.names_told = getattr(encoding, "feature_names", None)
            return learner.fit(X, y, offset=options["offset"])

    return fit


def _learner(options: dict[str, Any]) -> Any:
    import inspect

    import linsep

    more = {}
    if options["trace"]:
        if "trace" not in inspect.signature(getattr(linsep, options["learner"])).parameters:
            raise click.UsageError(f"{options['learner']} keeps no trace of its corrections.")
        more["trace"] = True
    learner = arguments.make_learner(options["learner"], options["parameters"], **more)
    return learner if options["scale"] is None else linsep.Scaled(learner, how=options["scale"])


def _train(learner: Any, source: Any, settings: dict[str, Any]) -> None:
    from linsep.views.sources import Rows

    if isinstance(source, Rows):
        learner.fit(*source.load(), **settings)
    else:  # not a look at source.encoding: to settle it now would read the file once more
        learner.fit(source, **settings)


def _write_trace(trace: Any, path: str) -> None:
    if not trace.updates:
        said = "The trace holds passes only; films and the lab play corrections, such as those of "
        click.echo(f"{said}--learner Perceptron.", err=True)
    if path != "-":
        trace.save(path)
        return
    for line in trace.lines():
        click.echo(line)


def _keep(learner: Any, out: str) -> str:
    from linsep.data.files.atomic import replace
    from linsep.model.files.store import to_bytes

    if out == "-":
        click.echo(to_bytes(learner), nl=False)
        return "-"
    size = replace(out, [to_bytes(learner)])
    click.echo(f"Model in {out} ({size:,} bytes).", err=True)
    return out


def _next_steps(learner: Any, data: str, out: str | None, options: dict[str, Any]) -> None:
    """Commands that can be typed next; the model is exported as what can hold it."""
    import shlex

    if options["quiet"] or out == "-":
        return
    if out is None:
        how = {one: options[one] for one in ("target", "classes", "bad_rows", "base")}
        how |= {"column": options["columns"], "read": options["reading"]}
        wanted = {name: given for name, given in how.items() if given != "fail"}
        others = () if options["learner"] == "LinearRegression" else ("compare", "certify")
        commands = " · ".join(arguments.spelled(one, data, **wanted) for one in others)
        commands = f" Next: {commands}" if commands and data != "-" else ""
        click.echo(f"\nKeep it with --out MODEL.{commands}", err=True)
        return
    name, kept = shlex.quote(out), _exported(learner)
    more = "" if kept is None else f" · linsep export {name} {kept}"
    click.echo(f"\nNext: linsep inspect {name} · linsep predict {name} NEW_DATA{more}", err=True)


def _exported(learner: Any) -> str | None:
    """The name of a file that can hold the model: a query, where its columns allow one."""
    from linsep.model.files.store import as_model

    model = as_model(learner)
    if model.form.name not in ("linear", "centred", "ordinal"):
        return None
    columns = getattr(model.encoding_, "columns", ())
    computed = any(column.kind in ("date", "hash", "words") for column in columns)
    wide = len(columns or range(model.n_features_in_)) > 1900  # columns that a query may have
    return "model.py" if computed or wide else "model.sql"
