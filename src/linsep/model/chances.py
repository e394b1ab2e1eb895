"""Probabilities from scores, for the learners whose scores are log-odds."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError, ParameterError

Array = npt.NDArray[Any]

LEFT_OPEN = -(2**63)  # no label anybody gives: what stands for NO_DECISION among numbers


class _NoDecision(str):
    """Text among names, the number -2⁶³ among numbers: metrics refuse a mixture of both."""

    __slots__ = ()
    __hash__ = str.__hash__
    __array_ufunc__ = None  # `labels == NO_DECISION` asks here

    def __int__(self) -> int:
        return LEFT_OPEN

    def __eq__(self, other: object) -> Any:
        if isinstance(other, np.ndarray):
            return other == (LEFT_OPEN if other.dtype.kind in "iuf" else str(self))
        return other == LEFT_OPEN if not isinstance(other, str) else str.__eq__(self, other)

    def __ne__(self, other: object) -> Any:
        same = self == other
        return ~same if isinstance(same, np.ndarray) else not same


NO_DECISION = _NoDecision("no decision")
"""What `predict(X, reject=p)` says of rows whose likeliest class has a probability below p.

The text "no decision" where classes have names. Where they are numbers, the number
`int(linsep.NO_DECISION)`, so that scikit-learn's metrics take the labels; `labels ==
linsep.NO_DECISION` finds these rows either way.
"""


def check_reject(reject: Any) -> float:
    """Refuse what is no probability to ask for."""
    kinds = (int, float, np.integer, np.floating)
    if isinstance(reject, bool) or not isinstance(reject, kinds) or not 0 <= reject <= 1:
        raise ParameterError(
            f"reject is {reject!r}; give a probability from 0 to 1, or None to decide always."
        )
    return float(reject)


def decided(labels: Array, p: Array, reject: float) -> Array:
    """The labels, with NO_DECISION where no class has at least the probability `reject`."""
    labels = np.asarray(labels)
    kind = labels.dtype.kind
    if kind in "biu":
        decisions = labels.astype(np.int64)
    elif kind in "fU":
        wide_enough = np.float64 if kind == "f" else f"U{len(NO_DECISION)}"
        decisions = labels.astype(np.promote_types(labels.dtype, wide_enough))
    else:
        decisions = labels.astype(object)
    taken = decisions == NO_DECISION
    if taken.any():
        raise DataError(
            f"A class is called {labels[taken][0]!r}, which is what reject= says of rows left "
            "undecided; give the class another name."
        )
    decisions[p.max(axis=1) < reject] = LEFT_OPEN if kind in "biuf" else str(NO_DECISION)
    return decisions


def chances(scores: Array) -> Array:
    """The probability of each class: sigmoid of one score, or softmax of one for each class."""
    if scores.ndim == 1:
        return np.stack([_expit(-scores), _expit(scores)], axis=1)
    p = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _expit(z: Array) -> Array:
    """1 / (1 + e⁻ᶻ), from the side on which the exponential is small."""
    small = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1.0, small) / (1.0 + small)).astype(z.dtype, copy=False)


def prior_shift(prior: Any, classes: list[Any], data: Array, fitted: Array) -> Array:
    """What scores of the classes gain where their shares are to be others than in the fit.

    King and Zeng, *Logistic regression in rare events data*, 2001: odds are odds of the prior times
    a ratio of likelihoods, so that log τₖ − log ȳₖ moves a model of rows with shares ȳ to shares τ.
    Classes that have no weight in the fit are left where they are.

    Parameters
    ----------
    prior : shares τ by label; or 'data', the shares of the rows before class weights
    data, fitted : the weight of each class without class weights, and with them

    >>> prior_shift({"no": 0.99, "yes": 0.01}, ["no", "yes"], np.ones(2), np.ones(2)).round(4)
    array([ 0.6831, -3.912 ])
    """
    shares = data / data.sum()
    if isinstance(prior, dict):
        if set(prior) != set(classes):
            raise ParameterError(f"prior names {list(prior)!r}, but the classes are {classes!r}.")
        shares = np.array([float(prior[label]) for label in classes])
        if not (np.isfinite(shares).all() and (shares > 0).all() and abs(shares.sum() - 1) < 1e-6):
            raise ParameterError(f"prior is {prior!r}; give shares above zero that sum to one.")
    elif not (isinstance(prior, str) and prior == "data"):
        raise ParameterError(
            f"prior is {prior!r:.60}; give a dict of label: share, or 'data' for the shares of the "
            "rows without class weights."
        )
    there = (fitted > 0) & (shares > 0)
    ratio = np.where(there, shares * fitted.sum(), 1.0) / np.where(there, fitted, 1.0)
    return np.asarray(np.log(ratio))


def calibrated_chances(scores: Array, sigmoids: Array) -> Array:
    """Platt's probabilities: σ(as + b) of each hyperplane, made to sum to one for several.

    The likeliest class is always the one that is predicted: where the sigmoids would say otherwise,
    the classes they prefer to it share their probability with it evenly.
    """
    if scores.ndim == 1:
        p = chances(scores * sigmoids[0, 0] + sigmoids[0, 1])
        chosen = (scores > 0).astype(int)  # as LinearSVC predicts
    else:
        p = np.maximum(_expit(scores * sigmoids[:, 0] + sigmoids[:, 1]), np.finfo(np.float64).tiny)
        p /= p.sum(axis=1, keepdims=True)
        chosen = scores.argmax(axis=1)
    rows = np.flatnonzero(p.argmax(axis=1) != chosen)
    for i, k in zip(rows, chosen[rows], strict=True):
        shared = p[i] >= p[i, k]
        p[i, shared] = p[i, shared].mean()
        p[i, k] *= 1 + 1e-12
    return np.asarray(p)


def log_chances(scores: Array) -> Array:
    """Logarithms of the probabilities, exact where these would round to zero or one."""
    if scores.ndim == 1:
        return np.stack([-np.logaddexp(0.0, scores), -np.logaddexp(0.0, -scores)], axis=1)
    apart = scores - scores.max(axis=1, keepdims=True, initial=-np.inf)
    return np.asarray(apart - np.log(np.exp(apart).sum(axis=1, keepdims=True)))
