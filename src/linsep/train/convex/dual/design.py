"""What all two-class problems on the same rows share: their layout, moments, centre and lengths."""

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.rows.rows import CSR
from linsep.train.convex.dual import kernels as compiled
from linsep.train.convex.dual.kernels import SHIFT, SQUARE, Centred, Lane

Array = npt.NDArray[Any]

SMALL = 200_000  # entries that fit near the processor: no lanes, no copies, no blocks
SAMPLE = 1024  # rows from which second moments and the centre are estimated
MEDIAN = 255  # rows of which the median is taken


class Design:
    """Rows as the descent reads them.

    Sparse rows have their features numbered anew, those of largest second moment first: the weights
    most used then lie together, and a lane knows the crowded ones by their number. Their values are
    not copied. Rows more than half full are written out.

    Parameters
    ----------
    X : checked array or CSR matrix
    centred : whether a centre is taken off the rows on the way, as a free intercept allows
    pool : threads that share the work

    Attributes
    ----------
    rows : the rows
    shape, entries : of X; how many numbers a pass over all rows reads
    second_moments : mean x² of each feature, falling; empty for dense rows
    square : mean ‖x‖²
    centre : μ where it has to be taken off by whoever uses the rows; empty otherwise
    """

    def __init__(self, X: Any, centred: bool, pool: Pool) -> None:
        if sp.issparse(X) and 2 * X.nnz > X.shape[0] * X.shape[1]:
            X = X.toarray()
        n, d = self.shape = X.shape
        self._numbers: Array | None = None
        self._sample = np.arange(0, n, max(1, n // SAMPLE), dtype=np.uint32)
        self.second_moments = self.centre = np.empty(0)
        self.rows: CSR | Centred
        if sp.issparse(X):
            self.entries = int(X.nnz)
            self.rows = _csr(X)
            self.second_moments, mean = np.zeros(d), np.zeros(d)
            compiled.feature_moments(self.rows, self._sample, self.second_moments, mean)
            self.second_moments /= len(self._sample)
            self.centre = mean / len(self._sample) if centred else self.centre
            if self.entries >= SMALL:
                self._renumber(pool)
        else:
            self.entries = X.size
            self.rows = Centred(X, middle(X) if centred else np.zeros(d))
        self.square = float(self.second_moments.sum())

    def features(self, w: Array) -> Array:
        """Weights in the order of the features of X."""
        return w if self._numbers is None else w[self._numbers]

    @property
    def far(self) -> float:
        """‖μ‖, however it is taken off."""
        centre = self.rows.centre if isinstance(self.rows, Centred) else self.centre
        return float(compiled.inner(centre, centre)) ** 0.5

    def shift(self, w: Array) -> float:
        """⟨μ, w⟩, what an intercept for centred rows has too much for the rows themselves."""
        centre = self.rows.centre if isinstance(self.rows, Centred) else self.centre
        return float(compiled.inner(centre, w)) if len(centre) else 0.0

    @cached_property
    def lengths(self) -> Array:
        """‖x − μ‖² and ⟨x, μ⟩ of each row, in two columns."""
        return self._measured(np.arange(self.shape[0], dtype=np.uint32))

    @cached_property
    def typical(self) -> float:
        """The median of ‖x − μ‖² over some rows."""
        known = self.lengths[self._sample] if self.entries < SMALL else self._measured(self._sample)
        middle = (len(known) - 1) // 2
        return float(np.partition(known[:, 0], middle)[middle])

    def _measured(self, chosen: Array) -> Array:
        points = np.zeros((self.shape[0], 8))
        lane = Lane(0.0, 0.0, compiled.inner(self.centre, self.centre), 0.0, 0.0, 1)
        rows = (self.rows, points, chosen, chosen, self.centre, lane)
        compiled.measure(*rows, 0, len(chosen))
        known = points[:, [SQUARE, SHIFT]]
        return known if len(chosen) == len(known) else known[chosen]

    def _renumber(self, pool: Pool) -> None:
        # Sixteen leading bits order well enough, and are sorted in no time.
        leading = (self.second_moments.view(np.uint64) >> 48).astype(np.uint16)
        order = np.argsort(0xFFFF - leading, kind="stable")
        self._numbers = np.empty(len(order), np.uint32)
        self._numbers[order] = np.arange(len(order), dtype=np.uint32)
        rows: Any = self.rows
        old = rows.indices
        new = np.empty_like(old)
        known = (old, self._numbers, new)
        half = len(old) // 2
        pool.run(compiled.renumber, [(*known, 0, half), (*known, half, len(old))])
        self.rows = rows._replace(indices=new)
        self.second_moments = self.second_moments[order]
        self.centre = self.centre[order] if len(self.centre) else self.centre


def middle(X: Any) -> Array:
    """A centre of the rows that no outlier moves: the median of some of them."""
    some = X[:: max(1, X.shape[0] // MEDIAN)]
    some = some.toarray() if sp.issparse(some) else some
    return np.median(some.astype(np.float64), axis=0)


def _csr(X: Any) -> CSR:
    """Sparse rows, their pointers unsigned too: that saves a guard at each access."""
    indptr = X.indptr.astype(np.int64, copy=False).view(np.uint64)
    return CSR(X.data, X.indices.view(np.uint32), indptr)
