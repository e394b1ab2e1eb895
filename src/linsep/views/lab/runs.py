"""Fits with the real library, told as the page draws them, and as Python and command lines."""

import warnings
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import linsep
from linsep.errors import DataError, LinsepError
from linsep.learners.fitting.diagnosis import proved_by
from linsep.status import Status
from linsep.train.run.trace import Trace
from linsep.views.film.story import story_of
from linsep.views.lab.choices import LEARNERS, settings
from linsep.views.lab.grids import grid_of
from linsep.views.lab.request import RunRequest
from linsep.views.lab.toys import TOYS
from linsep.views.lab.verdicts import Verdicts
from linsep.views.scene.axes import Axes, axes_of
from linsep.views.scene.packing import pack
from linsep.views.scene.run import Run, open_run

Array = npt.NDArray[Any]

FRAMES = 10_000
WALLS: dict[Any, Any] = {
    "positive": [0, None],
    "negative": [None, 0],
    (-1.0, 1.0): [-1, 1],
}  # of each weight
FADING = (1, 10, 100, 1000, 10_000, 100_000)  # ever weaker penalties
verdict = Verdicts()  # of this process: a worker answers the drags of one page after the other


class Opened(NamedTuple):
    """What the lab was started with, or what was dropped on it.

    Attributes
    ----------
    name : what the page calls it
    story : the run of a trace, or None
    rows : rows and labels of data, or None
    lines : Python that reads the data
    columns : the names of the features
    sample : how many rows of how many these are, where they are not all
    """

    name: str
    story: dict[str, Any] | None
    rows: tuple[Array, Array] | None
    lines: list[str]
    columns: list[str]
    sample: str = ""


class Job(NamedTuple):
    """What a worker needs to know of a request: rows, lines that make them, learners."""

    X: Array
    y: Array
    lines: list[str]
    axes: list[str]
    learners: list[str]
    parameters: dict[str, Any]
    lift: str
    traced: bool

    @property
    def visits(self) -> int:
        """How many times a row is looked at, at most: what the run may cost."""
        passes = max(
            self.parameters["max_iter"] if "max_iter" in LEARNERS[name].takes else 20
            for name in self.learners
        )
        return len(self.y) * int(passes) * len(self.learners)


def job_of(request: RunRequest, opened: Opened | None, traced: bool) -> Job:
    """The rows that a request means, raised and scaled as it says."""
    X, y, lines, axes = _rows(request, opened, traced)
    if len(y) > 10_000 or X.shape[1] > 1000:
        raise DataError(f"{X.shape} rows and features are too many for the lab.")
    for name in request.learners:
        if LEARNERS[name].two and len(np.unique(y)) > 2:
            raise DataError(f"{LEARNERS[name].label} tells two classes apart; choose another.")
    if request.scale:
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
        lines = [*lines, "X = (X - X.mean(axis=0)) / X.std(axis=0)"]
    if request.lift:
        if X.shape[1] != 2:
            raise DataError(f"Two features can be raised to three; these rows have {X.shape[1]}.")
        third, said = {
            "product": (X[:, 0] * X[:, 1], "X[:, 0] * X[:, 1]"),
            "squares": ((X**2).sum(axis=1), "(X**2).sum(axis=1)"),
        }[request.lift]
        X = np.column_stack([X, third])
        lines = [*lines, "import numpy as np", f"X = np.column_stack([X, {said}])"]
    return Job(X, y, lines, axes, request.learners, request.parameters, request.lift, traced)


def _points_lines(X: Array, y: Array) -> list[str]:
    return ["import numpy as np", f"X = np.array({X.tolist()})", f"y = np.array({y.tolist()})"]


def _rows(
    request: RunRequest, opened: Opened | None, traced: bool
) -> tuple[Array, Array, list[str], list[str]]:
    if request.toy is not None:
        return *TOYS[request.toy].rows(), TOYS[request.toy].lines, []
    if request.rows is not None:
        X, y = request.rows
        return X, y, _points_lines(X, y) if traced else [], request.axes
    if opened is None or opened.rows is None:
        raise DataError("The lab was opened without data; ask for a toy or for points.")
    X, y = opened.rows
    lines, columns = opened.lines, opened.columns
    if request.features is not None:
        if max(request.features) >= X.shape[1]:
            raise DataError(
                f"features has {max(request.features)}; there are {X.shape[1]} columns."
            )
        X = X[:, request.features]
        lines = [*lines, f"X = X[:, {request.features}]"]
        columns = [columns[k] for k in request.features]
    return X, y, lines, columns


