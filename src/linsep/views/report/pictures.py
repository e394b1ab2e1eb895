"""The pictures of a report, as SVG that can stand in a page."""

import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.sampling import sample_by_class
from linsep.views.output_paths import require_matplotlib
from linsep.views.report.curves import calibration, leads_of, precision_recall, roc
from linsep.views.report.findings import Found
from linsep.views.report.parts import Part

Array = npt.NDArray[Any]
Draw = Callable[[Any, Any, Part], None]

DRAWN = 2000  # rows drawn at most
HATCHES = ("", "///", "...")
CURVES = 6  # in one picture
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))


def pictures(findings: Found) -> Iterator[tuple[str, str]]:
    """Each picture that applies: what it shows, and its SVG."""
    require_matplotlib()
    part = findings.parts[0]
    for number, (words, draw) in enumerate(_which(findings, part)):
        yield words, _svg(draw, part.model, part, f"report{number}")


def _which(findings: Found, part: Part) -> Iterator[tuple[str, Draw]]:
    if part.codes is None:
        yield "Predictions against the truth; on the line they agree.", _agreement
        yield "Errors against predictions: no pattern should be left in them.", _residuals
        return
    if part.X.shape[1] == 2 and not hasattr(part.X, "toarray"):
        yield "The plane of the two features: regions, boundary, rows.", _plane
    yield "How far the right class is ahead; below zero, rows are wrong.", _leads
    several = len(set(part.codes.tolist()) - {-1}) > 1
    if several and len(findings.model.classes_) == 2:
        yield "ROC: rows of the second class found, against others taken for it.", _roc
        yield "Precision of what is taken for the second class, as more of it is found.", _pr
    elif several:
        yield "ROC of each class against the rest.", _roc
        yield "Precision and recall of each class against the rest.", _pr
    if part.chances is not None:
        yield ("Calibration: how often what was said to be likely came true, with 95 % intervals."
               if len(findings.model.classes_) == 2 else
               "Calibration: how often the likeliest class was right, with 95 % intervals."
               ), _calibration  # fmt: skip


