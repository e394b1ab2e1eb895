"""Losses of labelled rows, dense or sparse, and products with them, as Newton's method by conjugate
gradients asks: all of them sums over fixed spans of rows.

    zᵢ = yᵢ(⟨w, xᵢ⟩ + b),  αᵢ = −Uᵢφ′(zᵢ),  Dᵢ = Uᵢφ″(zᵢ)     pull  Σ αᵢyᵢx̃ᵢ,    x̃ = (x, 1)
    curve  Σ Dᵢ⟨p, x̃ᵢ⟩x̃ᵢ        squares  Σ Dᵢx̃ᵢ²        products  Σ Dᵢx̃ᵢx̃ᵢᵀ, perhaps by a sample

Spans depend on the shape of X alone (`linsep.data.blocks.blocks.sum_spans`) and their sums are
added along a fixed tree: neither threads nor the workers of a cluster change a byte. Entries are
read once for a product, in the type they have; sums are carried in float64.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster, sum_spans
from linsep.data.blocks.page_release import PageRelease, room_for
from linsep.parallel import Pool
from linsep.train.convex.coordinates import Blocks, Columns
from linsep.train.convex.losses import Logistic
from linsep.train.convex.newton import frequent_columns, row_kernels
from linsep.train.convex.newton.near_kinks import NearKinks, Pieces
from linsep.train.convex.newton.row_layouts import Dense, Sparse
from linsep.train.convex.newton.row_numbers import RowNumbers
from linsep.train.convex.sampling import drawn

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Span = tuple[int, int]

TOGETHER = 2048
"""Rows whose products are added to others at a time."""
ROUNDS = 20
"""In which the chances of rows are raised, at most."""
_REST = 8


class LossSums(NamedTuple):
    """The sums of one evaluation over all rows; pairs hold the rows of sign +1 and of sign −1.

    Attributes
    ----------
    smooth, loss : Σ Uφ of the smooth loss, and Σ Uℓ of the one asked for
    weight : Σ α, a pair
    dual : −Σ Uℓ*(−α/U), a pair
    tail : Σ αz
    curved : rows with D > 0
    pulled : Σ αyx̃, a pair of rows
    """

    smooth: float
    loss: float
    weight: Floats
    dual: Floats
    tail: float
    curved: int
    pulled: Floats


class RowProducts:
    """Labelled rows of a checked array or CSR matrix.

    Parameters
    ----------
    X : checked array or CSR matrix, or rows on a cluster
    signs : −1 or +1 for each row
    caps : Uᵢ of each row, or one for all in an array of length one
    pool : threads that share the spans
    columns : shift and scale of dense columns

    Examples
    --------
    >>> from linsep.train.convex.losses import SquaredHinge
    >>> X, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, -1], np.int8)
    >>> rows, loss = RowProducts(X, y, np.ones(1), Pool(1)), SquaredHinge()
    >>> sums = rows.evaluate(np.zeros(3), loss, loss)
    >>> sums.loss, sums.weight, sums.pulled[0]
    (2.0, array([2., 2.]), array([2., 4., 2.]))
    >>> rows.curve(np.array([0.0, 0.0, 1.0]))
    array([ 8., 12.,  4.])
    """

    def __init__(
        self, X: Any, signs: Array, caps: Floats, pool: Pool, columns: Columns | None = None
    ) -> None:
        self.X, self.signs, self.caps, self.pool = X, signs, caps, pool
        self.n, self.d = X.shape
        self.sparse = sp.issparse(X)
        self.entries = int(X.nnz) if self.sparse else self.n * self.d
        self.spans = sum_spans(self.n, self.d, self.entries)
        self._pages = PageRelease(X)
        self._numbers = RowNumbers(X)
        self._blocks = Blocks(X, columns or Columns(np.empty(0), np.empty(0)))
        self._whole: Any = None
        if self.sparse and not on_cluster(X):
            places = X.indices.astype(np.int32, copy=False).view(np.uint32)
            self._whole = Sparse(X.data, places, X.indptr.astype(np.uint64))
        self._u: Floats = np.empty(0)
        self._smooth: Any = None
        self._loss: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """What goes to the workers of a cluster: not the list of all spans."""
        return {**self.__dict__, "spans": None}

    def _part(self, span: Span) -> tuple[Any, Array, Floats]:
        """Rows, signs and caps of a span."""
        start, stop = span
        self._pages.advance(stop - start)
        caps = self.caps if len(self.caps) == 1 else self.caps[start:stop]
        return self._rows(start, stop), self.signs[start:stop], caps

    def _rows(self, start: int, stop: int) -> Any:
        if not self.sparse:
            return Dense(self._blocks.rows(slice(start, stop)))
        if self._whole is not None:
            return self._whole._replace(indptr=self._whole.indptr[start : stop + 1])
        data, indices, indptr = self.X.entries(start, stop)
        places = indices.astype(np.int32, copy=False).view(np.uint32)
        return Sparse(data, places, indptr.astype(np.uint64))

    def evaluate(self, u: Floats, smooth: Any, loss: Any) -> LossSums:
        """One pass at (w, b), b last in `u`: later products are with the curvatures there."""
        self._u, self._smooth, self._loss = u, smooth, loss
        self._numbers.begin()
        d = self.d

        def one(span: Span) -> Floats:
            rows, y, caps = self._part(span)
            z, D, alpha = np.empty((3, span[1] - span[0]))
            out = np.zeros(_REST + 2 * (d + 1))
            row_kernels.scores(rows, y, u, z)
            _losses(smooth, loss, z, y, caps, alpha, D, out)
            row_kernels.pull(rows, alpha, y, out[_REST:].reshape(2, d + 1))
            self._numbers.keep(span, z, D)
            return out

        s = self.pool.sum(one, self.spans)
        pulled = s[_REST:].reshape(2, d + 1)
        return LossSums(float(s[0]), float(s[1]), s[2:4], s[4:6], float(s[6]), int(s[7]), pulled)

    def _known(self, span: Span) -> tuple[Floats, Floats]:
        """z and D of a span at the point looked at last."""

        def make() -> tuple[Floats, Floats]:
            rows, y, caps = self._part(span)
            z, D, alpha = np.empty((3, span[1] - span[0]))
            row_kernels.scores(rows, y, self._u, z)
            _losses(self._smooth, self._loss, z, y, caps, alpha, D, np.zeros(_REST))
            return z, D

        return self._numbers.of(span, make)

    def shrunk_dual(self, shrink: Floats) -> Floats:
        """−Σ Uℓ*(−rα/U) where all rows were looked at last, r of either class; a pair."""
        smooth, loss = self._smooth, self._loss

        def one(span: Span) -> Floats:
            out, (start, stop) = np.zeros(2), span
            caps = self.caps if len(self.caps) == 1 else self.caps[start:stop]
            row_kernels.shrunk(
                smooth, loss, self._known(span)[0], self.signs[start:stop], caps, shrink, out
            )
            return out

        return self.pool.sum(one, self.spans)

    def along(self, u: Floats, smooth: Any, step: Floats, sizes: Floats) -> Floats:
        """Σ Uφ at u + t·step for each size t."""

        def one(span: Span) -> Floats:
            rows, y, caps = self._part(span)
            (z, turned), out = np.empty((2, span[1] - span[0])), np.zeros(len(sizes))
            row_kernels.scores(rows, y, u, z)
            row_kernels.scores(rows, y, step, turned)
            row_kernels.along(smooth, z, turned, sizes, caps, out)
            return out

        return self.pool.sum(one, self.spans)

    def curve(self, p: Floats) -> Floats:
        """Σ Dᵢ⟨p, x̃ᵢ⟩x̃ᵢ: the Hessian of the losses times p."""

        def one(span: Span) -> Floats:
            out = np.zeros(self.d + 1)
            row_kernels.curve(self._part(span)[0], self._known(span)[1], p, out)
            return out

        return self.pool.sum(one, self.spans)

    def squares(self) -> Floats:
        """Σ Dᵢx̃ᵢ², column by column: the diagonal of the Hessian of the losses."""

        def one(span: Span) -> Floats:
            out = np.zeros(self.d + 1)
            row_kernels.squares(self._part(span)[0], self._known(span)[1], out)
            return out

        return self.pool.sum(one, self.spans)

    def frequent_products(self, k: int) -> Floats:
        """Σ Dᵢx̃ᵢx̃ᵢᵀ of the first k columns of sparse rows and the intercept, its upper triangle.

        The rows of either half of the spans are added up one after the other: the matrices may be
        larger than the rows.
        """
        half = -(-len(self.spans) // 2)
        longest = int(np.diff(self._whole.indptr).max(initial=0))

        def one(some: list[Span]) -> Floats:
            H = np.zeros((k + 1, k + 1))
            places, values = np.empty(longest + 1, np.uint32), np.empty(longest + 1)
            for span in some:
                rows, D = self._part(span)[0], self._known(span)[1]
                frequent_columns.add_products(rows, D, k, places, values, H)
            return H

        halves = [self.spans[:half], self.spans[half:]]
        first, *more = self.pool.map(one, [some for some in halves if some])
        return first + more[0] if more else first

    def rate(self, wanted: int) -> float:
        """λ with which about `wanted` rows are drawn by the chances min(1, λDᵢ)."""

        def beyond(span: Span) -> Floats:
            D = self._known(span)[1]
            sure = D * rate >= 1.0
            return np.array([np.count_nonzero(sure), D[~sure].sum()])

        rate = 0.0
        for _ in range(ROUNDS):
            sure, rest = self.pool.sum(beyond, self.spans)
            more = (wanted - sure) / rest if rest > 0.0 else math.inf
            if not more > 1.05 * rate:
                break
            rate = float(more)
        return rate

    def products(self, rate: float = math.inf, real: Any = np.float64) -> Floats:
        """Σ (Dᵢ/cᵢ)x̃ᵢx̃ᵢᵀ in the type `real`, over rows drawn with the chances cᵢ = min(1, λDᵢ).

        A row that bends the losses more than others is taken for certain: with a weak penalty few
        rows near the boundary hold all of the Hessian.
        """
        H = np.zeros((self.d + 1, self.d + 1))
        for part, D in self._drawn(rate):
            B = np.empty((len(D), self.d + 1), real)
            row_kernels.weigh(part, D, B)
            H += B.T @ B
        return H

    def _drawn(self, rate: float) -> Iterator[tuple[Array, Floats]]:
        """Rows that are drawn, with Dᵢ/cᵢ, so many at a time."""

        def rows(span: Span) -> tuple[Any, Floats]:
            D = self._known(span)[1]
            places = np.flatnonzero(D)
            if rate < math.inf:
                chance = np.minimum(1.0, rate * D)
                places = np.flatnonzero(drawn(chance, span[0]))
                D = D / np.where(chance > 0.0, chance, 1.0)
            there = span[0] + places
            return self.X[there] if self.sparse else self._blocks.rows(there), D[places]

        held: list[tuple[Any, Floats]] = []
        for part, D in self.pool.in_order(rows, self.spans):
            held.append((part.toarray() if sp.issparse(part) else part, D))
            while sum(len(one[1]) for one in held) >= TOGETHER:
                X, D = (np.concatenate(both) for both in zip(*held, strict=True))
                yield X[:TOGETHER], D[:TOGETHER]
                held = [(X[TOGETHER:], D[TOGETHER:])]
        if held:
            X, D = (np.concatenate(both) for both in zip(*held, strict=True))
            yield X, D

    def near_kinks(self, loss: Pieces, step: Floats, reach: float, most: int) -> NearKinks:
        """The rows that a step `reach` times as long as this one takes across a kink of the loss,
        where all rows were looked at last; not many more than `most`, those that get there first.
        """

        def ahead(span: Span) -> tuple[Floats, Array]:
            part, y, _ = self._part(span)
            along = np.empty(span[1] - span[0])
            row_kernels.scores(part, y, step, along)
            part_of = loss.distance(self._known(span)[0]) / np.maximum(np.abs(along), 1e-300)
            places = np.flatnonzero(part_of <= reach)
            return part_of[places], span[0] + places

        far, chosen, nearest = np.empty(0), np.empty(0, np.int64), reach
        for more, places in self.pool.in_order(ahead, self.spans):
            near = more <= nearest
            far, chosen = np.append(far, more[near]), np.append(chosen, places[near])
            if len(far) > 2 * most:
                nearest = float(np.partition(far, most)[most])
                far, chosen = far[far <= nearest], chosen[far <= nearest]
        if len(far) > most:
            chosen = chosen[far <= np.partition(far, most)[most]]

        def rows(span: Span) -> tuple[Array, Floats, Floats]:
            there = chosen[slice(*np.searchsorted(chosen, span))]
            near = self.X[there].toarray() if self.sparse else self._blocks.rows(there)
            signed = np.ones((len(there), self.d + 1))
            signed[:, :-1] = near
            signed *= self.signs[there, None]
            caps = self.caps[there] if len(self.caps) > 1 else np.full(len(there), self.caps[0])
            return signed, self._known(span)[0][there - span[0]], caps

        parts = self.pool.in_order(rows, self.spans)
        return NearKinks(*(np.concatenate(some) for some in zip(*parts, strict=True)))

    def multipliers(self, u: Floats, smooth: Any, shrink: Floats) -> Array:
        """αᵢ of all rows at u, those of each class times its number; in a file where rows are."""
        out = room_for(np.broadcast_to(np.float64(0), (self.n,)), self.X)
        pages = PageRelease(out)

        def one(span: Span) -> Floats:
            rows, y, caps = self._part(span)
            z, D, alpha = np.empty((3, span[1] - span[0]))
            row_kernels.scores(rows, y, u, z)
            _losses(smooth, self._loss, z, y, caps, alpha, D, np.zeros(_REST))
            return np.asarray(alpha * np.where(y > 0, *shrink))

        for span, alpha in zip(self.spans, self.pool.in_order(one, self.spans), strict=True):
            out[slice(*span)] = alpha
            pages.advance(len(alpha))
        return np.asarray(out)


def _losses(smooth: Any, loss: Any, *numbers: Any) -> None:
    """α and D of each row, and the sums of `LossSums`, from the margins."""
    if isinstance(smooth, Logistic):
        row_kernels.logistic_losses(smooth, *numbers)
    else:
        row_kernels.losses(smooth, loss, *numbers)
