"""A number for each row that only its entries decide: equal rows have equal hashes."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK

Array = npt.NDArray[Any]


def row_hashes(X: Any) -> Array:
    """Σⱼ mix(xⱼ)·mⱼ modulo 2⁶⁴, with odd mⱼ; dense and sparse rows have the same.

    >>> X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]])
    >>> one, two = row_hashes(X), row_hashes(sp.csr_array(X))
    >>> bool(one[0] == one[2]), bool(one[0] == one[1]), bool((one == two).all())
    (True, False, True)
    """
    n, d = X.shape
    odd = np.random.Generator(np.random.Philox(key=1)).integers(0, 1 << 63, d, np.uint64) * 2 + 1
    if sp.issparse(X):
        entries = _mix(X.data) * odd[X.indices]
        upto = np.append(np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64))
        return np.asarray(upto[X.indptr[1:]] - upto[X.indptr[:-1]])
    hashes = np.empty(n, np.uint64)
    for start in range(0, n, BLOCK):
        part = _mix(X[start : start + BLOCK]) * odd
        hashes[start : start + BLOCK] = part.sum(axis=1, dtype=np.uint64)
    return hashes


def _mix(values: Array) -> Array:
    """The bits of a number stirred, so that short binary fractions differ in low bits too."""
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # + 0.0: minus zero is zero
    bits = (bits ^ (bits >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return np.asarray(bits ^ (bits >> np.uint64(32)))
