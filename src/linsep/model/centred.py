"""Hyperplanes whose scores keep their digits on rows far from the origin.

Does not need scikit-learn.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans
from linsep.data.check.plain import is_sparse
from linsep.errors import OverflowedError

Array = npt.NDArray[Any]


class CentredModel(NamedTuple):
    """⟨w, x − c⟩ + b: like ⟨w, x⟩ + b, but sums of large terms that cancel are avoided.

    Attributes
    ----------
    weights : (K, d) in the units of the data
    at_centre : (K,) the score of the centre
    centre : (d,)
    size : (K,) what difference between scores matters
    """

    weights: Array
    at_centre: Array
    centre: Array
    size: Any = 1.0

    @property
    def intercept(self) -> Array:
        """(K,) the score of the origin, b − ⟨w, c⟩."""
        terms = (-self.weights * self.centre).tolist()
        ends = self.at_centre.tolist()
        return np.array([math.fsum([*row, b]) for row, b in zip(terms, ends, strict=True)])

    def as_type(self, dtype: Any) -> tuple[Array, Array]:
        """Weights and intercepts in `dtype`, or in float64 where they leave its range."""
        intercept = self.intercept
        if dtype != np.float64:
            numbers = np.abs(np.column_stack([self.weights, intercept]))
            numbers = numbers[numbers > 0]
            limits = np.finfo(dtype)
            fits = ((numbers >= limits.tiny) & (numbers <= limits.max)).all()
            dtype = dtype if fits else np.float64
        return self.weights.astype(dtype, order="C"), intercept.astype(dtype)

    def far(self, dtype: Any) -> bool:
        """Whether ⟨w, x⟩ + b would lose half its digits around the centre in this type."""
        large = np.abs(self.weights * self.centre).sum(axis=1)
        return bool((large * np.sqrt(np.finfo(dtype).eps) > self.size).any())

    def scores(self, X: Any) -> Array:
        """⟨w, x − c⟩ + b for each row: a vector for one hyperplane, a column each for more."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.far(X.dtype):
                parts = [self._part(X[i:j]) for i, j in spans(X.shape[0])]
                s = np.concatenate(parts) + self.at_centre
            else:
                weights, intercept = self.as_type(X.dtype)
                s = np.asarray(X @ weights.T) + intercept
        return s.ravel() if s.shape[1] == 1 else s

    def _part(self, X: Any) -> Array:
        rows = X.toarray() if is_sparse(X) else X
        return (rows - self.centre) @ np.ascontiguousarray(self.weights).T

    def require_finite(self) -> None:
        """Raise where a weight or an intercept has left the range of floats."""
        if not (np.isfinite(self.weights).all() and np.isfinite(self.intercept).all()):
            raise OverflowedError(
                "The weights leave the range of float64: the entries of X are too small. "
                "Multiply X by a constant such as 1e100."
            )


def in_range(scores: Array) -> Array:
    """`scores`, or a refusal where some have left the range of floats."""
    if not np.isfinite(scores).all():
        raise OverflowedError(
            f"The scores of X leave the range of {scores.dtype}, although X is finite; its entries "
            "are too large for these weights. Scale X as the training rows were, or divide both."
        )
    return scores
