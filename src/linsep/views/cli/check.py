"""`linsep check`: a dry run over data, before anything is fitted."""

import sys
from typing import Any

import click

from linsep.views import arguments
from linsep.views.arguments import one_line

BAD_DATA = 3
SHOWN = 60  # columns that are listed though nothing is wrong with them
ALIKE = 4  # columns with the same finding that are told of one by one


@click.command("check", short_help="Say what a fit would see: columns, types, classes, bad rows.")
@click.argument("data", type=arguments.DATA)
@arguments.target
@arguments.classes
@arguments.columns
@arguments.base
@arguments.reading
@click.option(
    "--bad-rows",
    metavar="FILE",
    type=arguments.FILE,
    help="List rows that cannot be read in this CSV file.",
)
@arguments.as_json
def command(
    data: str,
    target: str | None,
    classes: str | None,
    columns: tuple[str, ...],
    base: str | None,
    reading: tuple[str, ...],
    bad_rows: str | None,
    as_json: bool,
) -> None:
    """Read all of DATA and say what a fit would see: columns, types, classes, bad rows.

    Rows that cannot be read are named with line and column. Exits with 3 if there are any.

    \b
    Example:
      linsep check people.csv --target income
    """
    import json

    from linsep.views.output_paths import require_other
    from linsep.views.sources import Rate, open_source

    require_other(data, {"--bad-rows": bad_rows})
    wanted = arguments.split_classes(classes)
    how = arguments.how_to_read(columns, base, reading)
    source = open_source(data, target, wanted, bad_rows or "skip", **how)
    rate = Rate("checking")
    noted, named, counts = _findings(source, rate)
    hopeless = {
        one.column: "words" if one.what == "words" else "drop"
        for one in noted
        if one.column in named
    }
    if hopeless:  # the others can be told of
        how["columns"] = dict(how.get("columns") or {}) | hopeless
        source = open_source(data, target, wanted, bad_rows or "skip", **how)
        counts = None
    encoding = source.encoding
    counts = _counted(source, rate) if counts is None else counts
    rate.end()
    noted += _wide(source)
    record = _record(data, source, encoding, counts) | {
        "findings": [one._asdict() for one in noted]
    }
    _add_left_out(record, source, hopeless)
    unasked = target is None and any(one.what == "number" for one in noted)
    if unasked:  # the last column, which nobody named: hardly classes
        record["classes"] = None
    if as_json:
        click.echo(json.dumps(record))
    else:
        bad_columns = {column for column, _ in source.bad_rows.groups} if source.skipped else set()
        click.echo(_text(record, bad_columns))
    if source.skipped:
        _tell_bad_rows(source, bad_rows)
    options = [one.option for one in noted if one.what in SETTLED and one.option]
    again = arguments.spelled(
        "fit", data, target=target, classes=classes, column=columns, base=base, read=reading
    )
    options += ["--learner LinearRegression"] if unasked else []
    again = " ".join([again, *dict.fromkeys(options), *_for_bad_rows(source)])
    again += ", or with another column as --target" if unasked else ""
    if source.skipped:
        click.echo(f"Then: {again}", err=True)
        sys.exit(BAD_DATA)
    click.echo(f"Every row can be read. Next: {again}", err=True)


SETTLED = ("id", "constant", "empty", "leak", "duplicate", "near-duplicate", "case", "many texts",
           "words", "imbalance", "wide")  # fmt: skip


def _counted(source: Any, rate: Any) -> Any:
    """How often each label is met."""
    counts: Any = {}
    for X, y in source:
        _count(counts, y)
        rate.add(X.shape[0])
    return counts


