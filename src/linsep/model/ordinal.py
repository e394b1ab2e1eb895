"""Proportional odds: one hyperplane, thresholds between levels, and probabilities of the levels.

    p(level k) = σ(θₖ − s) − σ(θₖ₋₁ − s),    s = ⟨w, x⟩

Scores are logarithms of these, so that the largest is the likeliest level, or for two classes the
log-odds of the second. Does not need scikit-learn.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linsep.model.forms import require

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LEAST = -700.0
"""The logarithm of the probability of a level that has no room between its thresholds."""
HALVES = 200  # of a stretch of scores: down to neighbouring floats


@dataclass(frozen=True, eq=False)
class Ordinal:
    """A hyperplane between every two levels, all of them parallel.

    Attributes
    ----------
    weights : (1, d)
    intercept : (K − 1,), the thresholds with their signs turned
    ranks : (K,) the level of each class
    """

    weights: Array
    intercept: Array
    ranks: Array

    name: ClassVar[str] = "ordinal"
    carries: ClassVar[int] = 0

    def scores(self, X: Any) -> Array:
        """Logarithms of probabilities, a column per class; for two classes their difference."""
        s = np.asarray(X @ self.weights[0])
        return self.of_levels(s, -self.intercept.astype(s.dtype, copy=False))

    def of_levels(self, s: Array, thresholds: Array) -> Array:
        """The same from ⟨w, x⟩."""
        if len(thresholds) == 1:
            return np.asarray(s - thresholds[0]) * (1 if self.ranks[1] else -1)
        apart = s[:, None] - thresholds
        below = np.logaddexp(0, apart)  # −log σ(θ − s)
        above = np.logaddexp(0, -apart)
        nothing = np.zeros((len(s), 1), s.dtype)
        levels = -np.hstack([below, nothing]) - np.hstack([nothing, above])
        levels[:, 1:-1] += log_room(thresholds)
        return np.asarray(levels[:, self.ranks])

    def document(self) -> dict[str, Any]:
        """What a file says beside the tensors."""
        return {"name": self.name, "ranks": self.ranks.tolist()}

    def tensors(self) -> dict[str, Array]:
        """The numbers, by name."""
        return {"coef": self.weights, "intercept": self.intercept}

    def reach(self, X: Array) -> Array:
        """What rounding of the scores, whose slopes are at most one, is in proportion to."""
        sizes = np.abs(X) @ np.abs(self.weights[0]) + float(np.abs(self.intercept).max())
        return np.asarray(sizes[:, None] + np.abs(self.scores(X).reshape(len(X), -1)))

    @property
    def tolerance(self) -> float:
        """How far scores may differ between machines, as a part of `reach`."""
        return 1e-9 if self.weights.dtype == np.float64 else 1e-4


def log_room(thresholds: Array) -> Array:
    """log(1 − e^{−δ}) of the levels between two thresholds."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(-np.expm1(-np.diff(thresholds))), LEAST)


def cuts(form: Ordinal) -> tuple[Floats, list[int]]:
    """The scores ⟨w, x⟩ at which the likeliest class changes, and the classes between them.

    Levels are likeliest in their order, as the logistic distribution is log-concave; a level that
    never is has no place. Each cut is the largest float at which the lower class is still chosen.
    """
    thresholds = -form.intercept.astype(np.float64)
    span = float(thresholds[-1] - thresholds[0]) + 800.0  # beyond, an end level is certain

    def chosen(s: float) -> int:
        scores = form.of_levels(np.array([s]), thresholds)
        return int(scores[0] > 0) if scores.ndim == 1 else int(scores[0].argmax())

    low, high = float(thresholds[0]) - span, float(thresholds[-1]) + span
    met, places = [chosen(low)], []
    end = chosen(high)
    while met[-1] != end:
        a, b = low, high
        for _ in range(HALVES):
            middle = a + (b - a) / 2
            if middle in (a, b):
                break
            a, b = (middle, b) if chosen(middle) == met[-1] else (a, middle)
        places.append(a)
        met.append(chosen(b))
        low = b
    return np.array(places), met


def read_ordinal(
    document: dict[str, Any], tensors: dict[str, Array], n_features: int, planes: int
) -> Ordinal:
    """The form a file describes; ValueError where it does not add up."""
    K = max(2, planes)
    ranks = document.get("ranks")
    if set(document) != {"name", "ranks"} or not isinstance(ranks, list):
        raise ValueError("the form 'ordinal' has other fields than ranks")
    if any(type(rank) is not int for rank in ranks) or sorted(ranks) != list(range(K)):
        raise ValueError(f"the ranks are not those of {K} classes")
    kinds = ("float32", "float64")
    require(tensors, {"coef": ((1, n_features), kinds), "intercept": ((K - 1,), kinds)})
    if not (np.diff(tensors["intercept"]) <= 0).all():
        raise ValueError("the thresholds are not in order")
    return Ordinal(tensors["coef"], tensors["intercept"], np.array(ranks, np.intp))
