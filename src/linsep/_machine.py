"""Machine code of kernels, kept in files and run without the compiler.

To import the compiler takes longer than to parse a hundred megabytes, or than many a fit. A kernel
that only reads and writes the arrays it is given needs nothing of it at run time: its object code,
the very bytes the compiler has made, is kept beside the compiler's own files, and a later process
hands it to the linker alone. The folder carries the sources, the name of the file the versions, the
processor and the types of the arguments, so that no other code than that of these sources is run.
How arguments are handed over is the compiler's own affair: see `_convention` for how it is probed.
"""

import ctypes
import hashlib
import importlib.util
import pickle
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linsep import _kernel_cache

# What the entrance for the interpreter calls, which is in the object code but never used here; and
# what would free an array that compiled code owns: it owns none.
STUBS = (
    "NRT_Free", "NRT_MemInfo_call_dtor", "NRT_adapt_ndarray_from_python", "NRT_decref",
    "NRT_incref", "numba_do_raise", "numba_gil_ensure", "numba_gil_release",
    "numba_runtime_build_excinfo_struct", "numba_unpickle",
)  # fmt: skip

NUMBERS: dict[str, Any] = {
    "bool": ctypes.c_uint8, "int8": ctypes.c_int8, "int16": ctypes.c_int16,
    "int32": ctypes.c_int32, "int64": ctypes.c_int64, "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float, "float64": ctypes.c_double,
}  # fmt: skip

_NAMES = {np.dtype(name): name for name in NUMBERS}  # to ask a type for its name takes longer


class Code(NamedTuple):
    """Object code: the name of the function, the numbers it returns, the bytes.

    `entrance` is the code of a function of one address, where all arguments lie one after the
    other. No name stands for a kernel that is left to the compiler.
    """

    symbol: str
    returns: str
    code: bytes
    entrance: bytes = b""


LEFT = Code("", "", b"left to the compiler")
ENTRANCE = "linsep_entrance"


def kinds(given: tuple[Any, ...]) -> str:
    """The types of arguments, as the compiler tells them apart; nothing where one has no name.

    >>> kinds((np.zeros((2, 3)), 1, (True, 0.5), None))
    'float64[2C],int64,(bool,float64),nothing'
    """
    names = [_kind(one) for one in given]
    return ",".join(names) if all(names) else ""


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        usual = flags.aligned and value.dtype.isnative and type(value) in (np.ndarray, np.memmap)
        rest = "" if flags.writeable else "r"
        name = _NAMES.get(value.dtype) if usual else None
        return f"{name}[{value.ndim}{layout}{rest}]" if name else ""
    if isinstance(value, tuple):
        parts = [_kind(one) for one in value]
        name = "" if type(value) is tuple else f"{type(value).__module__}.{type(value).__name__}"
        return f"{name}({','.join(parts)})" if all(parts) else ""
    if value is None:
        return "nothing"
    if type(value) in (float, np.float64):
        return "float64"
    if type(value) in (bool, np.bool_):
        return "bool"
    if type(value) is int:
        return "int64" if -(1 << 63) <= value < 1 << 63 else ""
    known = isinstance(value, np.generic) and value.dtype.name in NUMBERS
    return value.dtype.name if known else ""


_FLAGS = 0x1 | 0x2 | 0x100 | 0x400  # rows or columns one after the other, aligned, writeable
_WORD = ctypes.c_size_t.from_address
_HEAD = object.__basicsize__


def _place_is_first(array: Any) -> bool:
    """Whether the place of an array's numbers is the first word behind its head, as NumPy's own
    macros read it."""
    if sys.implementation.name != "cpython" or not array.ctypes.data:
        return False
    return _WORD(id(array) + _HEAD).value == array.ctypes.data


_FIRST = all(map(_place_is_first, (np.zeros(1), np.zeros((2, 3), np.int8)[1:, ::2])))
"""Whether it can be read there; NumPy's own way to it takes eight times as long."""


def laid_out(given: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Any]]:
    """What tells arguments of one kind from others, quicker to make than their names; and the
    numbers that machine code takes for them."""
    like: list[Any] = []
    flat: list[Any] = []
    _lay_out(given, like, flat)
    return tuple(like), flat


