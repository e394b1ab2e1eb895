"""Rosenblatt's perceptron: online, in batches or minibatches."""

from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from linsep.data.sources.dataset import Chunks
from linsep.data.sources.learner_rows import by_block
from linsep.errors import ParameterError
from linsep.learners.base import LinearClassifier
from linsep.learners.fitting.diagnosis import out_of_passes
from linsep.learners.fitting.parameters import check_schedule, one_of, positive
from linsep.learners.fitting.sklearn_compat import check_perceptron
from linsep.learners.perceptrons.held_out import divided, right
from linsep.learners.perceptrons.one_pass import fit_stream
from linsep.rows.radius import largest_square
from linsep.status import Status
from linsep.train.online.hyperplanes import initial_weights
from linsep.train.online.method import SCHEDULES, Method, schedule_of
from linsep.train.online.penalised import PenalisedSolver, Shrink
from linsep.train.online.rules import BOUNDARIES, rosenblatt
from linsep.train.online.solver import OnlineSolver
from linsep.train.order import seed_of
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener, Pass, run
from linsep.train.run.whole_folds import WholeFolds

Array = npt.NDArray[Any]


class Perceptron(LinearClassifier):
    """Find a hyperplane that puts every training row on its own side, if there is one.

    While some row has yᵢ(⟨w, xᵢ⟩ + b) ≤ margin it is a mistake, and the weights are corrected by
    it: w ← w + η yᵢ xᵢ, b ← b + η yᵢ. On separable data the online rule ends after at most
    (R/γ)² corrections (Novikoff). On other data it never ends by itself: it stops after
    `max_iter` passes and `status_` says so.

    Parameters
    ----------
    rule : {'online', 'batch', 'minibatch'}
        Correct after every row, after every pass, or after every `batch_size` rows.
    step : {'sum', 'mean'}
        Whether a batch moves by the sum or by the mean of what its rows ask for.
    keep : {'last', 'average', 'pocket'}
        The last weights; the mean of the weights after every presentation; or those that
        misplaced the fewest rows, looked for among the longest-lived of each pass.
    eta0 : float
        The step size η, or its start.
    schedule : {'constant', '1/t', '1/sqrt(t)', 'line-search'} or function
        η in pass t: eta0, eta0/t, eta0/√t; or, for rule='batch', the step that minimises the
        perceptron criterion Σ max(0, −yᵢ(⟨w, xᵢ⟩ + b)) exactly, never below eta0. A function
        of t makes it eta0 · f(t); model files hold no code, and leave it out.
    bias_step : {'unit', 'radius'} or float
        b moves by η yᵢ; by η yᵢ R² with R = max ‖xᵢ‖ (in `partial_fit`, of the rows so far, each
        counted before it is judged); or by η yᵢ R² with the R given here.
    boundary : {'wrong', 'right', 'strict'}
        What a score of exactly 0 (of the margin, where one is asked for) is in training: a mistake;
        the positive side, as in `predict`, so that it is a mistake of negative rows alone; or never
        a mistake. From zero weights the strict rule never moves.
    margin : float
        Rows must score more than this to be left alone.
    multiclass : {'kesler', 'ovr'}
        With more than two classes: Kesler's construct, where the own class must outscore each
        rival; or one-vs-rest, each class against all others.
    batch_size : int
        Rows in a minibatch.
    init : array, or pair of arrays
        Starting weights: (d,) or (K, d); with one more column the last is the intercept; or a
        pair (weights, intercepts). Zero when None.
    max_iter : int
        The most passes to make.
    tol : float
        For the online and minibatch rules, end when a pass finds at most this share of the rows
        misplaced; for the batch rule, when the norm of the correction is below it. Zero asks for
        no mistakes at all.
    shuffle : bool or 'draw'
        Present rows in a new order each pass, or always as given; 'draw' draws each row anew from
        all (of its block of 4,096), so that a pass may show one twice and another not at all.
    fit_intercept, class_weight, warm_start, n_jobs, random_state
        As in scikit-learn. Threads never change the result. A row of weight 2 is presented twice
        in a row; of weight 2.5, twice and once with half a step.
    trace, callback, verbose
        Record the run in `trace_`; be told of every pass; show progress.
    penalty : {None, 'l2', 'l1', 'elasticnet'}
        Draw the weights towards zero at every row, by `alpha` times the step and the slope of
        ½‖w‖², of ‖w‖₁, or of both with a share `l1_ratio` of ‖w‖₁, as in scikit-learn; for
        rule='online' and keep='last'. Such steps have no theorem: see `Status.penalised`. They end
        when the mean loss of a pass has not fallen below the least so far, less `tol`, for
        `n_iter_no_change` passes (never with tol=None).
    alpha, l1_ratio
        Of the penalty.
    early_stopping : bool
        Hold out `validation_fraction` of the rows of each class, drawn by `random_state`, and end
        when the share of them that is right has not risen by more than `tol` for
        `n_iter_no_change` passes.
    validation_fraction, n_iter_no_change
        Of early stopping.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    status_ : linsep.Status
        How the fit ended; `status_.value` is the sentence to read.
    mistakes_ : int
        Corrections made in all; `mistakes_per_epoch_` has them pass by pass.
    proof_ : Separability or None
        After `max_iter` passes with mistakes left, on small data: the separator that exists, or the
        rows and multipliers that rule every separator out (through the origin, without intercept).
    trace_ : Trace
        With trace=True, every correction, or an even sample of them.

    Examples
    --------
    >>> from linsep import Perceptron
    >>> X, y = [[1.0, 1.0], [0.5, 3.0], [2.0, 2.0]], [1, 1, -1]
    >>> learner = Perceptron(shuffle=False).fit(X, y)
    >>> learner.mistakes_per_epoch_
    [2, 2, 3, 2, 1, 2, 1, 0]
    >>> learner.coef_, learner.intercept_
    (array([[-2.5,  0. ]]), array([3.]))
    >>> print(learner.status_.value)
    Every training row lies strictly on its own side: a separator was found.
    """

    _order_matters = True
    _resumable = ("_solver", "mistakes_", "mistakes_per_epoch_")
    _best, _waited = -np.inf, 0

    def __init__(
        self,
        rule: str = "online",
        *,
        step: str = "sum",
        keep: str = "last",
        eta0: float = 1.0,
        schedule: Any = "constant",
        bias_step: Any = "unit",
        boundary: str = "wrong",
        margin: float = 0.0,
        multiclass: str = "kesler",
        batch_size: int = 32,
        init: Any = None,
        max_iter: int = 1000,
        tol: float | None = 0.0,
        fit_intercept: bool = True,
        shuffle: Any = True,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        trace: bool = False,
        callback: Any = None,
        verbose: bool = False,
        penalty: Any = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
    ) -> None:
        self.rule = rule
        self.step = step
        self.keep = keep
        self.eta0 = eta0
        self.schedule = schedule
        self.bias_step = bias_step
        self.boundary = boundary
        self.margin = margin
        self.multiclass = multiclass
        self.batch_size = batch_size
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.trace = trace
        self.callback = callback
        self.verbose = verbose
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change

    def _check_parameters(self) -> None:
        check_perceptron(self)
        one_of("rule", self.rule, ("online", "batch", "minibatch"))
        one_of("step", self.step, ("sum", "mean"))
        one_of("keep", self.keep, ("last", "average", "pocket"))
        check_schedule(self.schedule, (*SCHEDULES, "line-search"))
        if isinstance(self.bias_step, str) or not isinstance(self.bias_step, Real):
            one_of("bias_step", self.bias_step, ("unit", "radius"))
        else:
            positive("bias_step", self.bias_step)
        one_of("boundary", self.boundary, BOUNDARIES)
        one_of("shuffle", self.shuffle, (True, False, "draw"))
        one_of("multiclass", self.multiclass, ("kesler", "ovr"))
        positive("eta0", self.eta0)
        positive("margin", self.margin, zero=True)
        if self.tol is not None:
            positive("tol", self.tol, zero=True)
        positive("max_iter", self.max_iter, whole=True)
        positive("batch_size", self.batch_size, whole=True)
        self._check_penalty()
        if self.schedule == "line-search" and self.rule != "batch":
            raise ParameterError(
                f"schedule='line-search' looks at all rows at once, but rule is {self.rule!r}; "
                "set rule='batch' or another schedule."
            )

    def _check_penalty(self) -> None:
        unlike = {"rule": "online", "keep": "last", "trace": False}
        if self.bias_step == "radius":
            unlike["bias_step"] = "unit"
        wrong = [name for name, value in unlike.items() if getattr(self, name) != value]
        if self.penalty is not None and wrong:
            fixes = ", ".join(f"{name}={unlike[name]!r}" for name in wrong)
            given = ", ".join(f"{name}={getattr(self, name)!r}" for name in wrong)
            raise ParameterError(
                f"penalty={self.penalty!r} is taken at every row of the online rule; here is "
                f"{given}. Give {fixes}, or leave penalty out."
            )

    def _fit_stream(self, chunks: Chunks, callback: Any, verbose: bool | str) -> bool:
        plain = self.rule == "online" and self.bias_step == "unit" and self.keep != "pocket"
        plain = plain and self.boundary == "wrong"
        plain = plain and self.penalty is None and not self.early_stopping
        bare = self.class_weight is None and self.init is None and self.margin == 0
        once = self.max_iter == 1 and not (self.warm_start or self.trace)
        return plain and bare and once and fit_stream(self, chunks, callback, verbose)

    def _reset(self, problem: Problem) -> None:
        earlier = None
        if self.warm_start and hasattr(self, "coef_"):
            earlier = self.coef_, self.intercept_
        bias = self._bias_square(problem) if self.fit_intercept else 0.0
        self.__dict__.pop("_solver", None)  # its memory serves the new one
        online = self.rule == "online"
        passes = self.max_iter if online else 0
        kesler = self.multiclass == "kesler"
        self._solver: Any = (
            OnlineSolver(problem, self.keep, bias, kesler, online, passes)
            if self.penalty is None
            else PenalisedSolver(problem, self._shrink, bias, kesler)
        )
        self.__dict__.pop("_folds", None)
        d = problem.n_features
        if earlier is not None and earlier[0].shape == (self._solver.n_planes, d):
            self._solver.start_at(*earlier)
        elif self.init is not None:
            self._solver.start_at(*initial_weights(self.init, self._solver.n_planes, d))
        self.mistakes_ = 0
        self.mistakes_per_epoch_ = []

    @property
    def _shrink(self) -> Shrink:
        share = {"l2": 0.0, "l1": 1.0}.get(self.penalty, float(self.l1_ratio))
        return Shrink(float(self.alpha) * (1.0 - share), float(self.alpha) * share)

    def _bias_square(self, problem: Problem) -> float:
        """The square of the constant feature that stands for the bias."""
        if self.bias_step == "radius":
            return largest_square(problem)
        return 1.0 if self.bias_step == "unit" else float(self.bias_step) ** 2

    def _method(self, seed: int = 0, shuffle: Any = False, in_parts: bool = False) -> Method:
        """The parameters as what a pass does."""
        return Method(
            {"online": "row", "minibatch": "minibatch", "batch": "pass"}[self.rule],
            rosenblatt(float(self.eta0), float(self.margin), self.boundary),
            seed,
            shuffle,
            schedule_of(self.schedule),
            self.batch_size,
            self.step == "mean",
            float(self.margin),
            in_parts and self._grows,
        )

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        solver, method = self._solver, self._method(seed_of(self.random_state), self.shuffle)
        self._best, self._waited = -np.inf, 0
        held_out = None
        if self.early_stopping:
            problem, held_out = divided(
                problem, float(self.validation_fraction), seed_of(self.random_state)
            )
        if self._recorder is not None:
            self._recorder.begin(*solver.now())
        status = run(
            partial(solver.one_pass, problem, method, self._recorder),
            lambda done: self._ending(problem, done, held_out),
            self.max_iter,
            listeners,
            self._publish,
            self._count,
        )
        self.proof_ = None
        given = not self.fit_intercept and np.any(solver.now()[1])  # by init, for good
        if status is Status.budget and self.penalty is not None:
            status = Status.penalised
        if status is Status.budget and not given:
            status, self.proof_ = out_of_passes(
                problem, self.classes_, bool(self.fit_intercept), len(self.mistakes_per_epoch_)
            )
        if status is Status.separable and solver.apart:
            status, self.proof_ = Status.budget, None  # one plane against the rest may still fail
        average = self.keep == "average"
        if status is Status.separated and average and solver.misplaced(problem) > 0:
            status = Status.averaged
        solver.rest()
        self._publish()
        return status

    def _ending(self, problem: Problem, done: Pass, held_out: Problem | None) -> Status | None:
        if held_out is not None:
            self._publish()
            if self._no_better(right(held_out, self.coef_, self.intercept_)):
                return Status.held_out
        elif self.penalty is not None and self._no_better(-done.loss):
            return Status.penalised
        if self.penalty is not None:
            apart = done.updates == 0 and self._solver.misplaced_now(problem) == 0
            return Status.separated if apart else None
        if done.updates == 0 and not self._all_seen(problem):
            return None
        if done.updates == 0:
            strictly = self.boundary == "wrong" or self._solver.misplaced_now(problem) == 0
            return Status.separated if strictly else Status.touching
        if self.rule == "batch":
            moved = self._solver.moved
            if moved == 0:
                return Status.stalled
            return Status.converged if moved < (self.tol or 0.0) else None
        tol = self.tol or 0.0
        few = tol > 0 and done.mistakes <= tol * problem.n_rows
        return Status.converged if few else None

    def _all_seen(self, problem: Problem) -> bool:
        """Whether a pass without corrections tells of all rows."""
        drawn = self.rule != "batch" and self.shuffle == "draw"
        return not drawn or self._solver.misplaced_now(problem) == 0

    def _no_better(self, score: float) -> bool:
        """Whether passes have brought nothing for long enough."""
        if self.tol is None:
            return False
        self._waited = 0 if score > self._best + self.tol else self._waited + 1
        self._best = max(self._best, score)
        return self._waited >= self.n_iter_no_change

    def _publish(self) -> None:
        self.coef_, self.intercept_ = self._solver.kept()
        self.n_iter_ = len(self.mistakes_per_epoch_)

    @available_if(lambda self: self.rule != "batch")
    @by_block
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Go on learning from these rows, once, in the order given.

        Ends where one pass over all rows so far, in the order they came, would have ended, however
        they are cut into parts. (With rule='minibatch' the step of a minibatch that is short of
        rows is taken again when they have come; with keep='pocket' each part is judged by its own
        rows. With bias_step='radius', R grows with the longest row so far.) Pass all labels in
        `classes` on the first call if these rows do not hold them all.
        """
        if self._grows and self.rule == "minibatch":
            raise ParameterError(
                "bias_step='radius' needs the largest row before the first minibatch; give R as "
                "bias_step=R, or use fit."
            )
        rows = X, y, classes, sample_weight
        return self._fit_part(rows, not hasattr(self, "_solver"), self._one_part)

    @property
    def _grows(self) -> bool:
        """Whether the bias of rows that come in parts follows the longest so far."""
        return bool(self.fit_intercept) and self.bias_step == "radius"

    def _one_part(self, problem: Problem) -> Pass:
        if self._grows and not self.mistakes_per_epoch_:
            self._solver.set_bias(0.0)
        method = self._method(in_parts=True)
        if self.rule == "minibatch" and self.keep != "pocket":
            if not hasattr(self, "_folds"):
                self._folds: WholeFolds[OnlineSolver] = WholeFolds()
            pair = self._folds.part_pass(self._solver, problem, method, self._recorder)
            self._solver, done = pair
        else:
            done = self._solver.part_pass(problem, method, self._recorder)
        self._count(done)
        self._publish()
        return done
