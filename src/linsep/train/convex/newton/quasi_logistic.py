"""Logistic regression by limited-memory quasi-Newton steps: slower than the other ways, but for any
rows, any number of classes and any penalty.

With the biases at their best for given weights, the multipliers αᵢ = Ccᵢ(e_y − pᵢ) are a feasible
point of the dual, and the gap is exactly ½‖∇_w P‖². That is the certificate.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import log_softmax

from linsep.status import Status
from linsep.train.convex.solution import Solution
from linsep.train.run.loop import UNCOUNTED, Listener, Pass

Floats = npt.NDArray[np.float64]

UNPENALISED = 1e-16  # of the objective: ‖gradient‖², scaled, that stands for digits of the weights
ROUNDED = 1e-12  # and what is good enough where no step leads further


class _Objective:
    """P and its gradient in columns brought to one scale: W = V / scale."""

    def __init__(
        self, X: Any, codes: Any, c: Floats, C: float, n_classes: int, fit_intercept: bool
    ) -> None:
        self.X, self.c, self.K = X, c, n_classes
        self.penalised, self.C = np.isfinite(C), (C if np.isfinite(C) else 1.0)
        self.fit_intercept = fit_intercept
        self.own = np.eye(n_classes)[codes]
        square = X.multiply(X) if hasattr(X, "multiply") else X * X
        curvature = float(self.penalised) + 0.25 * self.C * np.asarray(c @ square).ravel()
        self.scale = np.sqrt(np.where(curvature > 0, curvature, 1.0))
        self.looks = 0

    def unpack(self, u: Floats) -> tuple[Floats, Floats]:
        d = self.X.shape[1]
        V = u[: self.K * d].reshape(self.K, d)
        b = u[self.K * d :] if self.fit_intercept else np.zeros(self.K)
        return V / self.scale, b

    def pack(self, W: Floats, b: Floats) -> Floats:
        """The opposite of `unpack`; a single hyperplane w stands for (−w/2, w/2)."""
        if len(W) == 1:
            W, b = np.concatenate([-W, W]) / 2, np.concatenate([-b, b]) / 2
        u = (W * self.scale).ravel()
        return np.append(u, b) if self.fit_intercept else u

    def at(self, W: Floats, b: Floats) -> tuple[float, Floats, Floats]:
        """P, its gradient in W and its gradient in b."""
        self.looks += 1
        logs = log_softmax(np.asarray(self.X @ W.T, np.float64) + b, axis=1)
        value = -self.C * float(self.c @ (logs * self.own).sum(axis=1))
        residual = self.C * self.c[:, None] * (np.exp(logs) - self.own)
        gradient = np.asarray((self.X.T @ residual).T, np.float64)
        if self.penalised:
            value += 0.5 * float((W * W).sum())
            gradient = gradient + W
        return value, gradient, residual.sum(axis=0)

    def __call__(self, u: Floats) -> tuple[float, Floats]:
        value, gW, gb = self.at(*self.unpack(u))
        gradient = (gW / self.scale).ravel()
        return value, np.append(gradient, gb) if self.fit_intercept else gradient

    def separates(self, W: Floats, b: Floats) -> bool:
        """Whether every row scores highest for its own class."""
        scores = np.asarray(self.X @ W.T, np.float64) + b
        own = (scores * self.own).sum(axis=1, keepdims=True)
        return bool(((scores < own) | (self.own > 0))[self.c > 0].all())

    def best_bias(self, W: Floats, b: Floats) -> Floats:
        """The biases that make every residual sum vanish, by Newton's method."""
        scores = np.asarray(self.X @ W.T, np.float64)
        for _ in range(50):
            p = np.exp(log_softmax(scores + b, axis=1))
            cp = self.c[:, None] * p
            g = cp.sum(axis=0) - self.c @ self.own
            H = np.diag(cp.sum(axis=0)) - cp.T @ p
            step = np.linalg.lstsq(H, g, rcond=1e-12)[0]
            b = b - np.clip(step, -5.0, 5.0)
            if np.abs(g).max() <= 1e-13 * self.c.sum():
                break
        return b - b.mean()


def fit_any(
    X: Any,
    codes: Any,
    weights: Floats | None,
    C: float,
    *,
    n_classes: int,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    listeners: list[Listener],
    start: tuple[Any, Any] | None = None,
) -> Solution:
    """Minimise ½‖W‖² + C Σ cᵢ × softmax loss over any rows; C may be infinite.

    Two classes are treated as K = 2 and folded to one hyperplane at the end by the caller; `start`
    may be the one hyperplane, or all.
    """
    c = np.ones(X.shape[0]) if weights is None else np.asarray(weights, np.float64)
    P = _Objective(X, codes, c, C, n_classes, fit_intercept)
    u = np.zeros(n_classes * (X.shape[1] + fit_intercept))
    if start is not None:
        u = P.pack(*(np.asarray(part, np.float64) for part in start))
    status, gap, value = Status.budget, np.inf, np.inf
    W, b = P.unpack(u)
    while P.looks < max_iter:
        room = max_iter - P.looks
        found = minimize(
            P, u, jac=True, method="L-BFGS-B",
            options={"maxiter": min(50, room), "maxfun": room, "ftol": 0.0, "gtol": 0.0,
                     "maxcor": 20},
        )  # fmt: skip
        stuck = np.array_equal(found.x, u)
        u = found.x
        W, b = P.unpack(u)
        if fit_intercept:
            b = P.best_bias(W, b)
        value, gradient, _ = P.at(W, b)
        scaled = gradient / P.scale
        gap = 0.5 * float((gradient**2).sum()) if P.penalised else float((scaled**2).sum())
        if not P.penalised and P.separates(W, b):
            status = Status.no_optimum
            break
        if gap <= (tol if P.penalised else min(tol, UNPENALISED)) * value:
            status = Status.converged
            break
        asked = [one(Pass(P.looks, UNCOUNTED, 0, value)) is True for one in listeners]
        if any(asked):
            status = Status.stopped
            break
        if stuck:
            if not P.penalised and gap <= ROUNDED * value:
                status = Status.converged
            break
    return Solution(W, b, None, value, value - gap, gap, P.looks, status)
