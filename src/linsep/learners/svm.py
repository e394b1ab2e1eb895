"""The linear support vector machine, with a certified duality gap."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.learners.base import LinearClassifier, one_of, positive
from linsep.train.dual_descent import Check, Solution, one_vs_rest, solve
from linsep.train.loop import Listener, Pass, Status
from linsep.train.order import seed_of
from linsep.train.polish import polish
from linsep.train.problem import Problem

Array = npt.NDArray[Any]
SMALL = 5000  # rows up to which the last digits are worth a linear system


class LinearSVC(LinearClassifier):
    """Keep both classes as far from the boundary as a few exceptions allow.

    Minimises ½‖w‖² + C Σ cᵢ ℓ(yᵢ(⟨w, xᵢ⟩ + b)) with ℓ(z) = max(0, 1 − z) or its square; the
    intercept is not penalised. The same objective written λ‖w‖² + (1/N) Σ ℓ has C = 1/(2λN).
    The fit ends when the duality gap, computed from the data, is at most `tol` of the objective.

    Parameters
    ----------
    C : float
        Weight of the losses against the penalty.
    loss : {'hinge', 'squared_hinge'}
    solver : {'auto', 'dual'}
        Coordinate descent on the dual.
    tol : float
        The relative duality gap asked for.
    max_iter : int
        The most passes over the rows in play.
    fit_intercept, class_weight, n_jobs, random_state, callback, verbose
        As in `Perceptron`. Threads never change the result.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_, status_
        As in `Perceptron`. With several classes, one hyperplane for each against the rest.
    objective_ : float
        The objective at the weights; the sum over classes where there are several hyperplanes.
    gap_ : float
        How far above the optimum it can be at most, relative to it.
    support_ : array of int
        Rows that hold the boundary in place: those with a multiplier above zero.
    dual_coef_ : (K, n_support) array
        Their multipliers times their signs, so that coef_ = dual_coef_ @ X[support_].
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

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        callback: Any = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _check_parameters(self) -> None:
        positive("C", self.C)
        one_of("loss", self.loss, ("hinge", "squared_hinge"))
        one_of("solver", self.solver, ("auto", "dual"))
        positive("tol", self.tol)
        positive("max_iter", self.max_iter, whole=True)

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        problem.settle()
        settings: dict[str, Any] = {
            "weights": problem.weights if problem.weights.size else None,
            "C": float(self.C),
            "loss": self.loss,
            "fit_intercept": self.fit_intercept,
            "tol": float(self.tol),
            "max_iter": self.max_iter,
            "seed": seed_of(self.random_state),
            "n_jobs": self.n_jobs,
        }
        if problem.binary:
            signs = np.where(problem.codes == 1, 1.0, -1.0)
            found = [solve(problem.X, signs, listener=_telling(listeners), **settings)]
        else:
            found = one_vs_rest(problem.X, problem.codes, problem.n_classes, **settings)
        if problem.n_rows <= SMALL:
            found = [self._polished(problem, k, one) for k, one in enumerate(found)]
        self._publish(problem, found)
        return worst([one.status for one in found])

    def _polished(self, problem: Problem, k: int, found: Solution) -> Solution:
        """The optimum to the last digit, where a small linear system gives it."""
        signs = np.where(problem.codes == (1 if problem.binary else k), 1.0, -1.0)
        caps = np.full(problem.n_rows, float(self.C))
        if problem.weights.size:
            caps *= problem.weights
        better = polish(
            problem.X, signs, caps, found.alpha,
            squared=self.loss == "squared_hinge", fit_intercept=self.fit_intercept,
        )  # fmt: skip
        if better is None or not better.primal <= found.primal * (1 + 1e-12):
            return found
        gap = max(0.0, better.primal - better.dual)
        return found._replace(
            w=better.w, b=better.b, alpha=better.alpha, primal=better.primal, dual=better.dual,
            gap=gap, status=Status.converged if gap <= self.tol * better.primal else found.status,
        )  # fmt: skip

    def _publish(self, problem: Problem, found: list[Solution]) -> None:
        dtype = problem.X.dtype
        self.coef_ = np.stack([one.w for one in found]).astype(dtype)
        self.intercept_ = np.array([one.b for one in found]).astype(dtype)
        self.n_iter_ = max(one.n_iter for one in found)
        self.objective_ = float(sum(one.primal for one in found))
        total = self.objective_ or 1.0
        self.gap_ = float(sum(one.gap for one in found)) / total
        alpha = np.stack([one.alpha for one in found])
        own = np.arange(problem.n_classes)[:, None] == problem.codes
        signed = alpha * np.where(own[1:] if problem.binary else own, 1.0, -1.0)
        self.support_ = np.flatnonzero(alpha.any(axis=0))
        self.dual_coef_ = signed[:, self.support_]
        with np.errstate(divide="ignore"):
            margins = 1.0 / np.linalg.norm(self.coef_.astype(np.float64), axis=1)
        self.margin_ = margins[0] if problem.binary else margins


def _telling(listeners: list[Listener]) -> Any:
    """Tell every listener of each look at all rows; True from any of them stops the run."""
    if not listeners:
        return None

    def listener(check: Check) -> bool:
        done = Pass(check.n_iter, 0, check.n_active, check.primal)
        asked = [one(done) is True for one in listeners]
        return any(asked)

    return listener


def worst(statuses: list[Status]) -> Status:
    """The ending to report for several runs: the first that is not good, or the first."""
    status = next((status for status in statuses if not status.good), statuses[0])
    return Status.gap_left if status is Status.budget else status
