"""`linsep predict`: what a model says of new rows, row by row."""

import sys
from collections.abc import Iterator
from typing import Any

import click

from linsep.views import arguments


@click.command("predict", short_help="Write what a model says of each row.")
@click.argument("model", type=arguments.FILE)
@click.argument("data", type=arguments.DATA)
@click.option("--scores", is_flag=True, help="Also the score, of each class where more than two.")
@click.option("--proba", is_flag=True, help="Also the probability of each class.")
@click.option(
    "--reject",
    metavar="P",
    type=arguments.Share(0, 1),
    help="Write 'no decision' where no class has at least this probability.",
)
@click.option(
    "--threshold", metavar="P", type=arguments.Share(0, 1),
    help="Say the second of two classes where its probability is at least this; 0.5 by default.",
)  # fmt: skip
@click.option(
    "--keep", metavar="A,B,…",
    help="Write these columns of DATA before the label, as CSV with a header.",
)  # fmt: skip
@click.option(
    "--lines", is_flag=True,
    help="Write the line of DATA that each label belongs to (of binary files the row, from 0); "
    "--bad-rows FILE counts in the same way.",
)  # fmt: skip
@arguments.strict_drift
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
    reject: float | None,
    threshold: float | None,
    keep: str | None,
    lines: bool,
    strict: bool,
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
      linsep predict churn.linsep today.csv --keep customer --proba --threshold 0.2
    """
    import os

    # Threads of BLAS cost a tenth of a second to start, and wait for the reader anyway.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from linsep.views.output_paths import require_other, require_place
    from linsep.views.scoring import require_no_drift, tell_drift
    from linsep.views.sources import NoRows, Rate, is_empty, left_out, open_source

    require_place("--out", out)
    require_other(data, {"--out": out, "--bad-rows": bad_rows})
    known = _opened(model, proba, reject, threshold)
    how = arguments.how_to_read((), base, reading)
    source: Any = NoRows()
    if is_empty(data):
        click.echo("standard input is empty" if data == "-" else f"{data} is empty", err=True)
    else:
        source = open_source(data, None, None, bad_rows, like=known, labelled=False, **how)
    rate = Rate("predicting", quiet or (out == "-" and sys.stdout.isatty()))
    write = _json_lines if as_json else _csv_lines
    if keep is not None or lines:
        names = [name.strip() for name in (keep or "").split(",") if name.strip()]
        if not hasattr(source, "with_columns"):
            raise click.UsageError("--keep and --lines are for files; this is a built-in set.")
        write = _keeping(names, lines, as_json)
    pieces = _one_behind(
        write(known, source, scores, proba, reject, rate),
        (lambda: require_no_drift(source)) if strict else (lambda: None),
    )
    _write(pieces, out)
    rate.end()
    tell_drift(source, strict)
    if source.skipped:
        where = "" if bad_rows in ("fail", "skip") else f", and listed in {bad_rows}"
        click.echo(f"{left_out(source.skipped)}{where}.", err=True)


def _opened(path: str, proba: bool, reject: float | None, threshold: float | None) -> Any:
    """The model, with probabilities where they are needed, and its own threshold or another."""
    from linsep.views.scoring import AtThreshold
    from linsep.views.stored import open_model

    model = open_model(path)
    if proba or reject is not None or threshold is not None:
        model._want_chances()
    if threshold is None:
        return model
    if len(model.classes_) != 2 or reject is not None:
        raise click.UsageError("--threshold is for two classes, and without --reject.")
    return AtThreshold(model, threshold)


def _write(pieces: Iterator[str], out: str) -> None:
    """To standard output as they come, or into a file that is there only once it is whole."""
    if out == "-":
        for text in pieces:
            click.echo(text, nl=False)
        return
    from linsep.data.files.atomic import replace

    replace(out, (text.encode("utf-8", "surrogatepass") for text in pieces))


def _one_behind(texts: Iterator[str], check: Any) -> Iterator[str]:
    """The same texts, each after the next was made and checked: no heading, and of short files no
    row, is written before rows that are refused."""
    held = None
    for text in texts:
        if held is not None:
            check()
            yield held
        held = text
    if held is not None:
        check()
        yield held


def _values(
    model: Any, X: Any, scores: bool, proba: bool, reject: float | None
) -> tuple[Any, Any, Any]:
    """Places of labels among the classes, or numbers; where asked for, scores and probabilities.

    The place after the last class is that of NO_DECISION.
    """
    import numpy as np

    if model.classes_ is None:
        labels = model.predict(X)
        return labels, labels.reshape(len(labels), -1) if scores else None, None
    s = model.decision_function(X)
    chances = model.predict_proba(X) if proba or reject is not None else None
    labels = model.places(s)
    if reject is not None and chances is not None:
        labels[chances.max(axis=1) < reject] = len(model.classes_)
    chances = chances if proba else None
    return labels, np.reshape(s, (len(s), -1)) if scores else None, chances


def _written(model: Any, write: Any) -> Any:
    """Turns what `_values` has found into texts: each class is written once, not once a row."""
    from linsep.model.chances import NO_DECISION
    from linsep.views.metrics import plain

    if model.classes_ is None:
        return lambda labels: [write(value) for value in labels.tolist()]
    texts = [write(plain(label)) for label in (*model.classes_.tolist(), NO_DECISION)]
    return lambda labels: [texts[place] for place in labels.tolist()]


def _lines(model: Any) -> Any:
    """Turns what `_values` has found into lines, a block at a time."""
    import numpy as np

    texts = _written(model, lambda label: _cell(label) + "\n")
    if model.classes_ is None:
        return lambda labels: "".join(texts(labels))
    signs = [
        text.encode("utf-8", "surrogatepass") for text in texts(np.arange(len(model.classes_)))
    ]
    if len(set(map(len, signs))) > 1:
        return lambda labels: "".join(texts(labels))
    table = np.frombuffer(b"".join(signs), np.uint8).reshape(len(signs), -1)

    def lines(labels: Any) -> str:
        if labels.max(initial=0) == len(table):  # NO_DECISION is longer
            return "".join(texts(labels))
        return str(table[labels].tobytes().decode("utf-8", "surrogatepass"))

    return lines


def _csv_lines(
    model: Any, source: Any, scores: bool, proba: bool, reject: float | None, rate: Any
) -> Iterator[str]:
    """Blocks of lines: labels alone, or CSV with a header."""
    from linsep.views.metrics import plain

    heading = ["label", *(f"score[{name}]" for name in _names(model) if scores)]
    heading += [f"p[{plain(label)}]" for label in (model.classes_ if proba else ())]
    if scores or proba:
        yield ",".join(_quoted(name) for name in heading) + "\n"
    beside, lines_of = _written(model, _cell), _lines(model)
    for X, _ in source:
        labels, *tables = _values(model, X, scores, proba, reject)
        columns = [column for table in tables if table is not None for column in table.T.tolist()]
        if columns:
            cells = [beside(labels), *(map(_cell, column) for column in columns)]
            text = "".join(",".join(row) + "\n" for row in zip(*cells, strict=True))
        else:
            text = lines_of(labels)
        rate.add(len(labels))
        yield text


def _keeping(names: list[str], lines: bool, as_json: bool) -> Any:
    """Writes lines and columns of the input, then the label, then what else is asked for."""

    def write(
        model: Any, source: Any, scores: bool, proba: bool, reject: float | None, rate: Any
    ) -> Iterator[str]:
        import json

        from linsep.views.metrics import plain

        several = lines and len(source.source.paths) > 1
        heading = [*(["file"] if several else []), *([source.source.unit] if lines else [])]
        heading += names
        more_heads = [f"score[{name}]" for name in _names(model) if scores]
        more_heads += [f"p[{plain(label)}]" for label in (model.classes_ if proba else ())]
        if not as_json:
            yield ",".join(_quoted(name) for name in [*heading, "label", *more_heads]) + "\n"
        label = _written(model, json.dumps if as_json else _cell)
        for X, columns, numbers in source.with_columns(names, lines):
            labels, *tables = _values(model, X, scores, proba, reject)
            rate.add(len(labels))
            kept = [_texts_of(columns[name], json.dumps if as_json else _quoted) for name in names]
            if lines:
                kept.insert(0, list(map(str, numbers.tolist())))
            if several:
                path = str(source.source.path)
                kept.insert(0, [json.dumps(path) if as_json else _quoted(path)] * len(labels))
            if as_json:
                yield _objects(heading, kept, label(labels), tables)
                continue
            more = [column for table in tables if table is not None for column in table.T.tolist()]
            cells = [*kept, label(labels), *(map(_cell, column) for column in more)]
            yield "".join(",".join(row) + "\n" for row in zip(*cells, strict=True))

    return write


def _objects(heading: list[str], kept: list[list[str]], labels: list[str], tables: Any) -> str:
    """A line of JSON for each row: columns of the input, label, scores and probabilities."""
    import json

    names = [*map(json.dumps, heading), '"label"']
    columns = [*kept, labels]
    for name, table in zip(("scores", "proba"), tables, strict=True):
        if table is not None:
            names.append(json.dumps(name))
            columns.append([json.dumps(values) for values in table.tolist()])
    rows = zip(*columns, strict=True)
    return "".join(
        "{" + ", ".join(f"{n}: {v}" for n, v in zip(names, row, strict=True)) + "}\n"
        for row in rows
    )


def _texts_of(cells: Any, written: Any) -> list[str]:
    """A column as it is to be written again: nothing, or null, for what was missing."""
    none = "null" if written("") == '""' and written is not _quoted else ""
    if hasattr(cells, "texts"):
        texts = [written(text) for text in cells.texts]
        return [texts[code] if code >= 0 else none for code in cells.codes.tolist()]
    values = cells.tolist()
    return [none if v != v else str(int(v)) if float(v).is_integer() else repr(v) for v in values]


def _cell(value: Any) -> str:
    return repr(value) if type(value) is float else _quoted(str(value))


def _quoted(name: str) -> str:
    safe = name != "" and not any(sign in name for sign in ',"\n\r')
    return name if safe else '"' + name.replace('"', '""') + '"'


def _names(model: Any) -> list[Any]:
    from linsep.views.metrics import plain

    if model.classes_ is None:
        return list(range(len(_planes(model))))
    kept = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    return [plain(label) for label in kept]


def _planes(model: Any) -> Any:
    import numpy as np

    return np.atleast_1d(model.form.intercept)


def _json_lines(
    model: Any, source: Any, scores: bool, proba: bool, reject: float | None, rate: Any
) -> Iterator[str]:
    import json

    row = 0
    label = _written(model, json.dumps)
    for X, _ in source:
        labels, *tables = _values(model, X, scores, proba, reject)
        texts = [f'{{"row": {row + i}, "label": {text}' for i, text in enumerate(label(labels))]
        for name, table in zip(("scores", "proba"), tables, strict=True):
            if table is not None:
                pairs = zip(texts, table.tolist(), strict=True)
                texts = [f'{text}, "{name}": {json.dumps(values)}' for text, values in pairs]
        row += len(texts)
        rate.add(len(texts))
        yield "".join(text + "}\n" for text in texts)
