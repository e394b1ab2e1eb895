"""The likelihood of a logistic model by Newton's method, to rounding; some weights may be fixed.

    ℓ(θ) = Σ cᵢ log p(yᵢ | xᵢ),   p(k | x) ∝ exp⟨θₖ, (1, x)⟩,   θ₀ = 0 for the first class

For two classes θ₁ = (b, w). With `firth`, ½ log |I(θ)| is added (Firth 1993, Biometrika 80), where
I is the information; its maximum is finite whatever the rows are.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg, special

Array = npt.NDArray[Any]

STEPS = 100
HALVINGS = 40
NEAR = 1e-6  # of the likelihood: with less to gain, the information changes too little to matter
BLOCK = 1 << 12  # rows whose products stay in the cache


class Peak(NamedTuple):
    """Where Newton's method ended.

    Attributes
    ----------
    theta : (K − 1, p) weights against the first class
    value : the log-likelihood, penalised where that was asked for
    decrement : ⟨U, I⁻¹U⟩ for the score U: twice what one more step would gain
    information : of all weights, fixed ones too
    steps : how many were made
    """

    theta: Array
    value: float
    decrement: float
    information: Array
    steps: int


class LogisticLikelihood:
    """Rows with a first column of ones (where there is an intercept), class numbers and weights."""

    def __init__(
        self, Z: Array, codes: Array, weights: Array | None, classes: int, own: bool = False
    ) -> None:
        """`own`: Z is nobody else's, and may be scaled where it lies."""
        self.codes, self.K = codes, classes
        self.weights = np.ones(len(Z)) if weights is None else np.asarray(weights, np.float64)
        size = np.sqrt(sum(self.weights[b] @ np.square(Z[b]) for b in _blocks(len(Z))))
        self.size = np.where(size > 0, size, 1.0)  # columns of one size: a good metric for rounding
        self.Z = np.divide(Z, self.size, out=Z if own else None)

    def chances(self, theta: Array) -> Array:
        """(n, K) probabilities, for weights in the metric of the columns."""
        if self.K == 2:
            s = self.Z @ theta[0]
            return np.column_stack([special.expit(-s), special.expit(s)])
        scores = np.column_stack([np.zeros(len(self.Z)), self.Z @ theta.T])
        scores -= scores.max(axis=1, keepdims=True)
        p = np.exp(scores)
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def value(self, p: Array, information: Array | None) -> float:
        """ℓ, penalised where the information is given; −∞ where that is singular."""
        own = p[np.arange(len(p)), self.codes]
        with np.errstate(divide="ignore"):
            total = float(self.weights @ np.log(own))
        if information is None:
            return total
        sign, logarithm = np.linalg.slogdet(information)
        units = float(np.log(self.size).sum())  # half of what the columns' sizes add
        return total + 0.5 * float(logarithm) + units if sign > 0 else -np.inf

    def information(self, p: Array) -> Array:
        """Σ cᵢ (diag pᵢ − pᵢ pᵢᵀ) ⊗ zᵢ zᵢᵀ over the classes but the first."""
        free, width = self.K - 1, self.Z.shape[1]
        information = np.empty((free * width, free * width))
        for a in range(free):
            for b in range(a, free):
                w = p[:, a + 1] * ((a == b) - p[:, b + 1]) * self.weights
                block, root = np.zeros((width, width)), np.sqrt(w) if a == b else w
                for rows in _blocks(len(p)):
                    part = self.Z[rows] * root[rows, None]
                    block += part.T @ (part if a == b else self.Z[rows])  # one product, by halves
                information[a * width : (a + 1) * width, b * width : (b + 1) * width] = block
                information[b * width : (b + 1) * width, a * width : (a + 1) * width] = block.T
        return information

    def score(self, p: Array, information: Array, firth: bool) -> Array:
        """The gradient of ℓ; with Firth's penalty Σ (yᵢ − pᵢ + hᵢ(½ − pᵢ)) zᵢ for two classes."""
        hit = self.codes[:, None] == np.arange(1, self.K)
        left = (hit - p[:, 1:]) * self.weights[:, None]
        if firth:
            left = left + (self.leverage(p, information) * (0.5 - p[:, 1]))[:, None]
        return np.asarray(left.T @ self.Z)

    def leverage(self, p: Array, information: Array) -> Array:
        """hᵢ = wᵢ zᵢᵀ I⁻¹ zᵢ of two classes, with wᵢ = cᵢ pᵢ(1 − pᵢ)."""
        half, lengths = np.linalg.cholesky(information), np.empty(len(p))
        for rows in _blocks(len(p)):
            spread = linalg.solve_triangular(half, self.Z[rows].T, lower=True)
            lengths[rows] = np.einsum("ij,ij->j", spread, spread)
        return np.asarray(p[:, 1] * p[:, 0] * self.weights * lengths)

    def peak(self, start: Array, firth: bool = False, fixed: Array | None = None) -> Peak | None:
        """Climb from `start` (in the units of the data); None where there is no way up to go."""
        theta = np.asarray(start, np.float64) * self.size
        free = np.ones(theta.size, bool) if fixed is None else ~fixed.ravel()
        p = self.chances(theta)
        decrement, information = np.inf, self.information(p)
        value = self.value(p, information if firth else None)
        for step in range(STEPS):
            if step and not firth and decrement > NEAR * max(1.0, abs(value)):
                information = self.information(p)
            try:
                score = self.score(p, information, firth).ravel()
                move = np.zeros(theta.size)
                move[free] = np.linalg.solve(information[np.ix_(free, free)], score[free])
            except np.linalg.LinAlgError:
                return None
            decrement = float(score[free] @ move[free])
            if not np.isfinite(decrement):
                return None
            if decrement <= 1e-24 * max(1.0, abs(value)):
                break
            found = self._climb(theta, move.reshape(theta.shape), value, firth)
            if found is None:
                break
            theta, p, value, there = found
            information = information if there is None else there
        if decrement > 1e-10 * max(1.0, abs(value)):
            return None
        scale = np.tile(self.size, self.K - 1)
        whole = self.information(p) * np.outer(scale, scale)
        return Peak(theta / self.size, value, decrement, whole, step)

    def _climb(
        self, theta: Array, move: Array, value: float, firth: bool
    ) -> tuple[Array, Array, float, Array | None] | None:
        """Half the step until it does not lead down, but for rounding; None where there is none."""
        room = 1e-12 * max(1.0, abs(value))
        for halving in range(HALVINGS if move.any() else 0):
            new = theta + move / 2.0**halving
            chances = self.chances(new)
            information = self.information(chances) if firth else None
            there = self.value(chances, information)
            if there >= value - room:
                return new, chances, there, information
        return None


def _blocks(n: int) -> list[slice]:
    return [slice(first, first + BLOCK) for first in range(0, n, BLOCK)]
