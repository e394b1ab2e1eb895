"""Logistic regression with Firth's penalty: finite weights even where the classes are separable."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError, ParameterError
from linsep.learners.inference.likelihood import LogisticLikelihood
from linsep.status import Status
from linsep.train.closed.centred_rows import CentredRows
from linsep.train.closed.interruptible import factored
from linsep.train.closed.row_axes import LostDigitsError, row_axes
from linsep.train.problem import Problem

Array = npt.NDArray[Any]

LEFT = (
    "coef_", "intercept_", "certificate_", "objective_", "proof_", "status_", "n_iter_",
    "solver_", "gap_", "diagnosis_",
)  # fmt: skip


class FirthCertificate(NamedTuple):
    """What is known of a fit with Firth's penalty.

    The penalised likelihood is smooth and has a finite maximum, at which its score is zero. How far
    from zero the score is at the weights returned is recomputed with exact sums.

    Attributes
    ----------
    residual : the largest |Σ u| / Σ |u| over the weights, where u are the terms of the modified
        score of a weight: two for each row
    penalised_log_likelihood : at the weights returned
    decrement : twice what one more step of Newton's method would gain
    """

    residual: float
    penalised_log_likelihood: float
    decrement: float

    @property
    def verdict(self) -> str:
        """In a sentence."""
        return (
            f"every part of Firth's modified score is zero but for {self.residual:.1e} of the sum "
            "of its terms, added exactly; one more Newton step would gain "
            f"{self.decrement / 2:.1e} of log-likelihood."
        )


def fit_firth(learner: Any, problem: Problem) -> Status:
    """Weights that maximise ℓ(θ) + ½ log |I(θ)|; sets what a fit leaves behind."""
    for name in LEFT:  # an earlier fit may have been of other rows, and this one may fail
        vars(learner).pop(name, None)
    problem.settle()
    if not problem.binary:
        raise ParameterError(
            "penalty is 'firth' and y has several classes; it is there for two. Fit one class "
            "against another, or use penalty='l2'."
        )
    columns = problem.n_features + int(learner.fit_intercept)
    rows = int(np.count_nonzero(problem.weights)) if problem.weights.size else problem.n_rows
    if rows < columns:
        raise DataError(
            f"{rows} rows with weight are fewer than {columns} weights to find, the intercept's "
            "included, so that Firth's penalty has no single answer; drop columns, or use "
            "penalty='l2'."
        )
    X = problem.X.toarray() if hasattr(problem.X, "toarray") else np.asarray(problem.X)
    Z = np.asarray(X, np.float64)
    Z = np.column_stack([np.ones(len(Z)), Z]) if learner.fit_intercept else Z
    if _dependent(Z):
        raise DataError(
            "X has columns that are sums of others, so that Firth's penalty has no single answer; "
            "drop some of them."
        )
    weights = problem.weights if problem.weights.size else None
    likelihood = LogisticLikelihood(Z, problem.codes, weights, 2)
    peak = likelihood.peak(np.zeros((1, Z.shape[1])), firth=True)
    if peak is None:
        raise DataError(
            "Newton's steps lose their way to the maximum of Firth's likelihood: some columns of X "
            "are sums of others but for a millionth or so, or of very different size. Drop "
            "columns, bring them to one scale (linsep.Scaled does), or use penalty='l2'."
        )
    learner.certificate_ = FirthCertificate(
        _residual(likelihood, peak.theta), peak.value, peak.decrement
    )
    learner.n_iter_, learner.objective_ = max(1, peak.steps), -peak.value
    split, theta = int(learner.fit_intercept), peak.theta
    learner.coef_ = theta[:, split:].astype(X.dtype)
    learner.intercept_ = theta[:, 0].astype(X.dtype) if split else np.zeros(1, X.dtype)
    learner.solver_, learner.gap_, learner.diagnosis_ = "firth", None, None
    return Status.converged


def _dependent(Z: Array) -> bool:
    """Whether some columns are sums of others: by their products, or else by singular values."""
    Z = Z / np.maximum(np.abs(Z).max(axis=0), 1e-300)
    lengths = np.sqrt(np.square(Z).sum(axis=0))
    if not lengths.all():
        return True
    columns = CentredRows(np.ascontiguousarray((Z / lengths).T), slice(None))
    try:
        found = row_axes(np.ones(len(Z)), np.zeros(len(Z)), columns, 0.0, 0.0, 1)
    except LostDigitsError:
        return int(factored(np.linalg.matrix_rank, Z)) < Z.shape[1]
    return found.rank < Z.shape[1]


def _residual(likelihood: LogisticLikelihood, theta: Array) -> float:
    """How far from zero the modified score is, its terms added exactly."""
    scaled = theta * likelihood.size
    p = likelihood.chances(scaled)
    leverage = likelihood.leverage(p, likelihood.information(p))
    terms = np.concatenate(
        [(likelihood.codes - p[:, 1]) * likelihood.weights, leverage * (0.5 - p[:, 1])]
    )
    worst = 0.0
    for column in (terms[:, None] * np.tile(likelihood.Z, (2, 1))).T.tolist():
        size = math.fsum(map(abs, column))
        worst = max(worst, abs(math.fsum(column)) / size if size else 0.0)
    return worst
