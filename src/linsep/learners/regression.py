"""Linear regression: exactly, or by the lectures' descents on ½ mean squared error."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from linsep.data.check.arrays import check_shape, check_weights, frozen_rows, require_finite
from linsep.data.check.fingerprint import sampled
from linsep.data.encoding.label_statistics import EncodedLabels
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.learner_rows import scores_of
from linsep.data.sources.new_rows import labelled_rows, new_rows
from linsep.errors import DataError, ParameterError
from linsep.learners.bounded_line import bounded_line
from linsep.learners.fitting.certificates import stored
from linsep.learners.fitting.first_order import counted
from linsep.learners.fitting.frame import Fitting
from linsep.learners.fitting.guided import Guided, known_names, places_of
from linsep.learners.fitting.parameters import NamedParameters, check_schedule, one_of, positive
from linsep.learners.fitting.sklearn_compat import check_regression
from linsep.learners.fitting.targets import targets_of
from linsep.learners.inference.summary import Inference
from linsep.model.centred import CentredModel, in_range
from linsep.model.forms import Centred
from linsep.parallel import Pool
from linsep.proofs.gap.moves import Told
from linsep.proofs.gap.told import certify_regression
from linsep.status import Status
from linsep.train.closed.least_squares import least_squares
from linsep.train.closed.minimum_norm import Line, minimum_norm
from linsep.train.closed.moments import has_room
from linsep.train.convex.drive import Candidate, Goal, Savepoint, Solver, begin, drive, telling
from linsep.train.convex.steps.conjugate_gradients import ConjugateGradients, suits
from linsep.train.convex.steps.score_walks import Pace, Steps
from linsep.train.convex.steps.squared_error import SquaredErrorSteps
from linsep.train.online.hyperplanes import initial_weights
from linsep.train.online.method import SCHEDULES, schedule_of
from linsep.train.order import seed_of
from linsep.train.problem import Problem
from linsep.train.run.loop import UNCOUNTED, Listener, Pass, tell
from linsep.train.run.trace import Trace

Array = npt.NDArray[Any]


class RegressionProblem(Problem):
    """Rows with the numbers `y` to predict."""

    def __init__(self, X: Any, y: Array, weights: Array | None, n_jobs: int | None) -> None:
        super().__init__(X, np.zeros(X.shape[0], np.int32), weights, 1, n_jobs)
        self.y = y

    def digest(self) -> Callable[[], dict[str, Any]]:
        return sampled(self.X, self.y, self._given_weights)


class LinearRegression(Guided, Inference, Fitting, NamedParameters, RegressorMixin, BaseEstimator):
    """Predict a number as ⟨w, x⟩ + b, with the least mean squared error.

    Minimises ½ Σ cᵢ (⟨w, xᵢ⟩ + b − yᵢ)² / Σ cᵢ with weights c (one each when not given).

    Parameters
    ----------
    solver : {'exact', 'batch', 'minibatch', 'sgd'}
        The minimum itself: from products of columns, or of rows where these are fewer, refined
        until only rounding is left; from the triangular factor of [1 X y] where that would cost
        digits; or for large sparse rows by conjugate gradients, which end on a proof that only
        rounding is left (where columns depend on each other, with the weights that are shortest in
        units of the columns' lengths), or where they have gone on for long, as descents do, by
        `tol`. Gradient descent with all rows in each step; with folds of
        `batch_size` rows, drawn anew in each pass; or with single rows.
    eta0 : 'auto' or float
        The step size, or its start. 'auto' is as long as is safe for the data.
    schedule : {'auto', 'constant', '1/t', '1/sqrt(t)'} or function
        The step in pass t. 'auto' halves it after each pass that has not lowered the loss:
        constant steps of single rows or folds would go on trembling about the minimum.
    start : {'zero', 'two-point', 'random'}
        Descend from zero weights; from the plane through the first two rows,
        w_d = (y₂ − y₁)/(x_d₂ − x_d₁), shared out among the features that differ; or from normal
        weights of spread one on the columns descended on, drawn by `random_state`.
    init : array, or pair of arrays
        Weights to begin at instead, in the units of the data: w; w and b; or for several targets
        a row for each.
    scale : bool
        Descend on features of mean zero and spread one (sparse ones: of mean square one), and
        carry the weights back. Without it steps are those of the raw features, and features of
        different size need very many.
    batch_size : int
        Rows in a fold.
    max_iter : int
        The most passes to make.
    tol : float
        End when a pass changes the loss by less than this share of half the variance of y (five
        passes in a row where the order is random), and no weight by itself could still gain much.
    stop : {'relative', 'absolute'}
        What `tol` is: as above; or, as in the lecture, end as soon as a pass changes the loss, in
        the units of y squared, by less than `tol` itself.
    shuffle : bool or 'draw'
        Present rows to minibatch and sgd in a new order each pass, or always as given; or draw
        each row of a pass at random (of each 4,096 rows in turn, where there are more), so that
        some come twice and some not at all.
    penalty_weights : (d,) numbers, or dict of feature to number
        A penalty ½ Σ pⱼwⱼ² beside the sum ½ Σ cᵢrᵢ² of squared errors, 0 for none; a dict leaves
        other features without. Without this there is no penalty.
    bounds
        As in `LogisticRegression`; both by solver="exact".
    fit_intercept, random_state, n_jobs
        As in scikit-learn. Threads never change the result.
    trace, callback, verbose
        Record every pass and its weights in `trace_`; be told of every pass; show progress.
    copy_X, positive
        Of scikit-learn: X is never changed, so that either `copy_X` will do; `positive`
        holds the weights at zero or above, as bounds="positive" does.

    Attributes
    ----------
    coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn, always in the units of the data. With several targets `coef_` has a row
        for each.
    trace_ : Trace
        With trace=True, the weights after each pass.
    loss_curve_ : list of float
        ½ mean squared error after each pass.
    rank_ : int
        With solver='exact', how many directions of the features have spread of their own; not
        after conjugate gradients, which do not count them.
    constraints_, offset_
        As in `LogisticRegression`.
    gap_ : float
        Of fits with bounds, penalty_weights or an offset: by what part of ½ Σ cᵢrᵢ² and the penalty
        no weights can be better, computed from the data.
    status_ : linsep.Status
        `solved`; `deficient`, with the shortest of the weights that are equally good; `converged`;
        `unfinished`; or `diverged`, with the best weights met.

    Examples
    --------
    >>> from linsep import LinearRegression
    >>> from linsep.data.toys import height_weight
    >>> X, y = height_weight()
    >>> exact = LinearRegression().fit(X, y)
    >>> batch = LinearRegression("batch", tol=1e-12).fit(X, y)
    >>> abs(exact.predict([[180.0]]) - batch.predict([[180.0]])).round(5).tolist()
    [0.0]
    >>> print(batch.status_.value)
    Converged to the tolerance asked for.
    """

    _resumable = ("_savepoints",)
    _savepoints: list[Savepoint]
    coef_: Array
    intercept_: Any

    def __init__(
        self,
        solver: str = "exact",
        *,
        eta0: Any = "auto",
        schedule: Any = "auto",
        start: str = "zero",
        init: Any = None,
        penalty_weights: Any = None,
        bounds: Any = None,
        scale: bool = True,
        batch_size: int = 32,
        max_iter: int = 1000,
        tol: float = 1e-8,
        stop: str = "relative",
        fit_intercept: bool = True,
        shuffle: Any = True,
        n_jobs: int | None = None,
        random_state: Any = 0,
        trace: bool = False,
        callback: Any = None,
        verbose: bool = False,
        copy_X: bool = True,
        positive: bool = False,
    ) -> None:
        self.solver = solver
        self.eta0 = eta0
        self.schedule = schedule
        self.start = start
        self.init = init
        self.penalty_weights = penalty_weights
        self.bounds = bounds
        self.scale = scale
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.stop = stop
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.trace = trace
        self.callback = callback
        self.verbose = verbose
        self.copy_X = copy_X
        self.positive = positive

    def _check_parameters(self) -> None:
        check_regression(self)
        one_of("solver", self.solver, ("exact", "batch", "minibatch", "sgd"))
        check_schedule(self.schedule, ("auto", *SCHEDULES))
        one_of("start", self.start, ("zero", "two-point", "random"))
        one_of("stop", self.stop, ("relative", "absolute"))
        one_of("shuffle", self.shuffle, (True, False, "draw"))
        if not (isinstance(self.eta0, str) and self.eta0 == "auto"):
            positive("eta0", self.eta0)
        positive("batch_size", self.batch_size, whole=True)
        positive("max_iter", self.max_iter, whole=True)
        positive("tol", self.tol, zero=True)

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        X = check_shape(X, self)
        y = targets_of(y.labels() if isinstance(y, EncodedLabels) else y, X.shape[0])
        weights = check_weights(sample_weight, X.shape[0])
        problem = RegressionProblem(frozen_rows(X), y, weights, self.n_jobs)
        # Exact solutions see by their first sums whether entries are finite; others look first.
        problem.settle = cache(partial(require_finite, X, self))
        return problem

    def _learnt(self, problem: Problem) -> Array:
        return cast(RegressionProblem, problem).y

    def _returned(self) -> tuple[None, None]:
        return None, None  # the last pass has noted them

    def _tracers(self, trace: Trace, problem: Problem) -> list[Listener]:
        """The trace, and a listener that notes the weights after each pass."""
        nothing = np.empty(0)

        def note(done: Pass) -> None:
            w, b = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
            trace.update(1, done.epoch, None, nothing, nothing, w, b)

        return [note, trace]

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        y = self._learnt(problem)
        Y = y.reshape(len(y), -1)
        problem.told = told = self._told(problem, Y.shape[1])
        if told is not None and told.offset is not None:
            Y = Y - told.offset.reshape(Y.shape)
        begin(self, listeners)
        status = self._solve(problem, Y, listeners, y.ndim == 1)
        del self._savepoints
        if hasattr(self, "gap_"):
            del self.gap_
        if told is not None and self.solver == "exact" and status is not Status.unfinished:
            status = self._proved(problem, Y, status)
        return status

    @property
    def _is_told(self) -> bool:
        return self.positive or super()._is_told

    def _told_of(self, offset: Any, n: int, d: int, planes: int) -> Told:
        """Weights of the penalty are 0 unless given: without them there is none."""
        told, given = super()._told_of(offset, n, d, planes), self.penalty_weights
        named = np.full(d, given is not None and not isinstance(given, Mapping))
        for key in given if isinstance(given, Mapping) else ():
            named[places_of(key, known_names(self), d, "penalty_weights")] = True
        fixed = (told.low == told.high).all(axis=0)
        low = np.where(fixed, told.low, np.maximum(told.low, 0.0)) if self.positive else told.low
        return told._replace(weight=np.where(named, told.weight, 0.0), low=low)

    def _proved(self, problem: Problem, Y: Array, status: Status) -> Status:
        """Set `gap_` and `constraints_`, as counted from data and stored weights."""
        W, b = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        told, free = problem.told._replace(offset=None), bool(self.fit_intercept)
        c = problem.weights if problem.weights.size else 1.0
        with Pool(1):
            count = certify_regression(problem.X, Y, c, W, b, free, told, problem.n_jobs)
        self.gap_ = float(count.gap)
        moves = (Y - problem.X @ W.T - b) * np.reshape(c, (-1, 1))
        self._costs(problem, W, moves.T, (0.0, 1.0), list(range(len(W))))
        noise = 1e-20 * float(np.square(Y).sum())
        if self.gap_ <= max(self.tol, 1e-8) or count.primal <= noise or status is Status.deficient:
            return status
        return Status.unproved

    def _solve(self, problem: Problem, Y: Array, listeners: list[Listener], single: bool) -> Status:
        told = problem.told
        held = told is not None and bool(
            told.weight.any() or np.isfinite(told.low).any() or np.isfinite(told.high).any()
        )
        if held and self.solver != "exact":
            raise ParameterError(
                f"bounds and penalty_weights are for solver='exact'; here it is {self.solver!r}."
            )
        if self.solver != "exact":
            problem.settle()
            return self._descend(problem, Y, listeners, single)
        self.loss_curve_ = []
        line = bounded_line(problem, Y, self.fit_intercept, told) if held else None
        if line is None and suits(problem.X):
            problem.settle()
            line = self._thin(problem, Y)
        if line is None and suits(problem.X):
            status = self._by_gradients(problem, Y, listeners, single)
            if status is not Status.unfinished or not has_room(*problem.X.shape):
                return status
        if line is None:
            line = least_squares(problem, Y, self.fit_intercept)
        problem.settle = _seen
        assert line.rank is not None
        self.rank_ = line.rank
        self.loss_curve_.append(line.loss)
        self._set(line, problem.X.dtype, single)
        if held:
            self.coef_ = stored(self.coef_, problem).reshape(self.coef_.shape)
        tell(listeners, Pass(self.n_iter_, UNCOUNTED, 1, line.loss))
        if held and (told.weight > 0.0).all():
            return Status.solved
        return Status.solved if line.rank == problem.n_features else Status.deficient

    def _thin(self, problem: Problem, Y: Array) -> Line | None:
        """Few sparse rows, however wide, by their products with each other."""
        if problem.n_rows > problem.n_features:
            return None
        with Pool(1):
            return minimum_norm(problem, Y, self.fit_intercept)

    def _by_gradients(
        self, problem: Problem, Y: Array, listeners: list[Listener], single: bool
    ) -> Status:
        """Sparse rows that are not to be written out."""
        if hasattr(self, "rank_"):
            del self.rank_

        solver = ConjugateGradients(problem, Y, bool(self.fit_intercept), self.tol)

        def publish() -> None:
            self.loss_curve_ = solver.losses
            self._set(solver.line(), problem.X.dtype, single)

        most = max(self.max_iter, solver.most)
        status = self._driven(solver, most, listeners, publish)
        publish()
        return status

    def _descend(
        self, problem: Problem, Y: Array, listeners: list[Listener], single: bool
    ) -> Status:
        start: Any = self.start
        if self.init is not None:
            start = initial_weights(self.init, Y.shape[1], problem.n_features)
        if hasattr(self, "rank_"):
            del self.rank_
        steps = Steps(
            {"batch": None, "minibatch": self.batch_size, "sgd": 1}[self.solver],
            None if isinstance(self.eta0, str) else float(self.eta0),
            schedule_of(self.schedule), seed_of(self.random_state), self.shuffle, False, Pace(),
        )  # fmt: skip
        used = slice(None) if not problem.weights.size else problem.weights > 0
        solver = SquaredErrorSteps(
            counted(problem), Y[used], steps, free=bool(self.fit_intercept), scale=self.scale,
            tol=self.tol, absolute=self.stop == "absolute", start=start,
        )  # fmt: skip

        def publish() -> None:
            self.loss_curve_ = solver.losses
            self._set(solver.line(), problem.X.dtype, single)

        try:
            return self._driven(solver, self.max_iter, listeners, publish)
        finally:
            publish()

    def _driven(
        self, solver: Solver, max_iter: int, listeners: list[Listener], publish: Callable[[], None]
    ) -> Status:
        """The ending of an iterative solver; weights are published before listeners hear."""
        listener = telling(listeners)

        def heard(seen: Candidate) -> Any:
            publish()
            return listener is not None and listener(seen)

        point = next(iter(self._savepoints), None)
        goal = Goal(0.0, max_iter, heard if listeners else None, savepoint=point)
        status = drive(solver, goal).status
        return Status.unfinished if status is Status.budget else status

    def _set(self, line: Line, dtype: Any, single: bool) -> None:
        """Make a line visible as `coef_` and `intercept_`."""
        size = np.maximum(np.abs(line.at_centre), np.sqrt(line.loss))
        self._plane = CentredModel(line.weights, line.at_centre, line.centre, size)
        self._plane.require_finite()
        coef, intercept = self._plane.as_type(dtype)
        if line.intercept is not None:
            intercept = line.intercept.astype(intercept.dtype)
        self.coef_ = coef[0] if single else coef
        self.intercept_ = intercept.dtype.type(intercept[0]) if single else intercept
        self.n_iter_ = len(self.loss_curve_)

    def predict(self, X: Any, offset: Any = None) -> Array:
        """⟨w, x⟩ + b for each row, a column for each target where there are several, and the
        offset of these rows where the fit was told one."""
        values = self._values(X)
        if offset is None and getattr(self, "offset_", None) is not True:
            return values
        return np.asarray(values + self._given(X, offset, values[0].size if len(values) else 1))

    def _values(self, X: Any) -> Array:
        check_is_fitted(self)
        X = new_rows(X, self)
        if isinstance(X, Chunks):
            return scores_of(X, getattr(self, "encoding_", None), self._values)
        X = check_shape(X, self, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._form().scores(X)
        values = values if self.coef_.ndim == 1 else values.reshape(X.shape[0], -1)
        if not np.isfinite(values).all():
            require_finite(X, self)
        return in_range(values)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> float:
        """R²: one minus the share of the variance of `y` that is not explained."""
        X = labelled_rows(X, self) if y is None else X
        if isinstance(X, Chunks) and y is None:
            y = np.concatenate([part for _, part in X])
        weights = check_weights(sample_weight, len(y)) if hasattr(y, "__len__") else sample_weight
        try:
            return float(r2_score(y, self.predict(X, offset), sample_weight=weights))
        except DataError:
            raise
        except (TypeError, ValueError) as problem:
            raise DataError(
                f"y cannot be compared with the predictions: {problem} Give a number for each row."
            ) from None

    def _form(self) -> Centred:
        return Centred(self.coef_, self.intercept_, self._plane)

    def _restore(self, form: Centred) -> None:
        self.coef_, self.intercept_, self._plane = form.weights, form.intercept, form.planes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags


def _seen() -> None:
    """Entries that went into a finite answer are finite."""
