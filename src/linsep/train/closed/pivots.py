"""Cholesky's factor of the products of rows that may depend on each other, panel by panel.

The rows that stand out most from those already taken come next, so that those that depend on them
are left over at the end: G = LLᵀ, with L of as many columns as there are independent rows.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg as sl

from linsep.parallel import share_out
from linsep.train.closed.moments import Floats

PANEL = 256  # rows taken at a time
CHUNK = 1024  # rows multiplied at a time
LEAST = 1e-9
"""Share of the largest row's square that one keeps beside the rows taken, if it is independent."""
NOTHING = 1e-11  # and the share that is nothing but rounding


class Pivots(NamedTuple):
    """L, (m, r), of the rows in this order, of which the first r are independent."""

    order: Any
    L: Floats

    @property
    def rank(self) -> int:
        """How many rows are independent."""
        return self.L.shape[1]

    @property
    def dependent(self) -> Floats:
        """L₂L₁⁻¹, by which the other rows are made of the independent ones."""
        return self.solve(self.L[self.rank :].T, back=True).T

    def solve(self, V: Floats, back: bool = False) -> Floats:
        """L₁⁻¹V, or L₁⁻ᵀV."""
        lead = self.L[: self.rank].T
        return np.asarray(sl.lapack.dtrtrs(lead, V, lower=0, trans=int(not back))[0])


def pivots(
    squares: Floats, products: Callable[[Any, Any], Floats], n_jobs: int | None = 1
) -> Pivots | None:
    """The factor; None where some row is neither independent of the others nor a sum of them.

    Parameters
    ----------
    squares : (m,) diagonal of G
    products : G[i, j] for rows i and columns j
    n_jobs : threads; they never change the result

    Examples
    --------
    >>> Z = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 3.0]])
    >>> G = Z @ Z.T
    >>> order, L = pivots(G.diagonal(), lambda i, j: G[i][:, j])
    >>> order, np.allclose(L @ L.T, G[order][:, order])
    (array([2, 1, 0]), True)
    """
    m, k = len(squares), 0
    order, left, largest = np.arange(m), squares.copy(), float(squares.max(initial=0.0))
    if not 0 < largest < np.inf:
        return None
    L = np.zeros((m, m))
    while (top := left[k:].max(initial=0.0)) > NOTHING * largest:
        if top <= LEAST * largest:
            return None
        count = min(PANEL, m - k)
        new, head = k + np.argsort(-left[k:], kind="stable")[:count], np.arange(k, k + count)
        now = np.concatenate([new, np.setdiff1d(head, new)])
        then = np.concatenate([head, np.setdiff1d(new, head)])
        order[then], left[then], L[then, :k] = order[now], left[now], L[now, :k]
        panel = _panel(products, order, L[:, :k], count, n_jobs)
        c, taken, rank, _ = sl.lapack.dpstrf(panel[:count], lower=1, tol=LEAST * largest)
        taken = taken - 1
        for numbers in (order, left):
            numbers[k : k + count] = numbers[k : k + count][taken]
        L[k : k + count, :k] = L[k : k + count, :k][taken]
        panel[:count] = panel[:count][taken]
        own = sl.solve_triangular(c[:rank, :rank], panel[:, taken[:rank]].T, lower=True).T
        own[:rank] = np.tril(own[:rank])
        L[k:, k : k + rank] = own
        left[k:] -= np.einsum("ij,ij->i", own, own)
        k += rank
    short = L.reshape(-1)[: m * k].reshape(m, k)
    for i in range(m if k < m else 0):  # in place: the matrix may be most of the memory
        short[i] = L[i, :k]
    return Pivots(order, short)


def _panel(
    products: Callable[[Any, Any], Floats], order: Any, L: Floats, count: int, n_jobs: int | None
) -> Floats:
    """What the next `count` columns of G hold beside LLᵀ, in the rows not taken yet."""
    m, k = L.shape
    lead, columns = L[k : k + count].T, order[k : k + count]

    def part(first: int) -> Floats:
        some = slice(first, min(m, first + CHUNK))
        return products(order[some], columns) - L[some] @ lead

    return np.concatenate(share_out(part, range(k, m, CHUNK), n_jobs))
