"""Correlations of many columns in single precision: half the time of double precision.

In one pass, means, spreads and products with the targets are summed in double precision, and the
products of columns, which take nearly all the time, in single precision. What that costs the
weights is put back by refinement on the rows (`normal_equations`), where the correlations are
well conditioned; some of the rows tell beforehand where they cannot be.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep._compile import inline, kernel
from linsep._scipy import linalg as sl
from linsep.data.blocks.blocks import on_cluster
from linsep.data.blocks.page_release import rows_of
from linsep.data.check.arrays import frozen
from linsep.parallel import share_out
from linsep.train.closed.gram import Border, middle_of
from linsep.train.closed.moments import Floats
from linsep.train.closed.normal_equations import SINGLE, Centred, about_mean
from linsep.train.closed.pieces import sum_pieces
from linsep.train.closed.tiled_products import (
    SINGLES,
    filled,
    multiply,
    symmetric,
    tiles,
    write_row,
)
from linsep.train.problem import Block, Problem

WIDE = 160  # columns from which on their products outweigh the passes of refinement
TALL = 2  # rows for each column, so that correlations can be well conditioned
TRIED = 10  # rows for each column from which on some are tried first
RUN = 256  # rows tried that are next to each other


def single_products(problem: Problem, Y: Floats, fit_intercept: bool) -> Centred | None:
    """The normal equations with S in single precision; None where double precision is wanted."""
    X, (n, d) = problem.X, problem.X.shape
    if sp.issparse(X) or on_cluster(X) or d < WIDE or n < TALL * d or Y.shape[1] > d // 16:
        return None
    shift, level = middle_of(problem, Y, fit_intercept)
    runs = -(-5 * d // (4 * RUN))
    starts = (np.arange(runs) * (n - RUN)) // max(1, runs - 1)
    some = [rows_of(X, np.arange(i, i + RUN)) - shift for i in starts]
    spread = np.sqrt(np.mean([np.einsum("ij,ij->j", Z, Z) for Z in some], axis=0) / RUN)
    scale = np.where(spread > 0, 1.0 / spread, 1.0)
    if not np.isfinite(scale).all() or (n >= TRIED * d and not _promising(some, scale)):
        return None
    part = partial(_part, Y, shift, level, scale)
    G, own, first, cross, total = sum_pieces(problem, part, _add, d, float(n) * d * d, True)
    G = symmetric(G, d)
    sums = Border(own, first, np.ascontiguousarray(cross.T), float(total), shift, level)
    given = about_mean(X, sums, fit_intercept)
    size = own[:d] * np.square(scale) / n
    if given is None or not (size < 1e20).all() or not (size[given.alive] > 1e-20).all():
        return None
    unit = scale[given.alive] * given.spread
    S = G if given.alive.all() else G[np.ix_(given.alive, given.alive)]
    mean = (scale * first[:d] / np.sqrt(total))[given.alive].astype(np.float32)
    if fit_intercept:
        S -= np.outer(mean, mean)
    inverse = (1.0 / unit).astype(np.float32)
    S *= inverse
    S *= inverse[:, None]
    return given._replace(S=S)


def _promising(some: list[Floats], scale: Floats) -> bool:
    """Whether these rows, about a middle, leave each column a part that earlier ones do not explain

    That part is not below the least eigenvalue of the correlations; of 5/4 rows for each column a
    fifth of it is to be seen.
    """

    def products(rows: Floats) -> Any:
        Z = (rows * scale).astype(np.float32)
        return Z.T @ Z

    S = sum(share_out(products, some)) / np.float32(RUN * len(some))
    own = S.diagonal() > 0
    R, failed = sl.lapack.spotrf(S if own.all() else S[np.ix_(own, own)], lower=1, clean=0)
    return not failed and float(np.square(R.diagonal()).min(initial=1.0)) > SINGLE / 5


def _part(
    Y: Floats, shift: Floats, level: Floats, scale: Floats, block: Block, first: int, last: int
) -> Any:
    """Σ w zzᵀ in units of `scale` and single precision, and the sums of `Border`."""
    d, t = len(shift), len(level)
    X: Any = block.rows.X  # type: ignore[union-attr]
    Z, G = tiles(d, np.float32)
    own, sums, cross, total = np.zeros(d + t), np.zeros(d + t), np.zeros((t, d)), np.zeros(1)
    weights = block.weights[first:last] if block.weights.size else block.weights
    rows = slice(block.start + first, block.start + last)
    units = filled(shift, SINGLES), filled(scale, SINGLES)
    border(X[first:last], frozen(Y[rows]), *units, level, weights, Z, G, own, sums, cross, total)
    return G, own, sums, cross, total[0]


def _add(a: Any, b: Any) -> Any:
    G, *sums = a
    G += b[0]
    return G, *(one + other for one, other in zip(sums, b[1:], strict=True))


@kernel
def border(X, Y, shift, scale, level, weights, Z, G, own, first, cross, total):  # type: ignore[no-untyped-def]
    """G += ZᵀZ for Z = √w (x − shift)·scale, in `tiles`; `Border`'s sums in double precision."""
    n, together = X.shape[0], Z.shape[1]
    for begin in range(0, n, together):
        rows = min(together, n - begin)
        for k in range(rows):
            w = weights[begin + k] if weights.shape[0] > 0 else 1.0
            write_row(X, begin + k, shift, scale, np.sqrt(w), Z, k)
            total[0] += w
        for k in range(begin, begin + rows, 4):
            add_four(X, Y, shift, level, weights, k, begin + rows, own, first, cross)
        multiply(Z, rows, G)


@inline
def add_four(X, Y, shift, level, weights, i, end, own, first, cross):  # type: ignore[no-untyped-def]
    """The sums of `Border` over rows i..i + 3, as far as they are before the end."""
    d, last = X.shape[1], end - 1
    i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
    w0, w1, w2, w3 = 1.0, 1.0, 1.0, 1.0
    if weights.shape[0] > 0:
        w0, w1, w2, w3 = weights[i], weights[i1], weights[i2], weights[i3]
    w1 = w1 if i + 1 < end else 0.0
    w2 = w2 if i + 2 < end else 0.0
    w3 = w3 if i + 3 < end else 0.0
    for j in range(d):
        z0, z1 = X[i, j] - shift[j], X[i1, j] - shift[j]
        z2, z3 = X[i2, j] - shift[j], X[i3, j] - shift[j]
        own[j] += (w0 * z0 * z0 + w1 * z1 * z1) + (w2 * z2 * z2 + w3 * z3 * z3)
        first[j] += (w0 * z0 + w1 * z1) + (w2 * z2 + w3 * z3)
    for c in range(Y.shape[1]):
        y0, y1 = Y[i, c] - level[c], Y[i1, c] - level[c]
        y2, y3 = Y[i2, c] - level[c], Y[i3, c] - level[c]
        r0, r1, r2, r3 = w0 * y0, w1 * y1, w2 * y2, w3 * y3
        own[d + c] += (r0 * y0 + r1 * y1) + (r2 * y2 + r3 * y3)
        first[d + c] += (r0 + r1) + (r2 + r3)
        for j in range(d):
            z0, z1 = X[i, j] - shift[j], X[i1, j] - shift[j]
            z2, z3 = X[i2, j] - shift[j], X[i3, j] - shift[j]
            cross[c, j] += (r0 * z0 + r1 * z1) + (r2 * z2 + r3 * z3)
