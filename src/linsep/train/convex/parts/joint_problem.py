"""The problem of Crammer and Singer's machine: one loss of all classes for each row.

    P(W, b) = ½Σ‖wₖ‖² + Σᵢ Uᵢ max zᵢ,   zᵢₖ = sᵢₖ − sᵢ,yᵢ + [k ≠ yᵢ],   sᵢₖ = ⟨wₖ, xᵢ⟩ + bₖ
    D(A)    = Σᵢ Aᵢ,yᵢ − ½Σ‖vₖ‖²,   vₖ = Σ Aᵢₖxᵢ,   Σₖ Aᵢₖ = 0,   Aᵢₖ ≤ 0 for k ≠ yᵢ,   Aᵢ,yᵢ ≤ Uᵢ

and Σᵢ Aᵢₖ = 0 where intercepts are free.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class JointProblem(NamedTuple):
    """What is minimised.

    Attributes
    ----------
    X : checked array or CSR matrix
    codes : class number of each row, int64
    caps : Uᵢ ≥ 0 of each row
    n_classes : K, three at least
    intercept : whether intercepts are free, or zero
    """

    X: Any
    codes: npt.NDArray[np.int64]
    caps: Floats
    n_classes: int
    intercept: bool = True

    @classmethod
    def of(
        cls, X: Any, codes: Array, weights: Array | None, C: float, n_classes: int, intercept: bool
    ) -> "JointProblem":
        """Rows of which each counts C times its weight."""
        caps = np.full(X.shape[0], float(C)) if weights is None else C * np.asarray(weights, float)
        codes = np.ascontiguousarray(codes, np.int64)
        return cls(X, codes, np.ascontiguousarray(caps), n_classes, bool(intercept))

    @property
    def used(self) -> "JointProblem":
        """The rows that count."""
        some = self.caps > 0.0
        if some.all():
            return self
        return self._replace(X=self.X[some], codes=self.codes[some], caps=self.caps[some])

    @property
    def own(self) -> tuple[Array, Array]:
        """Where the own classes of rows are in an array (n, K)."""
        return np.arange(len(self.codes)), self.codes

    def moves(self, leaving: Array) -> Floats:
        """A of what leaves each row for each class, (n, K); its own entry is not looked at."""
        A = -np.asarray(leaving, np.float64)
        A[self.own] = 0.0
        A[self.own] = -A.sum(axis=1)
        return A

    def leaving(self, A: Array) -> Floats:
        """What leaves each row for each class, made feasible: (n, K), nothing for its own."""
        leave = np.maximum(0.0, -A)
        leave[self.own] = 0.0
        sums = leave.sum(axis=1)
        leave *= np.divide(self.caps, sums, out=np.ones_like(sums), where=sums > self.caps)[:, None]
        return leave

    def spread(self, A: Floats) -> Floats:
        """Multipliers of the rows that count as those of all rows."""
        if len(A) == len(self.caps):
            return A
        whole = np.zeros((len(self.caps), self.n_classes))
        whole[self.caps > 0.0] = A
        return whole