def packed(job: Job) -> bytes:
    """The answer to a job: stories with models, and Python lines where steps are told, as bytes."""
    stories: list[dict[str, Any]] = []
    axes = None  # of the first run: both are drawn in one picture
    lines = ["import linsep", *job.lines]
    for place, name in zip(("first", "second"), job.learners, strict=False):
        given = settings(name, job.parameters)
        kind = LEARNERS[name].kind
        story, axes = _story(job, name, given, axes)
        stories.append(story)
        said = ", ".join(f"{key}={_written(value)}" for key, value in given.items())
        labels = "np.where(y == np.unique(y)[1], 1.0, -1.0)" if _regression(kind) else "y"
        if _regression(kind):
            lines.append("import numpy as np")
        trace = ", trace=True" if stories[-1]["corrections"] else ""
        lines.append(f"{place} = linsep.{kind}({said}{trace}).fit(X, {labels})")
        if trace and not _regression(kind):
            lines.append(f'linsep.film({place}.trace_, "{place}.html")')
        stories[-1]["command"] = _command(kind, given)
        stories[-1]["walls"] = WALLS.get(given.get("bounds"))
    if not job.traced:
        return pack({"stories": stories})
    return pack({"stories": stories, "python": "\n".join(dict.fromkeys(lines))})


def _written(value: Any) -> str:
    return "float('inf')" if value == np.inf else repr(value)


def _command(kind: str, given: dict[str, Any]) -> str:
    if isinstance(given.get("bounds"), tuple):
        return ""  # for Python alone
    said = " ".join(f"-p {key}={value}" for key, value in given.items() if value != np.inf)
    return f"linsep fit points.csv --target label --learner {kind} {said} --out model.linsep"


def _regression(kind: str) -> bool:
    return kind == "LinearRegression"


def _story(
    job: Job, name: str, given: dict[str, Any], axes: Axes | None
) -> tuple[dict[str, Any], Axes | None]:
    learner = LEARNERS[name]
    classes, codes = np.unique(job.y, return_inverse=True)
    labels = np.where(codes == 1, 1.0, -1.0) if _regression(learner.kind) else codes
    if job.traced and not _regression(learner.kind):
        labels = job.y
    traced = {"trace": True} if job.traced and learner.kind != "ThresholdNetwork" else {}
    model = getattr(linsep, learner.kind)(**given, **traced)
    if hasattr(model, "n_jobs"):  # few rows: to start threads takes longer than the fit
        model.n_jobs = 1
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        try:
            with nullcontext() if job.traced else proved_by(verdict):
                model.fit(job.X, labels)
        except LinsepError:
            raise
        except ValueError as problem:
            raise DataError(f"{learner.label}: {problem}") from None
        run = _run_of(job, model, given, classes, codes)
        title, proof = f"{learner.family}: {learner.label}", getattr(model, "proof_", None)
        if job.X.shape[1] > 2 and not job.lift:
            axes = axes or axes_of(run)
        story = story_of(run, title, job.lift, proof, None if job.traced else verdict, axes)
    wrong = _decided(model, job.X) != codes
    if learner.curved:
        story["grid"] = _curved(model, job, wrong)
        _of_no_plane(story["frames"], int(wrong.sum()))
    story["model"] = _model(model, wrong)
    cause = getattr(model, "diagnosis_", None)
    if cause and run.trace.status is not None:
        story["status"] = story["status"].replace(run.trace.status.value, cause)
    if 1 <= len(job.axes) == job.X.shape[1] - bool(job.lift) <= 2:
        story["axes"][: len(job.axes)] = job.axes
        story["weights"]["names"][: len(job.axes)] = [f"weight of {one}" for one in job.axes]
    story["geometry"] = _geometry(model, learner.kind, len(codes) - len(classes))
    story["cycle"] = _cycle(run)
    story["runaway"] = run.trace.status is Status.no_optimum  # separable, if only weakly
    if story["runaway"] and job.traced:
        story["growth"] = _growth(job, given)
    return story, axes


def _of_no_plane(frames: dict[str, Any], wrong: int) -> None:
    """The last frame shows a model without a plane: what is told of a plane is not so there."""
    frames["count"][-1] = wrong
    for name in ("loss", "norm", "margin", "angle"):
        frames[name][-1] = np.nan


def _growth(job: Job, given: dict[str, Any]) -> list[list[float]]:
    """The length of logistic regression's weights as the penalty fades: [C, ‖w‖]."""
    model = linsep.LogisticRegression(fit_intercept=given["fit_intercept"])
    fits = (model.set_params(C=C).fit(job.X, job.y) for C in FADING)
    return [[C, float(np.linalg.norm(fit.coef_))] for C, fit in zip(FADING, fits, strict=True)]


def _cycle(run: Run) -> dict[str, int] | None:
    """After how many passes the weights come back, and the frames of the first loop.

    Only where rows are met in one order: then the same weights have the same future.
    """
    parameters = run.trace.parameters
    if run.trace.learner != "Perceptron" or parameters.get("shuffle", True) or run.every > 1:
        return None
    ends = {int(event["epoch"]): t for t, event in enumerate(run.events, 1)}
    met: dict[bytes, int] = {}
    for epoch, t in sorted(ends.items()):
        if run.shows_model(t):
            break
        weights = run.W[t].tobytes() + run.b[t].tobytes()
        if weights in met:
            before = met[weights]
            return {"passes": epoch - before, "first": ends[before], "last": t}
        met[weights] = epoch
    return None


