"""The only module that speaks to the compiler.

A kernel is a plain function marked `@kernel`. A row layout, a loss or a rule is a NamedTuple with
ordinary methods; a function marked `@by_type` is, inside kernels, the method of the same name of
its first argument. The *type* of that argument picks the code, so one kernel is written once, gets
its own machine code for each pair of types, and that code is kept on disk.

The cache folder carries a digest of all sources that import this module: the compiler looks only
at the file of the kernel itself, and would go on running old machine code after an edit elsewhere.
"""

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, event
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, overload

from linsep._machine import cache_base

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_CONFIG: Any = numba.config
F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered and fused, which lets them vectorise; NaN and Inf keep their meaning.
SAFE_FAST_MATH = {"reassoc", "contract", "nsz", "arcp"}
FUSE = ("contract",)
# For what only kernels call: no entrance for the interpreter, and no call left in machine code.
INSIDE: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}
AHEAD = 32  # entries by which weights are fetched before they are needed


def _digest() -> str:
    """Stands for all sources that can change machine code: those that import this module."""
    content = [path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))]
    kernels = b"\0".join(text for text in content if b"linsep._compile" in text)
    return hashlib.blake2b(Path(__file__).read_bytes() + kernels, digest_size=8).hexdigest()


def _cache_folder() -> Path | None:
    """A writable folder for machine code, or None where nothing can be written."""
    try:
        folder = cache_base() / _digest()
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except (OSError, RuntimeError):  # RuntimeError: no home folder at all
        return None
    return folder


CACHE = _cache_folder()


def kernel(function: F) -> F:
    """Compile `function` on first use, without the GIL, and keep the machine code on disk."""
    return _compiled(function, SAFE_FAST_MATH)


def inner(function: F) -> F:
    """`kernel` that other kernels take in whole.

    A call left in machine code may end in any copy of the function that was loaded before, and
    copies optimised in different places round differently: a fit with compiled kernels and one
    with kernels from disk would differ in last digits.
    """
    return _compiled(function, SAFE_FAST_MATH, forceinline=True)


def exact(function: F) -> F:
    """`kernel` whose arithmetic is done as written: for code that proves its last bit right."""
    return _compiled(function, set())


def exact_inner(function: F) -> F:
    """`exact` that other kernels take in whole."""
    return _compiled(function, set(), forceinline=True)


def _compiled(function: F, fastmath: set[str], **more: Any) -> F:
    options: dict[str, Any] = {
        "nogil": True,
        "fastmath": fastmath,
        "no_cfunc_wrapper": True,
        **more,
    }
    if CACHE is None:
        return numba.njit(**options)(function)
    before, _CONFIG.CACHE_DIR = _CONFIG.CACHE_DIR, str(CACHE)
    try:
        made: Any = numba.njit(cache=True, **options)(function)
        if made is not function:  # NUMBA_DISABLE_JIT leaves it as it is
            _keep_in_turn(made)
        return made  # type: ignore[no-any-return]
    except RuntimeError:  # a kernel typed in at a prompt has no file to be cached by
        return numba.njit(**options)(function)
    finally:
        _CONFIG.CACHE_DIR = before


def _keep_in_turn(dispatcher: Any) -> None:
    """Let one process at a time write to the folder.

    The compiler reads the list of what is kept for a function, takes the next free name, and
    writes list and code. Two processes at once would take the same name, and one of them would
    later run the code of the other, made for arguments of another type.
    """
    save = dispatcher._cache.save_overload

    def alone(signature: Any, code: Any) -> None:
        with _turn():
            save(signature, code)

    dispatcher._cache.save_overload = alone


@contextlib.contextmanager
def _turn() -> Iterator[None]:
    if fcntl is None or CACHE is None:
        yield
        return
    with (CACHE / ".turn").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # let go of when the file is closed
        yield


def by_type(function: F) -> F:
    """Let kernels call `function(value, ...)` as the method of that name of `value`'s type."""

    @overload(function, strict=False, jit_options=INSIDE)
    def choose(value, *rest):  # type: ignore[no-untyped-def]
        return getattr(value.instance_class, function.__name__)

    return function


