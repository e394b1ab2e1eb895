"""Dense rows in drafts of eight bits, which tell most scores well enough to leave a row alone.

Row x is drafted as m q/127 with m = max |xⱼ| and whole numbers q from −127 to 127. By
Cauchy-Schwarz the score of the draft is off by at most ‖w‖ ‖x − m q/127‖, and by what rounding
adds. Where that cannot change what a rule decides, the row itself, four or eight times as many
bytes, need not be read. Where it can, it is: drafts save time and never change an answer.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import by_type, kernel
from linsep.data.blocks.blocks import spans
from linsep.parallel import in_order

Array = npt.NDArray[Any]

FEWEST, MOST = 1 << 21, 1 << 28  # numbers in the rows, between which a draft is made of them
NARROW = 32  # features below which it would save nothing


class Draft(NamedTuple):
    """Drafts of rows: whole numbers, the unit m/127, and how far off per unit of ‖w‖."""

    Q: Array
    unit: Array
    slack: Array

    def drafted(self):  # type: ignore[no-untyped-def]
        return True

    def guess(self, i, w):  # type: ignore[no-untyped-def]
        s = w.dtype.type(0)
        for j in range(w.shape[0]):
            s += w.dtype.type(self.Q[i, j]) * w[j]
        return self.unit[i] * s

    def off(self, i, length):  # type: ignore[no-untyped-def]
        return self.slack[i] * length

    def reach(self, w):  # type: ignore[no-untyped-def]
        total = 0.0
        for j in range(w.shape[0]):
            total += float(w[j]) * float(w[j])
        length = 1.0001 * np.sqrt(total)
        return max(length, 1e-30) if length < 1e30 else np.inf

    def part(self, start: int, stop: int) -> "Draft":
        """Of rows start..stop, without a copy."""
        return Draft(self.Q[start:stop], self.unit[start:stop], self.slack[start:stop])


class NoDraft(NamedTuple):
    """Rows without drafts: each is read."""

    nothing: int = 0

    def drafted(self):  # type: ignore[no-untyped-def]
        return False

    def guess(self, i, w):  # type: ignore[no-untyped-def]
        return 0.0

    def off(self, i, length):  # type: ignore[no-untyped-def]
        return 0.0

    def reach(self, w):  # type: ignore[no-untyped-def]
        return 0.0

    def part(self, start: int, stop: int) -> "NoDraft":
        return self


@by_type
def drafted(draft):  # type: ignore[no-untyped-def]
    """Whether there are drafts; known when a kernel is compiled"""
    return draft.drafted()


@by_type
def guess(draft, i, w):  # type: ignore[no-untyped-def]
    """⟨w, draft of xᵢ⟩"""
    return draft.guess(i, w)


@by_type
def off(draft, i, length):  # type: ignore[no-untyped-def]
    """How far the guess may be from ⟨w, xᵢ⟩ if ‖w‖ is at most `length`"""
    return draft.off(i, length)


@by_type
def reach(draft, w):  # type: ignore[no-untyped-def]
    """At least ‖w‖, or infinity where scores could leave the range of float32"""
    return draft.reach(w)


@kernel
def _write(X, bits, mask, Q, unit, unit_bits, slack):  # type: ignore[no-untyped-def]
    """Drafts of rows. Both arrays of bits are other views of the arrays before them."""
    real = X.dtype.type
    rounding = 1.3e-7 * (X.shape[1] + 8)  # of the sums that make the guess and the score
    for i in range(X.shape[0]):
        top = bits.dtype.type(0)
        for j in range(X.shape[1]):
            top = max(top, bits[i, j] & mask)  # magnitudes are ordered as their bits are
        unit_bits[i] = top
        largest = unit[i]
        if not 1e-30 < largest < 1e30:
            unit[i], slack[i] = real(0), np.inf
            continue
        unit[i] = largest / real(127)
        scale = real(127) / largest
        left = square = real(0)
        for j in range(X.shape[1]):
            x = X[i, j] * scale
            q = np.rint(x)
            Q[i, j] = np.int32(q)
            left += (x - q) * (x - q)
            square += x * x
        off = 1.001 * np.sqrt(left) + rounding * np.sqrt(square)  # in units, whose squares exist
        slack[i] = float(unit[i]) * float(off)


def draft(X: Array, n_jobs: int) -> Draft | NoDraft:
    """Drafts of the rows of an array, or none if it is too small, narrow or large."""
    n, d = X.shape
    if not FEWEST <= X.size <= MOST or d < NARROW:
        return NoDraft()
    whole = np.uint32 if X.dtype == np.float32 else np.uint64
    made = Draft(np.empty((n, d), np.int8), np.empty(n, X.dtype), np.empty(n))

    def one(span: tuple[int, int]) -> None:
        rows, (Q, unit, slack) = X[slice(*span)], made.part(*span)
        mask = whole(np.iinfo(whole).max >> 1)
        _write(rows, rows.view(whole), mask, Q, unit, unit.view(whole), slack)

    for _ in in_order(one, spans(n), n_jobs):
        pass
    return made
