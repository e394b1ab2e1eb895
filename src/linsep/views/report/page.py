"""A report as one HTML page."""

from html import escape
from importlib.resources import files
from typing import Any

from linsep import __version__
from linsep.views.metrics import Confusion, plain
from linsep.views.report.findings import Found
from linsep.views.report.pictures import pictures

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
SHOWN = 30  # classes up to which the table of counts is drawn


def report_page(findings: Found) -> str:
    """The whole page."""
    name = findings.model.learner
    drawn = [
        f"<figure>{svg}<figcaption>{escape(words)}</figcaption></figure>"
        for words, svg in pictures(findings)
    ]
    parts = [
        f"<h1>{escape(name)}</h1>",
        _what(findings),
        "<h2>Errors</h2>",
        *(f"<p>{escape(line)}</p>" for line in findings.tally.text().split("\n\n")[0].splitlines()),
        _confusion(findings.tally) if isinstance(findings.tally, Confusion) else "",
        "<h2>Pictures</h2>",
        f'<div class="pictures">{"".join(drawn)}</div>',
        "<h2>Weights, largest first</h2>" if findings.weights else "",
        *(_plane(*plane) for plane in findings.weights),
        f"<footer>Written by linsep {escape(__version__)}.</footer>",
    ]
    here = files("linsep.views.report")
    style = here.joinpath("report.css").read_text(encoding="utf-8")
    template = here.joinpath("page.html").read_text(encoding="utf-8")
    return template.format(policy=POLICY, title=escape(f"{name}: report"), style=style,
                           body="\n".join(part for part in parts if part))  # fmt: skip


def _what(findings: Found) -> str:
    model = findings.model
    parameters = ", ".join(f"{key}={value!r}" for key, value in model.parameters.items())
    classes = "numbers" if model.classes_ is None else ", ".join(
        str(plain(one)) for one in model.classes_.tolist())  # fmt: skip
    entries: list[tuple[str, str]] = [
        ("Parameters", parameters),
        ("Predicts", classes),
        ("Features", f"{model.n_features_in_:,}"),
        ("Rows here", f"{findings.rows:,}"),
        *findings.facts,
    ]
    lines = [f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in entries]
    return f"<dl>{''.join(lines)}</dl>"


def _confusion(tally: Any) -> str:
    if len(tally.labels) > SHOWN:
        return f"<p>{len(tally.labels)} classes: too many for a table.</p>"
    names = [escape(str(plain(label))) for label in tally.labels]
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    most = max(max(row) for row in tally.matrix) or 1
    lines = []
    for k, (name, row) in enumerate(zip(names, tally.matrix, strict=True)):
        cells = "".join(
            f'<td class="{"right" if j == k else "wrong" if count else "none"}" '
            f'style="--share:{count / most:.3f}">{count:,}</td>'
            for j, count in enumerate(row)
        )
        lines.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    return (
        '<table class="confusion"><caption>Rows: the true class. Columns: what was said.</caption>'
        f"<tr><th></th>{head}</tr>{''.join(lines)}</table>"
    )


def _plane(name: str, bias: float, weights: list[tuple[str, float]]) -> str:
    most = max((abs(w) for _, w in weights), default=0.0) or 1.0
    lines = [
        f'<tr><th scope="row">{escape(feature)}</th><td class="number">{w:.6g}</td>'
        f'<td class="bar"><span class="{"up" if w >= 0 else "down"}" '
        f'style="width:{100 * abs(w) / most:.1f}%"></span></td></tr>'
        for feature, w in weights
    ]
    return (
        f'<table class="weights"><caption>{escape(name)}; intercept {bias:.6g}</caption>'
        f"{''.join(lines)}</table>"
    )
