"""A recorded run as a film sees it: rows, and the planes after each of some corrections."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.check.arrays import check_rows
from linsep.data.check.labels import encode
from linsep.errors import DataError
from linsep.train.run.trace import KeptRows, Trace

Array = npt.NDArray[Any]

LEARNERS = (
    "Perceptron, VotedPerceptron, PassiveAggressive, LogisticRegression(solver='sgd'), "
    "LinearSVC(solver='sgd')"
)


DESCENTS = ("LogisticRegression", "LinearSVC")  # they keep their best pass
SAME = 1e-6  # part of the largest weight up to which two models look the same


class Run(NamedTuple):
    """What there is to be shown.

    Attributes
    ----------
    trace : the recording
    rows : the rows it holds, or was given
    W, b : (T, K, d) weights and (T, K) intercepts; first those at the start
    events : the T - 1 corrections after which they stood
    every : 1 where every correction of the run is among them, else every so many-th is
    returned : what the weights of the last frame are, where it shows the model returned and not the
        weights after a correction; then the last event is none
    """

    trace: Trace
    rows: KeptRows
    W: Array
    b: Array
    events: list[dict[str, Any]]
    every: int
    returned: str = ""

    def shows_model(self, t: int) -> bool:
        """Whether frame t is the one added for the model returned."""
        return bool(self.returned) and t == len(self.W) - 1

    @property
    def binary(self) -> bool:
        """Whether one plane tells the classes apart."""
        return self.W.shape[1] == 1

    @property
    def labels(self) -> list[str]:
        """The classes as they are written."""
        return [str(one) for one in self.trace.classes]

    @property
    def signs(self) -> Array:
        """+1 for rows of the second class, −1 for the others."""
        return np.where(self.rows.codes == 1, 1.0, -1.0)

    @property
    def through_origin(self) -> bool:
        """Whether there never was an intercept."""
        return not self.b.any()

    def scores(self, t: int) -> Array:
        """⟨w, x⟩ + b of all rows and planes at frame t."""
        return self.rows.X @ self.W[t].T + self.b[t]

    def lead(self, t: int) -> Array:
        """How far the score of the right class is ahead, row by row; 0 or less is wrong."""
        scores = self.scores(t)
        if self.binary:
            return self.signs * scores[:, 0]
        own = np.arange(scores.shape[1]) == self.rows.codes[:, None]
        return scores[own] - np.where(own, -np.inf, scores).max(axis=1)


def open_run(trace: Any, X: Any, y: Any, most: int | None = None) -> Run:
    """The run that a trace recorded, on its rows or on those given, in at most `most` frames."""
    if isinstance(getattr(trace, "trace_", None), Trace):
        trace = trace.trace_
    if not isinstance(trace, Trace):
        raise DataError(
            f"trace is {trace!r}; give learner.trace_ of a fit with trace=True, or a trace read by "
            "linsep.train.run.trace.Trace.load."
        )
    if len(trace.classes) < 2:
        raise DataError(f"The trace is of {trace.learner}, which has no classes to show.")
    if not trace.updates and trace.start is None and trace.count == 0 and not trace.passes:
        raise DataError("The trace is empty: nothing was recorded.")
    if not trace.updates:
        raise DataError(
            f"The trace of {trace.learner} holds no corrections, only its passes: it went to the "
            "end in few long steps, or in the feature space of a kernel. Those that can be shown "
            f"are {LEARNERS}."
        )
    rows = _rows(trace, X, y)
    if most is None:
        most = 2000 if rows.X.shape[1] <= 2 else 600
    W, b, events, every = _states(trace, most - 1)
    run = Run(trace, rows, W, b, events, every * trace.stride)
    return run if trace.returned is None else _ended(run, *trace.returned)


def _ended(run: Run, w: Array, b: Array) -> Run:
    """The run with the model returned as its last frame, a frame more where no step led there."""
    if w.shape != run.W[0].shape or b.shape != run.b[0].shape:
        raise DataError(
            f"The trace ends with weights of shape {w.shape}; its corrections have "
            f"{run.W[0].shape}."
        )
    reach = max(np.abs(w).max(), np.abs(b).max())
    apart = max(np.abs(run.W[-1] - w).max(), np.abs(run.b[-1] - b).max())
    if apart <= SAME * reach:
        run.W[-1], run.b[-1] = w, b
        return run
    last = run.events[-1]
    model = {**last, "n": run.trace.count, "row": None, "scores": [], "step": [], "plane": None}
    W, biases = np.concatenate([run.W, w[None]]), np.concatenate([run.b, b[None]])
    return run._replace(W=W, b=biases, events=[*run.events, model], returned=_kept(run.trace))


def _kept(trace: Trace) -> str:
    """What the model returned is, where it is not the weights after the last correction shown."""
    parameters = trace.parameters
    if parameters.get("keep") == "average" or parameters.get("decide") == "average":
        return "the average of all weights met"
    if parameters.get("keep") == "pocket":
        return "the pocket, which is the best of the longest-lived weights of all passes"
    if trace.learner in DESCENTS:
        return "the pass with the lowest objective, its intercept included"
    return "the weights after the last correction, which the trace does not hold"


def _rows(trace: Trace, X: Any, y: Any) -> KeptRows:
    if (X is None) != (y is None):
        raise DataError("X and y go together: give both, or neither to use the trace's own rows.")
    if X is not None:
        X = check_rows(X)
        classes, codes = encode(y, X.shape[0])
        known = [str(one) for one in trace.classes]
        new = [str(one) for one in classes.tolist() if str(one) not in known]
        if new:
            raise DataError(f"y has the class {new[0]!r}; the trace knows {', '.join(known)}.")
        places = np.array([known.index(str(one)) for one in classes.tolist()])
        holder = Trace("", {}, [])
        holder.keep_rows(X, places[codes])
        rows = holder.rows
    else:
        rows = trace.rows
    if rows is None or not len(rows.X):
        raise DataError("The trace holds no rows; give those of the fit as X and y.")
    d = trace.updates[0]["w"].shape[1]
    last = max((event["row"] or 0) for event in trace.updates)
    if rows.X.shape[1] != d or last >= rows.total:
        raise DataError(
            f"X has {rows.total} rows of {rows.X.shape[1]} features; the run was on {d} features "
            f"and corrected row {last}. Give the rows of the fit."
        )
    return rows._replace(X=np.asarray(rows.X, float))


def _states(trace: Trace, most: int) -> tuple[Array, Array, list[dict[str, Any]], int]:
    """Weights at the start and after every so many-th correction that was kept, and the last."""
    K = 1 if len(trace.classes) == 2 else len(trace.classes)
    d = trace.updates[0]["w"].shape[1]
    W, b = np.zeros((K, d)), np.zeros(K)
    if trace.start is not None:
        if trace.start[0].shape != (K, d):
            raise DataError(f"The trace starts from weights of shape {trace.start[0].shape}.")
        W, b = trace.start[0].copy(), trace.start[1].copy()
    every = -(-len(trace.updates) // max(1, most - 1))
    held, biases, events = [W.copy()], [b.copy()], []
    for k, event in enumerate(trace.updates, 1):
        first = event["plane"] or 0
        if K == 1:
            first = 0
        if first + len(event["w"]) > K:
            raise DataError(
                f"The trace has {len(event['w'])} planes for {len(trace.classes)} classes."
            )
        W[first : first + len(event["w"])] = event["w"]
        b[first : first + len(event["w"])] = event["b"]
        if k % every == 0 or k == len(trace.updates):
            held.append(W.copy())
            biases.append(b.copy())
            events.append(event)
    return np.array(held), np.array(biases), events, every
