"""Permutations by number: counter-based random bits, and a shuffle without a branch to mispredict.

The bits are those of Philox 4x64-10 (Salmon et al., 2011) for a key of two words, the shuffle is
Fisher and Yates' with rejection. Both are what NumPy's `Generator(Philox(key=key)).permutation(n)`
does today, to the last number; written out here, orders stay the same whatever NumPy does later,
and a kernel can have them in the middle of a pass.
"""

import numpy as np

from linsep._compile import high_product, inline, kernel

FIRST = np.uint64(0xD2E7470EE14C6C93)
SECOND = np.uint64(0xCA5A826395121157)
RAISE_FIRST = np.uint64(0x9E3779B97F4A7C15)  # of the key, after each round
RAISE_SECOND = np.uint64(0xBB67AE8584CAA73B)
ROUNDS = 10
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)


@inline(shared=True)
def shuffle(order, n, first_key, second_key):  # type: ignore[no-untyped-def]
    """order[:n] ← the permutation of 0 .. n − 1 with this key."""
    for i in range(n):
        order[i] = i
    i = n - 1
    mask = np.uint64(1)
    while mask < np.uint64(max(i, 0)):
        mask = mask << np.uint64(1) | np.uint64(1)
    counter = np.uint64(0)
    while i > 0:
        counter += np.uint64(1)
        a, b, c, d = counter, np.uint64(0), np.uint64(0), np.uint64(0)
        k, m = first_key, second_key
        for _ in range(ROUNDS):
            high, low = high_product(FIRST, a), FIRST * a
            a, b = high_product(SECOND, c) ^ b ^ k, SECOND * c
            c, d = high ^ d ^ m, low
            k, m = k + RAISE_FIRST, m + RAISE_SECOND
        for word in (a, b, c, d):
            for bits in (word & LOW, word >> HALF):
                # a draw beyond i is thrown away: the swap is one with itself, and i stays
                draw = np.int64(bits & mask)
                good = draw <= i
                j = draw if good else i
                order[i], order[j] = order[j], order[i]
                i -= 1 if good and i > 0 else 0
                mask = mask >> np.uint64(1) if np.uint64(i) <= mask >> np.uint64(1) else mask


@kernel
def shuffled(order, first_key, second_key):  # type: ignore[no-untyped-def]
    """`shuffle` for callers outside kernels."""
    shuffle(order, order.shape[0], first_key, second_key)


@kernel
def pass_order(order, blocks, size, seed, epoch):  # type: ignore[no-untyped-def]
    """order ← the rows of all blocks of so many rows, block after block, as a pass meets them.

    Block k has the key (seed, epoch · 2³² + k + 1).
    """
    n, filled = order.shape[0], 0
    for k in blocks:
        start = k * size
        stop = min(n, start + size)
        part = order[filled : filled + stop - start]
        shuffle(part, stop - start, seed, (epoch << HALF) + np.uint64(k + 1))
        for p in range(part.shape[0]):
            part[p] += start
        filled += stop - start
