"""Powers of ten as the parser of numbers takes them."""

import numpy as np

LOW, HIGH = -342, 308  # powers of ten that a float of 19 digits can need


def _power(e: int) -> tuple[int, int]:
    """The 128 leading bits of 10^e, cut off, as (low, high) 64-bit halves."""
    if e >= 0:
        value = 10**e
        bits = value.bit_length()
        value = value << (128 - bits) if bits <= 128 else value >> (bits - 128)
    else:
        divisor = 10**-e
        value = (1 << (127 + divisor.bit_length())) // divisor
        value >>= value.bit_length() - 128
    return value & (2**64 - 1), value >> 64


POWERS = np.array([_power(e) for e in range(LOW, HIGH + 1)], np.uint64)
