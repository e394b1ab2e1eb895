"""The linear support vector machine, with a certified duality gap."""

from functools import reduce
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from linsep.data.sources.learner_rows import by_block
from linsep.errors import ParameterError
from linsep.learners.base import LinearClassifier
from linsep.learners.calibration import cross_fitted
from linsep.learners.fitting.certificates import accept, fitted_problem, stored, worst
from linsep.learners.fitting.diagnosis import explain
from linsep.learners.fitting.first_order import check_steps, descend_scores, given_start, take_in
from linsep.learners.fitting.guided import GuidedClassifier, refuse_told
from linsep.learners.fitting.parameters import one_of, positive
from linsep.learners.fitting.sklearn_compat import check_svm
from linsep.learners.fitting.support import near_margin, supports
from linsep.learners.fitting.warm_starts import seen_before
from linsep.learners.svm_solvers import fit_jointly, fit_planes
from linsep.model.chances import calibrated_chances
from linsep.model.forms import Calibrated
from linsep.parallel import Pool
from linsep.proofs.gap.certificate import certify_planes, plus
from linsep.proofs.gap.penalty import Penalty
from linsep.status import Status
from linsep.train.convex.drive import Savepoint, begin
from linsep.train.convex.losses import Hinge, SquaredHinge
from linsep.train.convex.penalties import LASSO, RIDGE, Elastic
from linsep.train.convex.solution import Solution
from linsep.train.convex.steps.score_losses import Planes
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener

Array = npt.NDArray[Any]


