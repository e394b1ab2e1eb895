"""Decimal numbers in text, as the nearest float: correctly rounded, in compiled code.

m · 10^e with m < 2^53 and |e| ≤ 22 is one exact product or quotient (Clinger 1990). Other numbers
of at most 19 digits take one or two products with a 128-bit power of ten, which leaves no doubt
about the rounding except in rare cases that are recognised (Lemire 2021, "Number parsing at a
gigabyte per second"). Those, and longer numbers, are left to Python's `float`.
"""

import numpy as np

from linsep._compile import exact

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
TENS = np.array([10.0**e for e in range(23)])

OK, HARD, BAD = 0, 1, 2

_HALF = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_ONE = np.uint64(1)
_TEN = np.uint64(10)
_NINE_BITS = np.uint64(0x1FF)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@exact
def _high_product(a, b):  # type: ignore[no-untyped-def]
    """The upper 64 bits of a · b."""
    a0, a1 = a & _HALF, a >> _32
    b0, b1 = b & _HALF, b >> _32
    middle = a1 * b0 + ((a0 * b0) >> _32)
    other = a0 * b1 + (middle & _HALF)
    return a1 * b1 + (middle >> _32) + (other >> _32)


@exact
def nearest(m, e, out):  # type: ignore[no-untyped-def]
    """The float nearest to m · 10^e, put in out[0]; HARD where 128 bits do not settle it.

    m is not zero and has at most 19 digits. The product's mantissa has 54 bits, one to round by;
    its error is below one unit of the last of 128 bits.
    """
    if e < LOW or e > HIGH:
        return HARD
    shift = 0
    while not (m >> np.uint64(63)):
        m <<= _ONE
        shift += 1
    exponent = ((217706 * e) >> 16) + 64 + 1023 - shift  # 217706/2^16 ≈ log₂ 10
    power = POWERS[e - LOW, 1]
    high, low = _high_product(m, power), m * power
    if (high & _NINE_BITS) == _NINE_BITS and low + m < m:  # the cut-off part might carry
        power = POWERS[e - LOW, 0]
        more, least = _high_product(m, power), m * power
        merged = low + more
        if merged < low:
            high += _ONE
        if (high & _NINE_BITS) == _NINE_BITS and merged == _ALL and least + m < m:
            return HARD
        low = merged
    top = high >> np.uint64(63)
    mantissa = high >> (top + np.uint64(9))
    exponent -= 1 - np.int64(top)
    if low == 0 and (high & _NINE_BITS) == 0 and (mantissa & np.uint64(3)) == 1:
        return HARD  # might be half-way between two floats
    mantissa += mantissa & _ONE
    mantissa >>= _ONE
    if mantissa >> np.uint64(53):
        mantissa >>= _ONE
        exponent += 1
    if exponent < 1 or exponent >= 0x7FF:
        return HARD  # below the normal floats, or above them
    out[0] = (np.uint64(exponent) << np.uint64(52)) | (mantissa & np.uint64((1 << 52) - 1))
    return OK


@exact
def decimal(text, i, bits, floats):  # type: ignore[no-untyped-def]
    """Read a number at text[i:] into floats[0]; returns OK, HARD or BAD and where it ended.

    `floats` is the memory of `bits` seen as floats. A byte that is no part of a number must follow.
    """
    negative = text[i] == 45
    if negative or text[i] == 43:
        i += 1
    m = np.uint64(0)
    first = i
    while text[i] == 48:  # leading zeros are no digits
        i += 1
    start = i
    while 48 <= text[i] <= 57:
        m = m * _TEN + np.uint64(text[i] - 48)
        i += 1
    digits, e, seen = i - start, 0, i - first
    if text[i] == 46:
        i += 1
        point = i
        if digits == 0:
            while text[i] == 48:
                i += 1
        start = i
        while 48 <= text[i] <= 57:
            m = m * _TEN + np.uint64(text[i] - 48)
            i += 1
        digits += i - start
        e = point - i
        seen += i - point
    if seen == 0:
        return BAD, i
    if text[i] == 101 or text[i] == 69:
        i += 1
        down = text[i] == 45
        if down or text[i] == 43:
            i += 1
        if not 48 <= text[i] <= 57:
            return BAD, i
        power = 0
        while 48 <= text[i] <= 57:
            power = min(power * 10 + (text[i] - 48), 100000)
            i += 1
        e += -power if down else power
    if digits > 19:
        return HARD, i
    if m == 0:
        floats[0] = 0.0
    elif m < np.uint64(1 << 53) and -22 <= e <= 22:
        floats[0] = np.float64(m) * TENS[e] if e >= 0 else np.float64(m) / TENS[-e]
    elif nearest(m, e, bits) == HARD:
        return HARD, i
    if negative:
        floats[0] = -floats[0]
    return OK, i