def _svg(draw: Draw, model: Any, part: Part, salt: str) -> str:
    """The picture without prologue and metadata; names in it differ from those of the others."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        figure = Figure(figsize=(4.6, 3.6), layout="constrained")
        draw(figure.subplots(), model, part)
        made = io.StringIO()
        FigureCanvasSVG(figure).print_svg(made, metadata={"Date": None, "Creator": None})
    text = made.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text, flags=re.DOTALL)
    return re.sub(r'( id="|href="#|url\(#)', rf"\1{salt}-", text)


def written(label: Any) -> str:
    """A label as a picture writes it: a dollar is no formula, and long ones are cut."""
    text = str(label).replace("$", r"\$")
    return text if len(text) <= 24 else f"{text[:23]}…"


def _plane(ax: Any, model: Any, part: Part) -> None:
    from linsep.views.plots.boundary import boundary

    assert part.codes is not None
    known = np.flatnonzero(part.codes >= 0)
    some = known[sample_by_class(part.codes[known], DRAWN)]
    boundary(model, part.X[some], model.classes_[part.codes[some]], ax)
    if model.feature_names:
        ax.set(xlabel=written(model.feature_names[0]), ylabel=written(model.feature_names[1]))


def _leads(ax: Any, model: Any, part: Part) -> None:
    from linsep.views.scene.palette import BLACK, BLUE, ORANGE, colour_of

    assert part.scores is not None and part.codes is not None
    leads = leads_of(part.scores, part.codes)
    edges = edges_of(leads[np.isfinite(leads)])
    labels = model.classes_.tolist()
    if len(labels) > len(HATCHES):  # bars of so many would hide each other
        ax.hist(leads[leads > 0], edges, color=BLUE, alpha=0.55, label="right")
        ax.hist(leads[leads <= 0], edges, color=ORANGE, alpha=0.8, hatch="///", label="wrong")
    else:
        for k, label in enumerate(labels):
            ax.hist(leads[part.codes == k], edges, color=colour_of(k), alpha=0.55,
                    hatch=HATCHES[k], edgecolor="white", linewidth=0.4,
                    label=f"class {written(label)}")  # fmt: skip
    ax.axvline(0, color=BLACK, lw=1.2)
    ax.set(xlabel="score of the right class, ahead of the best other", ylabel="rows")
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False, fontsize=8)


def edges_of(leads: Array, bars: int = 40) -> Array:
    """The ends of bars of one width around all values, also where these are all but the same."""
    low, high = (float(leads.min()), float(leads.max())) if len(leads) else (0.0, 1.0)
    room = 1e-6 * max(abs(low), abs(high)) or 0.5
    if high - low < room:
        low, high = low - room, high + room
    return np.linspace(low, high, bars + 1)


def _against(model: Any, part: Part) -> Iterator[tuple[Any, str, Array, Array]]:
    """A name, scores and membership for each curve: the second of two classes, or each of more."""
    assert part.scores is not None and part.codes is not None
    some = part.codes >= 0
    if part.scores.ndim == 1:
        yield 0, written(model.classes_[1]), part.scores[some], part.codes[some] == 1
        return
    order = np.argsort(-np.bincount(part.codes[some], minlength=len(model.classes_)),
                       kind="stable")[:CURVES]  # fmt: skip
    ranked = part.scores if part.chances is None else part.chances  # as the areas in the table
    for k in sorted(order.tolist()):
        mine = part.codes[some] == k
        if mine.any() and not mine.all():
            yield k, written(model.classes_[k]), ranked[some, k], mine


def _roc(ax: Any, model: Any, part: Part) -> None:
    from linsep.views.scene.palette import BLUE, GREY, colour_of

    for k, name, scores, positive in _against(model, part):
        false, true, area = roc(scores, positive.astype(int), DRAWN)
        alone = part.scores is not None and part.scores.ndim == 1
        ax.plot(false, true, color=BLUE if alone else colour_of(k), lw=1.8,
                ls=DASHES[k % CURVES], label=f"{name}: area {area:.4f}")  # fmt: skip
    ax.plot([0, 1], [0, 1], color=GREY, ls="--", lw=1, label="by chance: 0.5")
    ax.set(xlabel="share of others taken for it (false positive rate)",
           ylabel="share found (recall)")  # fmt: skip
    ax.legend(frameon=False, fontsize=8, loc="lower right")


def _pr(ax: Any, model: Any, part: Part) -> None:
    from linsep.views.scene.palette import BLUE, GREY, colour_of

    for k, name, scores, positive in _against(model, part):
        recall, precision, mean = precision_recall(scores, positive, DRAWN)
        alone = part.scores is not None and part.scores.ndim == 1
        ax.plot(recall, precision, color=BLUE if alone else colour_of(k), lw=1.8,
                ls=DASHES[k % CURVES], label=f"{name}: average {mean:.4f}")  # fmt: skip
        if alone:
            ax.axhline(positive.mean(), color=GREY, ls="--", lw=1,
                       label=f"by chance: {positive.mean():.4f}")  # fmt: skip
    ax.set(xlabel="share found (recall)", ylabel="share right (precision)", ylim=(-0.02, 1.04))
    ax.legend(frameon=False, fontsize=8, loc="lower left")


def _calibration(ax: Any, model: Any, part: Part) -> None:
    from linsep.views.scene.palette import BLUE, GREY

    assert part.chances is not None and part.codes is not None
    if len(model.classes_) == 2:
        chances, positive = part.chances[:, 1], part.codes == 1
        name = f"probability said of class {written(model.classes_[1])}"
    else:
        chances, positive = part.chances.max(axis=1), part.chances.argmax(axis=1) == part.codes
        name = "probability said of the likeliest class"
    tenths = calibration(chances, positive)
    said, came = np.array([one.said for one in tenths]), np.array([one.came for one in tenths])
    ends = np.array([one.interval for one in tenths]).T
    ax.plot([0, 1], [0, 1], color=GREY, ls="--", lw=1, label="as said")
    ax.errorbar(said, came, yerr=np.abs(ends - came), color=BLUE, marker="o", ms=5, capsize=2,
                lw=1.2, label=f"tenths of about {tenths[0].rows:,} rows")  # fmt: skip
    ax.set(xlabel=name, ylabel="share that came true", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.legend(frameon=False, fontsize=8, loc="upper left")


def _agreement(ax: Any, model: Any, part: Part) -> None:
    from linsep.views.scene.palette import BLACK, BLUE

    truth, said = np.asarray(part.y, float).ravel()[:DRAWN], part.said.ravel()[:DRAWN]
    ax.scatter(truth, said, s=14, color=BLUE, alpha=0.6)
    ends = [truth.min(), truth.max()]
    ax.plot(ends, ends, color=BLACK, lw=1.2)
    ax.set(xlabel="truth", ylabel="predicted")


def _residuals(ax: Any, model: Any, part: Part) -> None:
    from linsep.views.scene.palette import BLACK, BLUE

    truth, said = np.asarray(part.y, float).ravel()[:DRAWN], part.said.ravel()[:DRAWN]
    ax.scatter(said, truth - said, s=14, color=BLUE, alpha=0.6)
    ax.axhline(0, color=BLACK, lw=1.2)
    ax.set(xlabel="predicted", ylabel="truth − predicted")
