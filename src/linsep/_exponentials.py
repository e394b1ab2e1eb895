"""Exponentials and logarithms that vectorise, for the sums of logistic losses.

The C library is called one number at a time and then costs more than all the products of a row.
Here e⁻ᵗ = 2ᵏ eʳ with |r| ≤ ½ log 2 and Taylor's polynomial for eʳ, and
log(1 + e) = 2 artanh(e/(2 + e)) with its series: plain arithmetic on arrays, right to a few units
in the last place.
"""

import numpy as np

from linsep._compile import inline


@inline(shared=True)
def exp_of_negative(x, whole, power):  # type: ignore[no-untyped-def]
    """x ← eˣ for x ≤ 0, in place. `power` is the float view of the integer array `whole`."""
    real = x.dtype.type
    integer = whole.dtype.type
    single = whole.itemsize == 4
    bias = integer(127 if single else 1023)
    digits = integer(23 if single else 52)
    lowest = real(-87.0 if single else -708.0)  # 2ᵏ would leave the normal numbers below
    for i in range(x.shape[0]):
        t = max(x[i], lowest)
        k = np.floor(t * real(1.4426950408889634) + real(0.5))
        r = t - k * real(0.6931471805599453)
        p = real(1 / 6227020800)
        p = p * r + real(1 / 479001600)
        p = p * r + real(1 / 39916800)
        p = p * r + real(1 / 3628800)
        p = p * r + real(1 / 362880)
        p = p * r + real(1 / 40320)
        p = p * r + real(1 / 5040)
        p = p * r + real(1 / 720)
        p = p * r + real(1 / 120)
        p = p * r + real(1 / 24)
        p = p * r + real(1 / 6)
        p = p * r + real(0.5)
        p = p * r + real(1)
        x[i] = p * r + real(1)
        whole[i] = (integer(k) + bias) << digits  # the bits of 2ᵏ
    for i in range(x.shape[0]):
        x[i] *= power[i]


@inline(shared=True)
def log_of_one_plus(e, out):  # type: ignore[no-untyped-def]
    """out ← log(1 + e) for 0 ≤ e ≤ 1"""
    real = e.dtype.type
    for i in range(e.shape[0]):
        s = np.divide(e[i], real(2) + e[i])  # np.divide: a plain / guards against zero, one by one
        q = s * s
        p = real(1 / 33)
        p = p * q + real(1 / 31)
        p = p * q + real(1 / 29)
        p = p * q + real(1 / 27)
        p = p * q + real(1 / 25)
        p = p * q + real(1 / 23)
        p = p * q + real(1 / 21)
        p = p * q + real(1 / 19)
        p = p * q + real(1 / 17)
        p = p * q + real(1 / 15)
        p = p * q + real(1 / 13)
        p = p * q + real(1 / 11)
        p = p * q + real(1 / 9)
        p = p * q + real(1 / 7)
        p = p * q + real(1 / 5)
        p = p * q + real(1 / 3)
        out[i] = (s + s) * (p * q + real(1))
