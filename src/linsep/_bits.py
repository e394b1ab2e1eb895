"""Operations on 64-bit numbers that are one instruction of the machine, for kernels.

They are written beside `linsep._compile`, which alone speaks to the compiler otherwise. Outside
kernels the same names are plain Python.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.cpython.unsafe import numbers
from numba.extending import intrinsic, overload

from linsep._compile import INSIDE


def leading_zeros(x):  # type: ignore[no-untyped-def]
    """How many of the 64 bits above the highest one are zero."""
    return np.uint64(64 - int(x).bit_length())


@overload(leading_zeros, jit_options=INSIDE)
def _leading_zeros(x):  # type: ignore[no-untyped-def]
    return lambda x: np.uint64(numbers.leading_zeros(x))  # type: ignore[call-arg]


def trailing_zeros(x):  # type: ignore[no-untyped-def]
    """How many of the 64 bits below the lowest one are zero."""
    return np.uint64(64 if x == 0 else (int(x) & -int(x)).bit_length() - 1)


@overload(trailing_zeros, jit_options=INSIDE)
def _trailing_zeros(x):  # type: ignore[no-untyped-def]
    return lambda x: np.uint64(numbers.trailing_zeros(x))  # type: ignore[call-arg]


def high_product(a, b):  # type: ignore[no-untyped-def]
    """The upper 64 bits of a · b."""
    return np.uint64(int(a) * int(b) >> 64)


@intrinsic  # type: ignore[untyped-decorator]
def _upper(typing_context, a, b):  # type: ignore[no-untyped-def]
    def multiply(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(one, wide) for one in args))
        return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

    return numba.types.uint64(numba.types.uint64, numba.types.uint64), multiply


@overload(high_product, jit_options=INSIDE)
def _high_product(a, b):  # type: ignore[no-untyped-def]
    return lambda a, b: _upper(a, b)  # type: ignore[call-arg]