def film(job: Job) -> bytes:
    """The answer to a job as one page that plays it."""
    from linsep.views.film.page import film_of

    names = " and ".join(LEARNERS[name].label for name in job.learners)
    return film_of(packed(job), f"linsep lab: {names}").encode()


def saved(job: Job) -> bytes:
    """The first model of a job, as a file of `linsep.save`."""
    import tempfile
    from pathlib import Path

    name = job.learners[0]
    kind = LEARNERS[name].kind
    labels = job.y
    if _regression(kind):
        labels = np.where(job.y == np.unique(job.y)[1], 1.0, -1.0)
    model = getattr(linsep, kind)(**settings(name, job.parameters))
    with warnings.catch_warnings(action="ignore"), tempfile.TemporaryDirectory() as folder:
        model.fit(job.X, labels)
        path = Path(folder) / "model.linsep"
        linsep.save(model, path)
        return path.read_bytes()


def _run_of(job: Job, model: Any, given: dict[str, Any], classes: Array, codes: Array) -> Run:
    """The recorded run, or the model alone where there are no steps."""
    trace = getattr(model, "trace_", None)
    if trace is not None and _regression(trace.learner):
        trace.classes = classes.tolist()
        trace.keep_rows(job.X, codes)
        trace.end(trace.status, np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_))
    if trace is not None and trace.updates:
        run = open_run(trace, None, None, FRAMES)
        return run if _is_plane(model) else _voted(run)
    still = Trace(type(model).__name__, given, classes.tolist())
    still.keep_rows(job.X, codes)
    still.status = getattr(model, "status_", None)
    still.passes = [] if trace is None else trace.passes
    K = 1 if len(classes) == 2 else len(classes)
    W, b = np.zeros((1, K, job.X.shape[1])), np.zeros((1, K))
    if _is_plane(model):
        W[0], b[0] = model.coef_.reshape(K, -1), np.atleast_1d(model.intercept_)
    return Run(still, still.rows, W, b, [], 1)  # type: ignore[arg-type]


def _voted(run: Run) -> Run:
    """The run with one frame more, for the vote, which is no plane."""
    model = {**run.events[-1], "row": None, "scores": [], "step": [], "plane": None}
    W, b = np.concatenate([run.W, run.W[-1:]]), np.concatenate([run.b, run.b[-1:]])
    said = "the vote of all weights met"
    return run._replace(W=W, b=b, events=[*run.events, model], returned=said)


def _is_plane(model: Any) -> bool:
    curved = {one.kind for one in LEARNERS.values() if one.curved}
    return type(model).__name__ not in curved


def _decided(model: Any, X: Array) -> Array:
    """The class number of each row, as the model says."""
    if hasattr(model, "classes_"):
        return np.searchsorted(model.classes_, model.predict(X))
    return (model.predict(X) >= 0).astype(int)


def _curved(model: Any, job: Job, wrong: Array) -> dict[str, Any]:
    """What a model without one plane says at the places of a grid."""
    if job.X.shape[1] != 2:
        raise DataError("A curved boundary is drawn for two features; choose two columns.")
    even = len(np.unique(job.y)) == 2 and hasattr(model, "dual_coef_")
    score = model.decision_function if even else None
    grid = grid_of(lambda places: _decided(model, places), score, job.X, job.traced)
    return grid | {"wrong": wrong.astype(np.uint8)}


def _model(model: Any, wrong: Array) -> dict[str, Any]:
    """What the fit returned, which is what the last frame shows."""
    record: dict[str, Any] = {"wrong": int(wrong.sum()), "rows": len(wrong)}
    if _is_plane(model):
        record["w"] = np.atleast_2d(model.coef_).tolist()
        record["b"] = np.atleast_1d(model.intercept_).tolist()
    support = getattr(model, "support_", None)
    if support is not None:
        record["support"] = np.asarray(support, int).tolist()
    gap = getattr(model, "gap_", None)
    if isinstance(gap, float) and np.isfinite(gap):
        record["gap"] = gap
    return record


def _geometry(model: Any, kind: str, free: int) -> dict[str, Any] | None:
    """Means and the covariance that discriminants are made of, in two dimensions."""
    means = getattr(model, "means_", None)
    if kind not in ("LinearDiscriminantAnalysis", "FisherDiscriminant") or means is None:
        return None
    shape = np.asarray(getattr(model, "covariance_", getattr(model, "scatter_", None)), float)
    if kind == "FisherDiscriminant":  # a sum of squares, where LDA has their mean
        shape = shape / max(1, free)
    if shape.shape != (2, 2) or not np.isfinite(shape).all():
        return None
    return {"means": np.asarray(means, float).tolist(), "covariance": shape.tolist(),
            "criterion": _number(getattr(model, "criterion_", None))}  # fmt: skip


def _number(value: Any) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None