def weighted_sum(data, indices, start, stop, W, k, lanes, s):  # type: ignore[no-untyped-def]
    """s[k : k + lanes] ← Σ data[e] · W[indices[e], k : k + lanes] over start ≤ e < stop.

    In kernels `lanes` is a constant, a multiple of four, and each entry costs a few vector loads
    and multiply-adds. Left to itself the compiler keeps scalar sums, three times slower. Entries
    at even places have their own sum, so that no addition waits for the one before; the order of
    additions in a lane does not depend on how many lanes there are. Weights of 16 bits are the
    upper halves of float32 numbers, see `upper_half`.
    """
    halves = W.dtype == np.uint16
    real = np.dtype("f4") if halves else W.dtype
    for lane in range(k, k + lanes):
        sums = [real.type(0), real.type(0)]
        for e in range(start, stop):
            odd = (e - start) % 2 if e + 1 < stop or (stop - start) % 2 == 0 else 0
            w = W[indices[e], lane]
            w = whole(w) if halves else w
            sums[odd] += real.type(data[e]) * w
        s[lane] = sums[0] + sums[1]


@infer_global(weighted_sum)
class _WeightedSum(AbstractTemplate):  # type: ignore[misc]
    """What kernels know of `weighted_sum`: less to compile than an overload."""

    prefer_literal = True

    def generic(self, args: Any, kws: Any) -> Any:
        return numba.types.void(*args)


