"""What kernels make of `weighted_sum` and `weighted_add`: loads and multiply-adds of vectors."""

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, overload

from linsep._compile.lanes import weighted_add, weighted_sum
from linsep._compile.memory_code import ask_for

FUSE = ("contract",)
INDEX, PLACE = ir.IntType(64), ir.IntType(32)
AHEAD = 32  # entries by which weights are fetched before they are needed


@infer_global(weighted_sum)
class _WeightedSum(AbstractTemplate):  # type: ignore[misc]
    """What kernels know of `weighted_sum`: less to compile than an overload."""

    prefer_literal = True

    def generic(self, args: Any, kws: Any) -> Any:
        return numba.types.void(*args)


@lower_builtin(weighted_sum, numba.types.VarArg(numba.types.Any))  # type: ignore[untyped-decorator]
def _lower_weighted_sum(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _emit_weighted_sum(signature.args[6].literal_value, context, builder, signature, args)


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def _weighted_add(typing_context, data, indices, start, stop, W, k, lanes, d):  # type: ignore[no-untyped-def]
    count = lanes.literal_value
    signature = numba.types.void(data, indices, start, stop, W, k, lanes, d)
    return signature, lambda *given: _emit_weighted_add(count, *given)


@overload(weighted_add, inline="always", prefer_literal=True)
def _choose_add(data, indices, start, stop, W, k, lanes, d):  # type: ignore[no-untyped-def]
    return lambda data, indices, start, stop, W, k, lanes, d: _weighted_add(  # type: ignore[call-arg]
        data, indices, start, stop, W, k, lanes, d
    )


def _cell(context: Any, array: Any) -> Any:
    """The LLVM type of what lies in an array."""
    return context.get_data_type(array.dtype)


def _load(builder: Any, memory: Any, place: Any, cell: Any) -> Any:
    """The cell of that type at a place of the memory."""
    return builder.load(builder.gep(memory, [place], source_etype=cell), typ=cell)


def _address(builder: Any, memory: Any, first: int, cell: Any, vector: Any) -> Any:
    """Where a vector lies that begins with the cell `first` of the memory."""
    place = builder.gep(memory, [INDEX(first)], source_etype=cell)
    return builder.bitcast(place, vector.as_pointer())


def _as_real(builder: Any, x: Any, real: Any) -> Any:
    if x.type == real:
        return x
    return (builder.fpext if real == ir.DoubleType() else builder.fptrunc)(x, real)


def _emit_weighted_add(lanes: int, context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The loop of `weighted_add` in vectors of 32 bytes."""
    data, indices, start, stop, W, k, _, d = args
    types = dict(zip(("data", "indices", "", "", "W", "", "", "d"), signature.args, strict=True))

    def array(name: str, value: Any) -> Any:
        return context.make_array(types[name])(context, builder, value)

    real, entry, column = (_cell(context, types[name]) for name in ("W", "data", "indices"))
    size = types["W"].dtype.bitwidth // 8
    full = 32 // size
    cuts = [(first, min(full, lanes - first)) for first in range(0, lanes, full)]
    vectors = [(first, ir.VectorType(real, width)) for first, width in cuts]
    entries, columns = array("data", data).data, array("indices", indices).data
    weights = array("W", W)
    stride = cgutils.unpack_tuple(builder, weights.shape)[1]
    origin = builder.gep(weights.data, [k], source_etype=real)
    entries_stored = cgutils.unpack_tuple(builder, array("indices", indices).shape)[0]

    def weights_of(e: Any) -> Any:
        j = builder.zext(_load(builder, columns, e, column), INDEX)
        return builder.gep(origin, [builder.mul(j, stride)], source_etype=real)

    steps = []
    for first, vector in vectors:
        start_of = builder.gep(array("d", d).data, [k], source_etype=real)
        place = _address(builder, start_of, first, real, vector)
        steps.append(builder.load(place, align=size, typ=vector))
    with cgutils.for_range_slice(builder, start, stop, INDEX(1), INDEX) as (e, _):
        x = _as_real(builder, _load(builder, entries, e, entry), real)
        ahead = builder.add(e, INDEX(AHEAD))
        ahead = builder.select(builder.icmp_signed("<", ahead, entries_stored), ahead, e)
        row, later = weights_of(e), weights_of(ahead)
        for first in range(0, lanes, 64 // size):
            ask_for(builder, builder.gep(later, [INDEX(first)], source_etype=real))
        for (first, vector), step in zip(vectors, steps, strict=True):
            nothing = vector(ir.Undefined)
            zeros = ir.VectorType(PLACE, vector.count)([0] * vector.count)
            one = builder.insert_element(nothing, x, PLACE(0))
            product = builder.fmul(builder.shuffle_vector(one, nothing, zeros), step, flags=FUSE)
            place = _address(builder, row, first, real, vector)
            w = builder.load(place, align=size, typ=vector)
            builder.store(builder.fadd(w, product, flags=FUSE), place, align=size)
    return context.get_dummy_value()


def _emit_weighted_sum(lanes: int, context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The loop of `weighted_sum` in vectors of 32 bytes, or 16 at the end."""
    data, indices, start, stop, W, k, _, s = args
    types = dict(zip(("data", "indices", "", "", "W", "", "", "s"), signature.args, strict=True))

    def array(name: str, value: Any) -> Any:
        return context.make_array(types[name])(context, builder, value)

    size = types["W"].dtype.bitwidth // 8
    halves = size == 2
    cell, entry, column = (_cell(context, types[name]) for name in ("W", "data", "indices"))
    real = ir.FloatType() if halves else cell
    full = 32 // max(size, 4)
    cuts = [(first, min(full, lanes - first)) for first in range(0, lanes, full)]
    vectors = [(first, ir.VectorType(real, width)) for first, width in cuts]
    entries, columns = array("data", data).data, array("indices", indices).data
    weights = array("W", W)
    stride = cgutils.unpack_tuple(builder, weights.shape)[1]
    entries_stored = cgutils.unpack_tuple(builder, array("indices", indices).shape)[0]
    origin = builder.gep(weights.data, [k], source_etype=cell)

    def weights_of(e: Any) -> Any:
        j = builder.zext(_load(builder, columns, e, column), INDEX)
        return builder.gep(origin, [builder.mul(j, stride)], source_etype=cell)

    def step(e: Any, sums: list[Any]) -> None:
        x = _as_real(builder, _load(builder, entries, e, entry), real)
        row = weights_of(e)
        ahead = builder.add(e, INDEX(AHEAD))
        ahead = builder.select(builder.icmp_signed("<", ahead, entries_stored), ahead, e)
        ask_for(builder, weights_of(ahead))
        for (first, vector), total in zip(vectors, sums, strict=True):
            nothing, zeros = (
                vector(ir.Undefined),
                ir.VectorType(PLACE, vector.count)([0] * vector.count),
            )
            one = builder.insert_element(nothing, x, PLACE(0))
            stored = ir.VectorType(ir.IntType(16), vector.count) if halves else vector
            place = _address(builder, row, first, cell, stored)
            w = builder.load(place, align=size, typ=stored)
            if halves:
                bits = ir.VectorType(ir.IntType(32), vector.count)
                w = builder.shl(builder.zext(w, bits), bits([16] * vector.count))
                w = builder.bitcast(w, vector)
            product = builder.fmul(builder.shuffle_vector(one, nothing, zeros), w, flags=FUSE)
            before = builder.load(total, typ=vector)
            builder.store(builder.fadd(before, product, flags=FUSE), total)

    chains = [
        [cgutils.alloca_once_value(builder, v([0.0] * v.count)) for _, v in vectors]
        for _ in range(2)
    ]
    position = cgutils.alloca_once_value(builder, start)
    for width in (2, 1):  # pairs, then the odd one
        head, body, end = (builder.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        e = builder.load(position, typ=INDEX)
        beyond = builder.add(e, INDEX(width))
        builder.cbranch(builder.icmp_signed("<=", beyond, stop), body, end)
        builder.position_at_end(body)
        for m in range(width):
            step(builder.add(e, INDEX(m)), chains[m])
        builder.store(beyond, position)
        builder.branch(head)
        builder.position_at_end(end)
    target = context.get_value_type(types["s"].dtype)
    out = builder.gep(array("s", s).data, [k], source_etype=target)
    for (first, vector), even, odd in zip(vectors, *chains, strict=True):
        total = builder.fadd(builder.load(even, typ=vector), builder.load(odd, typ=vector))
        wide = ir.VectorType(target, vector.count)
        total = total if target == real else builder.fpext(total, wide)
        builder.store(total, _address(builder, out, first, target, wide), align=size)
    return context.get_dummy_value()