class LinearSVC(GuidedClassifier, LinearClassifier):
    """Keep both classes as far from the boundary as a few exceptions allow.

    Minimises ½‖w‖² + C Σ cᵢ ℓ(yᵢ(⟨w, xᵢ⟩ + b)) with ℓ(z) = max(0, 1 − z) or its square; the
    intercept is not penalised. The same objective written λ‖w‖² + (1/N) Σ ℓ has C = 1/(2λN).
    With `penalty="l1"` it is ‖w‖₁ instead of ½‖w‖², which makes weights exactly zero.
    The fit ends when the duality gap, computed from the data, is at most `tol` of the objective.

    Parameters
    ----------
    C : float
        Weight of the losses against the penalty.
    loss : {'hinge', 'squared_hinge'}
    penalty : {'l2', 'l1'}
        ½‖w‖², or ‖w‖₁ with loss='squared_hinge'.
    multiclass : {'ovr', 'crammer-singer'}
        With several classes, one machine for each against the rest, or Crammer and Singer's joint
        machine: ½Σ‖wₖ‖² + C Σ cᵢ max(0, maxₖ(1 + sₖ − s_yᵢ)) over the classes k ≠ yᵢ, for the
        hinge and solver 'auto' or 'dual', with one free intercept for each class. For two classes
        that is ¼‖w‖² + C Σ cᵢ max(0, 1 − yᵢ(⟨w, xᵢ⟩ + b)) with w = w₁ − w₀.
    probability : bool
        Whether to have `predict_proba`, through Platt's sigmoid for each hyperplane, fitted to
        scores of rows that were left out (five folds, so that a fit takes about five times as
        long); with several classes they are made to sum to one. Equal rows share a fold.
    solver : {'auto', 'dual', 'newton', 'sgd'}
        Coordinate descent on the dual; Newton's method on the primal (squared hinge); or
        subgradient steps row by row. 'auto' picks the fastest, which for data with one short side
        is Newton's method or, for the hinge, an interior point method: neither minds features of
        different scales.
    tol : float
        The relative duality gap asked for.
    max_iter : int
        The most passes over the rows, or steps. A pass over some rows counts as part of one.
    eta0, schedule, scale, shuffle, init, trace
        Of solver='sgd', as in `LogisticRegression`.
    penalty_weights, bounds
        As in `LogisticRegression`; not with multiclass='crammer-singer'.
    warm_start : bool
        Begin from the multipliers or weights of the fit before.
    fit_intercept, class_weight, n_jobs, random_state, callback, verbose
        As in `Perceptron`. Threads never change the result.
    dual, multi_class, intercept_scaling
        Of scikit-learn, accepted where they say what holds here.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_, status_
        As in `Perceptron`. With several classes, one hyperplane for each against the rest.
    objective_ : float
        The objective at the weights; the sum over classes where there are several hyperplanes.
    gap_ : float
        How far above the optimum it can be at most, relative to it: counted again after the fit
        from data, stored weights and multipliers, by code that the solvers have no part in, with
        rounding allowed for. Where that does not confirm what the solver assumed,
        `status_` is `unproved`.
    support_ : array of int
        Rows that hold the boundary in place: those with a multiplier above zero. After
        solver='sgd', which keeps no multipliers, those on or inside the margin.
    dual_coef_ : (K, n_support) array
        Their multipliers times their signs, so that coef_ = dual_coef_ @ X[support_]; not after
        solver='sgd', nor with penalty='l1', where weights are no such sum. With bounds or weights
        of the penalty the sum is penalty_weights * coef_ where no bound holds a weight.
    constraints_, offset_
        As in `LogisticRegression`.
    diagnosis_ : str or None
        Where the fit met trouble: cause, number, consequence and fix in a sentence.
    sigmoids_ : (K, 2) array
        With probability=True: a and b of the probability σ(as + b) of each score s.
    margin_ : float or (K,) array
        1/‖w‖: the distance from the boundary to the planes ⟨w, x⟩ + b = ±1.

    Examples
    --------
    >>> from linsep import LinearSVC
    >>> X, y = [[0.0, 2.0], [1.0, 2.0], [0.0, 0.0], [1.0, 0.0]], ["up", "up", "down", "down"]
    >>> learner = LinearSVC(C=10.0).fit(X, y)
    >>> round(float(learner.margin_), 3), learner.predict([[0.5, 1.5]]).tolist()
    (1.0, ['up'])
    """

    @property
    def _order_matters(self) -> bool:  # type: ignore[override]
        return self.solver == "sgd"

    @property
    def _sparsifies(self) -> bool:  # type: ignore[override]
        return not self.probability

    batch_size = 1  # sgd steps row by row
    _first_at_zero = True
    _resumable = ("_savepoints",)
    _savepoints: list[Savepoint]
    support_: Array
    dual_coef_: Array
    sigmoids_: Array

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        multiclass: str = "ovr",
        probability: bool = False,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        eta0: Any = "auto",
        schedule: Any = "auto",
        scale: bool = True,
        shuffle: Any = True,
        init: Any = None,
        penalty_weights: Any = None,
        bounds: Any = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        trace: bool = False,
        callback: Any = None,
        verbose: bool = False,
        penalty: str = "l2",
        dual: Any = "auto",
        multi_class: str = "ovr",
        intercept_scaling: float = 1,
    ) -> None:
        self.C = C
        self.loss = loss
        self.multiclass = multiclass
        self.probability = probability
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.eta0 = eta0
        self.schedule = schedule
        self.scale = scale
        self.shuffle = shuffle
        self.init = init
        self.penalty_weights = penalty_weights
        self.bounds = bounds
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.trace = trace
        self.callback = callback
        self.verbose = verbose
        self.penalty = penalty
        self.dual = dual
        self.multi_class = multi_class
        self.intercept_scaling = intercept_scaling

    @property
    def _penalty(self) -> Elastic:
        return LASSO if self.penalty == "l1" else RIDGE

    @property
    def _joint(self) -> bool:
        """Whether all classes are fitted at once, in our word or in scikit-learn's."""
        return "crammer-singer" in (self.multiclass, self.multi_class.replace("_", "-"))

    def _check_parameters(self) -> None:
        check_svm(self)
        positive("C", self.C)
        one_of("loss", self.loss, ("hinge", "squared_hinge"))
        one_of("solver", self.solver, ("auto", "dual", "newton", "sgd"))
        one_of("probability", self.probability, (False, True))
        one_of("multiclass", self.multiclass, ("ovr", "crammer-singer"))
        positive("tol", self.tol)
        positive("max_iter", self.max_iter, whole=True)
        check_steps(self)
        self._check_joint()
        if self.solver == "newton" and self.loss == "hinge":
            raise ParameterError(
                "solver='newton' needs second derivatives, and loss='hinge' has a corner instead. "
                "Use loss='squared_hinge', or solver='auto', which is as quick for the hinge."
            )

    def _check_joint(self) -> None:
        if not self._joint:
            return
        if self.loss != "hinge" or self.solver not in ("auto", "dual"):
            raise ParameterError(
                "multiclass='crammer-singer' is for loss='hinge' and solver='auto' or 'dual'; "
                f"here are {self.loss!r} and {self.solver!r}. Use these, or multiclass='ovr'."
            )

    def _reset(self, problem: Problem) -> None:
        self._stream = None

    def _train_classes(self, problem: Problem, listeners: list[Listener]) -> Status:
        if self.solver == "sgd":
            return self._train(problem, listeners)
        with seen_before(self):
            return self._train(problem, listeners)

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        problem.told = self._told(problem, 1 if problem.binary else problem.n_classes)
        if problem.told is not None:
            self._refuse_told()
        problem.settle()
        status = self._settle(problem, listeners)
        del self._savepoints
        self.diagnosis_ = explain(self, problem, status)
        if hasattr(self, "sigmoids_"):
            del self.sigmoids_
        if self.probability:
            self.sigmoids_ = cross_fitted(self, problem)
        return status

    def _settle(self, problem: Problem, listeners: list[Listener]) -> Status:
        """The hyperplanes, by the solver asked for."""
        before = self._before(problem) if self.warm_start else None
        joint = self._joint and not problem.binary
        runs = 1 if problem.binary or joint else problem.n_classes
        begin(self, listeners, runs)
        if self.solver == "sgd":
            return self._by_rows(problem, listeners, before)
        if joint:
            solutions = [fit_jointly(self, problem, listeners, before)]
            A = solutions[0].alpha
            self.support_ = np.flatnonzero(A.any(axis=1))
            self.dual_coef_ = np.ascontiguousarray(A[self.support_].T)
        else:
            solutions = fit_planes(self, problem, listeners, before)
            self.support_, self.dual_coef_ = supports(problem, [one.alpha for one in solutions])
            if self.penalty == "l1":
                del self.dual_coef_
        self._publish(problem, solutions)
        if problem.told is not None:
            own = np.arange(problem.n_classes)[:, None] == problem.codes
            signs = np.where(own[1:] if problem.binary else own, 1.0, -1.0)
            moves = signs * [one.alpha for one in solutions]
            W, penalty = np.array([one.w for one in solutions]), self._penalty[:2]
            self._costs(problem, W, moves, penalty, self.classes_.tolist())
        self._n_rows = problem.n_rows
        self.solver_ = "+".join(sorted({one.solver for one in solutions}))
        certificate = reduce(plus, [one.certificate for one in solutions])
        return accept(self, certificate, worst([one.status for one in solutions]))

    def _refuse_told(self) -> None:
        refuse_told(self, ("auto", "newton"))
        if self._joint:
            raise ParameterError(
                "offset, penalty_weights and bounds are for multiclass='ovr'; here it is "
                "'crammer-singer'. LogisticRegression fits all classes at once with them."
            )
        if self.probability:
            raise ParameterError(
                "probability=True fits parts of the rows, which know no offset, penalty_weights or "
                "bounds. Leave it out, or use LogisticRegression."
            )

    def _before(self, problem: Problem) -> tuple[Array, Array, Array | None] | None:
        """Weights, intercepts and multipliers of the fit before, where they fit this problem."""
        planes = 1 if problem.binary else problem.n_classes
        if not hasattr(self, "coef_") or self.coef_.shape != (planes, problem.n_features):
            return None
        alpha = None
        if hasattr(self, "dual_coef_") and self._n_rows == problem.n_rows:
            alpha = np.zeros((planes, problem.n_rows))
            own = np.arange(problem.n_classes)[:, None] == problem.codes
            signs = np.where(own[1:] if problem.binary else own, 1.0, -1.0)
            alpha[:, self.support_] = np.maximum(0.0, self.dual_coef_ * signs[:, self.support_])
        return self.coef_, self.intercept_, alpha

    def _by_rows(self, problem: Problem, listeners: list[Listener], before: Any) -> Status:
        self.solver_ = "sgd"
        shape = (1 if problem.binary else problem.n_classes, problem.n_features)
        start = given_start(self, shape) if before is None else before[:2]
        goal = (self._score_loss, self._penalty, start, float(self.tol), self.max_iter)
        solution = descend_scores(self, problem, listeners, *goal)
        self._publish(problem, [solution])
        self.support_ = near_margin(problem, self._score_loss, self.coef_, self.intercept_)
        if hasattr(self, "dual_coef_"):
            del self.dual_coef_
        alpha = None if solution.alpha is None else solution.alpha.T
        try:
            with Pool(1):
                certificate = certify_planes(
                    self.loss, fitted_problem(self, problem, Penalty(*self._penalty[:2])), alpha
                )
        except KeyboardInterrupt:
            return Status.interrupted
        return accept(self, certificate, worst([solution.status]))

    @property
    def _score_loss(self) -> Planes:
        return Planes(Hinge() if self.loss == "hinge" else SquaredHinge())

    def _form(self) -> Any:
        if not hasattr(self, "sigmoids_"):
            return super()._form()
        return Calibrated(self.coef_, self.intercept_, self.sigmoids_)

    def _restore(self, form: Any) -> None:
        super()._restore(form)
        if hasattr(form, "sigmoids"):
            self.sigmoids_ = form.sigmoids

    @available_if(lambda self: self.probability)
    def predict_proba(self, X: Any, offset: Any = None) -> Array:
        """The probability of each class, a row of numbers that sum to one.

        The class that `predict` names is never less likely than another.
        """
        scores = self.decision_function(X, offset)
        return calibrated_chances(scores, self.sigmoids_)

    @available_if(lambda self: self.probability)
    def predict_log_proba(self, X: Any, offset: Any = None) -> Array:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X, offset)))

    @available_if(lambda self: self.solver == "sgd" and not self.probability)
    @by_block
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Go on learning from these rows, once: as `LogisticRegression.partial_fit`."""
        problem = self._part(X, y, classes, sample_weight, not hasattr(self, "coef_"))
        take_in(self, problem, self._score_loss, self._penalty)
        return self

    def _publish(self, problem: Problem, solutions: list[Solution]) -> None:
        """The weights of one run, or of one for each class, and what they come to."""
        dtype = problem.X.dtype
        alone = len(solutions) == 1  # of two classes, or all of them at once
        W = solutions[0].w if alone else [one.w for one in solutions]
        b = solutions[0].b if alone else [one.b for one in solutions]
        self.coef_, self.intercept_ = stored(np.asarray(W), problem), np.array(b, dtype, ndmin=1)
        self.n_iter_ = max([one.n_iter for one in solutions])
        self.objective_ = float(sum([one.primal for one in solutions]))
        self.gap_ = max(0.0, float(sum([one.gap for one in solutions])) / (self.objective_ or 1.0))
        margins = 1.0 / np.sqrt(np.add.reduce(np.square(self.coef_, dtype=np.float64), 1))
        self.margin_ = margins[0] if problem.binary else margins
