"""Kernels: compiled on first use, kept on disk, picked by the types of their arguments.

The cache folder carries a digest of all sources that name `linsep._compile`: the compiler looks
only at the file of the kernel itself, and would go on running old machine code after an edit
elsewhere.
"""

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.extending import overload

from linsep._machine import cache_base

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_CONFIG: Any = numba.config
F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered and fused, which lets them vectorise; NaN and Inf keep their meaning.
SAFE_FAST_MATH = {"reassoc", "contract", "nsz", "arcp"}
# For what only kernels call: no entrance for the interpreter, and no call left in machine code.
INSIDE: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}


def _digest() -> str:
    """Stands for all sources that can change machine code: this package, and who imports it."""
    content = [path.read_bytes() for path in sorted(Path(__file__).parents[1].rglob("*.py"))]
    kernels = b"\0".join(text for text in content if b"linsep._compile" in text)
    return hashlib.blake2b(kernels, digest_size=8).hexdigest()


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