@lower_builtin(weighted_sum, numba.types.VarArg(numba.types.Any))  # type: ignore[untyped-decorator]
def _lower_weighted_sum(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _emit_weighted_sum(signature.args[6].literal_value, context, builder, signature, args)


def weighted_add(data, indices, start, stop, W, k, lanes, d):  # type: ignore[no-untyped-def]
    """W[indices[e], k : k + lanes] += data[e] · d[k : k + lanes] for start ≤ e < stop.

    The opposite of `weighted_sum`: in kernels each entry costs one load, multiply-add and store
    for every four or eight lanes. Weights, entries and d are of one type.
    """
    for e in range(start, stop):
        for lane in range(k, k + lanes):
            W[indices[e], lane] += data[e] * d[lane]


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


def _emit_weighted_add(lanes: int, context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The loop of `weighted_add` in vectors of 32 bytes."""
    data, indices, start, stop, W, k, _, d = args
    types = dict(zip(("data", "indices", "", "", "W", "", "", "d"), signature.args, strict=True))

    def array(name: str, value: Any) -> Any:
        return context.make_array(types[name])(context, builder, value)

    real, index, place = context.get_value_type(types["W"].dtype), ir.IntType(64), ir.IntType(32)
    size = types["W"].dtype.bitwidth // 8
    full = 32 // size
    cuts = [(first, min(full, lanes - first)) for first in range(0, lanes, full)]
    vectors = [(first, ir.VectorType(real, width)) for first, width in cuts]
    entries, columns = array("data", data).data, array("indices", indices).data
    weights = array("W", W)
    stride = cgutils.unpack_tuple(builder, weights.shape)[1]
    origin = builder.gep(weights.data, [k])

    def address(pointer: Any, first: int, vector: Any) -> Any:
        return builder.bitcast(builder.gep(pointer, [index(first)]), vector.as_pointer())

    entries_stored = cgutils.unpack_tuple(builder, array("indices", indices).shape)[0]

    def weights_of(e: Any) -> Any:
        j = builder.zext(builder.load(builder.gep(columns, [e])), index)
        return builder.gep(origin, [builder.mul(j, stride)])

    steps = []
    for first, vector in vectors:
        step = builder.load(address(builder.gep(array("d", d).data, [k]), first, vector))
        step.align = size
        steps.append(step)
    with cgutils.for_range_slice(builder, start, stop, index(1), index) as (e, _):
        x = builder.load(builder.gep(entries, [e]))
        if x.type != real:
            x = (builder.fpext if real == ir.DoubleType() else builder.fptrunc)(x, real)
        ahead = builder.add(e, index(AHEAD))
        ahead = builder.select(builder.icmp_signed("<", ahead, entries_stored), ahead, e)
        row, later = weights_of(e), weights_of(ahead)
        for first in range(0, lanes, 64 // size):
            _fetch(builder, builder.gep(later, [index(first)]))
        for (first, vector), step in zip(vectors, steps, strict=True):
            nothing = vector(ir.Undefined)
            zeros = ir.VectorType(place, vector.count)([0] * vector.count)
            one = builder.insert_element(nothing, x, place(0))
            product = builder.fmul(builder.shuffle_vector(one, nothing, zeros), step, flags=FUSE)
            w = builder.load(address(row, first, vector))
            w.align = size
            kept = builder.store(builder.fadd(w, product, flags=FUSE), address(row, first, vector))
            kept.align = size
    return context.get_dummy_value()


def upper_half(x):  # type: ignore[no-untyped-def]
    """The upper 16 bits of x as float32, rounded to nearest: its first eight binary digits."""
    bits = int(np.float32(x).view(np.uint32))
    return np.uint16((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


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


def whole(half):  # type: ignore[no-untyped-def]
    """The float32 whose upper 16 bits these are."""
    return np.uint32(int(half) << 16).view(np.float32)


@intrinsic  # type: ignore[untyped-decorator]
def _from_bits(typing_context, bits):  # type: ignore[no-untyped-def]
    """The float32 of 32 bits."""

    def cast(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.bitcast(args[0], ir.FloatType())

    return numba.types.float32(numba.types.uint32), cast


@overload(whole, jit_options=INSIDE)
def _choose_whole(half):  # type: ignore[no-untyped-def]
    return lambda half: _from_bits(np.uint32(np.uint32(half) << np.uint32(16)))  # type: ignore[call-arg]


def _fetch(builder: Any, pointer: Any, nearness: int = 3) -> None:
    """Ask for the cache line at `pointer`, to be there when it is needed: 3 for the first cache."""
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(prefetch, [builder.bitcast(pointer, byte), number(0), number(nearness), number(1)])


def _emit_weighted_sum(lanes: int, context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The loop of `weighted_sum` in vectors of 32 bytes, or 16 at the end."""
    data, indices, start, stop, W, k, _, s = args
    types = dict(zip(("data", "indices", "", "", "W", "", "", "s"), signature.args, strict=True))

    def array(name: str, value: Any) -> Any:
        return context.make_array(types[name])(context, builder, value)

    size = types["W"].dtype.bitwidth // 8
    halves = size == 2
    real = ir.FloatType() if halves else context.get_value_type(types["W"].dtype)
    index, place = ir.IntType(64), ir.IntType(32)
    full = 32 // max(size, 4)
    cuts = [(first, min(full, lanes - first)) for first in range(0, lanes, full)]
    vectors = [(first, ir.VectorType(real, width)) for first, width in cuts]
    entries, columns = array("data", data).data, array("indices", indices).data
    weights = array("W", W)
    stride = cgutils.unpack_tuple(builder, weights.shape)[1]
    entries_stored = cgutils.unpack_tuple(builder, array("indices", indices).shape)[0]
    origin = builder.gep(weights.data, [k])

    def address(pointer: Any, first: int, vector: Any) -> Any:
        return builder.bitcast(builder.gep(pointer, [index(first)]), vector.as_pointer())

    def weights_of(e: Any) -> Any:
        j = builder.zext(builder.load(builder.gep(columns, [e])), index)
        return builder.gep(origin, [builder.mul(j, stride)])

    def step(e: Any, sums: list[Any]) -> None:
        x = builder.load(builder.gep(entries, [e]))
        if x.type != real:
            cast = builder.fpext if real == ir.DoubleType() else builder.fptrunc
            x = cast(x, real)
        row = weights_of(e)
        ahead = builder.add(e, index(AHEAD))
        ahead = builder.select(builder.icmp_signed("<", ahead, entries_stored), ahead, e)
        _fetch(builder, weights_of(ahead))
        for (first, vector), total in zip(vectors, sums, strict=True):
            nothing, zeros = (
                vector(ir.Undefined),
                ir.VectorType(place, vector.count)([0] * vector.count),
            )
            one = builder.insert_element(nothing, x, place(0))
            stored = ir.VectorType(ir.IntType(16), vector.count) if halves else vector
            w = builder.load(address(row, first, stored))
            w.align = size
            if halves:
                bits = ir.VectorType(ir.IntType(32), vector.count)
                w = builder.shl(builder.zext(w, bits), bits([16] * vector.count))
                w = builder.bitcast(w, vector)
            product = builder.fmul(builder.shuffle_vector(one, nothing, zeros), w, flags=FUSE)
            builder.store(builder.fadd(builder.load(total), product, flags=FUSE), total)

    chains = [
        [cgutils.alloca_once_value(builder, v([0.0] * v.count)) for _, v in vectors]
        for _ in range(2)
    ]
    position = cgutils.alloca_once_value(builder, start)
    for width in (2, 1):  # pairs, then the odd one
        head, body, end = (builder.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        e = builder.load(position)
        beyond = builder.add(e, index(width))
        builder.cbranch(builder.icmp_signed("<=", beyond, stop), body, end)
        builder.position_at_end(body)
        for m in range(width):
            step(builder.add(e, index(m)), chains[m])
        builder.store(beyond, position)
        builder.branch(head)
        builder.position_at_end(end)
    target = context.get_value_type(types["s"].dtype)
    out = builder.gep(array("s", s).data, [k])
    for (first, vector), even, odd in zip(vectors, *chains, strict=True):
        total = builder.fadd(builder.load(even), builder.load(odd))
        wide = ir.VectorType(target, vector.count)
        total = total if target == real else builder.fpext(total, wide)
        builder.store(total, address(out, first, wide)).align = size
    return context.get_dummy_value()


def fetch(array, place):  # type: ignore[no-untyped-def]
    """Ask for the cache line of the entry at `place` of the array's memory, and go on at once.

    In kernels; a row that is visited out of order is then there when its turn comes.
    """


@intrinsic  # type: ignore[untyped-decorator]
def _fetch_place(typing_context, array, place):  # type: ignore[no-untyped-def]
    def ask(context, builder, signature, args):  # type: ignore[no-untyped-def]
        memory = context.make_array(signature.args[0])(context, builder, args[0]).data
        _fetch(builder, builder.gep(memory, [args[1]]), 2)  # the first cache is full of weights
        return context.get_dummy_value()

    return numba.types.void(array, numba.types.int64), ask


@overload(fetch, jit_options=INSIDE)
def _choose_fetch(array, place):  # type: ignore[no-untyped-def]
    return lambda array, place: _fetch_place(array, np.int64(place))  # type: ignore[call-arg]


class _Compiling(event.Listener):  # type: ignore[misc]
    """Around each compilation: say so once, and let neighbouring operations share registers.

    The second is off by default in the compiler; it is switched on for our kernels only.
    """

    said = False
    nested = 0

    def on_start(self, event: Any) -> None:
        if not self._ours(event):
            return
        if not self.said:
            self.said = True
            kept = "kept for next time" if CACHE else "no folder to keep them in: set LINSEP_CACHE"
            print(f"linsep: compiling kernels, once ({kept})", file=sys.stderr)
        if self.nested == 0:
            self.before, _CONFIG.SLP_VECTORIZE = _CONFIG.SLP_VECTORIZE, 1
        self.nested += 1

    def on_end(self, event: Any) -> None:
        if not self._ours(event):
            return
        self.nested -= 1
        if self.nested == 0:
            _CONFIG.SLP_VECTORIZE = self.before

    @staticmethod
    def _ours(event: Any) -> bool:
        return (event.data["dispatcher"].py_func.__module__ or "").startswith("linsep.")


COMPILING = _Compiling()
event.register("numba:compile", COMPILING)
