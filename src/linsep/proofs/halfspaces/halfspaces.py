"""Separation as a system of half-spaces ⟨z, v⟩ > 0, one or several for each row, never written out.

Two classes: zᵢ = yᵢ(xᵢ, 1) and v = (w, b). Many classes, Kesler's construct: for row i and each
rival k of its class y, z has (xᵢ, 1) in block y and -(xᵢ, 1) in block k, and v = (w₁, b₁, w₂, …).
Planes through the origin: the constant 1 is 0 in every row, and every bias is 0.

Searches run on columns brought to moderate size: `exponents` are the powers of two taken out of
each column, so that 1e-300 and 1e300 meet as equals. Proofs are about the original numbers.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import spans
from linsep.proofs.halfspaces.column_ranges import Ranges, ranges

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_MODERATE = 200  # columns whose size stays within 2^±200 need no scaling
_BLOCK_NUMBERS = 1 << 20


class Halfspaces:
    """The rows of a two-class or many-class problem, as constraints numbered from 0.

    Two classes: constraint i is row i. Many: constraint i·K + k is row i against rival k; a number
    whose k is the row's own class stands for nothing.
    """

    def __init__(
        self, X: Any, codes: Array, n_classes: int, ranges: Ranges, fit_intercept: bool = True
    ) -> None:
        self.X, self.codes, self.n_classes = X, codes, n_classes
        self.fit_intercept = fit_intercept
        self.constant = 1.0 if fit_intercept else 0.0
        self.n_rows, self.n_features = X.shape
        self.blocks = 1 if n_classes == 2 else n_classes
        self.dimension = self.blocks * (self.n_features + 1)
        self.largest = ranges.largest()
        exponents = np.frexp(self.largest)[1].astype(np.int64)
        self.extreme_scale = bool(np.any(np.abs(exponents) > _MODERATE))
        self.exponents = exponents if self.extreme_scale else np.zeros(self.n_features, np.int64)

    @classmethod
    def of(cls, X: Any, codes: Array, fit_intercept: bool = True) -> "Halfspaces":
        """The half-spaces of checked rows and codes."""
        n_classes = int(codes.max()) + 1
        return cls(X, codes, n_classes, ranges(X, codes, n_classes), fit_intercept)

    @property
    def count(self) -> int:
        """How many constraints there are."""
        return self.n_rows * (self.n_classes - 1)

    @property
    def signs(self) -> Floats:
        return np.where(self.codes == 1, 1.0, -1.0)

    def all(self) -> Array:
        """Every constraint."""
        if self.n_classes == 2:
            return np.arange(self.n_rows)
        everything = np.ones((self.n_rows, self.n_classes), bool)
        everything[np.arange(self.n_rows), self.codes] = False
        return np.flatnonzero(everything)

    def some(self, number: int) -> Array:
        """About `number` constraints, evenly spread over the rows of every class."""
        rivals = self.n_classes - 1
        quota = max(2, number // rivals // self.n_classes)
        rows = []
        for k in range(self.n_classes):
            members = np.flatnonzero(self.codes == k)
            step = max(1, len(members) // quota)
            rows.append(members[::step])
        chosen = np.sort(np.concatenate(rows))
        if self.n_classes == 2:
            return chosen
        ids = chosen[:, None] * self.n_classes + np.arange(self.n_classes)
        return ids[np.arange(self.n_classes) != self.codes[chosen][:, None]]

    def values(self, v: Floats) -> Floats:
        """⟨z, v⟩ for every constraint number, in floating point; inf where a number is void."""
        V = v.reshape(self.blocks, self.n_features + 1)
        S = np.empty((self.n_rows, self.blocks))
        for start, stop in self._spans():
            biases = self.constant * V[:, -1]
            S[start:stop] = self._scaled(slice(start, stop)) @ V[:, :-1].T + biases
        if self.n_classes == 2:
            return S[:, 0] * self.signs
        own = np.arange(self.n_rows), self.codes
        lead = S[own][:, None] - S
        lead[own] = np.inf
        return lead.reshape(-1)

    def _spans(self) -> list[tuple[int, int]]:
        if not self.extreme_scale and (sp.issparse(self.X) or self.X.dtype == np.float64):
            return [(0, self.n_rows)]
        return spans(self.n_rows, max(64, _BLOCK_NUMBERS // max(1, self.n_features)))

    def _scaled(self, rows: Any) -> Any:
        part = self.X[rows]
        if not self.extreme_scale:
            return part if sp.issparse(part) else part.astype(np.float64, copy=False)
        if sp.issparse(part):
            part = part.astype(np.float64)
            part.data = np.ldexp(part.data, -self.exponents[part.indices])
            return part
        return np.ldexp(part.astype(np.float64), -self.exponents)

    def rows_of(self, ids: Array) -> Array:
        """The row behind each constraint."""
        return ids if self.n_classes == 2 else ids // self.n_classes

    def rivals_of(self, ids: Array) -> Array | None:
        """The rival class behind each constraint; None with two classes."""
        return None if self.n_classes == 2 else ids % self.n_classes

    def sides(self, ids: Array) -> list[list[tuple[int, int]]]:
        """For each constraint the blocks its row enters, each with its sign."""
        if self.n_classes == 2:
            return [[(0, int(sign))] for sign in self.signs[ids]]
        own = self.codes[self.rows_of(ids)].tolist()
        return [
            [(y, 1), (k, -1)] for y, k in zip(own, (ids % self.n_classes).tolist(), strict=True)
        ]

    def combine(self, ids: Array, alpha: Floats) -> Floats:
        """Σ αᵢzᵢ without the constants: (blocks, d), for the scaled columns."""
        rows, place = np.unique(self.rows_of(ids), return_inverse=True)
        C = np.zeros((self.blocks, len(rows)))
        if self.n_classes == 2:
            C[0, place] = alpha * self.signs[ids]
        else:
            np.add.at(C, (self.codes[self.rows_of(ids)], place), alpha)
            np.add.at(C, (ids % self.n_classes, place), -alpha)
        return np.asarray((self._scaled(rows).T @ C.T).T)

    def columns_of(self, ids: Array) -> Array:
        """The columns that are not zero in all rows behind the constraints `ids`."""
        part = self.X[np.unique(self.rows_of(ids))]
        if sp.issparse(part):
            return np.unique(part.indices[part.data != 0])
        return np.flatnonzero(part.any(axis=0))

    def features(self, ids: Array, columns: Array) -> Floats:
        """The dense, scaled rows xᵢ behind the constraints `ids`, on some columns."""
        part = self.X[self.rows_of(ids)]
        if len(columns) < self.n_features:
            part = part[:, columns]
        F = np.asarray(part.toarray() if sp.issparse(part) else part, np.float64)
        return np.ldexp(F, -self.exponents[columns]) if self.extreme_scale else F

    def expand(self, ids: Array, F: Floats) -> Floats:
        """The rows z of constraints `ids`, given features F of the rows behind them."""
        rows = np.empty((len(F), F.shape[1] + 1))
        rows[:, :-1], rows[:, -1] = F, self.constant
        if self.n_classes == 2:
            rows *= self.signs[ids][:, None]
            return rows
        Z = np.zeros((len(ids), self.blocks, rows.shape[1]))
        at = np.arange(len(ids))
        Z[at, self.codes[self.rows_of(ids)]] = rows
        Z[at, ids % self.n_classes] = -rows
        return Z.reshape(len(ids), -1)

    def take(self, ids: Array, columns: Array) -> Floats:
        """The rows z themselves, on some columns, in original units: exact."""
        part = self.X[self.rows_of(ids)]
        if len(columns) < self.n_features:
            part = part[:, columns]
        return self.expand(ids, part.toarray() if sp.issparse(part) else part)

    def as_floats(self, v: list[int]) -> tuple[Floats, int]:
        """Whole weights in original units as floats f of size one for the scaled columns.

        Returns f and the exponent t, with v = f · 2^t / 2^exponents but for rounding.
        """
        shifts = [*self.exponents.tolist(), 0] * self.blocks
        top = max(a.bit_length() + e for a, e in zip(v, shifts, strict=True) if a)
        heads, places = [], []
        for a, e in zip(v, shifts, strict=True):
            drop = max(0, a.bit_length() - 64)
            heads.append(float(a >> drop))
            places.append(max(-2000, drop + e - top))
        return np.ldexp(heads, places), top

    def spread(self, v: Floats, columns: Array) -> Floats:
        """Weights and biases on some columns, as weights and biases on all."""
        V = np.zeros((self.blocks, self.n_features + 1))
        V[:, np.append(columns, self.n_features)] = v.reshape(self.blocks, -1)
        return V.reshape(-1)

    def penalty(self, width: int) -> Floats:
        """1 for weights and 0 for biases, on `width` columns: what ‖w‖² counts."""
        return np.tile(np.append(np.ones(width), 0.0), self.blocks)

    @property
    def stored(self) -> int:
        """How many numbers the data hold."""
        return int(self.X.nnz if sp.issparse(self.X) else self.X.size)
