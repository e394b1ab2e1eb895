"""`linsep predict`: what a model says of new rows, row by row."""

import sys
from collections.abc import Iterator
from typing import IO, Any

import click

from linsep.views import arguments


@click.command("predict", short_help="Write what a model says of each row.")
@click.argument("model", type=arguments.FILE)
@click.argument("data", type=arguments.DATA)
@click.option("--scores", is_flag=True, help="Also the score, of each class where more than two.")
@click.option("--proba", is_flag=True, help="Also the probability of each class.")
@click.option(
    "--out",
    metavar="FILE",
    type=arguments.FILE,
    default="-",
    show_default=True,
    help="Where to write.",
)
@arguments.bad_rows
@arguments.base
@arguments.reading
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@arguments.as_json
def command(
    model: str,
    data: str,
    scores: bool,
    proba: bool,
    out: str,
    bad_rows: str,
    base: str | None,
    reading: tuple[str, ...],
    quiet: bool,
    as_json: bool,
) -> None:
    """Write what MODEL says of each row of DATA, one line for each.

    DATA may have the column of labels or not. Without --scores and --proba a line is the label
    alone; with them it is CSV with a header; with --json a JSON object.

    \b
    Examples:
      linsep predict people.linsep new-people.csv > labels.txt
      cat new.csv | linsep predict people.linsep - --proba
    """
    import os

    # Threads of BLAS cost a tenth of a second to start, and wait for the reader anyway.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from linsep.views.places import require_place
    from linsep.views.sources import Rate, open_source
    from linsep.views.stored import open_model

    require_place("--out", out)
    known = open_model(model)
    if proba:
        known._want_chances()
    how = arguments.how_to_read((), base, reading)
    source = open_source(data, None, None, bad_rows, like=known, **how)
    rate = Rate("predicting", quiet or (out == "-" and sys.stdout.isatty()))
    write = _json_lines if as_json else _csv_lines
    if out == "-":
        _all(write, known, source, scores, proba, rate, sys.stdout)
    else:
        from linsep.data.atomic import replace

        pieces = (
            text.encode("utf-8", "surrogatepass")
            for text in write(known, source, scores, proba, rate)
        )
        replace(out, pieces)
    rate.end()
    if source.skipped:
        click.echo(f"{source.skipped} rows could not be read and were left out.", err=True)


def _all(write: Any, *rest: Any) -> None:
    *arguments_, stream = rest
    target: IO[str] = stream
    for text in write(*arguments_):
        target.write(text)
    target.flush()


def _values(model: Any, X: Any, scores: bool, proba: bool) -> tuple[Any, Any, Any]:
    """Labels, and where asked for scores and probabilities as tables."""
    import numpy as np

    from linsep.model.linear import labels

    if model.classes_ is None:
        found = model.predict(X)
        return found, found.reshape(len(found), -1) if scores else None, None
    s = model.decision_function(X)
    chances = model.predict_proba(X) if proba else None
    return labels(s, model.classes_), np.reshape(s, (len(s), -1)) if scores else None, chances


def _csv_lines(model: Any, source: Any, scores: bool, proba: bool, rate: Any) -> Iterator[str]:
    """Blocks of lines: labels alone, or CSV with a header."""
    import csv
    import io

    from linsep.views.tally import plain

    heading = ["label", *(f"score[{name}]" for name in _names(model) if scores)]
    heading += [f"p[{plain(label)}]" for label in (model.classes_ if proba else ())]
    if scores or proba:
        yield ",".join(_quoted(name) for name in heading) + "\n"
    for X, _ in source:
        found, s, p = _values(model, X, scores, proba)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        tables = [table.tolist() for table in (s, p) if table is not None]
        names = [plain(label) for label in found.tolist()]
        if not tables and all(type(name) in (int, float, bool) for name in names[:1]):
            text.write("".join(f"{name}\n" for name in names))
        else:
            writer.writerows([name, *(v for t in tables for v in t[i])]
                             for i, name in enumerate(names))  # fmt: skip
        rate.add(len(names))
        yield text.getvalue()


def _quoted(name: str) -> str:
    safe = not any(sign in name for sign in ',"\n\r')
    return name if safe else '"' + name.replace('"', '""') + '"'


def _names(model: Any) -> list[Any]:
    from linsep.views.tally import plain

    if model.classes_ is None:
        return list(range(len(_planes(model))))
    kept = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    return [plain(label) for label in kept]


def _planes(model: Any) -> Any:
    import numpy as np

    return np.atleast_1d(model.form.intercept)


def _json_lines(model: Any, source: Any, scores: bool, proba: bool, rate: Any) -> Iterator[str]:
    import json

    from linsep.views.tally import plain

    row = 0
    for X, _ in source:
        found, s, p = _values(model, X, scores, proba)
        lines = []
        for i, label in enumerate(found.tolist()):
            record = {"row": row + i, "label": plain(label)}
            record |= {} if s is None else {"scores": s[i].tolist()}
            record |= {} if p is None else {"proba": p[i].tolist()}
            lines.append(json.dumps(record) + "\n")
        row += len(lines)
        rate.add(len(lines))
        yield "".join(lines)