def likeness(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """What tells arguments of one kind from others, alone."""
    like: list[Any] = []
    for value in given:
        kind = type(value)
        if kind is np.ndarray:
            like += (value.dtype, value.ndim, value.flags.num & _FLAGS)
        elif isinstance(value, tuple):
            like += (kind, likeness(value))
        elif isinstance(value, np.ndarray):
            like.append(laid_out((value,))[0])
        else:
            like.append(None if kind is int and not -(1 << 63) <= value < 1 << 63 else kind)
    return tuple(like)


def _lay_out(given: tuple[Any, ...], like: list[Any], flat: list[Any]) -> None:
    """An array as compiled code takes it: no owner, sizes, the place of its numbers, its shape."""
    for value in given:
        kind = type(value)
        if kind is np.ndarray or isinstance(value, np.ndarray):
            shape = value.shape
            like += (kind, value.dtype, len(shape), value.flags.num & _FLAGS)
            place = _WORD(id(value) + _HEAD).value if _FIRST else int(value.ctypes.data)
            flat += (0, 0, value.size, value.itemsize, place, *shape, *value.strides)
        elif kind is float:
            like.append(kind)
            flat.append(value)
        elif isinstance(value, tuple):
            like += (kind, len(value))
            _lay_out(value, like, flat)
        else:
            like.append(None if kind is int and not -(1 << 63) <= value < 1 << 63 else kind)
            flat.append(0 if value is None else value)


def path_of(folder: Path, function: Any, arguments: str) -> Path:
    """The file for a function, as its source now is, and the types of its arguments.

    Raises FileNotFoundError if it has no source, or is not the only function made of it.
    """
    code = function.__code__
    if function.__closure__:
        raise FileNotFoundError(function.__qualname__)
    source = Path(code.co_filename).stat()
    stamp = f"{source.st_size} {source.st_mtime_ns} {code.co_firstlineno}"
    digest = hashlib.blake2b(f"{stamp} {arguments} {about()}".encode(), digest_size=12)
    name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
    return folder / f"{name}-{digest.hexdigest()}"


@cache
def about() -> str:
    """The versions and the processor that machine code is made by and for."""
    llvm = _llvm()
    features = llvm.get_host_cpu_features().flatten()
    version = ""
    spec = importlib.util.find_spec("numba")
    if spec is not None and spec.origin:
        stat = Path(spec.origin).with_name("_version.py").stat()
        version = f"{spec.origin} {stat.st_size} {stat.st_mtime_ns}"
    target = f"{llvm.llvm_version_info} {llvm.get_host_cpu_name()} {features}"
    return f"{target} {version} {sys.implementation.cache_tag}"


def read(folder: Path, function: Any, arguments: str) -> Code | None:
    """What is kept for a function; None if it is not there, or not whole."""
    try:
        content = _kernel_cache.load(path_of(folder / "code", function, arguments))
    except OSError:  # typed in at a prompt: there is no file
        return None
    return None if content is None else unpack(content)


def write(folder: Path, function: Any, arguments: str, made: Code) -> None:
    """Keep it for the next process, if anything can be written at all."""
    with suppress(OSError):  # typed in at a prompt: there is no file
        _kernel_cache.store(path_of(folder / "code", function, arguments), pack(made))


def pack(made: Code) -> bytes:
    """Code as the content of a file."""
    head = f"{made.symbol} {made.returns} {len(made.code)}\n"
    return head.encode() + made.code + made.entrance


def unpack(content: bytes) -> Code:
    """The inverse of `pack`."""
    head, _, rest = content.partition(b"\n")
    symbol, returns, size = head.decode().split(" ")
    return Code(symbol, returns, rest[: int(size)], rest[int(size) :])


AS_ASSUMED, OTHERWISE = b"as assumed", b"otherwise"


def convention_file(folder: Path) -> Path:
    """The file that says whether compiled code takes arguments as `linked` hands them over."""
    digest = hashlib.blake2b(about().encode(), digest_size=12).hexdigest()
    return folder / "code" / f"convention-{digest}"


@cache
def convention_holds(folder: Path) -> bool:
    """Whether a probe has shown it for this compiler: see `_convention`."""
    return _kernel_cache.load(convention_file(folder)) == AS_ASSUMED


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    if "numba" not in sys.modules:
        for name in STUBS:
            llvm.add_symbol(name, ctypes.cast(_nothing, ctypes.c_void_p).value)
    return llvm


_nothing = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda pointer: None)
_alive: list[Any] = []  # what holds the code that was linked


def linked(made: Code, example: tuple[Any, ...]) -> Callable[[list[Any]], Any]:
    """The code as a function of such arguments `laid_out`; no interpreter's lock is held in it."""
    llvm = _llvm()
    target = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    for code in (made.code, made.entrance):
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _alive.append(engine)
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p)
    function = kind(engine.get_function_address(ENTRANCE))
    slots = struct.Struct("<qq" + "".join(map(_slots, example)))
    names = made.returns.strip("()").split(",") if made.returns else []
    fields = [(f"_{k}", NUMBERS[name]) for k, name in enumerate(names)]
    behind = ("problem", ctypes.c_void_p)
    room = type(
        "Room", (ctypes.Structure,), {"_fields_": [*(fields or [("_0", ctypes.c_void_p)]), behind]}
    )
    place, pack, at = ctypes.addressof, slots.pack, room.problem.offset  # type: ignore[attr-defined]
    several = made.returns.startswith("(")
    one = bool(fields) and not several and names[0] != "bool"

    def run(flat: list[Any]) -> Any:
        result = room()
        where = place(result)
        status = function(pack(where, where + at, *flat))
        if status:
            raise _problem(status, result.problem)
        if one:
            return result._0
        outcome = [
            bool(getattr(result, field)) if name == "bool" else getattr(result, field)
            for (field, _), name in zip(fields, names, strict=True)
        ]
        return tuple(outcome) if several else (outcome[0] if outcome else None)

    return run


_SLOT = {"bool": "?7x", "uint64": "Q", "float32": "f4x", "float64": "d"}


def _slots(value: Any) -> str:
    """How the numbers of `_lay_out` are written: eight bytes each, the smaller ones in front."""
    if isinstance(value, np.ndarray):
        return "q" * (5 + 2 * value.ndim)
    if isinstance(value, tuple):
        return "".join(map(_slots, value))
    return _SLOT.get(_kind(value), "q")


def _problem(status: int, about: int | None) -> BaseException:
    """What a kernel has raised: its class and arguments lie in the machine code."""
    if status > 0 and about:
        start = ctypes.c_void_p.from_address(about).value
        size = ctypes.c_int32.from_address(about + ctypes.sizeof(ctypes.c_void_p)).value
        with suppress(Exception):
            kind, given, _ = pickle.loads(ctypes.string_at(start, size))  # type: ignore[arg-type]
            return kind(*(given or ()))  # type: ignore[no-any-return]
    return RuntimeError(f"machine code ended with {status}; remove {_kernel_cache.base()}")
