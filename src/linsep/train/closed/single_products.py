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
from scipy import linalg as sl

from linsep.data.blocks.blocks import on_cluster
from linsep.data.blocks.page_release import rows_of
from linsep.kernels import closed
from linsep.parallel import share_out
from linsep.train.closed.gram import Border, middle_of, symmetric, tiles
from linsep.train.closed.moments import Floats
from linsep.train.closed.normal_equations import SINGLE, Centred, about_mean
from linsep.train.closed.pieces import sum_pieces
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
    some, no = X[first:last], np.empty(0)
    closed.products(some, np.empty((0, 0)), shift, scale, no, weights, Z, G)
    closed.border(
        some, np.ascontiguousarray(Y[rows]), shift, level, weights, own, sums, cross, total
    )
    return G, own, sums, cross, total[0]


def _add(a: Any, b: Any) -> Any:
    G, *sums = a
    G += b[0]
    return G, *(one + other for one, other in zip(sums, b[1:], strict=True))
