"""A search for separators with few mistakes: nothing proved, everything fast.

The number of mistakes along a line of weights v + τδ is a staircase in τ, whose lowest step is
found exactly by sorting the τ at which rows change sides. The search starts from the minimum of the
logistic loss, sharpens the sigmoid loss Σ cᵢ σ(-βzᵢ) towards the count itself, and then descends
along random, coordinate and mistaken-row directions, with some pushes out of local valleys.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit

Array = npt.NDArray[Any]


def few_mistakes(
    X: Any,
    signs: Array,
    weight: Array,
    late: Callable[[], bool],
    rounds: int = 30,
    kicks: int = 10,
    start: tuple[Array, float] | None = None,
    fit_intercept: bool = True,
) -> tuple[Array, float, float]:
    """Weights, bias and (in floating point) the weighted count of mistakes of the best found.

    Parameters
    ----------
    X, signs, weight
        Rows, labels -1 and +1, and what a mistake on each row costs.
    late : callable
        Asked between steps whether to stop.
    rounds : int
        Rounds of descent without improvement before giving up.
    kicks : int
        Random pushes away from the best so far, each followed by a descent.
    start : (weights, bias), optional
        A further separator to start from.
    fit_intercept : bool
        False: the bias stays 0.

    Examples
    --------
    >>> from linsep.data.toys import xor
    >>> X, y = xor()
    >>> few_mistakes(X, y, np.ones(4), lambda: False)[2]
    1.0
    """
    Z, spread, centre = _scaled(X, fit_intercept)
    d = X.shape[1]
    rng = np.random.default_rng(0)
    starts = [np.append(np.zeros(d), 1.0), np.append(np.zeros(d), -1.0)]
    if start is not None:
        starts.append(np.append(start[0] * spread, start[1] + float(np.dot(start[0], centre))))
    starts = [v[: Z.shape[1]] for v in starts]
    starts += _smooth(Z, signs, weight, late)
    best = min(starts, key=lambda v: _cost(Z, signs, weight, v))
    best = _descend(Z, signs, weight, best, rng, late, rounds)
    for _ in range(kicks):  # a push out of the valley; kept where it leads no higher
        if late() or _cost(Z, signs, weight, best) == 0:
            break
        push = rng.standard_normal(len(best)) * (0.5 * np.linalg.norm(best) / np.sqrt(len(best)))
        other = _descend(Z, signs, weight, best + push, rng, late, rounds)
        if _cost(Z, signs, weight, other) <= _cost(Z, signs, weight, best):
            best = other
    w = best[:d] / spread
    bias = float(best[d] - np.dot(w, centre)) if fit_intercept else 0.0
    return w, bias, _cost(Z, signs, weight, best)


def _scaled(X: Any, fit_intercept: bool) -> tuple[Any, Array, Array]:
    """Columns of unit spread, and a last column of ones; dense columns centred.

    Without an intercept there is no last column, and nothing is centred.
    """
    if sp.issparse(X):
        spread = np.sqrt(np.asarray(X.multiply(X).mean(axis=0)).ravel())
        centre = np.zeros(X.shape[1])
        spread[~((spread > 0) & np.isfinite(spread))] = 1
        ones = sp.csr_array(np.ones((X.shape[0], 1 if fit_intercept else 0)))
        return sp.csr_array(sp.hstack([X.astype(float) * (1 / spread), ones])), spread, centre
    X = X.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        centre = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
        spread = np.sqrt(np.mean((X - centre) ** 2, axis=0))
    bad = ~((spread > 0) & np.isfinite(spread) & np.isfinite(centre))
    centre[bad], spread[bad] = 0, np.maximum(np.abs(X[:, bad]).max(axis=0, initial=0), 1e-300)
    Z = (X - centre) / spread
    return np.column_stack([Z, np.ones(len(X))]) if fit_intercept else Z, spread, centre


def _cost(Z: Any, signs: Array, weight: Array, v: Array) -> float:
    return float(weight[signs * (Z @ v) <= 0].sum())


def _smooth(Z: Any, signs: Array, weight: Array, late: Callable[[], bool]) -> list[Array]:
    """Minima of the logistic loss and of ever sharper sigmoid losses."""
    total = float(weight.sum())

    def logistic(v: Array) -> tuple[float, Array]:
        z = signs * (Z @ v)
        value = float(weight @ np.logaddexp(0, -z)) / total + 1e-6 * float(v @ v)
        return value, -(Z.T @ (weight * signs * expit(-z))) / total + 2e-6 * v

    def sigmoid(v: Array, beta: float) -> tuple[float, Array]:
        length = float(np.linalg.norm(v)) or 1.0
        u = v / length  # the count does not depend on the length of v, so neither may the loss
        p = expit(-beta * signs * (Z @ u))
        slope = -beta * (Z.T @ (weight * signs * p * (1 - p))) / total
        return float(weight @ p) / total, (slope - float(slope @ u) * u) / length

    minima = [minimize(logistic, np.zeros(Z.shape[1]), jac=True, method="L-BFGS-B").x]
    for beta in (2.0, 8.0, 32.0):
        if late():
            break
        options = {"maxiter": 100}
        minima.append(
            minimize(sigmoid, minima[-1], (beta,), jac=True, method="L-BFGS-B", options=options).x
        )
    return minima


def _descend(
    Z: Any,
    signs: Array,
    weight: Array,
    v: Array,
    rng: np.random.Generator,
    late: Callable[[], bool],
    rounds: int,
) -> Array:
    scores = Z @ v
    cost = float(weight[signs * scores <= 0].sum())
    stale = 0
    while stale < rounds and cost > 0 and not late():
        before = cost
        for direction in _directions(Z, signs, scores, v, rng):
            if late():
                break
            step, new = _line(scores, Z @ direction, signs, weight)
            if new <= cost and step != 0:
                v = v + step * direction
                v = v / (np.abs(v).max() or 1.0)
                scores = Z @ v
                cost = float(weight[signs * scores <= 0].sum())
        stale = 0 if cost < before else stale + 1
    return v


def _directions(
    Z: Any, signs: Array, scores: Array, v: Array, rng: np.random.Generator
) -> list[Array]:
    wrong = np.flatnonzero(signs * scores <= 0)
    d = len(v)
    made = [rng.standard_normal(d) * (0.1 + np.abs(v)), rng.standard_normal(d)]
    for size in (1, 1, 2, 5):
        if len(wrong):
            chosen = rng.choice(wrong, min(size, len(wrong)), replace=False)
            made.append(np.asarray(signs[chosen] @ Z[chosen]).ravel())
    for j in rng.permutation(d)[:10]:
        made.append(np.eye(1, d, j)[0])
    return made


def _line(s: Array, t: Array, signs: Array, weight: Array) -> tuple[float, float]:
    """The τ with the least cost of s + τt, in the middle of its step, and that cost."""
    moving = t != 0
    if not moving.any():
        return 0.0, float(weight[signs * s <= 0].sum())
    still = float(weight[~moving & (signs * s <= 0)].sum())
    with np.errstate(over="ignore"):
        at = -s[moving] / t[moving]
    order = np.argsort(at)
    at, gains = at[order], (np.sign(t[moving]) * signs[moving])[order] > 0
    c = weight[moving][order]
    # far left, rows that gain with τ are wrong; each is right from its own τ on
    costs = still + c[gains].sum() + np.concatenate([[0], np.cumsum(np.where(gains, -c, c))])
    open_ = np.concatenate([[True], np.diff(at) > 0, [True]])
    k = int(np.argmin(np.where(open_, costs, np.inf)))
    if k == 0:
        step = at[0] - 1 - abs(at[0])
    elif k == len(at):
        step = at[-1] + 1 + abs(at[-1])
    else:
        step = at[k - 1] / 2 + at[k] / 2
    return (float(step), float(costs[k])) if np.isfinite(step) else (0.0, np.inf)
