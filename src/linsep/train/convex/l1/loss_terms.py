"""Losses of scores with their first two derivatives, and the dual terms of multipliers.

ℓ(z) = c log(1 + e^{−z}),   z = y(s + b),   α = cσ(−z),   D = cσ(z)σ(−z)
E(α) = Σ c H(α/c),   H(u) = −u log u − (1 − u) log(1 − u)
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import inline, kernel
from linsep.data.blocks.blocks import BLOCK
from linsep.parallel import Pool, add_up
from linsep.train.convex.sigmoid import exp_of_negative, log_of_one_plus
from linsep.train.run.state import record

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

CHUNK = 256
TOGETHER = 8  # blocks that a thread takes at a time


@record
class Terms(NamedTuple):
    """What the scores of all rows give.

    Attributes
    ----------
    loss : Σ ℓ
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


def terms_of(S: Floats, b: float, signs: Array, c: Floats, pool: Pool) -> Terms:
    """All terms at scores S + b; the same bytes for any number of threads."""
    n = len(S)
    count = -(-n // BLOCK)
    parts = np.empty((count, 3))
    pull, curved = np.empty(n), np.empty(n)

    def some(first: int) -> None:
        last = min(count, first + TOGETHER)
        _terms(S, b, signs, c, first, last, pull, curved, parts)

    pool.map(some, range(0, count, TOGETHER))
    loss, plus, minus = add_up(parts)
    return Terms(float(loss), float(plus), float(minus), pull, curved)


def entropy(pull: Floats, c: Floats, share: float, pool: Pool) -> float:
    """E(share · α)"""
    count = -(-len(pull) // BLOCK)
    parts = np.empty(count)

    def some(first: int) -> None:
        _entropies(pull, c, share, first, min(count, first + TOGETHER), parts)

    pool.map(some, range(0, count, TOGETHER))
    return float(add_up(parts))


@kernel
def _terms(S, b, signs, c, first, last, pull, curved, parts):  # type: ignore[no-untyped-def]
    z, tail, log = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    whole = np.empty(CHUNK, np.int64)
    power = whole.view(np.float64)
    for k in range(first, last):
        loss = plus = minus = 0.0
        for start in range(k * BLOCK, min(S.shape[0], (k + 1) * BLOCK), CHUNK):
            m = min(CHUNK, min(S.shape[0], (k + 1) * BLOCK) - start)
            for i in range(m):
                z[i] = (S[start + i] + b) * signs[start + i]
                tail[i] = -abs(z[i])
            exp_of_negative(tail[:m], whole, power)
            log_of_one_plus(tail[:m], log)
            for i in range(m):
                weight = c[0 if c.shape[0] == 1 else start + i]
                inverse = np.divide(1.0, 1.0 + tail[i])
                alpha = weight * inverse * (tail[i] if z[i] > 0 else 1.0)
                loss += weight * (log[i] + max(0.0, -z[i]))
                up = 1.0 if signs[start + i] > 0 else 0.0
                plus += alpha * up
                minus += alpha * (1.0 - up)
                pull[start + i] = alpha * signs[start + i]
                curved[start + i] = weight * tail[i] * inverse * inverse
        parts[k, 0], parts[k, 1], parts[k, 2] = loss, plus, minus


@kernel
def feasible(pull, signs, c, balanced, out):  # type: ignore[no-untyped-def]
    """αy with 0 ≤ α ≤ c; with `balanced`, the heavier sign is shrunk to the weight of the other."""
    plus = minus = 0.0
    for i in range(pull.shape[0]):
        alpha = min(max(pull[i] * signs[i], 0.0), c[0 if c.shape[0] == 1 else i])
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
def _entropies(pull, c, share, first, last, parts):  # type: ignore[no-untyped-def]
    for k in range(first, last):
        total = 0.0
        for i in range(k * BLOCK, min(pull.shape[0], (k + 1) * BLOCK)):
            weight = c[0 if c.shape[0] == 1 else i]
            if weight > 0.0:
                u = share * abs(pull[i]) / weight
                if 0.0 < u < 1.0:
                    total += weight * _binary_entropy(u)
        parts[k] = total


@inline(shared=True)
def _binary_entropy(u):  # type: ignore[no-untyped-def]
    return -u * math.log(u) - (1.0 - u) * math.log1p(-u)
