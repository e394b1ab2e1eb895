"""Logistic regression, two classes or many, with a certified duality gap."""

from contextlib import nullcontext
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from linsep.data.sources.learner_rows import by_block
from linsep.errors import ParameterError
from linsep.learners.absent_classes import train_present
from linsep.learners.base import LinearClassifier
from linsep.learners.fitting.certificates import (
    accept,
    counted,
    fit_until_certified,
    fitted_problem,
    stored,
)
from linsep.learners.fitting.diagnosis import explain, separation
from linsep.learners.fitting.first_order import check_steps, given_start, take_in
from linsep.learners.fitting.guided import GuidedClassifier, refuse_told
from linsep.learners.fitting.parameters import one_of, positive
from linsep.learners.fitting.sklearn_compat import (
    SAME_OPTIMUM,
    check_logistic,
    check_multi_class,
    l1_share,
    strength_meant,
)
from linsep.learners.fitting.warm_starts import seen_before
from linsep.learners.inference.firth import fit_firth
from linsep.learners.inference.summary import Inference
from linsep.learners.logistic_solvers import STEPPING, choose, loss_of, solve
from linsep.model.chances import chances, log_chances, prior_shift
from linsep.parallel import Pool
from linsep.proofs.gap.certificate import certify_planes
from linsep.proofs.gap.joint_certificate import certify_softmax
from linsep.proofs.gap.penalty import Penalty
from linsep.status import Status
from linsep.train.convex.drive import Savepoint, begin
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.solution import Solution
from linsep.train.order import seed_of
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener

Array = npt.NDArray[Any]


