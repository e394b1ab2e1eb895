"""Losses of scores with their first two derivatives, and the dual terms of multipliers.

z = y(s + b),   α = −cℓ′(z),   D = cℓ″(z),   E(α) = Σ −cℓ*(−α/c)
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.data.blocks.blocks import BLOCK
from linsep.parallel import Pool, add_up
from linsep.train.convex.losses import Logistic, SquaredHinge, dual, most, several
from linsep.train.run.state import record

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Smooth = Logistic | SquaredHinge

CHUNK = 256
TOGETHER = 8  # blocks that a thread takes at a time


@record
class Terms(NamedTuple):
    """What the scores of all rows give.

    Attributes
    ----------
    loss : Σ cℓ
    plus, minus : Σ α over the rows of either sign
    pull : (n,) αy, the multipliers with the signs of their rows
    curved : (n,) D
    """

    loss: float
    plus: float
    minus: float
    pull: Floats
    curved: Floats

    @property
    def slope(self) -> float:
        """The derivative in b."""
        return self.minus - self.plus


def terms_of(loss: Smooth, S: Floats, b: float, signs: Array, c: Floats, pool: Pool) -> Terms:
    """All terms at scores S + b; the same bytes for any number of threads."""
    n = len(S)
    count = -(-n // BLOCK)
    parts = np.empty((count, 3))
    pull, curved = np.empty(n), np.empty(n)

    def some(first: int) -> None:
        last = min(count, first + TOGETHER)
        _terms(loss, S, b, signs, c, first, last, pull, curved, parts)

    if count <= TOGETHER:
        some(0)
    else:
        pool.map(some, range(0, count, TOGETHER))
    total, plus, minus = parts[0] if count == 1 else add_up(parts)
    return Terms(float(total), float(plus), float(minus), pull, curved)


def dual_terms(loss: Smooth, pull: Floats, c: Floats, share: float, pool: Pool) -> float:
    """E(share · α)"""
    count = -(-len(pull) // BLOCK)
    parts = np.empty(count)

    def some(first: int) -> None:
        _dual_terms(loss, pull, c, share, first, min(count, first + TOGETHER), parts)

    if count <= TOGETHER:
        some(0)
    else:
        pool.map(some, range(0, count, TOGETHER))
    return float(add_up(parts))


@kernel
def _terms(loss, S, b, signs, c, first, last, pull, curved, parts):  # type: ignore[no-untyped-def]
    z, value, u, bend = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    whole = np.empty(CHUNK, np.int64)
    for k in range(first, last):
        total = plus = minus = 0.0
        for start in range(k * BLOCK, min(S.shape[0], (k + 1) * BLOCK), CHUNK):
            m = min(CHUNK, min(S.shape[0], (k + 1) * BLOCK) - start)
            for i in range(m):
                z[i] = (S[start + i] + b) * signs[start + i]
            several(loss, z[:m], value[:m], u[:m], bend[:m], whole)
            for i in range(m):
                weight = c[0 if c.shape[0] == 1 else start + i]
                alpha = weight * u[i]
                total += weight * value[i]
                up = 1.0 if signs[start + i] > 0 else 0.0
                plus += alpha * up
                minus += alpha * (1.0 - up)
                pull[start + i] = alpha * signs[start + i]
                curved[start + i] = weight * bend[i]
        parts[k, 0], parts[k, 1], parts[k, 2] = total, plus, minus


@kernel
def feasible(loss, pull, signs, c, balanced, out):  # type: ignore[no-untyped-def]
    """αy with 0 ≤ α ≤ c·most; with `balanced`, the heavier sign is shrunk to the other's weight."""
    plus = minus = 0.0
    for i in range(pull.shape[0]):
        weight = c[0 if c.shape[0] == 1 else i]
        alpha = min(max(pull[i] * signs[i], 0.0), weight * most(loss) if weight > 0.0 else 0.0)
        out[i] = alpha * signs[i]
        if signs[i] > 0:
            plus += alpha
        else:
            minus += alpha
    if not balanced or plus == minus:
        return
    heavy = 1 if plus > minus else -1
    share = minus / plus if plus > minus else plus / minus
    for i in range(pull.shape[0]):
        if signs[i] * heavy > 0:
            out[i] *= share


@kernel
def _dual_terms(loss, pull, c, share, first, last, parts):  # type: ignore[no-untyped-def]
    for k in range(first, last):
        total = 0.0
        for i in range(k * BLOCK, min(pull.shape[0], (k + 1) * BLOCK)):
            weight = c[0 if c.shape[0] == 1 else i]
            if weight > 0.0:
                total += weight * dual(loss, share * abs(pull[i]) / weight)
        parts[k] = total