def _findings(source: Any, rate: Any) -> tuple[list[Any], set[str], Any]:
    """What may be wrong with a table, columns with too many texts to go on with, and how often
    each label is met; all of it in one pass."""
    from linsep.data.encoding.column_statistics import MOST_TEXTS
    from linsep.data.sources.raw_table import Collector
    from linsep.data.table.column import Texts
    from linsep.errors import DataError
    from linsep.views.table_findings import MOST_ROWS, findings, gathered

    inner: Any = getattr(source, "source", None)
    if not hasattr(inner, "statistics"):
        return [], set(), None
    collect, counts, refused = Collector(inner, MOST_ROWS), None, None

    def observe(piece: Any, cells: Any) -> None:
        collect(piece, cells)
        rate.add(
            len(cells.codes) if hasattr(cells, "codes") else 0 if cells is None else len(cells)
        )

    try:
        counts = source.look(observe)
    except DataError as problem:
        if not collect.n:
            raise
        refused = problem
    table = gathered(collect.table())
    target = "" if inner.target is None else inner.target.column
    noted = findings(table, inner.kinds, target)
    if target and inner.target.asks:
        noted = [one for one in noted if one.what != "number"]  # the condition is there already
    many = {
        name
        for name, cells in table.columns.items()
        if isinstance(cells, Texts)
        and len(cells.texts) > MOST_TEXTS
        and inner.features[name].startswith("text")
        and ":" not in inner.features[name]
    }
    if refused is not None and not many:
        raise refused
    return noted, many, counts


def _wide(source: Any) -> list[Any]:
    """That there are more features than rows."""
    from linsep.views.table_findings import Finding

    if source.classes is None or source.n_features < source.n_rows:
        return []
    text = (
        f"are fewer ({source.n_rows:,}) than features ({source.n_features:,}), so that a plane can "
        "fit any labels: trust scores of held-out rows only, and choose the penalty"
    )
    return [Finding(None, "wide", text, "--tune")]


def _add_left_out(record: dict[str, Any], source: Any, hopeless: dict[Any, str]) -> None:
    """Columns of too many texts stand in the table too, without features."""
    left_out = [name for name, kind in hopeless.items() if kind == "drop"]
    if not left_out:
        return
    order = {name: place for place, name in enumerate(source.source.layout.names)}
    for name in left_out:
        record["columns"].append({"name": name, "kind": "text", "features": 0, "missing": 0,
                                  "mean": None, "categories": None})  # fmt: skip
    record["columns"].sort(key=lambda one: order.get(one["name"].partition(".")[0], -1))


def _for_bad_rows(source: Any) -> list[str]:
    """Options that take words met again and again in columns of numbers for missing cells, and
    that leave out the rows that still cannot be read."""
    import shlex

    groups = source.bad_rows.groups if hasattr(source, "bad_rows") else {}
    words: dict[str, None] = {}
    others = 0
    for (column, _), group in groups.items():
        word, times = group.cells.most_common(1)[0]
        if column and times >= 3 and word:
            words[word] = None
            others += sum(group.cells.values()) - times
        else:
            others += 1
    missing = [f"--read {shlex.quote('missing=' + ','.join(words))}"] if words else []
    return [*missing, *(["--bad-rows skip"] if others else [])]


def _tell_bad_rows(source: Any, listed: str | None) -> None:
    """Rows that cannot be read, grouped by column and reason, with what would help."""
    import shlex

    count = "1 row" if source.skipped == 1 else f"{source.skipped:,} rows"
    click.echo(f"{count} cannot be read:", err=True)
    for (column, reason), group in source.bad_rows.groups.items():
        rows = sum(group.cells.values())
        lines = ", ".join(map(str, group.rows[:5])) + (", …" if rows > 5 else "")
        where = f"column {column!r}: " if column else ""
        word, times = group.cells.most_common(1)[0]
        shown = f"{word!r} " if column else ""
        sentence = arguments.in_options(f"{where}{shown}{reason}")
        count = f"1 row (line {lines})" if rows == 1 else f"{rows:,} rows (lines {lines})"
        click.echo(f"  {count}: {sentence}", err=True)
        if column and times >= 3 and word:
            option = shlex.quote(f"missing={word}")
            click.echo(f"      {times:,} of them are {word!r}; if that means missing: "
                       f"--read {option}", err=True)  # fmt: skip
    if listed:
        click.echo(f"All of them are in {listed}.", err=True)
    else:
        click.echo("  Leave them out: --bad-rows skip", err=True)


def _count(counts: dict[Any, int], y: Any) -> None:
    import numpy as np

    if y is None or len(counts) > 1000:
        return
    for label, count in zip(*(part.tolist() for part in np.unique(y, return_counts=True)),
                            strict=True):  # fmt: skip
        counts[label] = counts.get(label, 0) + count


