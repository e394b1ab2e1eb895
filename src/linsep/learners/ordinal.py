"""Ordinal regression by proportional odds, with a certified duality gap."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import on_cluster
from linsep.errors import ParameterError
from linsep.learners.absent_classes import present_classes
from linsep.learners.base import LinearClassifier
from linsep.learners.fitting.certificates import accept, counted
from linsep.learners.fitting.diagnosis import explain
from linsep.learners.fitting.parameters import positive
from linsep.learners.inference.summary import Inference
from linsep.model.chances import chances, log_chances
from linsep.model.ordinal import LEAST, Ordinal
from linsep.proofs.gap.certificate import Certificate, FittedProblem
from linsep.proofs.gap.ordinal_certificate import certify_ordinal
from linsep.proofs.gap.penalty import Penalty
from linsep.status import Status
from linsep.train.convex.coordinates import columns_of
from linsep.train.convex.curvature import asked_for
from linsep.train.convex.designs.design import Design
from linsep.train.convex.drive import FINEST, Goal, Savepoint, begin, drive, telling
from linsep.train.convex.solution import Solution
from linsep.train.convex.solvers.ordinal_newton import OrdinalNewton
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class OrdinalRegression(Inference, LinearClassifier):
    """Probabilities of classes that have an order, such as grades, from one weight per feature.

    Minimises ½‖w‖² + C Σ cᵢ (−log p(yᵢ | xᵢ)), where the odds of being in class k or a lower one
    are those of a logistic regression with the same weights for every k (McCullagh, *Regression
    models for ordinal data*, 1980):

        p(y ≤ k | x) = σ(θₖ − ⟨w, x⟩),    θ₀ < θ₁ < … < θ_{K−2}

    The thresholds θ are not penalised, and stand in for an intercept. A positive weight makes
    higher classes likelier. `C=numpy.inf` is maximum likelihood. With two classes this is
    `LogisticRegression`. The fit ends when the duality gap, computed from the data, is at most
    `tol` of the objective.

    Parameters
    ----------
    C : float
        Weight of the losses against the penalty.
    order : list of labels
        The classes from the lowest to the highest. Unless given it is the order of a pandas column
        of ordered categories, or else that of numbers and of the alphabet, which is seldom that of
        words. Labels that `y` does not have are left out.
    tol : float
        The relative duality gap asked for; with `C=inf`, at least ten digits by Newton's decrement.
    max_iter : int
        The most steps.
    trace : bool
        Record the steps in `trace_`.
    class_weight, n_jobs, callback, verbose
        As in `LogisticRegression`. Threads never change the result. A class without any weight
        gets probability zero.

    Attributes
    ----------
    coef_ : (1, d) array
        The weights.
    thresholds_ : (K − 1,) array
        θ, between each class of `order_` and the next; never falling.
    intercept_ : (K − 1,) array
        −θ: the log-odds of being above each threshold are ⟨w, x⟩ + intercept.
    order_ : (K,) array
        The classes from the lowest to the highest.
    classes_ : (K,) array
        The same, sorted as scikit-learn has them: columns of `predict_proba` are in this order.
    objective_, gap_, solver_, n_iter_, n_features_in_, feature_names_in_, status_
        As in `LogisticRegression`.
    diagnosis_ : str or None
        Where the fit met trouble: cause, number, consequence and fix in a sentence.

    Examples
    --------
    >>> from linsep import OrdinalRegression
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["low", "low", "mid", "low", "mid", "high"]
    >>> learner = OrdinalRegression(order=["low", "mid", "high"]).fit(X, y)
    >>> learner.coef_.round(3), learner.thresholds_.round(3)
    (array([[0.991]]), array([2.372, 4.931]))
    >>> learner.predict([[0.5], [3.5], [6.0]]).tolist(), learner.gap_ <= 1e-6
    (['low', 'mid', 'high'], True)
    """

    _any_scale = True
    _first_at_zero = True
    _sparsifies = False
    _resumable = ("_savepoints",)
    _savepoints: list[Savepoint]
    fit_intercept = True  # thresholds are always free

    def __init__(
        self,
        C: float = 1.0,
        *,
        order: Any = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        class_weight: Any = None,
        n_jobs: int | None = None,
        trace: bool = False,
        callback: Any = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.order = order
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.trace = trace
        self.callback = callback
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if np.inf != self.C:
            positive("C", self.C)
        positive("tol", self.tol)
        positive("max_iter", self.max_iter, whole=True)
        listed = isinstance(self.order, (list, tuple, np.ndarray))
        if self.order is not None and not (listed and len(set(self.order)) == len(self.order)):
            raise ParameterError(
                f"order is {self.order!r:.60}; give a list of all labels, the lowest class first."
            )

    def _problem(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Problem:
        problem = super()._problem(X, y, sample_weight, classes)
        kind: Any = getattr(y, "dtype", None)  # of pandas, with ordered categories
        ordered = list(kind.categories) if getattr(kind, "ordered", False) else None
        self._ranks = _ranks(self.classes_, self.order if self.order is not None else ordered)
        return problem

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        problem.settle()
        self.solver_ = OrdinalNewton.name
        begin(self, listeners)
        present = present_classes(problem)[np.argsort(self._ranks)]
        if present.sum() < 2:
            solution = Solution(
                np.zeros(problem.n_features), np.zeros(0), None, 0.0, 0.0, 0.0, 0, Status.converged
            )
            status = self._publish(problem, solution, present)
        else:
            status = self._solve(problem, listeners, present)
        del self._savepoints
        self.diagnosis_ = explain(self, problem, status)
        return status

    def _solve(self, problem: Problem, listeners: list[Listener], present: Array) -> Status:
        X = problem.X.in_one_place if on_cluster(problem.X) else problem.X
        levels = np.maximum(np.cumsum(present) - 1, 0)[self._ranks][problem.codes]
        C = float(self.C) if np.inf > self.C else 1.0
        weights = problem.weights if problem.weights.size else np.ones(len(levels))
        design = Design(X, columns_of(X, True))
        solver = OrdinalNewton(design, levels, C * weights, np.inf > self.C, self.n_jobs)

        def certify(solution: Solution) -> Certificate:
            return self._certificate(problem, solution, present)

        tol = max(FINEST, 1e-3 * asked_for(self.tol, self.C)) if np.inf == self.C else self.tol
        goal = Goal(
            float(tol), self.max_iter, telling(listeners), certify if np.inf > self.C else None,
            savepoint=next(iter(self._savepoints), None),
        )  # fmt: skip
        return self._publish(problem, drive(solver, goal), present)

    def _certificate(self, problem: Problem, solution: Solution, present: Array) -> Certificate:
        """The gap of the weights as they are stored."""
        W, b = np.atleast_2d(solution.w), _spread(solution.b, present)
        C: Any = float(self.C)
        penalty = Penalty()
        if np.inf == C:
            C, penalty = 1.0, Penalty(0.0, 0.0)
        X = problem.X.in_one_place if on_cluster(problem.X) else problem.X
        fitted = FittedProblem(
            X, self._ranks[problem.codes], C * problem.weights if problem.weights.size else C,
            *_stored(W, b, problem.X.dtype), True, penalty, problem.n_jobs, float(self.tol),
        )  # fmt: skip
        return certify_ordinal(fitted, (W, b))

    def _publish(self, problem: Problem, solution: Solution, present: Array) -> Status:
        b = _spread(solution.b, present)
        self.coef_, self.intercept_ = _stored(np.atleast_2d(solution.w), b, problem.X.dtype)
        self.n_iter_ = solution.n_iter
        self.objective_ = float(solution.primal)
        self.gap_ = float(solution.gap / solution.primal) if solution.primal > 0 else 0.0
        budget = solution.status is Status.budget
        status: Status = Status.gap_left if budget else solution.status
        if solution.certificate is not None:
            status = accept(self, solution.certificate, status)
            del self._short
        elif np.inf == self.C and status is not Status.no_optimum and solution.primal > 0:
            status = counted(self, self._certificate(problem, solution, present), status)
        return status

    @property
    def thresholds_(self) -> Array:
        """Where ⟨w, x⟩ makes a class and all below it as likely as all above."""
        return np.asarray(-self.intercept_)

    @property
    def order_(self) -> Array:
        """The classes from the lowest to the highest."""
        return np.asarray(self.classes_[np.argsort(self._ranks)])

    def _form(self) -> Ordinal:
        return Ordinal(self.coef_, self.intercept_, self._ranks)

    def _restore(self, form: Any) -> None:
        super()._restore(form)
        self._ranks = form.ranks

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, a row of numbers that sum to one."""
        return chances(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities, exact where these would round to zero or one."""
        return log_chances(self.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # of classes that have no order, as in its checks
        return tags


def _ranks(classes: Array, order: Any) -> Array:
    """The level of each class."""
    if order is None:
        return np.arange(len(classes))
    known = list(order)
    missing = [label for label in classes.tolist() if label not in known]
    if missing:
        raise ParameterError(
            f"order is {order!r:.60} and lacks {missing[0]!r}, a class of y; list all classes, the "
            "lowest first."
        )
    return np.argsort(np.argsort([known.index(label) for label in classes.tolist()]))


def _spread(b: Any, present: Array) -> Floats:
    """−θ between all levels, from those between levels that have rows: others have no room."""
    b = np.asarray(b, np.float64)
    ends = (b[0], b[-1]) if len(b) else (0.0, 0.0)
    if not len(b):  # a single level: all thresholds below it, or above
        ends = (LEAST, LEAST) if present[0] else (0.0, 0.0)
    edges = np.concatenate([[ends[0] - LEAST], b, [ends[1] + LEAST]])
    return np.asarray(edges[np.cumsum(present)[:-1]])


def _stored(W: Floats, b: Floats, dtype: Any) -> tuple[Array, Array]:
    """Weights and −θ in the type of the rows, if that keeps thresholds apart."""
    narrow = b.astype(dtype)
    apart = np.array_equal(np.diff(narrow) < 0, np.diff(b) < 0)
    return np.array(W, dtype, ndmin=2, order="C"), narrow if apart else b