class LogisticRegression(GuidedClassifier, Inference, LinearClassifier):
    """Probabilities of the classes, from the hyperplanes under which the labels are most likely.

    Minimises Ω(w) + C Σ cᵢ log(1 + exp(−yᵢ(⟨w, xᵢ⟩ + b))), or with more classes
    Ω(W) + C Σ cᵢ (−log softmax of the own class), with Ω(w) = (1 − ρ)/2 ‖w‖² + ρ‖w‖₁ and ρ the
    `l1_ratio`; intercepts are not penalised. `C=numpy.inf` is
    maximum likelihood, whose answer does not depend on how the features are encoded. The fit ends
    when the duality gap, computed from the data, is at most `tol` of the objective.

    Parameters
    ----------
    C : float
        Weight of the losses against the penalty; a Gaussian prior of variance C on each weight.
    l1_ratio : float
        ρ between 0 and 1: the part of the penalty that is the sum of |w| instead of ½‖w‖². Any ρ
        above 0 sets weights of features that do not help to exactly zero.
    solver : {'auto', 'newton', 'dual', 'gradient', 'minibatch', 'sgd'}
        Newton's method on sums over rows (dense rows), or coordinate descent on the dual (two
        classes, finite C). 'auto' picks the faster; sparse rows with several classes or without a
        penalty are left to quasi-Newton steps. The lectures' ways: steps along the gradient of all
        rows with a line search; by folds of `batch_size` rows, drawn anew in each pass; or by the
        delta rule w ← w + η(t − σ)x, row by row. After each pass of these the gap is computed.
    keep : {'best', 'last'}
        Of gradient, minibatch and sgd: keep the best weights met, or those after the last pass, in
        which case separable rows do not end the run early. Intercepts of minibatch and sgd are
        those of the rule, b ← b + η(t − σ), not the best for its weights.
    start : {'zero', 'random'}
        Begin at zero weights, or at normal ones of spread one drawn by `random_state`.
    init : array, or pair of arrays
        Weights to begin at instead, in the units of the data, as in `Perceptron`.
    penalty_weights : (d,) numbers, or dict of feature to number
        How many times the penalty of each weight counts; 0 leaves it without. A dict goes by the
        names of the columns, and leaves the others at 1.
    bounds : 'positive', 'negative', (low, high), one of these for each feature, or dict of them
        What each weight may be, of every class; None for no bound. See "Telling the model what you
        know" in the manual.
    tol : float
        The relative duality gap asked for. With `C=inf` the fit ends on Newton's decrement instead,
        at eight digits of the weights or more.
    max_iter : int
        The most passes over the data.
    eta0 : 'auto' or float
        The step size of gradient, minibatch and sgd, or its start. 'auto' suits the data, and lets
        'gradient' search along each step.
    schedule : {'auto', 'constant', '1/t', '1/sqrt(t)'} or function
        The step in pass t. 'auto' divides eta0 by 1 + the number of passes so far that have not
        lowered the objective.
    batch_size : int
        Rows in a fold.
    scale : bool
        Whether gradient, minibatch and sgd step in columns brought to one scale (and carry the
        weights back); without it steps are those of the raw features.
    shuffle : bool or 'draw'
        Present rows to minibatch and sgd in a new order each pass, or always as given; or draw
        each at random, independently (of each 4,096 rows in turn, where there are more).
    prior : dict of label: share, or 'data'
        Shares of the classes where the model will be used, if the rows were drawn or weighted
        otherwise: after the fit the intercepts are moved by log(τ / ȳ), with τ these shares and ȳ
        those of the fit (King and Zeng). 'data' are the shares of the rows before `class_weight`,
        so that weighted classes do not make probabilities wrong. `objective_` and `gap_` are of the
        fit.
    warm_start : bool
        Begin from the weights of the fit before, where classes and features are the same; steps of
        minibatch and sgd go on as long as they were.
    trace : bool
        Record passes, and for gradient, minibatch and sgd steps, in `trace_`.
    fit_intercept, class_weight, n_jobs, random_state, callback, verbose
        As in `Perceptron`. Threads never change the result. A class without any weight, as a
        resample may have of a rare one, gets probability zero.
    penalty, dual, intercept_scaling, multi_class
        Of scikit-learn, accepted where they agree with `l1_ratio`, a free intercept and the loss
        above; so are the names of its solvers, which have the same optimum and stand for 'auto'.
        `penalty=None` means C = ∞, whatever C is; 'firth' is Firth's penalty.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_, status_
        As in `Perceptron`.
    objective_ : float
        The objective at the weights.
    gap_ : float
        How far above the optimum it can be at most, relative to it: counted again after the fit
        from data, stored weights and multipliers, by code that the solvers have no part in, with
        rounding allowed for. Where that does not confirm what the solver assumed,
        `status_` is `unproved`. With `C=inf`, which has no dual, only the objective is counted
        again.
    solver_ : str
        The solver used.
    constraints_ : list
        The bounds that hold a weight, each with what it costs; printed, in words.
    offset_ : str, True or None
        The column that is the offset, or whether numbers were given in its place.
    diagnosis_ : str or None
        Where the fit met trouble: cause, number, consequence and fix in a sentence. `C=inf` on
        columns that are combinations of others converges, and is told here.
    proof_ : Separability or None
        Where no finite optimum exists, on small data: the separator that is the reason.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
    >>> learner = LogisticRegression(tol=1e-10).fit(X, y)
    >>> learner.coef_.round(6), learner.intercept_.round(6)
    (array([[0.452875]]), array([-0.679313]))
    >>> learner.predict_proba([[1.5]]).round(3)
    array([[0.5, 0.5]])
    >>> learner.draw([[30.0]] * 3, random_state=0).tolist()
    ['yes', 'yes', 'yes']
    """

    _any_scale = True
    _first_at_zero = True
    _resumable = ("_savepoints",)
    _savepoints: list[Savepoint]

    @property
    def _order_matters(self) -> bool:  # type: ignore[override]
        return self.solver in ("minibatch", "sgd")

    def __init__(
        self,
        C: float = 1.0,
        *,
        l1_ratio: float = 0.0,
        solver: str = "auto",
        keep: str = "best",
        start: str = "zero",
        init: Any = None, penalty_weights: Any = None, bounds: Any = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        eta0: Any = "auto",
        schedule: Any = "auto",
        batch_size: int = 32,
        scale: bool = True,
        shuffle: Any = True,
        fit_intercept: bool = True,
        class_weight: Any = None,
        prior: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        trace: bool = False,
        callback: Any = None,
        verbose: bool = False,
        penalty: Any = "deprecated",
        dual: Any = False,
        intercept_scaling: float = 1,
        multi_class: str = "deprecated",
    ) -> None:  # fmt: skip
        self.C = C
        self.l1_ratio = l1_ratio
        self.solver = solver
        self.keep = keep
        self.start = start
        self.init = init
        self.penalty_weights = penalty_weights
        self.bounds = bounds
        self.tol = tol
        self.max_iter = max_iter
        self.eta0 = eta0
        self.schedule = schedule
        self.batch_size = batch_size
        self.scale = scale
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.prior = prior
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.trace = trace
        self.callback = callback
        self.verbose = verbose
        self.penalty = penalty
        self.dual = dual
        self.intercept_scaling = intercept_scaling
        self.multi_class = multi_class

    _lists_passes = True

    def _check_parameters(self) -> None:
        check_logistic(self)
        if np.inf != self.C:
            positive("C", self.C)
        ours, theirs = ("auto", "newton", "dual", *STEPPING), (*SAME_OPTIMUM, "liblinear")
        one_of("solver", self.solver, ours + theirs)
        one_of("keep", self.keep, ("best", "last"))
        one_of("start", self.start, ("zero", "random"))
        check_steps(self)
        positive("tol", self.tol)
        positive("max_iter", self.max_iter, whole=True)

    def _train_classes(self, problem: Problem, listeners: list[Listener]) -> Status:
        begun = nullcontext() if self.solver in STEPPING else seen_before(self)
        with strength_meant(self), begun:
            status = train_present(self, problem, listeners)
        if self.prior is not None:
            shift = self._shift(problem)
            shift = shift[1:] - shift[:1] if len(self.coef_) == 1 else shift - shift.mean()
            self.intercept_ = (self.intercept_ + shift).astype(self.intercept_.dtype)
        return status

    def _by_class(self, weights: Array | None, codes: Array) -> Array | None:
        if self.prior is not None:
            self._shares = np.bincount(codes, weights, minlength=len(self.classes_))
        return super()._by_class(weights, codes)

    def _shift(self, problem: Problem) -> Array:
        """What `prior` adds to the scores of the classes."""
        if not self.fit_intercept:
            raise ParameterError("prior moves the intercept, and fit_intercept is False.")
        weights = problem.weights if problem.weights.size else None
        fitted = np.bincount(problem.codes, weights, minlength=problem.n_classes)
        return prior_shift(self.prior, self.classes_.tolist(), self._shares, fitted)

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        problem.told = self._told(problem, 1 if problem.binary else problem.n_classes)
        if problem.told is not None:
            refuse_told(self, ("auto", "newton"))
        if self.penalty == "firth":
            return fit_firth(self, problem)
        problem.settle()
        self.solver_ = choose(self, problem)
        begin(self, listeners)
        solution: Any = None

        def fit(tol: float, max_iter: int, again: bool) -> Status:
            nonlocal solution
            start = _pair(solution) if again else self._before(problem)
            solution = solve(self, problem, listeners, tol, max_iter, start)
            return self._finish(problem, solution)

        status = fit_until_certified(self, fit)
        del self._savepoints
        self.diagnosis_ = explain(self, problem, status)
        return status

    @property
    def _penalty(self) -> Elastic:
        ratio = l1_share(self)
        return Elastic(ratio, 1.0 - ratio)

    def _before(self, problem: Problem) -> tuple[Array, Array] | None:
        """Weights and intercepts of the fit before, where they fit this problem and are wanted."""
        shape = (1 if problem.binary else problem.n_classes, problem.n_features)
        if not self.warm_start or getattr(self, "_learned", None) != self.classes_.tolist():
            return given_start(self, shape)
        known = hasattr(self, "coef_") and self.coef_.shape == shape
        return (self.coef_, self.intercept_) if known else None

    def _begin(self, classes: Array, w: Array, b: Any) -> None:
        """Have the next warm start begin here."""
        self._learned = classes.tolist()
        self.coef_, self.intercept_ = w[None], np.array([b])

    def _multipliers(
        self, problem: Problem, signs: Array, start: tuple[Array, Array] | None
    ) -> Array | None:
        """Multipliers to begin from: αᵢ = C cᵢ σ(−zᵢ) of the weights, with the C they are of."""
        if self.warm_start:
            alpha = self._ended_at(problem)
            if alpha is not None and len(alpha) == problem.n_rows:
                return np.asarray(alpha)
        if start is None:
            return None
        W, b = start
        C = getattr(self, "_fitted_C", float(self.C))
        caps = C * (problem.weights if problem.weights.size else 1.0)
        if len(W) > 1:  # Cc(e_y − p)
            p = chances(np.asarray(problem.X @ W.T, np.float64) + b)
            p[np.arange(problem.n_rows), problem.codes] -= 1.0
            return np.asarray(-np.reshape(caps, (-1, 1)) * p)
        z = signs * (np.asarray(problem.X @ W[0], np.float64) + float(b[0]))
        return np.asarray(caps * chances(z)[:, 0])

    def _ended_at(self, problem: Problem) -> Array | None:
        """The multipliers that the fit before left, where it was of this very problem."""
        key, alpha = getattr(self, "_ended", None) or (None, None)
        return alpha if key == (self.data_, float(self.C), problem.n_rows) else None

    @available_if(lambda self: self.solver in ("minibatch", "sgd"))
    @by_block
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Go on learning from these rows, once, in the order given, in the units of the data.

        However the rows are cut into parts, the weights are those of one call with all of them:
        the step of a fold that is short of rows is taken again when they have come, and step
        ('auto') and penalty follow the rows so far. In a `schedule`, t counts blocks of 4,096 rows.
        Pass all labels in `classes` on the first call if these rows do not hold them all. How far
        the weights are from the optimum is not known until `fit` or `linsep.gap` looks at all rows.
        """
        if self.prior is not None:
            raise ParameterError("prior is for fit: shares of rows in parts are not known.")
        problem = self._part(X, y, classes, sample_weight, not hasattr(self, "coef_"))
        with strength_meant(self):
            take_in(self, problem, loss_of(problem), self._penalty)
        return self

    def _reset(self, problem: Problem) -> None:
        if self.prior is not None:
            self._shift(problem)  # refuses before the fit what cannot be a prior
        check_multi_class(self, problem.binary)
        self._stream = None

    def _finish(self, problem: Problem, solution: Solution) -> Status:
        self._publish(problem, solution)
        self.proof_ = None
        if solution.status is Status.no_optimum:
            self.proof_ = separation(problem, self.classes_, bool(self.fit_intercept))
        status: Status = solution.status
        status = Status.gap_left if status is Status.budget else status
        if status is not Status.no_optimum:
            status = self._recount(problem, solution, status)
        if problem.told is not None:
            moves = solution.alpha.T
            moves = (problem.signs * moves)[None] if problem.binary else moves
            penalty = self._penalty[:2] if np.isfinite(self.C) else (0.0, 0.0)
            self._costs(problem, solution.w, moves, penalty, self.classes_.tolist())
        return status

    def _recount(self, problem: Problem, solution: Solution, status: Status) -> Status:
        """Bounds computed anew from data, stored weights and the solver's dual point."""
        if solution.certificate is not None:
            return accept(self, solution.certificate, status)
        fitted = fitted_problem(self, problem, Penalty(*self._penalty[:2]))
        try:
            with Pool(1):
                if problem.binary:
                    alpha = solution.alpha
                    given = None if alpha is None else alpha.reshape(1, -1)
                    again = certify_planes("logistic", fitted, given, _pair(solution))
                else:
                    again = certify_softmax(fitted, solution.alpha, _pair(solution))
        except KeyboardInterrupt:
            return Status.interrupted
        if np.isposinf(self.C) and problem.told is None:
            return counted(self, again, status)
        return accept(self, again, status)

    def _publish(self, problem: Problem, solution: Solution) -> None:
        b, dtype = solution.b, problem.X.dtype
        if not problem.binary:  # one number more for all classes is the same model
            b = b - b.mean()
        self.coef_ = stored(solution.w, problem)
        self.intercept_ = np.array(b, dtype, ndmin=1)
        self.n_iter_ = solution.n_iter
        self._learned, self._fitted_C = self.classes_.tolist(), float(self.C)
        begin = solution.start if self.warm_start else None
        self._ended: Any = None
        if begin is not None:
            self._ended = (self.data_, float(self.C), problem.n_rows), np.asarray(begin)
        self.objective_ = float(solution.primal)
        self.gap_ = float(solution.gap / solution.primal) if solution.primal > 0 else 0.0

    def predict_proba(self, X: Any, offset: Any = None) -> Array:
        """The probability of each class, a row of numbers that sum to one."""
        return chances(self.decision_function(X, offset))

    def predict_log_proba(self, X: Any, offset: Any = None) -> Array:
        """Logarithms of the probabilities, exact where these would round to zero or one."""
        return log_chances(self.decision_function(X, offset))

    def draw(self, X: Any, random_state: Any = 0, offset: Any = None) -> Array:
        """A class for each row drawn at random with its probability, instead of the likeliest."""
        p = self.predict_proba(X, offset)
        chance = np.random.default_rng(seed_of(random_state)).random(len(p))
        place = (np.cumsum(p, axis=1) < chance[:, None]).sum(axis=1)
        return self.classes_[np.minimum(place, p.shape[1] - 1)]


def _pair(solution: Solution) -> tuple[Array, Array]:
    """Weights (K, d) and intercepts (K,), one hyperplane for two classes."""
    return np.atleast_2d(solution.w), np.atleast_1d(solution.b)
