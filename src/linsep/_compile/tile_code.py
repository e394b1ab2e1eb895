"""What kernels make of `outer_sums`: multiply-adds of vectors that stay in registers."""

from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin

from linsep._compile.lane_code import FUSE, INDEX, PLACE
from linsep._compile.tiles import outer_sums, write_tile

HIGH = 8  # rows of a tile


@infer_global(outer_sums)
class _OuterSums(AbstractTemplate):  # type: ignore[misc]
    """What kernels know of `outer_sums`."""

    prefer_literal = True

    def generic(self, args: Any, kws: Any) -> Any:
        return numba.types.void(*args)


@lower_builtin(outer_sums, numba.types.VarArg(numba.types.Any))  # type: ignore[untyped-decorator]
def _lower_outer_sums(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """A tile at once where registers are many and wide, else in parts that fit into sixteen."""
    Z_type, *_, across_type, G_type = signature.args
    Z, rows, a, b, _, G = args
    columns = context.make_array(Z_type)(context, builder, Z)
    matrix = context.make_array(G_type)(context, builder, G)
    real = context.get_data_type(Z_type.dtype)
    size = Z_type.dtype.bitwidth // 8
    lanes = 64 // size
    room = cgutils.unpack_tuple(builder, columns.shape)[1]
    stride = cgutils.unpack_tuple(builder, matrix.shape)[1]
    across = across_type.literal_value
    many = bool(llvm.get_host_cpu_features().get("avx512f"))
    high, wide = (HIGH, across) if many else (HIGH // 2, 1)
    tile = _Tile(builder, real, lanes, size, high, wide)
    for up in range(0, HIGH, high):
        i = builder.add(builder.mul(a, INDEX(HIGH)), INDEX(up))
        for beside in range(0, across, wide):
            j = builder.mul(builder.add(b, INDEX(beside)), INDEX(lanes))
            left = tile.column(columns.data, room, i)
            right = [
                tile.column(columns.data, room, builder.add(j, INDEX(lanes * m)))
                for m in range(wide)
            ]
            corner = builder.gep(
                matrix.data, [builder.add(builder.mul(i, stride), j)], source_etype=real
            )
            tile.add_to(corner, stride, tile.sums(left, right, rows))
    return context.get_dummy_value()


class _Tile(NamedTuple):
    """Writes the code of one tile.

    Attributes
    ----------
    builder : where it goes
    real : the type of a number
    lanes, size : numbers in a vector, bytes of a number
    high, wide : rows, and vectors beside each other
    """

    builder: Any
    real: Any
    lanes: int
    size: int
    high: int
    wide: int

    @property
    def vector(self) -> Any:
        return ir.VectorType(self.real, self.lanes)

    def column(self, memory: Any, room: Any, j: Any) -> Any:
        """Where column j has its first number."""
        build, L = self.builder, INDEX(self.lanes)
        before = build.mul(build.mul(build.udiv(j, L), room), L)
        return build.gep(memory, [build.add(before, build.urem(j, L))], source_etype=self.real)

    def at(self, memory: Any, place: Any) -> Any:
        """The address of a vector."""
        pointer = self.builder.gep(memory, [place], source_etype=self.real)
        return self.builder.bitcast(pointer, self.vector.as_pointer())

    def sums(self, left: Any, right: list[Any], rows: Any) -> list[list[Any]]:
        """The loop over rows; there is at least one."""
        build, vector = self.builder, self.vector
        zeros, nothing = ir.VectorType(PLACE, self.lanes)([0] * self.lanes), vector(ir.Undefined)
        before = build.block
        loop, end = build.append_basic_block(), build.append_basic_block()
        build.branch(loop)
        build.position_at_end(loop)
        k = build.phi(INDEX)
        k.add_incoming(INDEX(0), before)
        sums = [[build.phi(vector) for _ in right] for _ in range(self.high)]
        place = build.mul(k, INDEX(self.lanes))
        columns = [build.load(self.at(one, place), align=self.size, typ=vector) for one in right]
        for i, row in enumerate(sums):
            number = build.gep(left, [build.add(place, INDEX(i))], source_etype=self.real)
            one = build.insert_element(nothing, build.load(number, typ=self.real), PLACE(0))
            spread = build.shuffle_vector(one, nothing, zeros)
            for m, total in enumerate(row):
                product = build.fmul(spread, columns[m], flags=FUSE)
                total.add_incoming(vector([0.0] * self.lanes), before)
                row[m] = build.fadd(total, product, flags=FUSE)
                total.add_incoming(row[m], loop)
        following = build.add(k, INDEX(1))
        k.add_incoming(following, loop)
        build.cbranch(build.icmp_signed("<", following, rows), loop, end)
        build.position_at_end(end)
        return sums

    def add_to(self, corner: Any, stride: Any, sums: list[list[Any]]) -> None:
        """Add the tile to the matrix."""
        build = self.builder
        for i, row in enumerate(sums):
            for m, total in enumerate(row):
                place = build.add(build.mul(INDEX(i), stride), INDEX(self.lanes * m))
                there = self.at(corner, place)
                known = build.load(there, align=self.size, typ=self.vector)
                build.store(build.fadd(known, total), there, align=self.size)


@infer_global(write_tile)
class _WriteTile(AbstractTemplate):  # type: ignore[misc]
    """What kernels know of `write_tile`."""

    def generic(self, args: Any, kws: Any) -> Any:
        return numba.types.void(*args)


@lower_builtin(write_tile, numba.types.VarArg(numba.types.Any))  # type: ignore[untyped-decorator]
def _lower_write_tile(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    X_type, _, shift_type, scale_type, _, Z_type, *_ = signature.args
    X, place, shift, scale, root, Z, m, k = args
    target = context.make_array(Z_type)(context, builder, Z)
    size = Z_type.dtype.bitwidth // 8
    lanes = 64 // size
    wide = ir.VectorType(ir.DoubleType(), lanes)

    def numbers(kind: Any, array: Any, place: Any) -> Any:
        memory = context.make_array(kind)(context, builder, array).data
        cell = context.get_data_type(kind.dtype)
        vector = ir.VectorType(cell, lanes)
        pointer = builder.gep(memory, [place], source_etype=cell)
        pointer = builder.bitcast(pointer, vector.as_pointer())
        loaded = builder.load(pointer, align=kind.dtype.bitwidth // 8, typ=vector)
        return loaded if vector == wide else builder.fpext(loaded, wide)

    j = builder.mul(m, INDEX(lanes))
    one = builder.insert_element(wide(ir.Undefined), root, PLACE(0))
    zeros = ir.VectorType(PLACE, lanes)([0] * lanes)
    roots = builder.shuffle_vector(one, wide(ir.Undefined), zeros)
    unit = builder.fmul(numbers(scale_type, scale, j), roots)
    z = builder.fsub(numbers(X_type, X, place), numbers(shift_type, shift, j))
    z = builder.fmul(z, unit)
    real = context.get_data_type(Z_type.dtype)
    vector = ir.VectorType(real, lanes)
    z = z if vector == wide else builder.fptrunc(z, vector)
    room = cgutils.unpack_tuple(builder, target.shape)[1]
    first = builder.mul(builder.add(builder.mul(m, room), k), INDEX(lanes))
    pointer = builder.gep(target.data, [first], source_etype=real)
    builder.store(z, builder.bitcast(pointer, vector.as_pointer()), align=size)
    return context.get_dummy_value()
