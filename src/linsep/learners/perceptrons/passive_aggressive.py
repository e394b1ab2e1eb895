"""Passive-aggressive learning: as small a step as clears the margin (Crammer et al., 2006)."""

from functools import partial
from typing import Any, Self

from linsep.data.sources.learner_rows import by_block
from linsep.learners.base import LinearClassifier
from linsep.learners.fitting.parameters import one_of, positive
from linsep.status import Status
from linsep.train.online.method import Method
from linsep.train.online.rules import passive_aggressive
from linsep.train.online.solver import OnlineSolver
from linsep.train.order import seed_of
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener, Pass, run

VARIANTS = ("PA-I", "PA-II")


class PassiveAggressive(LinearClassifier):
    """Leave a row alone if it clears margin one; otherwise move just far enough that it does.

    For a row with ℓ = max(0, 1 − yᵢ(⟨w, xᵢ⟩ + b)) > 0 the weights become w + τ yᵢ xᵢ with
    τ = min(C, ℓ/‖xᵢ‖²) (PA-I) or τ = ℓ/(‖xᵢ‖² + 1/(2C)) (PA-II), where ‖xᵢ‖² counts the constant
    feature of the intercept. With several classes the own class must beat its strongest rival by
    one ('kesler'), or each class is asked against all others ('ovr').

    Parameters
    ----------
    C : float
        How aggressive a step may be; small values forget outliers sooner.
    variant : {'PA-I', 'PA-II'}
    multiclass : {'kesler', 'ovr'}
    keep : {'last', 'average'}
        The last weights, or the mean of the weights after every presentation.
    max_iter : int
        The most passes to make.
    tol : float
        End when five passes in a row have not lowered the mean hinge loss by this share of what it
        was in the first.
    fit_intercept, shuffle, class_weight, n_jobs, random_state, trace, callback, verbose
        As in `Perceptron`.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_, status_, trace_
        As in `Perceptron`.
    mistakes_ : int
        Rows that were met on the wrong side, or on the boundary, in all passes.
    mistakes_per_epoch_ : list of int

    Examples
    --------
    >>> from linsep import PassiveAggressive
    >>> learner = PassiveAggressive().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> learner.predict([[0.5], [2.5]]).tolist()
    ['no', 'yes']
    """

    _order_matters = True
    _resumable = ("_solver", "mistakes_", "mistakes_per_epoch_", "_patience")

    def __init__(
        self,
        C: float = 1.0,
        *,
        variant: str = "PA-I",
        multiclass: str = "kesler",
        keep: str = "last",
        max_iter: int = 1000,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        shuffle: Any = True,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        trace: bool = False,
        callback: Any = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.variant = variant
        self.multiclass = multiclass
        self.keep = keep
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.trace = trace
        self.callback = callback
        self.verbose = verbose

    def _check_parameters(self) -> None:
        positive("C", self.C)
        one_of("variant", self.variant, VARIANTS)
        one_of("multiclass", self.multiclass, ("kesler", "ovr"))
        one_of("keep", self.keep, ("last", "average"))
        one_of("shuffle", self.shuffle, (True, False, "draw"))
        positive("max_iter", self.max_iter, whole=True)
        positive("tol", self.tol, zero=True)

    def _reset(self, problem: Problem) -> None:
        bias = 1.0 if self.fit_intercept else 0.0
        self.__dict__.pop("_solver", None)  # its memory serves the new one
        self._solver = OnlineSolver(
            problem, self.keep, bias, self.multiclass == "kesler", grouped=True
        )
        self.mistakes_ = 0
        self.mistakes_per_epoch_ = []

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        self._patience = [float("inf"), 0.0, 0]

        def ending(done: Pass) -> Status | None:
            drawn = self.shuffle == "draw"  # a pass does not tell of all rows
            if done.updates == 0 and not (drawn and self._solver.misplaced_now(problem) > 0):
                return Status.separated
            return Status.converged if self._waited(done) else None

        method = self._method(seed_of(self.random_state), self.shuffle)
        status = run(
            partial(self._solver.one_pass, problem, method, self._recorder),
            ending,
            self.max_iter,
            listeners,
            self._publish,
            self._count,
        )
        if status is Status.budget and self.mistakes_per_epoch_[-1] == 0:
            status = Status.inside
        if status is Status.separated and self._solver.misplaced(problem) > 0:
            status = Status.averaged
        self._solver.rest()
        self._publish()
        return status

    def _waited(self, done: Pass) -> bool:
        """Whether the loss has not fallen in any of the last five passes."""
        if done.epoch == 1:
            self._patience = [float("inf"), 0.0, 0]
        best, first, waited = self._patience
        first = done.loss if done.epoch == 1 else first
        waited = 0 if done.loss < best - self.tol * first else waited + 1
        self._patience = [min(best, done.loss), first, waited]
        return waited >= 5

    def _method(self, seed: int = 0, shuffle: Any = False) -> Method:
        """The parameters as what a pass does."""
        return Method("row", passive_aggressive(self.variant, float(self.C)), seed, shuffle)

    def _count(self, done: Pass) -> None:
        self.mistakes_ += done.mistakes
        self.mistakes_per_epoch_.append(done.mistakes)

    def _publish(self) -> None:
        self.coef_, self.intercept_ = self._solver.kept()
        self.n_iter_ = len(self.mistakes_per_epoch_)

    @by_block
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Go on learning from these rows, once, in the order given.

        Ends where one pass over all rows so far, in the order they came, would have ended. Pass
        all labels in `classes` on the first call if these rows do not hold them all.
        """
        rows = X, y, classes, sample_weight
        return self._fit_part(rows, not hasattr(self, "_solver"), self._one_part)

    def _one_part(self, problem: Problem) -> Pass:
        done = self._solver.part_pass(problem, self._method(), self._recorder)
        self._count(done)
        self._publish()
        return done
