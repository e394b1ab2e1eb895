"""The only module that speaks to the compiler.

A kernel is a plain function marked `@kernel`. A row layout, a loss or a rule is a NamedTuple with
ordinary methods; a function marked `@by_type` is, inside kernels, the method of the same name of
its first argument. The *type* of that argument picks the code, so one kernel is written once, gets
its own machine code for each pair of types, and that code is kept on disk.

The cache folder carries a digest of all sources that import this module: the compiler looks only
at the file of the kernel itself, and would go on running old machine code after an edit elsewhere.
"""

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.extending import overload

_CONFIG: Any = numba.config
F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered and fused, which lets them vectorise; NaN and Inf keep their meaning.
SAFE_FAST_MATH = {"reassoc", "contract", "nsz", "arcp"}


def _digest() -> str:
    """Stands for all sources that can change machine code: those that import this module."""
    content = [path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))]
    kernels = b"\0".join(text for text in content if b"linsep._compile" in text)
    return hashlib.blake2b(Path(__file__).read_bytes() + kernels, digest_size=8).hexdigest()


def _cache_folder() -> Path | None:
    """A writable folder for machine code, or None where nothing can be written."""
    base = os.environ.get("LINSEP_CACHE") or os.environ.get("XDG_CACHE_HOME")
    try:
        folder = Path(base) if base else Path.home() / ".cache"
        folder = folder / "linsep" / _digest()
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


def lanes(function: F) -> F:
    """`kernel` for sums that stand side by side in a loop and should share vector registers.

    Each sum keeps its own order. Otherwise the compiler would split every one of them over the
    iterations of the loop, with scattered loads: several times slower on sparse rows.
    """
    return _compiled(function, {"contract", "nsz", "arcp"})


def exact(function: F) -> F:
    """`kernel` whose arithmetic is done as written: for code that proves its last bit right."""
    return _compiled(function, set())


def _compiled(function: F, fastmath: set[str]) -> F:
    options: dict[str, Any] = {"nogil": True, "fastmath": fastmath}
    if CACHE is None:
        return numba.njit(**options)(function)
    before, _CONFIG.CACHE_DIR = _CONFIG.CACHE_DIR, str(CACHE)
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # a kernel typed in at a prompt has no file to be cached by
        return numba.njit(**options)(function)
    finally:
        _CONFIG.CACHE_DIR = before


def by_type(function: F) -> F:
    """Let kernels call `function(value, ...)` as the method of that name of `value`'s type."""

    @overload(function, inline="always", strict=False)
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


event.register("numba:compile", _Compiling())
