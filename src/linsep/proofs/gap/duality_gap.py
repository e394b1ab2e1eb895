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
from linsep.proofs.gap.ordinal_certificate import certify_ordinal
from linsep.proofs.gap.penalty import RIDGE, Penalty
from linsep.proofs.gap.proposals import hinge_multipliers, joint_multipliers

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


Objective = Callable[[Any, Any, Array, Any, Array], Certificate]
"""(model, X, codes, C for each row or all, its number) -> bounds on the objective."""

OBJECTIVES: dict[str, Objective] = {}
"""The convex learners, by class name: adding a learner with a gap is adding an entry."""


def objective(name: str) -> Callable[[Objective], Objective]:
    """Register the objective of the learner class called `name`."""

    def register(function: Objective) -> Objective:
        OBJECTIVES[name] = function
        return function

    return register


def gap(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Gap:
    """Bound how far a fitted model is from the optimum of its own objective.

    Parameters
    ----------
    model : fitted classifier
        A learner that minimises a convex objective: LogisticRegression or LinearSVC.
    X, y, sample_weight
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
    if from_dask(X):
        from linsep.data.cluster.collections import opened

        with opened(X, y, model.classes_) as (rows, labels):
            return _bounded(model, rows, labels.classes, labels.codes, sample_weight)
    X = check_rows(X)
    classes, codes = encode(y, X.shape[0], classes=model.classes_)
    return _bounded(model, X, classes, codes, sample_weight)


def _bounded(model: Any, X: Any, classes: Array, codes: Array, sample_weight: Any) -> Gap:
    """The bounds from checked rows, or from rows on a cluster, which stay there."""
    name = type(model).__name__
    if X.shape[1] != np.shape(model.coef_)[1]:
        raise DataError(
            f"X has {X.shape[1]} columns and the model {np.shape(model.coef_)[1]}; pass the data "
            "it was fitted to."
        )
    weights = check_weights(sample_weight, X.shape[0])
    C = _penalties(model, classes, codes, weights)
    if getattr(model, "prior", None) is not None:
        model = _as_fitted(model, classes, codes, weights, C)
    rows = np.arange(X.shape[0])
    if np.ndim(C) and not np.all(C > 0):
        rows = np.flatnonzero(C > 0)
        X, codes, C = X[rows], codes[rows], C[rows]
    bounds = OBJECTIVES[name](model, X, codes, C, rows)
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


def _penalties(model: Any, classes: Array, codes: Array, weights: Array | None) -> Any:
    """Cᵢ = C · class weight · sample weight; one number where all are alike"""
    strength = math.inf if getattr(model, "penalty", "") is None else float(model.C)
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


def _problem(model: Any, X: Any, codes: Array, C: Any, penalty: Penalty = RIDGE) -> FittedProblem:
    W = np.asarray(model.coef_, np.float64)
    b = np.array(model.intercept_, np.float64, ndmin=1)
    b = np.array(np.broadcast_to(b, max(len(W), len(b))))
    return FittedProblem(X, codes, C, W, b, bool(model.fit_intercept), penalty)


@objective("LogisticRegression")
def _logistic(model: Any, X: Any, codes: Array, C: Any, rows: Array) -> Certificate:
    ratio = float(getattr(model, "l1_ratio", None) or 0.0)
    if getattr(model, "penalty", None) == "l1":  # scikit-learn's word, which says it alone
        ratio = 1.0
    problem = _problem(model, X, codes, C, Penalty(ratio, 1.0 - ratio))
    if len(problem.W) == 1:
        return certify_planes("logistic", problem)
    bounds, present = certify_softmax(problem), np.unique(codes)
    if len(present) == len(problem.W):
        return bounds
    # A class without rows only adds to losses and penalty: what bounds the rest from below will do.
    W, b = problem.W[present], problem.b[present]
    rest = problem._replace(W=W, b=b, codes=np.searchsorted(present, codes).astype(codes.dtype))
    below = certify_softmax(rest)
    rounding = bounds.high - bounds.primal + below.dual - below.low
    return bounds._replace(dual=below.dual, low=below.low, rounding=rounding)


@objective("OrdinalRegression")
def _ordinal(model: Any, X: Any, codes: Array, C: Any, rows: Array) -> Certificate:
    levels = np.empty(len(model.classes_), codes.dtype)
    levels[:] = model._form().ranks
    return certify_ordinal(_problem(model, X, levels[codes], C))


@objective("LinearSVC")
def _svm(model: Any, X: Any, codes: Array, C: Any, rows: Array) -> Certificate:
    """One plane for two classes, one plane for each class against the rest for more."""
    if type(model).__module__.startswith("sklearn."):
        raise ParameterError(
            "model is scikit-learn's LinearSVC, which penalises its intercept; the gap is that of "
            "a free intercept. Use linsep.LinearSVC."
        )
    penalty = Penalty(1.0, 0.0) if getattr(model, "penalty", "l2") == "l1" else RIDGE
    problem, hint = _problem(model, X, codes, C, penalty), _hint(model, rows)
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
