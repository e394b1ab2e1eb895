"""Proportional odds: errors of weights and thresholds, marginal effects and figures of a fit.

Errors are those of the observed information, the curvature of −ℓ at its minimum, as R's polr and
statsmodels' OrderedModel have them.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from linsep.errors import DataError, ParameterError
from linsep.learners.inference.covariances import Estimate, spread_of
from linsep.learners.inference.regular import require_rank, require_rows, surely_regular, with_ones
from linsep.learners.inference.tables import Summary, add_odds, likelihood_figures
from linsep.train.convex.coordinates import columns_of
from linsep.train.convex.designs.design import Design
from linsep.train.convex.drive import FINEST, Goal, drive
from linsep.train.convex.solvers.ordinal_newton import FAR, OrdinalNewton

Array = npt.NDArray[Any]

STEPS = 100


class OrdinalFit:
    """A fit looked at again, to rounding, at all of its rows.

    Parameters
    ----------
    model : fitted `OrdinalRegression`
    X, levels, weights : the rows, the number of each one's level, and their weights
    names : of the columns of X
    """

    def __init__(
        self, model: Any, X: Array, levels: Array, weights: Array | None, names: list[str]
    ) -> None:
        if np.inf != model.C:
            raise ParameterError(
                f"C is {model.C!r}: the weights are held back by a penalty, and standard errors of "
                "maximum likelihood are not theirs. Fit with C=numpy.inf, or give "
                "summary(bootstrap=500) for intervals by resampling."
            )
        known = [str(one) for one in model.order_.tolist()]
        self.classes, self.K = known, len(known)
        self.names = names + [f"{low} | {high}" for low, high in pairwise(known)]
        self.model, self.rows, self.levels = model, X, levels
        self.columns = names
        self.weights = np.ones(len(X)) if weights is None else weights
        require_rows(len(X), len(self.names))
        if not np.bincount(levels, self.weights, self.K).all():
            raise DataError("a class has no row of any weight; no threshold can be told for it.")
        solver = OrdinalNewton(Design(X, columns_of(X, True)), levels, self.weights, False)
        found = drive(solver, Goal(FINEST, STEPS))
        self.theta = np.append(found.w, -np.asarray(found.b))
        self.value = -found.primal
        information = self._information()
        if not surely_regular(information):
            require_rank(with_ones(X, True), ["(intercept)", *names])
        if not found.status.good:
            raise DataError(
                "The likelihood has no maximum that Newton's method finds: the classes may be "
                "separable in part. Fit with a finite C."
            )
        self.inverse = np.linalg.inv(information)

    @property
    def size(self) -> int:
        return len(self.names)

    def _sides(self) -> tuple[Array, Array, Array, Array]:
        """Scores against the thresholds above and below each row, and their slopes in all weights,
        which are those of s − θ above and θ − s below; nothing stands beyond the last levels."""
        edges = np.concatenate([[-FAR], self.theta[self.rows.shape[1] :], [FAR]])
        s = self.rows @ self.theta[: self.rows.shape[1]]
        each = np.eye(self.K + 1)[:, 1:-1]
        above = np.hstack([self.rows, -each[self.levels + 1]])
        below = np.hstack([-self.rows, each[self.levels]])
        return s - edges[self.levels + 1], edges[self.levels] - s, above, below

    def _information(self) -> Array:
        """Σ c [σ′(up) aaᵀ + σ′(down) bbᵀ], and what room between thresholds adds."""
        up, down, above, below = self._sides()
        bent = [self.weights * special.expit(z) * special.expit(-z) for z in (up, down)]
        H = (above.T * bent[0]) @ above + (below.T * bent[1]) @ below
        d, delta = self.rows.shape[1], np.diff(self.theta[self.rows.shape[1] :])
        held = np.bincount(self.levels, self.weights)[1:-1] * np.exp(-delta) / np.expm1(-delta) ** 2
        for k, bend in enumerate(held):
            H[d + k : d + k + 2, d + k : d + k + 2] += bend * np.array([[1.0, -1.0], [-1.0, 1.0]])
        return np.asarray(H)

    def _scores(self) -> Array:
        """The slope of the likelihood of each row in all weights."""
        up, down, above, below = self._sides()
        d, delta = self.rows.shape[1], np.diff(self.theta[self.rows.shape[1] :])
        slopes = -special.expit(up)[:, None] * above - special.expit(down)[:, None] * below
        room = np.concatenate([[0.0], 1.0 / np.expm1(delta), [0.0]])[self.levels]  # −h′(δ)
        rows = np.arange(len(room))
        inner = room > 0.0
        slopes[rows[inner], d + self.levels[inner]] += room[inner]
        slopes[rows[inner], d + self.levels[inner] - 1] -= room[inner]
        return np.asarray(slopes * self.weights[:, None])

    def estimate(self) -> Estimate:
        return Estimate(
            self.names, [], self.theta, self.inverse, self.inverse, self._scores, len(self.rows),
            None,
        )  # fmt: skip

    def table(self, interval: str, level: float, cov: str, groups: Any) -> Summary:
        if interval == "profile":
            raise ParameterError("interval is 'profile', which OrdinalRegression has not; 'wald'.")
        spread = spread_of(self.estimate(), cov, groups)
        columns = spread.columns(self.names, self.theta, level, spread.errors)
        add_odds(columns, level, np.arange(self.size) < self.rows.shape[1])
        notes = [
            f"Modelled are the log-odds of a class above each threshold: {' < '.join(self.classes)}"
            ".", *([spread.note] if spread.note else []),
        ]  # fmt: skip
        title = f"OrdinalRegression, {len(self.rows):,} rows"
        return Summary(title, columns, self.figures(), notes)

    def figures(self) -> dict[str, float | int]:
        shares = np.bincount(self.levels, self.weights)
        null = float(shares @ np.log(shares / shares.sum()))
        return likelihood_figures(self.value, null, self.size, self.K - 1, float(shares.sum()))

    def same_labels(self, other: "OrdinalFit") -> bool:
        same = np.array_equal(self.levels, other.levels)
        return same and np.array_equal(self.weights, other.weights)

    def effects(self, rows: Array, counted: Array) -> tuple[list[Array], list[Array]]:
        """Effects of the features on the probability of each level, and their slopes.

        With f = σ′, pₖ rises with feature j by wⱼ (f(θₖ₋₁ − s) − f(θₖ − s)).
        """
        d = rows.shape[1]
        w, inner = self.theta[:d], self.theta[d:]
        z = np.concatenate([[-FAR], inner, [FAR]])[:, None] - rows @ w  # (K + 1, n)
        f = special.expit(z) * special.expit(-z) * counted
        turn = f * (special.expit(-z) - special.expit(z))  # f′
        each, slopes = [], []
        for k in range(self.K):
            pull = float((f[k] - f[k + 1]).sum())
            J = np.zeros((d, self.size))
            J[:, :d] = pull * np.eye(d) + np.outer(w, (turn[k + 1] - turn[k]) @ rows)
            if k:
                J[:, d + k - 1] = w * turn[k].sum()
            if k < self.K - 1:
                J[:, d + k] = -w * turn[k + 1].sum()
            each.append(w * pull)
            slopes.append(J)
        return each, slopes
