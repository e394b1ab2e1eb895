"""Walks over rows for steps along the central path of Crammer and Singer's machine.

Arrays are (K, n), a row of them for each class; a chunk of rows is walked over class by class. With
multipliers a, slacks t = ξ − z and d = a/t, a change ds of the scores asks of every row

    m = Σₖ dₖdsₖ / Σₖ dₖ,   daₖ = qₖ + dₖ(dsₖ − m),   dξ = c + m − ds_y,   dtₖ = c + m − dsₖ

where q and c are what the products aₖtₖ are to become: see `aim`.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import inline, kernel
from linsep.parallel import Pool

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]

CHUNK = 256
PARTS = 4  # the rows are cut in so many where they are many, whatever the threads
MANY = 1 << 17  # multipliers from which they are


class CentralPath:
    """Where multipliers and slacks of all rows are, and where a step leads.

    Parameters
    ----------
    codes : class number of each row
    caps : Uᵢ > 0
    n_classes : K
    pool : threads; they change no byte

    Attributes
    ----------
    S, a, xi : scores (K, n), multipliers (K, n) and ξ (n,), all of which a step changes
    t, d, top : slacks and a/t, (K, n), and where a/t is largest, as of the last `evaluate`
    """

    def __init__(self, codes: Array, caps: Floats, n_classes: int, pool: Pool) -> None:
        n, K = len(codes), n_classes
        self._codes, self._caps, self.pool = codes.astype(np.int64), caps, pool
        self.S, self.a, self.xi = np.zeros((K, n)), np.empty((K, n)), np.empty(n)
        self.t, self.d, self.q = np.empty((3, K, n))
        self.da, self.dt = np.zeros((2, K, n))
        self.ds, self.dxi, self._c = np.zeros((K, n)), np.zeros(n), np.empty(n)
        self.top = np.zeros(n, np.int64)
        cuts = [n * k // PARTS for k in range(PARTS + 1)] if n * K > MANY else [0, n]
        self._cuts = list(pairwise(cuts))
        self._out = np.empty((len(self._cuts), 3))

    def begin(self, slack: float) -> None:
        """At scores of zero, every slack at least `slack`, multipliers inverse to them.

        Rows of small caps get more, so that products of both differ less.
        """
        each = slack * np.sqrt(self._caps.max() / self._caps)
        t = np.broadcast_to(each, self.a.shape).copy()
        t[self._codes, np.arange(len(self._codes))] += 1.0
        self.xi[:] = 1.0 + each
        np.divide(1.0, t, out=self.a)
        self.a *= self._caps / self.a.sum(axis=0)

    def _walk(self, kernel: Any, *given: Any) -> Floats:
        calls = [(*given, *cut, out) for cut, out in zip(self._cuts, self._out, strict=True)]
        self.pool.run(kernel, calls)
        return self._out

    def evaluate(self, size: float) -> tuple[float, float, float]:
        """After a part of the last step: Σ aₖtₖ, Σ Uξ of the least ξ, Σ aₖ of other classes."""
        now = (self.S, self.a, self.xi, self._codes, self._caps)
        step = (self.ds, self.da, self.dxi, size)
        total = self._walk(evaluate, *now, *step, self.t, self.d, self.top).sum(axis=0)
        return float(total[0]), float(total[1]), float(total[2])

    def aim(self, mu: float, bent: bool) -> None:
        """Have the next step bring every aₖtₖ to mu; `bent`, less what the last one leaves."""
        given = (self.a, self.t, self.d, self.da, self.dt, mu, bent, self.top)
        self._walk(aim, *given, self.q, self._c)

    def follow(self, ds: Floats) -> tuple[float, float, float]:
        """The step for a change of scores: how far it stays inside, and Σ at after a part x of it,
        less what it is now, as two coefficients, of x and x²."""
        self.ds = ds
        known = (ds, self._codes, self.a, self.t, self.d, self.q, self._c, self.top)
        out = self._walk(follow, *known, self.da, self.dt, self.dxi)
        low = float(out[:, 0].min())
        return (-1.0 / low if low < 0.0 else np.inf), float(out[:, 1].sum()), float(out[:, 2].sum())


@inline(shared=True)
def _rest(values, top, first, last):  # type: ignore[no-untyped-def]
    """values of class `top` ← less those of all others, so that each row adds up to zero"""
    for i in range(first, last):
        total = 0.0
        for k in range(values.shape[0]):
            if k != top[i]:
                total += values[k, i]
        values[top[i], i] = -total


@kernel
def evaluate(S, a, xi, codes, caps, ds, da, dxi, size, t, d, top, first, last, out):  # type: ignore[no-untyped-def]
    K = S.shape[0]
    own, charge = np.empty(CHUNK), np.empty(CHUNK)
    together = charged = away = 0.0
    for start in range(first, last, CHUNK):
        m = min(CHUNK, last - start)
        for k in range(K):
            for i in range(start, start + m):
                S[k, i] += size * ds[k, i]
                a[k, i] += size * da[k, i]
        for i in range(m):
            xi[start + i] += size * dxi[start + i]
            own[i] = S[codes[start + i], start + i]
            charge[i] = 0.0
        for k in range(K):
            for i in range(m):
                t[k, start + i] = xi[start + i] - (S[k, start + i] - own[i] + 1.0)
        for i in range(start, start + m):
            t[codes[i], i] += 1.0
        for k in range(K):
            for i in range(m):
                slack = t[k, start + i]
                together += a[k, start + i] * slack
                charge[i] = max(charge[i], xi[start + i] - slack)
                d[k, start + i] = np.divide(a[k, start + i], slack)
        for i in range(m):
            charged += caps[start + i] * charge[i]
        for i in range(start, start + m):
            most, others = 0, 0.0
            for k in range(K):
                most = k if d[k, i] > d[most, i] else most
                others += 0.0 if k == codes[i] else a[k, i]
            top[i] = most
            away += others
    out[0], out[1], out[2] = together, charged, away


@kernel
def aim(a, t, d, da, dt, mu, bent, top, q, c, first, last, out):  # type: ignore[no-untyped-def]
    K = a.shape[0]
    sums, total = np.empty(CHUNK), np.empty(CHUNK)
    for start in range(first, last, CHUNK):
        m = min(CHUNK, last - start)
        for i in range(m):
            sums[i] = total[i] = 0.0
        for k in range(K):
            for i in range(m):
                j = start + i
                wanted = mu - da[k, j] * dt[k, j] if bent else mu
                q[k, j] = np.divide(wanted, t[k, j]) - a[k, j]
                sums[i] += q[k, j]
                total[i] += d[k, j]
        for i in range(m):
            c[start + i] = np.divide(sums[i], total[i])
        for k in range(K):
            for i in range(start, start + m):
                q[k, i] -= d[k, i] * c[i]
        _rest(q, top, start, start + m)


@kernel
def follow(ds, codes, a, t, d, q, c, top, da, dt, dxi, first, last, out):  # type: ignore[no-untyped-def]
    K = a.shape[0]
    mean, total = np.empty(CHUNK), np.empty(CHUNK)
    low = across = square = 0.0
    for start in range(first, last, CHUNK):
        m = min(CHUNK, last - start)
        for i in range(m):
            mean[i] = total[i] = 0.0
        for k in range(K):
            for i in range(m):
                mean[i] += d[k, start + i] * ds[k, start + i]
                total[i] += d[k, start + i]
        for i in range(m):
            mean[i] = np.divide(mean[i], total[i])
            dxi[start + i] = c[start + i] + mean[i] - ds[codes[start + i], start + i]
        for k in range(K):
            for i in range(m):
                j = start + i
                da[k, j] = q[k, j] + d[k, j] * (ds[k, j] - mean[i])
                dt[k, j] = c[j] + mean[i] - ds[k, j]
        _rest(da, top, start, start + m)  # d(ds - mean) has no digits where nearly all is in d
        for k in range(K):
            for j in range(start, start + m):
                x, y = da[k, j], dt[k, j]
                across += a[k, j] * y + t[k, j] * x
                square += x * y
                low = min(low, np.divide(x, a[k, j]), np.divide(y, t[k, j]))
    out[0], out[1], out[2] = low, across, square
