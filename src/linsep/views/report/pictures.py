"""The pictures of a report, as SVG that can stand in a page."""

import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.sampling import sample_by_class
from linsep.errors import LinsepError
from linsep.views.report.findings import Found

Array = npt.NDArray[Any]

DRAWN = 2000  # rows drawn at most
BINS = 10
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++")
BARS = len(HATCHES)


def pictures(findings: Found) -> Iterator[tuple[str, str]]:
    """Each picture that applies: what it shows, and its SVG."""
    try:
        from matplotlib.figure import Figure  # noqa: F401
    except ModuleNotFoundError:
        raise LinsepError(
            "The pictures of a report are drawn by matplotlib: pip install 'linsep[plot]'"
        ) from None
    for number, (words, draw) in enumerate(_which(findings)):
        yield words, _svg(draw, findings, f"report{number}")


def _which(findings: Found) -> Iterator[tuple[str, Callable[[Any, Found], None]]]:
    if findings.truth is not None:
        yield "Predictions against the truth; on the line they agree.", _agreement
        return
    if findings.X is not None:
        yield "The plane of the two features: regions, boundary, rows.", _plane
    yield "How far the right class is ahead; below zero, rows are wrong.", _leads
    if len(findings.model.classes_) == 2 and len(set(findings.codes.tolist()) & {0, 1}) == 2:  # type: ignore[union-attr]
        yield "ROC: rows of the second class found, against others taken for it.", _roc
        if findings.chances is not None:
            yield "Calibration: how often what was said to be likely came true.", _calibration


def _svg(draw: Callable[[Any, Found], None], findings: Found, salt: str) -> str:
    """The picture without prologue and metadata; names in it differ from those of the others."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        figure = Figure(figsize=(4.6, 3.6), layout="constrained")
        draw(figure.subplots(), findings)
        made = io.StringIO()
        FigureCanvasSVG(figure).print_svg(made, metadata={"Date": None, "Creator": None})
    text = made.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return re.sub(r'( id="|href="#|url\(#)', rf"\1{salt}-", text)


def written(label: Any) -> str:
    """A label as a picture writes it: a dollar is no formula."""
    return str(label).replace("$", r"\$")


def _plane(ax: Any, findings: Found) -> None:
    from linsep.views.plots.boundary import boundary

    assert findings.X is not None and findings.codes is not None
    known = np.flatnonzero(findings.codes >= 0)
    some = known[sample_by_class(findings.codes[known], DRAWN)]
    boundary(findings.model, findings.X[some], findings.model.classes_[findings.codes[some]], ax)


def _leads(ax: Any, findings: Found) -> None:
    from linsep.views.scene.palette import BLACK, colour_of

    assert findings.scores is not None and findings.codes is not None
    leads = leads_of(findings.scores, findings.codes)
    edges = edges_of(leads[np.isfinite(leads)])
    labels = findings.model.classes_.tolist()
    for k, label in enumerate(labels[:BARS]):
        mine = leads[findings.codes == k]
        ax.hist(mine, edges, color=colour_of(k), alpha=0.55, hatch=HATCHES[k], edgecolor="white",
                linewidth=0.4, label=f"class {written(label)}")  # fmt: skip
    if len(labels) > BARS:  # bars of so many would hide each other
        rest = leads[findings.codes >= BARS]
        more = f"{len(labels) - BARS} more classes"
        ax.hist(rest, edges, histtype="step", color=BLACK, label=more)
    ax.axvline(0, color=BLACK, lw=1.2)
    ax.set(xlabel="score of the right class, ahead of the best other", ylabel="rows")
    ax.legend(frameon=False, fontsize=8)


def edges_of(leads: Array, bars: int = 40) -> Array:
    """The ends of bars of one width around all values, also where these are all but the same."""
    low, high = (float(leads.min()), float(leads.max())) if len(leads) else (0.0, 1.0)
    room = 1e-6 * max(abs(low), abs(high)) or 0.5
    if high - low < room:
        low, high = low - room, high + room
    return np.linspace(low, high, bars + 1)


def leads_of(scores: Array, codes: Array) -> Array:
    """Signed scores of two classes; for more, how far the right one is ahead of the next."""
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores)
    own = np.arange(scores.shape[1]) == codes[:, None]
    others = np.where(own, -np.inf, scores).max(axis=1)
    right = np.where(codes >= 0, scores[np.arange(len(codes)), np.maximum(codes, 0)], -np.inf)
    return right - others


def _roc(ax: Any, findings: Found) -> None:
    from linsep.views.scene.palette import BLUE, GREY

    assert findings.scores is not None and findings.codes is not None
    false, true, area = roc(findings.scores, findings.codes)
    ax.plot(false, true, color=BLUE, lw=1.8, label=f"area {area:.4f}")
    ax.plot([0, 1], [0, 1], color=GREY, ls="--", lw=1, label="by chance: 0.5")
    ax.set(xlabel="share of others taken for it", ylabel="share found",
           title=f"class {written(findings.model.classes_[1])}")  # fmt: skip
    ax.legend(frameon=False, fontsize=8, loc="lower right")


def roc(scores: Array, codes: Array) -> tuple[Array, Array, float]:
    """Shares of others and of the second class at or above each score, and the area.

    >>> roc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))[2]
    0.75
    """
    some = codes >= 0
    scores, positive = scores[some], codes[some] == 1
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)  # ties move together
    hits = np.concatenate([[0], np.cumsum(positive[order])[last]])
    wrong = np.concatenate([[0], np.cumsum(~positive[order])[last]])
    true, false = hits / hits[-1], wrong / wrong[-1]
    area = float(np.trapezoid(true, false))
    if len(true) > DRAWN:
        keep = np.unique(np.linspace(0, len(true) - 1, DRAWN).astype(int))
        true, false = true[keep], false[keep]
    return false, true, area


def _calibration(ax: Any, findings: Found) -> None:
    from linsep.views.scene.palette import BLUE, GREY

    assert findings.chances is not None and findings.codes is not None
    said, came, rows = calibration(findings.chances, findings.codes == 1)
    ax.plot([0, 1], [0, 1], color=GREY, ls="--", lw=1, label="as said")
    ax.plot(said, came, color=BLUE, marker="o", ms=5, label=f"tenths of about {rows:,} rows")
    ax.set(xlabel=f"probability said of class {written(findings.model.classes_[1])}",
           ylabel="share that came true", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))  # fmt: skip
    ax.legend(frameon=False, fontsize=8, loc="upper left")


def calibration(chances: Array, positive: Array) -> tuple[Array, Array, int]:
    """Rows sorted by what was said of them, in tenths: mean probability and share that was so."""
    order = np.argsort(chances, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    said = np.array([chances[part].mean() for part in parts])
    came = np.array([positive[part].mean() for part in parts])
    return said, came, len(parts[0])


def _agreement(ax: Any, findings: Found) -> None:
    from linsep.views.scene.palette import BLACK, BLUE

    assert findings.truth is not None and findings.said is not None
    truth, said = findings.truth.ravel()[:DRAWN], findings.said.ravel()[:DRAWN]
    ax.scatter(truth, said, s=14, color=BLUE, alpha=0.6)
    ends = [truth.min(), truth.max()]
    ax.plot(ends, ends, color=BLACK, lw=1.2)
    ax.set(xlabel="truth", ylabel="predicted")
