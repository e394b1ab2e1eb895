"""How sure weights are: covariances by the model, and such as hold where the model does not.

    model    I⁻¹, or s²(ZᵀZ)⁻¹ of least squares
    HC0      I⁻¹ (Σ uᵢuᵢᵀ) I⁻¹ with the score uᵢ of each row: right for rows of unequal spread too
             (Huber 1967, White 1980)
    HC1      n/(n − p) times as much; 'robust' is this one
    cluster  Σ over groups of (Σ uᵢ)(Σ uᵢ)ᵀ in the middle, times G/(G − 1) · (n − 1)/(n − p): right
             for rows that depend on each other within G groups (Liang and Zeger 1986)

A weight cᵢ multiplies the score of its row.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from linsep.errors import DataError, ParameterError

Array = npt.NDArray[Any]

KINDS = ("model", "HC0", "HC1", "robust", "cluster")


class Estimate(NamedTuple):
    """Weights, intercept first where there is one, and what their covariance is made of.

    Attributes
    ----------
    names : of the weights of one class
    outcomes : the classes that weights are of, where there are more than two
    theta : (p,) weights, class by class
    model : (p, p) covariance if the model is right
    bread : (p, p) inverse of the information, or of ZᵀZ
    scores : (n, p) slopes of the likelihood of each row, when they are asked for
    rows : how many there are
    freedom : of Student's t; None where errors are normal
    """

    names: list[str]
    outcomes: list[str]
    theta: Array
    model: Array
    bread: Array
    scores: Callable[[], Array]
    rows: int
    freedom: int | None


class Spread(NamedTuple):
    """A covariance matrix of weights, what tests go by, and a sentence about both."""

    matrix: Array
    freedom: int | None
    note: str

    @property
    def errors(self) -> Array:
        return np.sqrt(np.diag(self.matrix))

    def chance(self, ratio: Array) -> Array:
        """P(|T| > |ratio|) for a normal T, or Student's."""
        below = -np.abs(ratio)
        tail = special.ndtr(below) if self.freedom is None else special.stdtr(self.freedom, below)
        return np.asarray(2 * tail)

    def reach(self, level: float) -> float:
        """How many errors an interval reaches to either side."""
        share = 0.5 + level / 2
        if self.freedom is None:
            return float(special.ndtri(share))
        return float(special.stdtrit(self.freedom, share))

    def columns(
        self, names: list[str], theta: Array, level: float, error: Array, told: str = "coef"
    ) -> dict[str, list[Any]]:
        """Weights with errors, tests against zero and intervals, as columns of a table."""
        sign = "z" if self.freedom is None else "t"
        reach, ratio = self.reach(level) * error, theta / error
        return {
            "name": names, told: theta.tolist(), "std err": error.tolist(),
            sign: ratio.tolist(), f"P>|{sign}|": self.chance(ratio).tolist(),
            f"low {level:.0%}": (theta - reach).tolist(),
            f"high {level:.0%}": (theta + reach).tolist(),
        }  # fmt: skip


def require_kind(cov: str, groups: Any) -> None:
    """Refuse kinds that there are not, and groups without a use."""
    if cov not in KINDS:
        raise ParameterError(f"cov is {cov!r}; choose {', '.join(map(repr, KINDS))}.")
    if (cov == "cluster") != (groups is not None):
        raise ParameterError(
            "cov='cluster' needs groups=, a label for each row of the group it belongs to."
            if groups is None
            else f"groups are given, but cov is {cov!r}; set cov='cluster'."
        )


def spread_of(estimate: Estimate, cov: str, groups: Any = None) -> Spread:
    """The covariance of an estimate, of the kind asked for."""
    require_kind(cov, groups)
    n, p = estimate.rows, len(estimate.theta)
    if cov == "model":
        return Spread(estimate.model, estimate.freedom, "")
    scores = estimate.scores()
    if cov == "cluster":
        return _clustered(estimate, scores, groups)
    factor = 1.0 if cov == "HC0" else n / (n - p)
    matrix = factor * estimate.bread @ (scores.T @ scores) @ estimate.bread
    kind = "HC0" if cov == "HC0" else "HC1"
    return Spread(matrix, estimate.freedom, f"Standard errors are robust ({kind}).")


def _clustered(estimate: Estimate, scores: Array, groups: Any) -> Spread:
    n, p = scores.shape
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ParameterError(f"groups has shape {labels.shape}; give a label for each of {n} rows.")
    known, codes = np.unique(labels, return_inverse=True)
    count = len(known)
    if count < 2:
        raise DataError("groups holds one group; errors can be told from two on.")
    sums = np.zeros((count, p))
    np.add.at(sums, codes, scores)
    factor = count / (count - 1) * (n - 1) / (n - p)
    matrix = factor * estimate.bread @ (sums.T @ sums) @ estimate.bread
    freedom = None if estimate.freedom is None else count - 1
    return Spread(matrix, freedom, f"Standard errors allow for dependence within {count:,} groups.")
