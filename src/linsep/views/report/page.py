"""A report as one HTML page."""

import base64
import hashlib
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from linsep import __version__
from linsep.views.metrics import Confusion, plain
from linsep.views.report.coefficients import PLANES, Plane
from linsep.views.report.curves import losses, mean_interval
from linsep.views.report.findings import Found
from linsep.views.report.parts import Part
from linsep.views.report.pictures import pictures
from linsep.views.report.reproduce import parameters_of
from linsep.views.report.thresholds import places_of, thresholds

SHOWN = 30  # classes up to which the table of counts is drawn
COLUMNS = 40  # features described


def report_page(findings: Found) -> str:
    """The whole page."""
    name = findings.model.learner
    part = findings.parts[0]
    which = part.name.lower()
    classified = isinstance(part.tally, Confusion)
    body = [
        f"<header><h1>{escape(name)}</h1>{_summary(findings)}</header>",
        _tiles(part),
        _section("Errors", _words(findings), _figures(findings.parts)),
        _section(f"Each class: {which}", '<div class="beside">', _classes(part),
                 _confusion(part.tally), "</div>") if classified else "",
        _section(f"Pictures: {which}", _pictures(findings)),
        _section(f"Where to put the threshold: {which}", _thresholds(findings, part)),
        _section("Weights", _weights(findings)) if findings.planes else "",
        _section(f"Largest errors: {which}", _worst(findings)),
        _section("The data", _data(findings)),
        _section("What is certain", _list(findings.proofs)),
        _section("How to have these numbers again", _again(findings)),
        f"<footer>Written by linsep {escape(__version__)}.</footer>",
    ]  # fmt: skip
    here = files("linsep.views.report")
    style = f"\n{here.joinpath('report.css').read_text(encoding='utf-8')}\n"
    template = here.joinpath("page.html").read_text(encoding="utf-8")
    return template.format(policy=_policy(style), title=escape(f"{name}: report"), style=style,
                           body="\n".join(one for one in body if one))  # fmt: skip


