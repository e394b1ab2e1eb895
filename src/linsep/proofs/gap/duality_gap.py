"""How far a fitted model is from the best there is: primal, dual and gap, from model and data.

Nothing the solver said is trusted. The dual value is a lower bound on the objective of *every*
model of the kind, so the gap bounds how much better any could be.
"""

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import on_cluster
from linsep.data.check.arrays import check_rows, check_weights
from linsep.data.check.labels import encode
from linsep.data.cluster.recognise import from_dask
from linsep.errors import DataError, ParameterError
from linsep.model.chances import prior_shift
from linsep.proofs.gap.certificate import Certificate, FittedProblem, certify_planes
from linsep.proofs.gap.joint_certificate import certify_crammer_singer, certify_softmax
from linsep.proofs.gap.moves import Told
from linsep.proofs.gap.ordinal_certificate import certify_ordinal
from linsep.proofs.gap.penalty import RIDGE, Penalty
from linsep.proofs.gap.proposals import hinge_multipliers, joint_multipliers
from linsep.proofs.gap.told import certify_regression

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Gap:
    """Certified bounds on an objective.

    Attributes
    ----------
    primal : float
        The objective of the model, rounded up.
    dual : float
        No model of the kind has a smaller objective than this, rounded down.
    gap : float
        primal - dual: the model is within this of the best.
    relative : float
        gap / |primal|.
    """

    primal: float
    dual: float
    gap: float
    relative: float


Objective = Callable[[Any, Any, Array, Any, Array, Told | None], Certificate]
"""(model, X, codes, C for each row or all, its number, what was told) -> bounds."""

OBJECTIVES: dict[str, Objective] = {}
"""The convex learners, by class name: adding a learner with a gap is adding an entry."""


def objective(name: str) -> Callable[[Objective], Objective]:
    """Register the objective of the learner class called `name`."""

    def register(function: Objective) -> Objective:
        OBJECTIVES[name] = function
        return function

    return register


