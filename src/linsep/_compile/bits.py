"""Operations on the bits of numbers that are one instruction of the machine, or few.

Part of `linsep._compile`; this is what they are outside kernels, `bit_code` what kernels make of
them.
"""

import numpy as np


def upper_half(x):  # type: ignore[no-untyped-def]
    """The upper 16 bits of x as float32, rounded to nearest: its first eight binary digits."""
    bits = int(np.float32(x).view(np.uint32))
    return np.uint16((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


def whole(half):  # type: ignore[no-untyped-def]
    """The float32 whose upper 16 bits these are."""
    return np.uint32(int(half) << 16).view(np.float32)


def high_product(a, b):  # type: ignore[no-untyped-def]
    """The upper 64 bits of a · b."""
    return np.uint64(int(a) * int(b) >> 64)
