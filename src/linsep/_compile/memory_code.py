"""What kernels make of `fetch`: the instruction that asks for a cache line."""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic, overload

from linsep._compile.core import INSIDE
from linsep._compile.memory import fetch


def ask_for(builder: Any, pointer: Any, nearness: int = 3) -> None:
    """Ask for the cache line at `pointer`, to be there when it is needed: 3 for the first cache."""
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(prefetch, [builder.bitcast(pointer, byte), number(0), number(nearness), number(1)])


@intrinsic  # type: ignore[untyped-decorator]
def _fetch_place(typing_context, array, place):  # type: ignore[no-untyped-def]
    def ask(context, builder, signature, args):  # type: ignore[no-untyped-def]
        memory = context.make_array(signature.args[0])(context, builder, args[0]).data
        cell = context.get_data_type(signature.args[0].dtype)
        place = builder.gep(memory, [args[1]], source_etype=cell)
        ask_for(builder, place, 2)  # the first cache is full of weights
        return context.get_dummy_value()

    return numba.types.void(array, numba.types.int64), ask


@overload(fetch, jit_options=INSIDE)
def _chooseask_for(array, place):  # type: ignore[no-untyped-def]
    return lambda array, place: _fetch_place(array, np.int64(place))  # type: ignore[call-arg]