def _record(data: str, source: Any, encoding: Any, counts: dict[Any, int]) -> dict[str, Any]:
    from linsep import __version__
    from linsep.views.metrics import plain

    columns = []
    missing = getattr(getattr(source, "source", None), "missing", {})
    for column in getattr(encoding, "columns", ()):
        columns.append(
            {
                "name": column.name,
                "kind": column.kind,
                "features": column.width,
                "missing": missing.get(column.table_name, 0),
                "mean": column.mean if column.numeric else None,
                "categories": list(column.categories[:20]) or None,
            }
        )
    labels = None
    if source.classes is not None:
        labels = [{"label": plain(k), "rows": n} for k, n in sorted(counts.items())]
    target = getattr(encoding, "target", None)
    return {
        "command": "check",
        "linsep": __version__,
        "data": data,
        "rows": source.n_rows,
        "features": source.n_features,
        "columns": columns,
        "target": None if target is None else str(target),
        "classes": labels,
        "skipped": source.skipped,
        "left_out": source.left_out,
        "bad_rows": [arguments.in_options(sentence) for sentence in source.bad_rows.first],
        "notes": [arguments.in_options(sentence) for sentence in source.notes],
    }


def _short(text: str, most: int) -> str:
    text = one_line(text)
    return text if len(text) <= most else text[: most - 1] + "…"


def _text(record: dict[str, Any], bad_columns: set[str]) -> str:
    lines = [f"{record['data']}: {record['rows']:,} rows of {record['features']:,} features."]
    lines += map(one_line, record["notes"])
    if record["columns"]:
        wide = max(8, *(len(_short(column["name"], 30)) + 2 for column in record["columns"]))
        lines += ["", f"{'column':<{wide}}{'kind':<8}{'features':>9}{'missing':>9}  values"]
    marked = bad_columns | {one["column"] for one in record["findings"]}
    shown = [c for k, c in enumerate(record["columns"]) if k < SHOWN or c["name"] in marked]
    for column in shown:
        values = "" if column["mean"] is None else f"mean {column['mean']:.6g}"
        if not column["features"]:
            values = "not used: too many texts"
        if column["categories"]:
            values = _short(", ".join(column["categories"]), 50)
        lines.append(
            f"{_short(column['name'], 30):<{wide}}{column['kind']:<8}{column['features']:>9,}"
            f"{column['missing']:>9,}  {values}{'  !' if column['name'] in marked else ''}"
        )
    if len(record["columns"]) > len(shown):
        lines.append(f"… and {len(record['columns']) - len(shown):,} columns more")
    lines.append("")
    named = f"target {one_line(record['target'])}" if record["target"] else "labels"
    if record["classes"] is None:
        lines.append(f"{named}: numbers to predict (use --learner LinearRegression)")
    else:
        classes = record["classes"]
        shown = [f"{_short(str(one['label']), 24)} ({one['rows']:,})" for one in classes[:25]]
        more = "" if len(classes) <= 25 else ", …"
        count = f"{len(classes):,} class{'' if len(classes) == 1 else 'es'}"
        lines.append(f"{named}: {count}: {', '.join(shown)}{more}")
        if len(classes) > max(10, 0.3 * record["rows"]):
            lines.append("Most labels are met once: is another column meant? Pass it as --target.")
    if record["findings"]:
        lines += ["", "Look at:"]
        lines += _finding_lines(record["findings"])
    return "\n".join(lines)


def _finding_lines(findings: list[dict[str, Any]]) -> list[str]:
    """What was found, line by line; of many columns with the same, the last ones by name alone."""
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for one in findings:
        by_kind.setdefault(one["what"], []).append(one)
    lines = []
    for one in findings:
        group = by_kind[one["what"]]
        place = group.index(one)
        if len(group) > ALIKE + 1 and place > ALIKE:
            continue
        which = "rows" if one["column"] is None else repr(one["column"])
        option = f"   {one['option']}" if one["option"] else ""
        text = f"{which} {one['sentence']}.{option}"
        if len(group) > ALIKE + 1 and place == ALIKE:
            names = _short(", ".join(repr(other["column"]) for other in group[ALIKE:]), 100)
            text = f"and {len(group) - ALIKE:,} columns more: {names}"
        lines.append(f"  {one['what']:<15}{text}")
    return lines
