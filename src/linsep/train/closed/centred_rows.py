"""Rows about the means of their classes, of which those of a CSR matrix are never written out.

A product with such rows is one with the rows as they are, less one with the means. Columns that
are stored in many rows lose digits that way, and are written out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep.parallel import in_order
from linsep.train.closed.frame import power, scaled
from linsep.train.closed.moments import Floats, Moments
from linsep.train.problem import Problem

PANEL = 256  # rows whose products are made at a time
STORED = 20
"""A column stored in more than one in so many rows is written out: dense products of 400 columns
take as long as sparse ones of the other 8,000 (20news, 7,770 rows)."""


@dataclass(frozen=True)
class CentredRows:
    """zᵢ = √(wᵢ/Σw) (xᵢ − mean of its class), the columns in units of one's choice.

    Attributes
    ----------
    full : (n, f) columns that are written out
    places : (f,) which ones
    thin : (n, d) the others times the roots, not yet centred; None where there are none
    means : (K, d) of the thin columns, and zeros
    codes, roots : (n,) class and √(wᵢ/Σw) of each row
    """

    full: Floats
    places: Any
    thin: Any = None
    means: Any = None
    codes: Any = None
    roots: Any = None

    @cached_property
    def _along(self) -> Floats:
        return np.asarray(self.thin @ self.means.T)

    @cached_property
    def _lengths(self) -> Floats:
        return np.asarray(self.means @ self.means.T)

    def dot(self, B: Floats) -> Floats:
        """Z Bᵀ for vectors B, (k, d)."""
        out = self.full @ B[:, self.places].T
        if self.thin is None:
            return out
        shift = self.roots[:, None] * (self.means @ B.T)[self.codes]
        return np.asarray(out + (self.thin @ B.T - shift))

    def back(self, V: Floats) -> Floats:
        """Vᵀ Z, (k, d), for V, (n, k)."""
        own = V.T @ self.full
        if self.thin is None:
            return np.asarray(own)
        sums = np.zeros((len(self.means), V.shape[1]))
        np.add.at(sums, self.codes, self.roots[:, None] * V)
        out = np.asarray((self.thin.T @ V).T - sums.T @ self.means)
        out[:, self.places] = own
        return out

    def squares(self) -> Floats:
        """‖zᵢ‖² of each row."""
        out = np.asarray(np.einsum("ij,ij->i", self.full, self.full))
        if self.thin is None:
            return out
        along = self._along[np.arange(len(out)), self.codes]
        own = self.thin.power(2).sum(axis=1) - 2 * self.roots * along
        return np.asarray(out + own + np.square(self.roots) * self._lengths.diagonal()[self.codes])

    def products(self, some: Any, others: Any) -> Floats:
        """⟨zᵢ, zⱼ⟩ for i in `some` and j in `others`."""
        out = self.full[some] @ self.full[others].T
        if self.thin is None:
            return out
        i, j, r, s = self.codes[some], self.codes[others], self.roots[some], self.roots[others]
        out += (self.thin[some] @ self.thin[others].T).toarray()
        out -= self._along[some][:, j] * s
        out -= r[:, None] * (self._along[others].T[i] - self._lengths[i][:, j] * s)
        return np.asarray(out)

    def all_products(self, n_jobs: int) -> Iterator[Floats]:
        """ZZᵀ, some columns at a time."""
        n = len(self.full)
        parts = [slice(i, i + PANEL) for i in range(0, n, PANEL)]
        return in_order(lambda some: self.products(slice(None), some), parts, n_jobs)

    def times(self, scale: Floats) -> "CentredRows":
        """The same rows, each column times a number."""
        full = self.full * scale[self.places]
        if self.thin is None:
            return replace(self, full=full)
        return replace(self, full=full, thin=scaled(self.thin, scale), means=self.means * scale)

    def scatter(self) -> Floats:
        """ZᵀZ, (d, d)."""
        if self.thin is None:
            return np.asarray(self.full.T @ self.full)
        counts = np.bincount(self.codes, np.square(self.roots), len(self.means))
        S = (self.thin.T @ self.thin).toarray() - (self.means.T * counts) @ self.means
        S[self.places] = (self.thin.T @ self.full).T
        S[:, self.places] = S[self.places].T
        S[np.ix_(self.places, self.places)] = self.full.T @ self.full
        return np.asarray(S)


def sparse_rows(problem: Problem, moments: Moments) -> tuple[CentredRows, Floats]:
    """The rows of a CSR matrix in tame units, and Σ z² of each column."""
    frame, X, codes = moments.frame, problem.X, problem.codes
    n, d = X.shape
    weights = problem.weights if problem.weights.size else np.ones(n)
    weights = np.ldexp(weights, -frame.weight_exponent) / frame.total
    X = scaled(X, power(-frame.exponents))
    means = frame.means + moments.lost
    rows = np.repeat(np.arange(n), np.diff(X.indptr))
    own = codes[rows].astype(np.int64) * d + X.indices  # class and column of each entry
    K = len(means)
    stored = np.bincount(own, minlength=K * d).reshape(K, d)
    weight = np.bincount(own, weights[rows], K * d).reshape(K, d)
    counts = np.bincount(codes, minlength=K)[:, None]
    missing = np.where(stored < counts, np.bincount(codes, weights, K)[:, None] - weight, 0.0)
    about = X.data - means[codes[rows], X.indices]
    spread: Any = np.bincount(X.indices, weights[rows] * np.square(about), d)
    spread += (np.maximum(missing, 0.0) * np.square(means)).sum(axis=0)
    roots = np.sqrt(weights)
    often = stored.sum(axis=0) * STORED > n
    places = np.flatnonzero(often)
    full = (X[:, places].toarray() - means[:, places][codes]) * roots[:, None]
    keep = ~often[X.indices]
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[keep], minlength=n))])
    data = (X.data * roots[rows])[keep]
    thin = sp.csr_array((data, X.indices[keep], starts.astype(np.int32)), X.shape)
    return CentredRows(full, places, thin, np.where(often, 0.0, means), codes, roots), spread
