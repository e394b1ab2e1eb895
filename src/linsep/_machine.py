"""Machine code of a kernel, kept in a file and run without the compiler.

To import the compiler takes longer than to parse a hundred megabytes. A kernel that only reads and
writes arrays it is given needs nothing of it at run time: its object code is kept beside the other
machine code, and a later process hands it to the linker alone. The name of the file carries the
sources, the versions and the processor, so that no other code than that of these sources is run.
"""

import ctypes
import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

RELEASE = "NRT_MemInfo_call_dtor"  # would free an array that compiled code owns; it owns none here


def cache_base() -> Path:
    """Where machine code is kept."""
    base = os.environ.get("LINSEP_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "linsep"


def runner(
    sources: tuple[str, ...], compile: Callable[[], tuple[Any, tuple[str, bytes] | None]]
) -> Any:
    """The kernel, as a function of arrays: from its file, or compiled and put there.

    Parameters
    ----------
    sources : files of the package the kernel is made of
    compile : gives the kernel and its object code, if it can be had; imports the compiler
    """
    path = _file(sources)
    kept = _read(path)
    if kept is None:
        kernel, kept = compile()
        if kept is None:
            return kernel
        _write(path, *kept)
    return linked(*kept)


def _file(sources: tuple[str, ...]) -> Path | None:
    llvm = _llvm()
    here = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=12)
    for name in (
        *sources,
        "_compile/bits.py",
        "_compile/core.py",
        "_compile/objects.py",
        "_machine.py",
    ):
        digest.update((here / name).read_bytes())
    about = (llvm.llvm_version_info, llvm.get_host_cpu_name(), sys.version_info[:2])
    digest.update(repr((about, llvm.get_host_cpu_features().flatten())).encode())
    try:
        return cache_base() / "machine" / digest.hexdigest()
    except RuntimeError:  # no home folder at all
        return None


def _read(path: Path | None) -> tuple[str, bytes] | None:
    try:
        content = b"" if path is None else path.read_bytes()
    except OSError:
        return None
    head, _, code = content.partition(b"\n")
    check, _, symbol = head.partition(b" ")
    whole = check == hashlib.blake2b(symbol + code, digest_size=16).hexdigest().encode()
    return (symbol.decode(), code) if whole and code else None


def _write(path: Path | None, symbol: str, code: bytes) -> None:
    """Keep it for the next process, if anything can be written at all."""
    if path is None:
        return
    check = hashlib.blake2b(symbol.encode() + code, digest_size=16).hexdigest()
    own = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            own.write_bytes(f"{check} {symbol}\n".encode() + code)
            own.replace(path)
        finally:
            own.unlink(missing_ok=True)


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


_nothing = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda pointer: None)
_alive: list[Any] = []  # what holds the code that was linked


def linked(symbol: str, code: bytes) -> Callable[..., int]:
    """The code as a function of arrays, which runs without the interpreter's lock."""
    llvm = _llvm()
    if "numba" not in sys.modules:
        llvm.add_symbol(RELEASE, ctypes.cast(_nothing, ctypes.c_void_p).value)
    target = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address(symbol)
    _alive.append(engine)

    def run(*arrays: Any) -> int:
        given = [value for array in arrays for value in _described(array)]
        types = [ctypes.c_void_p if value is None else ctypes.c_int64 for value in given]
        kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *types)
        result, problem = ctypes.c_int64(), ctypes.c_void_p()
        status = kind(address)(ctypes.addressof(result), ctypes.addressof(problem), *given)
        if status:
            raise RuntimeError(f"machine code ended with {status}; remove {cache_base()}")
        return result.value

    return run


def _described(array: Any) -> list[Any]:
    """An array as compiled code takes it: no owner, sizes, the place of its numbers, its shape."""
    data = array.ctypes.data
    return [None, None, array.size, array.itemsize, data, *array.shape, *array.strides]
