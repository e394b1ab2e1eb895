"""Sparse rows times several columns of weights, in vectors: part of `linsep._compile`."""

import numpy as np

from linsep._compile.bits import whole


def weighted_sum(data, indices, start, stop, W, k, lanes, s):  # type: ignore[no-untyped-def]
    """s[k : k + lanes] ← Σ data[e] · W[indices[e], k : k + lanes] over start ≤ e < stop.

    In kernels `lanes` is a constant, a multiple of four, and each entry costs a few vector loads
    and multiply-adds. Left to itself the compiler keeps scalar sums, three times slower. Entries
    at even places have their own sum, so that no addition waits for the one before; the order of
    additions in a lane does not depend on how many lanes there are. Weights of 16 bits are the
    upper halves of float32 numbers, see `upper_half`.
    """
    halves = W.dtype == np.uint16
    real = np.dtype("f4") if halves else W.dtype
    for lane in range(k, k + lanes):
        sums = [real.type(0), real.type(0)]
        for e in range(start, stop):
            odd = (e - start) % 2 if e + 1 < stop or (stop - start) % 2 == 0 else 0
            w = W[indices[e], lane]
            w = whole(w) if halves else w
            sums[odd] += real.type(data[e]) * w
        s[lane] = sums[0] + sums[1]


def weighted_add(data, indices, start, stop, W, k, lanes, d):  # type: ignore[no-untyped-def]
    """W[indices[e], k : k + lanes] += data[e] · d[k : k + lanes] for start ≤ e < stop.

    The opposite of `weighted_sum`: in kernels each entry costs one load, multiply-add and store
    for every four or eight lanes. Weights, entries and d are of one type.
    """
    for e in range(start, stop):
        for lane in range(k, k + lanes):
            W[indices[e], lane] += data[e] * d[lane]
