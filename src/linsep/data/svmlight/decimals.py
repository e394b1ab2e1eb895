"""Decimal numbers in text, as the nearest float: correctly rounded, in compiled code.

m · 10^e with m < 2^53 and |e| ≤ 22 is one exact product or quotient (Clinger 1990). Other numbers
of at most 19 digits take one or two products with a 128-bit power of ten, which leaves no doubt
about the rounding except in rare cases that are recognised (Lemire 2021, "Number parsing at a
gigabyte per second"). Those, and longer numbers, are left to Python's `float`.
"""

import numpy as np

from linsep._compile import high_product, inline, leading_zeros, trailing_zeros

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

SHIFTS = np.array([10**count for count in range(9)], np.uint64)

_NONE, _ONE, _THREE, _SEVEN, _EIGHT, _TEN, _16, _19, _32, _63 = (
    np.uint64(number) for number in (0, 1, 3, 7, 8, 10, 16, 19, 32, 63)
)
_EXACT = np.uint64(1 << 53)
_HIGH, _TO_HIGH, _ZEROS = (np.uint64(0x0101010101010101 * byte) for byte in (0x80, 0x76, 0x30))
_LANES = np.uint64(0x000000FF000000FF)
_HUNDREDS, _ONES = np.uint64(100 + (1000000 << 32)), np.uint64(1 + (10000 << 32))
_NINE_BITS = np.uint64(0x1FF)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inline(shared=True, strict=True)
def nearest(m, e, out):  # type: ignore[no-untyped-def]
    """The float nearest to m · 10^e, put in out[0]; HARD where 128 bits do not settle it.

    m is not zero and has at most 19 digits. The product's mantissa has 54 bits, one to round by;
    its error is below one unit of the last of 128 bits.
    """
    if e < LOW or e > HIGH:
        return HARD
    zeros = leading_zeros(m)
    m <<= zeros
    shift = np.int64(zeros)
    exponent = ((217706 * e) >> 16) + 64 + 1023 - shift  # 217706/2^16 ≈ log₂ 10
    power = POWERS[e - LOW, 1]
    high, low = high_product(m, power), m * power
    if (high & _NINE_BITS) == _NINE_BITS and low + m < m:  # the cut-off part might carry
        power = POWERS[e - LOW, 0]
        more, least = high_product(m, power), m * power
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


@inline(shared=True, strict=True)
def digits(words, i):  # type: ignore[no-untyped-def]
    """The digits that follow byte i, eight at most: the number they write, and how many they are.

    `words` holds the text, eight bytes to a number. A byte that is not a digit exceeds 9 once the
    sign "0" is taken off, which the sum with 0x76 shows in its highest bit; the digits before it
    are moved to the upper end, where they are read in pairs, fours and eights.
    """
    k, shift = i >> _THREE, (i & _SEVEN) << _THREE
    t = (words[k] >> shift) | ((words[k + _ONE] << _ONE) << (_63 - shift))
    t ^= _ZEROS
    other = ((t + _TO_HIGH) | t) & _HIGH
    count = _EIGHT
    if other:
        count = trailing_zeros(other) >> _THREE
        if count == _NONE:
            return _NONE, count
        t <<= (_EIGHT - count) << _THREE
    t = t * _TEN + (t >> _EIGHT)
    t = (t & _LANES) * _HUNDREDS + ((t >> _16) & _LANES) * _ONES
    return t >> _32, count


@inline(shared=True, strict=True)
def decimal(text, words, i, bits, floats):  # type: ignore[no-untyped-def]
    """Read a number at text[i:] into floats[0]; returns OK, HARD or BAD and where it ended.

    `i` is unsigned, `words` the memory of `text` in eights, `floats` that of `bits` seen as floats.
    A byte that is no part of a number must follow, and sixteen more bytes.
    """
    negative = text[i] == 45
    if negative or text[i] == 43:
        i += _ONE
    m = _NONE
    first = i
    while text[i] == 48:  # leading zeros are no digits
        i += _ONE
    start = i
    count = _EIGHT if 48 <= text[i] <= 57 else _NONE
    while count == _EIGHT:
        run, count = digits(words, i)
        m = m * SHIFTS[count] + run
        i += count
    length, seen = i - start, i - first
    e = 0
    if text[i] == 46:
        i += _ONE
        point = i
        if length == _NONE:
            while text[i] == 48:
                i += _ONE
        start = i
        count = _EIGHT
        while count == _EIGHT:
            run, count = digits(words, i)
            m = m * SHIFTS[count] + run
            i += count
        length += i - start
        seen += i - point
        e = -np.int64(i - point)  # type: ignore[assignment]
    if seen == _NONE:
        return BAD, i
    if text[i] == 101 or text[i] == 69:
        i += _ONE
        down = text[i] == 45
        if down or text[i] == 43:
            i += _ONE
        if not 48 <= text[i] <= 57:
            return BAD, i
        power = 0
        while 48 <= text[i] <= 57:
            power = min(power * 10 + (text[i] - 48), 100000)
            i += _ONE
        e += -power if down else power
    if length > _19:
        return HARD, i
    if m == _NONE:
        floats[0] = 0.0
    elif m < _EXACT and -22 <= e <= 22:
        floats[0] = np.float64(m) * TENS[e] if e >= 0 else np.float64(m) / TENS[-e]
    elif nearest(m, e, bits) == HARD:
        return HARD, i
    if negative:
        floats[0] = -floats[0]
    return OK, i
