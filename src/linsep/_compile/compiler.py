"""The compiler itself, imported when a kernel is first needed whose machine code is not there."""

import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numba
from numba.core import event
from numba.extending import overload

from linsep import _kernel_cache
from linsep._compile import bit_code as bit_code
from linsep._compile import lane_code as lane_code
from linsep._compile import memory_code as memory_code
from linsep._compile.core import BY_TYPE, CACHE, INSIDE, OPTIONS, Kernel
from linsep._compile.portable import probe

_CONFIG: Any = numba.config


def compiled(kernel: Kernel) -> Any:
    """A kernel as the compiler knows it."""
    _tell_of_methods()
    made: Any = numba.njit(**kernel.options)(kernel.py_func)
    if CACHE is not None and made is not kernel.py_func:  # NUMBA_DISABLE_JIT leaves it as it is
        _keep(made, CACHE)
    return made


def _keep(dispatcher: Any, folder: Path) -> None:
    """Let what is compiled be kept, if this compiler lets us."""
    global _probed
    try:
        from linsep._compile.kept import KeptOverloads

        if not _probed:
            _probed = True
            probe(folder, OPTIONS)
        dispatcher._cache = KeptOverloads(dispatcher.py_func, folder)
    except Exception as problem:  # its insides are not as they were
        _kernel_cache.tell(f"this version of Numba does not let kernels be kept: {problem!r}")


_probed = False


def _tell_of_methods() -> None:
    """Let the compiler know functions marked `by_type` since it was last told."""
    while BY_TYPE:
        _tell_of(BY_TYPE.pop())


def _tell_of(function: Any) -> None:
    @overload(function, strict=False, jit_options=INSIDE)
    def choose(value, *rest):  # type: ignore[no-untyped-def]
        return getattr(value.instance_class, function.__name__)


class _Compiling(event.Listener):  # type: ignore[misc]
    """Around each compilation: say so once, and let neighbouring operations share registers.

    The second is off by default in the compiler; it is switched on for our kernels only.

    Attributes
    ----------
    seconds : how long this process has compiled
    """

    said = False
    nested = 0
    seconds = 0.0

    def on_start(self, event: Any) -> None:
        if not self._ours(event):
            return
        if not self.said:
            self.said = True
            keeps = CACHE is not None and _kernel_cache.is_writable(CACHE)
            kept = "kept for next time" if keeps else "no folder to keep them in: set LINSEP_CACHE"
            print(f"linsep: compiling kernels, once ({kept})", file=sys.stderr)
            if not keeps:
                _kernel_cache.trouble = kept  # said, and not said again
        if self.nested == 0:
            self.before, _CONFIG.SLP_VECTORIZE = _CONFIG.SLP_VECTORIZE, 1
            self.start = perf_counter()
        self.nested += 1

    def on_end(self, event: Any) -> None:
        if not self._ours(event):
            return
        self.nested -= 1
        if self.nested == 0:
            _CONFIG.SLP_VECTORIZE = self.before
            self.seconds += perf_counter() - self.start

    @staticmethod
    def _ours(event: Any) -> bool:
        return (event.data["dispatcher"].py_func.__module__ or "").startswith("linsep.")


COMPILING = _Compiling()
event.register("numba:compile", COMPILING)
