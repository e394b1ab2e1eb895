"""What `PairProducts` and `Radial` make of rows, once fitted: NumPy alone, so that a model file can
carry it.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.check.plain import is_sparse

Array = npt.NDArray[Any]


class PairMap(NamedTuple):
    """Products x[a] · x[b] for pairs (a, b) of columns, after the columns themselves if asked for.

    >>> PairMap(np.array([[0, 1]]), True).apply(np.array([[2.0, 3.0]])).tolist()
    [[2.0, 3.0, 6.0]]
    """

    pairs: Array
    include_input: bool

    @property
    def name(self) -> str:
        """The transformer it is of."""
        return "PairProducts"

    def apply(self, X: Any) -> Any:
        """Rows with their products."""
        first, second = self.pairs[:, 0], self.pairs[:, 1]
        if not is_sparse(X):
            products = np.ascontiguousarray(X[:, first] * X[:, second])
            return np.hstack([X, products]) if self.include_input else products
        import scipy.sparse as sp

        columns = X.tocsc()
        products = columns[:, first].multiply(columns[:, second])
        parts = [columns, products] if self.include_input else [products]
        made = sp.csr_array(sp.hstack(parts, format="csr"))
        made.eliminate_zeros()
        return made

    def width(self, d: int) -> int:
        """How many features d columns become."""
        return len(self.pairs) + d * self.include_input

    def names(self, given: list[str]) -> list[str]:
        """What these features are called."""
        products = [f"{given[a]} {given[b]}" for a, b in self.pairs.tolist()]
        return [*(given if self.include_input else []), *products]


class RadialMap(NamedTuple):
    """Distances ‖x − c‖ from centres, or their squares.

    >>> RadialMap(np.zeros((1, 2)), False, False).apply(np.array([[3.0, 4.0]])).tolist()
    [[5.0]]
    """

    centres: Array
    squared: bool
    include_input: bool

    @property
    def name(self) -> str:
        """The transformer it is of."""
        return "Radial"

    def apply(self, X: Any) -> Any:
        """Distances, after the columns themselves if asked for."""
        squares = self.squares(X)
        values = (squares if self.squared else np.sqrt(squares)).astype(X.dtype)
        if not self.include_input:
            return values
        if not is_sparse(X):
            return np.hstack([X, values])
        import scipy.sparse as sp

        return sp.csr_array(sp.hstack([X, sp.csr_array(values)], format="csr"))

    def squares(self, X: Any) -> Array:
        """Squared distances; sparse rows are not written out."""
        if is_sparse(X):
            X = X.astype(np.float64)
            own = np.asarray(X.multiply(X).sum(axis=1)).reshape(-1, 1)
            centres = np.square(self.centres).sum(axis=1)
            s = own - 2.0 * np.asarray(X @ self.centres.T) + centres  # ‖x‖² − 2⟨x, c⟩ + ‖c‖²
            return np.where(s > 0, s, np.where(np.isnan(s), s, 0.0))
        return np.stack([np.square(X - c).sum(axis=1) for c in self.centres], axis=1)

    def width(self, d: int) -> int:
        """How many features d columns become."""
        return len(self.centres) + d * self.include_input

    def names(self, given: list[str]) -> list[str]:
        """What these features are called."""
        radial = [f"radial{k}" for k in range(len(self.centres))]
        return [*(given if self.include_input else []), *radial]
