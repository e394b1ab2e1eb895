"""What kernels make of an address: a load from there, or the wish for one."""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic, overload

from linsep._compile.addresses import bits_at, code_at, fetch_at, number_at
from linsep._compile.core import INSIDE
from linsep._compile.memory_code import ask_for


def _loading(function: Any, kind: Any, cell: Any) -> None:
    @intrinsic  # type: ignore[untyped-decorator]
    def load(typing_context, address, place):  # type: ignore[no-untyped-def]
        def code(context, builder, signature, args):  # type: ignore[no-untyped-def]
            first = builder.inttoptr(args[0], cell.as_pointer())
            return builder.load(builder.gep(first, [args[1]], source_etype=cell), typ=cell)

        return kind(numba.types.int64, numba.types.int64), code

    @overload(function, jit_options=INSIDE)
    def _choose(address, place):  # type: ignore[no-untyped-def]
        return lambda address, place: load(np.int64(address), np.int64(place))  # type: ignore[call-arg]


_loading(number_at, numba.types.float64, ir.DoubleType())
_loading(code_at, numba.types.int32, ir.IntType(32))
_loading(bits_at, numba.types.int64, ir.IntType(64))


@intrinsic  # type: ignore[untyped-decorator]
def _fetch(typing_context, address):  # type: ignore[no-untyped-def]
    def ask(context, builder, signature, args):  # type: ignore[no-untyped-def]
        ask_for(builder, builder.inttoptr(args[0], ir.IntType(8).as_pointer()))
        return context.get_dummy_value()

    return numba.types.void(numba.types.int64), ask


@overload(fetch_at, jit_options=INSIDE)
def _choose_fetch(address):  # type: ignore[no-untyped-def]
    return lambda address: _fetch(np.int64(address))  # type: ignore[call-arg]