def _policy(style: str) -> str:
    """No script, nothing from elsewhere; pictures carry their styles in attributes."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; style-src-attr 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _section(title: str, *parts: str) -> str:
    inner = "".join(part for part in parts if part)
    return f"<section><h2>{escape(title)}</h2>{inner}</section>" if inner else ""


def _paragraph(text: str, name: str = "") -> str:
    return f"<p{f' class={name}' if name else ''}>{escape(text)}</p>"


def _list(entries: list[tuple[str, str]]) -> str:
    lines = [f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in entries]
    return f"<dl>{''.join(lines)}</dl>"


def _table(name: str, caption: str, head: list[str], lines: list[list[Any]]) -> str:
    """Text is escaped; the first column names its row."""
    heads = "".join(f'<th scope="col">{escape(one)}</th>' if one else "<td></td>" for one in head)
    rows = "".join(
        f'<tr><th scope="row">{escape(str(line[0]))}</th>'
        + "".join(f'<td class="number">{escape(str(cell))}</td>' for cell in line[1:])
        + "</tr>"
        for line in lines
    )
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    table = f"<table>{said}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="wide {name}" tabindex="0" role="region" aria-label="{name}">{table}</div>'


def _summary(findings: Found) -> str:
    model = findings.model
    own = findings.parts[-1]
    if model.classes_ is None:
        predicts = "a number"
    elif len(model.classes_) <= SHOWN:
        *some, last = [str(plain(one)) for one in model.classes_.tolist()]
        predicts = f"{', '.join(some)} or {last}"
    else:
        predicts = f"one of {len(model.classes_):,} classes"
    given = parameters_of(model)
    scaled = "" if model.scaled is None else f"Features are scaled inside the fit ({model.scaled})."
    steps = f"Rows are prepared by {findings.steps}." if findings.steps else ""
    return (
        _paragraph(f"Predicts {predicts} from {model.n_features_in_:,} features; "
                   f"{len(own.y):,} rows. {steps} {scaled}", "lead")
        + f'<p class="parameters">{escape(given)}</p>'
    )  # fmt: skip


def _number(value: Any, digits: int = 4) -> str:
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:.{digits}f}"


def _between(ends: Any) -> str:
    return "" if ends is None else f"{ends[0]:.4f} to {ends[1]:.4f}"


def _tiles(part: Part) -> str:
    """What to know first, large."""
    if isinstance(part.tally, Confusion):
        figures = part.tally.figures()
        label, baseline = part.tally.baseline
        tiles = [
            ("accuracy", f"{figures['accuracy']:.1%}",
             "95 %: " + " to ".join(f"{one:.1%}" for one in figures["accuracy_interval"])),
            (f"always saying {plain(label)}", f"{1 - baseline:.1%}", "the most frequent class"),
        ]  # fmt: skip
        if figures["roc_auc"] is not None:
            tiles.append(("ROC AUC", _number(figures["roc_auc"]),
                          _between(figures["roc_auc_interval"])))  # fmt: skip
        if figures["log_loss"] is not None:
            tiles.append(("log loss", _number(figures["log_loss"]), "0 is certain and right"))
    else:
        record = part.tally.record()
        tiles = [
            ("R²", _number(record["r2"]), "share of the spread explained"),
            ("root mean square error", f"{record['rmse']:.5g}", "in units of the target"),
            ("of always saying the mean", f"{record['baseline_rmse']:.5g}", ""),
        ]
    boxes = "".join(
        f'<div><span class="name">{escape(name)}</span><span class="value">{escape(value)}</span>'
        f'<span class="note">{escape(note)}</span></div>'
        for name, value, note in tiles
    )
    return f'<div class="tiles" aria-label="{escape(part.name)}"><p>{part.name}</p>{boxes}</div>'


def _words(findings: Found) -> str:
    text = ""
    for one in findings.parts:
        first = one.tally.text().split("\n")[0]
        text += _paragraph(f"{one.name}: {first} {one.words}")
    only = findings.parts[0].name == "Training rows"
    warn = ("These are figures of rows that the model was fitted on: new rows will do worse. Give "
            "test=(X_test, y_test), or holdout=0.2, for rows that it has not seen.")  # fmt: skip
    return text + (_paragraph(warn, "warning") if only else "")


def _figures(parts: list[Part]) -> str:
    head = ["", *(one.name for one in parts)]
    if not isinstance(parts[0].tally, Confusion):
        records = [one.tally.record() for one in parts]
        names = {"rmse": "root mean square error", "baseline_rmse": "of always saying the mean",
                 "r2": "R²", "rows": "rows"}  # fmt: skip
        rows = [[name, *(_plain(one[key]) for one in records)] for key, name in names.items()]
        return _table("figures", "", head, rows)
    records = [one.tally.figures() for one in parts]
    spreads = [_loss_intervals(one) for one in parts]
    names = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy",
             "roc_auc": "ROC AUC", "average_precision": "average precision",
             "log_loss": "log loss", "brier": "Brier score"}  # fmt: skip
    lines: list[list[Any]] = [["rows", *(f"{one.tally.n:,}" for one in parts)]]
    lines.append(["wrong", *(f"{one.tally.n - one.tally.right:,}" for one in parts)])
    for key, name in names.items():
        if all(one[key] is None for one in records):
            continue
        cells = []
        for one, spread in zip(records, spreads, strict=True):
            ends = one.get(f"{key}_interval") or spread.get(key)
            cells.append(_number(one[key]) + (f" ({_between(ends)})" if ends else ""))
        lines.append([name, *cells])
    return _table("figures", "In brackets: 95 % intervals.", head, lines)


def _plain(value: Any) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _loss_intervals(part: Part) -> dict[str, Any]:
    if part.chances is None or part.codes is None or (part.codes < 0).any():
        return {}
    log_loss, brier = losses(part.codes, part.chances)
    return {"log_loss": mean_interval(log_loss), "brier": mean_interval(brier)}


def _classes(part: Part) -> str:
    each = part.tally.figures()["per_class"]
    if each is None or len(each) > 200:
        return _paragraph(f"{len(part.tally.labels):,} classes: too many for a table.")
    lines = [
        [one["class"], *(_number(one[key]) for key in ("precision", "recall", "f1")),
         f"{one['rows']:,}"]
        for one in each
    ]  # fmt: skip
    return _table("classes", "", ["class", "precision", "recall", "F1", "rows"], lines)


def _confusion(tally: Any) -> str:
    if len(tally.labels) > SHOWN:
        return ""
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
        '<div class="wide" tabindex="0" role="region" aria-label="confusion matrix">'
        '<table class="confusion"><caption>Rows: the true class. Columns: what was said.</caption>'
        f"<tr><td></td>{head}</tr>{''.join(lines)}</table></div>"
    )


def _pictures(findings: Found) -> str:
    drawn = "".join(
        f'<figure><div role="img" aria-label="{escape(words)}">{svg}</div>'
        f"<figcaption>{escape(words)}</figcaption></figure>"
        for words, svg in pictures(findings)
    )
    return f'<div class="pictures">{drawn}</div>'


def _thresholds(findings: Found, part: Part) -> str:
    classes = findings.model.classes_
    if classes is None or len(classes) != 2 or part.codes is None or part.scores is None:
        return ""
    values, places, kind = places_of(part.scores, part.chances)
    lines = [
        [f"{one.at:.3g}", f"{one.taken:.1%}", *(_number(value) for value in one[2:])]
        for one in thresholds(values, part.codes == 1, places)
    ]
    said = f"Rows whose {kind} is at least so much are taken for {plain(classes[1])}."
    head = [kind, "taken for it", "precision", "recall", "F1", "specificity"]
    return _table("thresholds", said, head, lines)


def _weights(findings: Found) -> str:
    planes = findings.planes
    words = (
        "Raw: change of the score for one unit of the feature. Standardised: for one standard "
        "deviation of these rows, by which the weights are ranked."
    )
    if planes[0].weights and planes[0].weights[0].odds is not None:
        words += " Odds ratio: by what the odds are multiplied for one unit, or one deviation."
    text = _paragraph(words) + "".join(_plane(one) for one in planes)
    left = len(np.atleast_2d(findings.model.coef_)) - len(planes)
    if left > 0:
        text += _paragraph(f"{left:,} more classes; {PLANES} are shown.")
    return text


def _plane(plane: Plane) -> str:
    most = max((abs(one.standard) for one in plane.weights), default=0.0) or 1.0
    odds = bool(plane.weights) and plane.weights[0].odds is not None
    lines = []
    for one in plane.weights:
        factors = (one.odds, one.odds_standard) if odds else ()
        ratio = "".join(f'<td class="number">{factor:.4g}</td>' for factor in factors)
        lines.append(
            f'<tr><th scope="row">{escape(one.feature)}</th><td class="number">{one.raw:.6g}</td>'
            f'<td class="number">{one.standard:.4g}</td>{ratio}'
            f'<td class="bar"><span class="{"up" if one.standard >= 0 else "down"}" '
            f'style="width:{100 * abs(one.standard) / most:.1f}%"></span></td></tr>'
        )
    hidden = plane.total - len(plane.weights)
    more = f"; {hidden:,} smaller ones are not shown" if hidden else ""
    zero = f"; {plane.zero:,} of {plane.total:,} weights are zero" if plane.zero else ""
    head = "".join(
        f'<th scope="col">{one}</th>' if one else "<td></td>"
        for one in [
            "feature",
            "raw",
            "standardised",
            *(["odds ratio", "for a deviation"] if odds else []),
            "",
        ]
    )
    said = f"{plane.name}; intercept {plane.intercept:.6g}{zero}{more}"
    return (
        f'<table class="weights"><caption>{escape(said)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )  # fmt: skip


def _worst(findings: Found) -> str:
    if not findings.mistakes:
        return _paragraph("No row is predicted wrong.")
    part = findings.parts[0]
    if part.codes is None:
        by = "error"
    else:
        by = "probability said" if part.chances is not None else "score ahead of the truth"
    lines = [
        [f"{one.row:,}", one.truth, one.said, f"{one.by:.4g}",
         ", ".join(f"{name} = {value:.5g}" for name, value in one.values)]
        for one in findings.mistakes
    ]  # fmt: skip
    head = ["row", "truth", "said", by, "what spoke most for it"]
    where = "the test rows" if part.name == "Test rows" else "the rows given"
    return _table("worst", f"Rows are counted from 0 among {where}.", head, lines)


def _data(findings: Found) -> str:
    own = findings.parts[-1]
    text = ""
    if isinstance(own.tally, Confusion):
        total = own.tally.n
        counts = list(zip(own.tally.labels, own.tally.totals, strict=True))[:200]
        shares = ", ".join(
            f"{plain(one)}: {count:,} ({count / total:.1%})" for one, count in counts
        )
        text = _paragraph(f"{total:,} rows. {shares}.")
    else:
        y = np.asarray(own.y, float)
        text = _paragraph(
            f"{len(y):,} rows; the target has mean {y.mean():.6g}, deviation {y.std():.6g}, from "
            f"{y.min():.6g} to {y.max():.6g}."
        )
    if findings.missing:
        some = ", ".join(f"{name} {n:,}" for name, n in sorted(findings.missing.items())[:20])
        text += _paragraph(
            f"Missing cells: {some}. A number that is missing counts as the mean of its column in "
            "the fit, a text as none."
        )
    constant = [one.name for one in findings.columns if one.least == one.most]
    if constant:
        some = ", ".join(constant[:10]) + (" …" if len(constant) > 10 else ".")
        text += _paragraph(f"{len(constant):,} features have one value only: {some}")
    shown = findings.columns
    if len(shown) > COLUMNS:
        weighty = _weighty(findings)
        shown = [one for one in shown if one.name in weighty] or shown[:COLUMNS]
        shown.sort(key=lambda one: weighty.get(one.name, 0))
        which = "those of the largest weights" if weighty else "the first"
        text += _paragraph(f"{len(shown)} of {len(findings.columns):,} features, {which}:")
    lines = [[one.name, *(f"{value:.5g}" for value in one[1:5]), f"{one.zeros:.1%}"]
             for one in shown]  # fmt: skip
    head = ["feature", "mean", "deviation", "least", "most", "zeros"]
    return text + _table("columns", "", head, lines)


def _weighty(findings: Found) -> dict[str, int]:
    """The features of the largest weights, and their order: the first of each plane, the second."""
    most = max((len(plane.weights) for plane in findings.planes), default=0)
    names = dict.fromkeys(
        one.feature
        for k in range(most)
        for plane in findings.planes
        for one in plane.weights[k : k + 1]
        if one.raw != 0
    )
    return {name: k for k, name in enumerate(list(names)[:COLUMNS])}


def _again(findings: Found) -> str:
    return "".join(
        f"<h3>{escape(name)}</h3><pre>{escape(text)}</pre>" for name, text in findings.again
    )
