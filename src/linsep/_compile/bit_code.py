"""What kernels make of `bits`: one instruction of the machine, or few."""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic, overload

from linsep._compile.bits import (
    high_product,
    upper_half,
    whole,
)
from linsep._compile.core import INSIDE


@intrinsic  # type: ignore[untyped-decorator]
def _bits(typing_context, x):  # type: ignore[no-untyped-def]
    """The 32 bits of a float32."""

    def cast(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.bitcast(args[0], ir.IntType(32))

    return numba.types.uint32(numba.types.float32), cast


@overload(upper_half, jit_options=INSIDE)
def _choose_upper_half(x):  # type: ignore[no-untyped-def]
    def half(x):  # type: ignore[no-untyped-def]
        bits = np.uint64(_bits(np.float32(x)))  # type: ignore[call-arg]
        odd = (bits >> np.uint64(16)) & np.uint64(1)
        return np.uint16((bits + np.uint64(0x7FFF) + odd) >> np.uint64(16))

    return half


@intrinsic  # type: ignore[untyped-decorator]
def _from_bits(typing_context, bits):  # type: ignore[no-untyped-def]
    """The float32 of 32 bits."""

    def cast(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.bitcast(args[0], ir.FloatType())

    return numba.types.float32(numba.types.uint32), cast


@overload(whole, jit_options=INSIDE)
def _choose_whole(half):  # type: ignore[no-untyped-def]
    return lambda half: _from_bits(np.uint32(np.uint32(half) << np.uint32(16)))  # type: ignore[call-arg]


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
