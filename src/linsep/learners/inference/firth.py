"""Logistic regression with Firth's penalty: finite weights even where the classes are separable."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError, ParameterError
from linsep.learners.inference.likelihood import LogisticLikelihood
from linsep.status import Status
from linsep.train.problem import Problem

Array = npt.NDArray[Any]

LEFT = ("coef_", "intercept_", "certificate_", "objective_", "proof_", "status_", "n_iter_")


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
    X = problem.X.toarray() if hasattr(problem.X, "toarray") else np.asarray(problem.X)
    Z = np.asarray(X, np.float64)
    Z = np.column_stack([np.ones(len(Z)), Z]) if learner.fit_intercept else Z
    if np.linalg.matrix_rank(Z / np.maximum(np.abs(Z).max(axis=0), 1e-300)) < Z.shape[1]:
        raise DataError(
            "X has columns that are sums of others (or more columns than rows), so that Firth's "
            "penalty has no single answer; drop some of them."
        )
    weights = problem.weights if problem.weights.size else None
    likelihood = LogisticLikelihood(Z, problem.codes, weights, 2)
    peak = likelihood.peak(np.zeros((1, Z.shape[1])), firth=True)
    if peak is None:
        learner.n_iter_ = 1
        return _leave(learner, np.zeros((1, Z.shape[1])), X.dtype, Status.stalled)
    learner.certificate_ = FirthCertificate(
        _residual(likelihood, peak.theta), peak.value, peak.decrement
    )
    learner.n_iter_, learner.objective_ = max(1, peak.steps), -peak.value
    return _leave(learner, peak.theta, X.dtype, Status.converged)


def _leave(learner: Any, theta: Array, dtype: Any, status: Status) -> Status:
    split = int(learner.fit_intercept)
    learner.coef_ = theta[:, split:].astype(dtype)
    learner.intercept_ = theta[:, 0].astype(dtype) if split else np.zeros(1, dtype)
    learner.solver_ = "firth"
    learner.gap_ = None
    learner.diagnosis_ = None
    return status


def _residual(likelihood: LogisticLikelihood, theta: Array) -> float:
    """How far from zero the modified score is, its terms added exactly."""
    scaled = theta * likelihood.size
    p = likelihood.chances(scaled)
    half = np.linalg.cholesky(likelihood.information(p))
    spread = np.linalg.solve(half, likelihood.Z.T)
    leverage = p[:, 1] * p[:, 0] * likelihood.weights * np.einsum("ij,ij->j", spread, spread)
    terms = np.concatenate(
        [(likelihood.codes - p[:, 1]) * likelihood.weights, leverage * (0.5 - p[:, 1])]
    )
    worst = 0.0
    for column in (terms[:, None] * np.tile(likelihood.Z, (2, 1))).T.tolist():
        size = math.fsum(map(abs, column))
        worst = max(worst, abs(math.fsum(column)) / size if size else 0.0)
    return worst
