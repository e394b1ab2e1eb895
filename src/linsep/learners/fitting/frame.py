"""The frame of every fit: checks, rows, listeners, and what is said at the end."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt

from linsep.data.cluster.recognise import from_dask
from linsep.data.encoding.encoding import Encoding
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.learner_rows import opened
from linsep.errors import NotConverged, ParameterError
from linsep.learners.cluster.lazy import make_lazy
from linsep.learners.fitting.missing import Explained
from linsep.learners.fitting.parameters import check_callback, check_types
from linsep.status import Status
from linsep.train.problem import Problem
from linsep.train.run.checkpoint import keeper_of
from linsep.train.run.loop import Listener, listeners_of
from linsep.train.run.progress import Progress
from linsep.train.run.trace import Trace

Array = npt.NDArray[Any]


class Fitting(Explained):
    """`fit`, for learners that say how rows become a `_problem` and what `_train` does with it."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        make_lazy(cls)

    _resumable: tuple[str, ...] = ()
    """Attributes that hold what the next pass of a run depends on."""

    _above = 0
    """Calls between the user's and `Fitting.fit`."""

    status_: Status
    n_iter_: Any
    trace_: Trace
    encoding_: Encoding | None
    _digest: Any
    get_params: Callable[..., dict[str, Any]]

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        callback: Any = None,
        verbose: bool | str = False,
        checkpoint: Any = None,
        in_order: bool = False,
    ) -> Self:
        """Learn from rows `X` and labels (for a regression, numbers) `y`.

        Parameters
        ----------
        X : (n, d) array, sparse matrix, data frame, or a file opened by `linsep.read`
        y : (n,) labels of any kind, or the (n,) or (n, t) numbers of a regression; a file brings
            its own
        sample_weight : (n,) weights, optional
        callback : a callable told of every pass, or a list of them; one that returns True
            ends the fit
        verbose : show progress on stderr; "log": as records of the logger `linsep` instead
        checkpoint : path of a file that is written after the first pass and then every few seconds;
            if the process dies, the same call goes on from the last pass written down and ends with
            the same bytes. Closed forms, which make one pass, begin again, and so does
            `LogisticRegression` of several classes, or with line searches.
        in_order : of the perceptron family on a cluster: train serially, on a copy of the rows, and
            end with the bytes of a fit in memory, instead of mixing the weights of shards

        Returns
        -------
        self
        """
        check_types(self)
        check_callback(callback)
        self._check_parameters()
        how: dict[str, Any] = {"callback": callback, "verbose": verbose, "checkpoint": checkpoint}
        if getattr(self, "_skl_callbacks", None) and not hasattr(self, "_callback_fit_ctx"):
            from linsep.learners.fitting.sklearn_callbacks import fit_with_callbacks

            fit_with_callbacks(self, X, y, sample_weight, how | {"in_order": in_order})
            return self
        if type(X) is np.ndarray:
            self._note_rows(X, y, sample_weight)
            self._fit_rows(X, y, sample_weight, None, depth=4, **how)
        else:
            self._fit_other(X, y, sample_weight, in_order, **how)
        return self

    def _fit_other(self, X: Any, y: Any, sample_weight: Any, in_order: bool, **how: Any) -> None:
        """`fit` on what is not an array yet: frames, lists, files, rows on a cluster."""
        if from_dask(X) or (isinstance(X, Chunks) and X.cluster is not None):
            from linsep.learners.cluster.fit import fit_on_cluster

            fit_on_cluster(self, X, y, sample_weight, in_order, **how)
            return
        alone = sample_weight is None and y is None and how["checkpoint"] is None
        alone = alone and isinstance(X, Chunks)
        if alone and self._fit_stream(X, how["callback"], how["verbose"]):
            return
        self._note_rows(X, y, sample_weight)
        with opened(X, y) as (X, y, encoding):
            self._fit_rows(X, y, sample_weight, encoding, **how)

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Have callbacks of scikit-learn (1.9 or later) told of the fit and of every pass."""
        from sklearn.callback import CallbackSupportMixin

        CallbackSupportMixin.set_callbacks(self, *callbacks)
        return self

    def _fit_rows(
        self, X: Any, y: Any, sample_weight: Any, encoding: Any, *, callback: Any = None,
        verbose: bool | str = False, checkpoint: Any = None, depth: int = 5,
    ) -> None:  # fmt: skip
        """`fit` on rows that have been opened; `depth` is how far down the user's call is."""
        vars(self).pop("encoding_", None)
        require_intercept(self, encoding)
        problem = self._problem(X, y, sample_weight)
        self._from_file, self.encoding_ = False, encoding
        self._digest = problem.digest()
        if not self._mixes(problem):
            self._reset(problem)
        keeper = self._keeper(problem, checkpoint)
        with self._listening(callback, verbose, problem) as listeners:
            # Overflow is looked for in what comes out, and refused by name.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                status = self._trained(problem, [*listeners, *keeper])
                problem.settle()
            self._end(status, depth)

    @property
    def data_(self) -> dict[str, Any] | None:
        """What tells the training rows from others; None where they came in parts."""
        if callable(self._digest):
            self._digest = self._digest()
        return cast("dict[str, Any] | None", self._digest)

    @data_.setter
    def data_(self, data: dict[str, Any] | None) -> None:
        self._digest = data

    def __getstate__(self) -> Any:
        if hasattr(self, "_digest"):
            _ = self.data_  # no rows go into a pickle
        return super().__getstate__()

    def _check_parameters(self) -> None:
        """Refuse parameters that no fit could honour; learners with such parameters override."""

    def _note_rows(self, X: Any, y: Any, weights: Any) -> None:
        """Keep hold of what was handed in; learners whose summary counts it again override."""

    def _fit_stream(self, chunks: Chunks, callback: Any, verbose: bool | str) -> bool:
        """Fit while a file is parsed; False, as here, where its rows are to be read first."""
        return False

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        raise NotImplementedError(f"{type(self).__name__} must write _problem")

    def _trained(self, problem: Problem, listeners: list[Listener]) -> Status:
        """`_train_classes`, or for a learner of corrections on a cluster, the mixing of shards."""
        if self._mixes(problem):
            from linsep.learners.cluster.mixing import train

            return train(self, problem, listeners)
        return self._train_classes(problem, listeners)

    def _mixes(self, problem: Problem) -> bool:
        """Whether this learner corrects weights row by row, and the rows lie on a cluster."""
        return problem.on_cluster and hasattr(self, "_method")

    def _train_classes(self, problem: Problem, listeners: list[Listener]) -> Status:
        """`_train`; learners that can do without a class of no weight override."""
        return self._train(problem, listeners)

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        raise NotImplementedError(f"{type(self).__name__} must write _train")

    def _reset(self, problem: Problem) -> None:
        """Forget an earlier fit; learners that keep more than weights override."""

    def _labels(self) -> list[Any]:
        """The classes, where there are classes."""
        return list(getattr(self, "classes_", np.empty(0)).tolist())

    def _returned(self) -> tuple[Any, Any]:
        """Weights and intercepts of the model returned, for the end of a trace."""
        return getattr(self, "coef_", None), getattr(self, "intercept_", None)

    def _tracers(self, trace: Trace, problem: Problem) -> list[Listener]:
        """The listeners that fill a trace, which starts with the rows."""
        trace.keep_rows(problem.X, problem.codes)
        return [trace]

    def _keeper(self, problem: Problem, checkpoint: Any) -> list[Listener]:
        """The listener that saves what the next pass depends on, if a checkpoint is asked for."""
        if checkpoint is None:
            return []
        weights = problem.weights if problem.weights.size else None
        data = (problem.X, self._learnt(problem), weights)
        return [*keeper_of(self, checkpoint, self._labels(), self._settings(), *data)]

    def _learnt(self, problem: Problem) -> Array:
        """What is learnt of each row: its class number."""
        return problem.codes

    @contextmanager
    def _listening(
        self, callback: Any, verbose: bool | str, problem: Problem
    ) -> Iterator[list[Listener]]:
        """The listeners of one fit: the user's, the trace and the progress bar."""
        listeners = listeners_of(getattr(self, "callback", None)) + listeners_of(callback)
        self._recorder: Trace | None = None
        if hasattr(self, "trace_"):
            del self.trace_
        if getattr(self, "trace", False):
            self._recorder = Trace(type(self).__name__, self._settings(), self._labels())
            listeners += self._tracers(self._recorder, problem)
        try:
            if verbose or getattr(self, "verbose", False):
                passes, name = getattr(self, "max_iter", 1), type(self).__name__
                log = "log" in (verbose, getattr(self, "verbose", False))
                far = problem.X.workers if problem.on_cluster else None
                with Progress(passes, name, problem.n_rows, log, far) as bar:
                    yield [*listeners, bar]
            else:
                yield listeners
        finally:
            if self._recorder is not None:
                self.trace_ = self._recorder
            del self._recorder

    def _settings(self) -> dict[str, Any]:
        """Parameters that a trace can write down."""
        plain = (str, int, float, bool, type(None))
        return {k: v for k, v in self.get_params(deep=False).items() if isinstance(v, plain)}

    _lists_passes = False  # whether n_iter_ is an array, as scikit-learn's learner has it

    def _end(self, status: Status, depth: int = 3) -> None:
        self.status_ = status
        if self._lists_passes and hasattr(self, "n_iter_"):
            n_iter = self.n_iter_
            self.n_iter_ = np.array([n_iter if type(n_iter) is int else np.max(n_iter)], np.int32)
        if self._recorder is not None:
            self._recorder.end(status, *self._returned())
        if not status.good:
            said = getattr(self, "diagnosis_", None) or status.value
            above = depth + self._above
            warnings.warn(f"{type(self).__name__}: {said}", NotConverged, stacklevel=above)


def require_intercept(learner: Any, encoding: Encoding | None) -> None:
    """Refuse a formula that says otherwise than the learner whether there is an intercept."""
    made = None if encoding is None else encoding.formula
    if made is not None and made.intercept != bool(getattr(learner, "fit_intercept", True)):
        raise ParameterError(
            f"the formula {made.text!r} has {'an' if made.intercept else 'no'} intercept, and the "
            f"learner fit_intercept={not made.intercept}; set fit_intercept={made.intercept}, or "
            f"{'begin with 0 +' if made.intercept else 'leave out 0 +'} on its right."
        )