def gap(model: Any, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Gap:
    """Bound how far a fitted model is from the optimum of its own objective.

    Parameters
    ----------
    model : fitted classifier
        A learner that minimises a convex objective: LogisticRegression, LinearSVC or
        LinearRegression.
    X, y, sample_weight, offset
        The data it was fitted to.

    Raises
    ------
    ParameterError
        For learners without a convex objective; the message says what to ask instead.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from linsep.data.toys import overlapping
    >>> X, y = overlapping(n=100)
    >>> left = gap(LogisticRegression(tol=1e-10).fit(X, y), X, y)
    >>> 0 <= left.relative < 1e-9
    True
    """
    name = type(model).__name__
    if name == "LinearRegression" and hasattr(model, "_told_again"):
        return _of_regression(model, X, y, sample_weight, offset)
    _require_objective(model, name)
    if from_dask(X):
        from linsep.data.cluster.collections import opened

        with opened(X, y, model.classes_) as (rows, labels):
            if told_of(model, rows.shape[0], rows.shape[1], offset) is not None:
                from linsep.data.cluster.rows import gathered

                with gathered(rows) as X:
                    return _bounded(model, X, labels.classes, labels.codes, sample_weight, offset)
            return _bounded(model, rows, labels.classes, labels.codes, sample_weight, offset)
    X = check_rows(X)
    classes, codes = encode(y, X.shape[0], classes=model.classes_)
    return _bounded(model, X, classes, codes, sample_weight, offset)


def _require_objective(model: Any, name: str) -> None:
    """Refuse models without a convex objective that has a dual, and what is not fitted."""
    if name not in OBJECTIVES and hasattr(model, "gap_"):
        raise ParameterError(
            f"model is a {name}, whose gap_, {model.gap_:.3g}, was computed from its multipliers "
            "when it was fitted; linsep.gap recomputes the gaps of linear learners, "
            f"{' and '.join(sorted(OBJECTIVES))}."
        )
    if getattr(model, "penalty", None) == "firth":
        raise ParameterError(
            "model has penalty='firth', and Firth's penalised likelihood has no dual problem to "
            "bound it by. A gap needs penalty='l2', 'l1' or 'elasticnet'."
        )
    if name not in OBJECTIVES:
        known = " and ".join(sorted(OBJECTIVES))
        raise ParameterError(
            f"model is a {name}, which minimises no convex objective, so it has no duality gap; "
            f"{known} have one. For a perceptron ask linsep.separability(X, y) whether a "
            "separator exists, and linsep.mistake_bound(X, y) how many mistakes it can make."
        )
    if not hasattr(model, "coef_"):
        raise ParameterError(f"model is a {name} that has not been fitted; call fit first.")


def told_of(model: Any, n: int, d: int, offset: Any) -> Told | None:
    """What a model was told of weights and scores; None where nothing, or of another library."""
    if not hasattr(model, "_told_again"):
        if offset is not None:
            raise ParameterError(f"offset is given, and {type(model).__name__} knows none.")
        return None
    given: Told | None = model._told_again(offset, n, d, len(np.atleast_2d(model.coef_)))
    return given


def _of_regression(model: Any, X: Any, y: Any, sample_weight: Any, offset: Any) -> Gap:
    """Bounds on ½ Σ cᵢrᵢ² and the penalty, if any."""
    X = check_rows(X)
    n, d = X.shape
    W, b = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    Y, c = np.asarray(y, np.float64).reshape(n, -1), check_weights(sample_weight, n)
    told = told_of(model, n, d, offset)
    if told is None:
        told = Told(np.zeros(d), np.full(W.shape, -np.inf), np.full(W.shape, np.inf))
    count = certify_regression(X, Y, 1.0 if c is None else c, W, b, bool(model.fit_intercept), told)
    distance = count.high - count.low
    return Gap(count.high, count.low, distance, distance / count.high if count.high else 0.0)


def _bounded(
    model: Any, X: Any, classes: Array, codes: Array, sample_weight: Any, offset: Any
) -> Gap:
    """The bounds from checked rows, or from rows on a cluster, which stay there."""
    name = type(model).__name__
    if X.shape[1] != np.shape(model.coef_)[1]:
        raise DataError(
            f"X has {X.shape[1]} columns and the model {np.shape(model.coef_)[1]}; pass the data "
            "it was fitted to."
        )
    told = told_of(model, X.shape[0], X.shape[1], offset)
    weights = check_weights(sample_weight, X.shape[0])
    C = _penalties(model, classes, codes, weights, told)
    if getattr(model, "prior", None) is not None:
        model = _as_fitted(model, classes, codes, weights, C)
    rows = np.arange(X.shape[0])
    if np.ndim(C) and not np.all(C > 0):
        rows = np.flatnonzero(C > 0)
        X, codes, C = X[rows], codes[rows], C[rows]
        if told is not None and told.offset is not None:
            told = told._replace(offset=told.offset[rows])
    bounds = OBJECTIVES[name](model, X, codes, C, rows, told)
    distance = bounds.high - bounds.low
    return Gap(bounds.high, bounds.low, distance, distance / bounds.high if bounds.high else 0.0)


def _as_fitted(model: Any, classes: Array, codes: Array, weights: Array | None, C: Any) -> Any:
    """The model before `prior` moved its intercepts: that is what was fitted."""
    data = np.bincount(codes, weights, len(classes))
    fitted = np.bincount(codes, C if np.ndim(C) else weights, len(classes))
    shift = prior_shift(model.prior, classes.tolist(), data, fitted)
    before = copy(model)
    shift = shift[1:] - shift[:1] if len(model.coef_) == 1 else shift - shift.mean()
    before.intercept_ = model.intercept_ - shift
    return before


def _penalties(
    model: Any, classes: Array, codes: Array, weights: Array | None, told: Told | None = None
) -> Any:
    """Cᵢ = C · class weight · sample weight; one number where all are alike"""
    strength = math.inf if getattr(model, "penalty", "") is None else float(model.C)
    if strength == math.inf and told is not None:
        strength = 1.0
    if not 0 < strength < math.inf:
        raise ParameterError(
            f"model has C={strength!r}; a gap needs a finite penalty. Whether a finite optimum "
            "exists without one is what linsep.separability(X, y) tells."
        )
    by_class = getattr(model, "class_weight", None)
    if by_class is None and weights is None:
        return strength
    C = np.full(len(codes), strength)
    if isinstance(by_class, dict):
        C *= np.array([float(by_class.get(label, 1.0)) for label in classes.tolist()])[codes]
    elif by_class is not None:  # balanced: every class weighs the same in all
        counts = np.bincount(codes, weights, minlength=len(classes))
        C *= counts.sum() / (len(classes) * np.maximum(counts, np.finfo(float).tiny)[codes])
    return C if weights is None else C * weights


def _problem(
    model: Any, X: Any, codes: Array, C: Any, penalty: Penalty = RIDGE, told: Told | None = None
) -> FittedProblem:
    if getattr(model, "penalty", "") is None or math.inf == model.C:
        penalty = Penalty(0.0, 0.0)
    W = np.asarray(model.coef_, np.float64)
    b = np.array(model.intercept_, np.float64, ndmin=1)
    b = np.array(np.broadcast_to(b, max(len(W), len(b))))
    return FittedProblem(X, codes, C, W, b, bool(model.fit_intercept), penalty, told=told)


@objective("LogisticRegression")
def _logistic(
    model: Any, X: Any, codes: Array, C: Any, rows: Array, told: Told | None
) -> Certificate:
    ratio = float(getattr(model, "l1_ratio", None) or 0.0)
    if getattr(model, "penalty", None) == "l1":  # scikit-learn's word, which says it alone
        ratio = 1.0
    problem = _problem(model, X, codes, C, Penalty(ratio, 1.0 - ratio), told)
    if len(problem.W) == 1:
        return certify_planes("logistic", problem)
    bounds, present = certify_softmax(problem), np.unique(codes)
    if len(present) == len(problem.W) or told is not None:
        return bounds
    # A class without rows only adds to losses and penalty: what bounds the rest from below will do.
    W, b = problem.W[present], problem.b[present]
    rest = problem._replace(W=W, b=b, codes=np.searchsorted(present, codes).astype(codes.dtype))
    below = certify_softmax(rest)
    rounding = bounds.high - bounds.primal + below.dual - below.low
    return bounds._replace(dual=below.dual, low=below.low, rounding=rounding)


@objective("OrdinalRegression")
def _ordinal(
    model: Any, X: Any, codes: Array, C: Any, rows: Array, told: Told | None
) -> Certificate:
    levels = np.empty(len(model.classes_), codes.dtype)
    levels[:] = model._form().ranks
    return certify_ordinal(_problem(model, X, levels[codes], C))


@objective("LinearSVC")
def _svm(model: Any, X: Any, codes: Array, C: Any, rows: Array, told: Told | None) -> Certificate:
    """One plane for two classes, one plane for each class against the rest for more."""
    if type(model).__module__.startswith("sklearn."):
        raise ParameterError(
            "model is scikit-learn's LinearSVC, which penalises its intercept; the gap is that of "
            "a free intercept. Use linsep.LinearSVC."
        )
    penalty = Penalty(1.0, 0.0) if getattr(model, "penalty", "l2") == "l1" else RIDGE
    problem, hint = _problem(model, X, codes, C, penalty, told), _hint(model, rows)
    words = getattr(model, "multiclass", "ovr"), getattr(model, "multi_class", "ovr")
    joint = "crammer-singer" in words or "crammer_singer" in words
    if joint and len(problem.W) > 1:
        return certify_crammer_singer(problem, joint_multipliers(problem) if hint is None else hint)
    if joint:  # ¼‖w‖² + Σ Cᵢ φ is half of ½‖w‖² + Σ 2Cᵢ φ
        problem = problem._replace(C=2 * C)
    K = len(problem.W)
    signs = [np.where(codes == (1 if K == 1 else k), 1.0, -1.0) for k in range(K)]
    alpha = None
    if hint is not None:
        alpha = [hint[:, k] * signs[k] for k in range(K)]
    elif (joint or model.loss == "hinge") and not on_cluster(X):
        alpha = [hinge_multipliers(problem, k, signs[k]) for k in range(K)]
    bounds = certify_planes("hinge" if joint else model.loss, problem, alpha)
    return bounds.times(0.5) if joint else bounds


def _hint(model: Any, rows: Array) -> Array | None:
    """The multipliers that a model still has of these rows; a proof takes them as a proposal."""
    if not hasattr(model, "dual_coef_") or np.shape(model.dual_coef_)[0] != len(model.coef_):
        return None
    hint = np.zeros((max(rows.max(), model.support_.max(initial=0)) + 1, len(model.coef_)))
    hint[model.support_] = np.asarray(model.dual_coef_).T
    return np.asarray(hint[rows])
