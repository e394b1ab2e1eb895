"""Kernels: compiled on first use, kept on disk, picked by the types of their arguments.

The cache folder carries a digest of all sources that name `linsep._compile`: the compiler looks
only at the file of the kernel itself, and would go on running old machine code after an edit
elsewhere. A process whose kernels are all there never imports the compiler.
"""

import errno
import hashlib
import os
import sys
from collections.abc import Callable
from functools import update_wrapper
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar, cast

from linsep import _kernel_cache, _machine

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered and fused, which lets them vectorise; NaN and Inf keep their meaning.
SAFE_FAST_MATH = frozenset({"reassoc", "contract", "nsz", "arcp"})
# For what only kernels call: no entrance for the interpreter, and no call left in machine code.
INSIDE: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}
OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
FEW = 10_000
"""Calls after which the compiler is worth its import: it hands over arguments ten times faster."""


def _digest() -> str:
    """Stands for all sources that can change machine code: this package, and who imports it."""
    content = [path.read_bytes() for path in sorted(Path(__file__).parents[1].rglob("*.py"))]
    for name in ("_convention.py", "_kernel_cache.py", "_machine.py"):
        content.append(b"linsep._compile" + (Path(__file__).parents[1] / name).read_bytes())
    kernels = b"\0".join(text for text in content if b"linsep._compile" in text)
    return hashlib.blake2b(kernels, digest_size=8).hexdigest()


def _known_digest(base: Path) -> str:
    """`_digest`, noted under the sizes and times of the sources: they are read when one changes."""
    stamp = hashlib.blake2b(digest_size=12)
    for folder, _, names in sorted(os.walk(Path(__file__).parents[1])):
        for name in sorted(name for name in names if name.endswith(".py")):
            about = os.stat(os.path.join(folder, name))  # noqa: PTH116, PTH118
            state = folder, name, about.st_size, about.st_mtime_ns, about.st_ctime_ns
            stamp.update(repr(state).encode())
    note = base / "sources" / stamp.hexdigest()
    noted = _kernel_cache.load(note)
    if noted is not None:
        return noted.decode()
    digest = _digest()
    _kernel_cache.store(note, digest.encode(), quietly=True)
    return digest


def _cache_folder() -> Path | None:
    """A folder for machine code, or None where there cannot be one."""
    try:
        base = _kernel_cache.base()
        _kernel_cache.make_folder(base)
        folder = base / _known_digest(base)
        _kernel_cache.make_folder(folder)
    except PermissionError as problem:
        if problem.errno == errno.EPERM:
            _kernel_cache.tell(f"{problem.strerror}: kernels are not kept there; set LINSEP_CACHE")
        return None
    except (OSError, RuntimeError):  # RuntimeError: no home folder at all
        return None
    return folder


CACHE = _cache_folder()


def kernel(function: F) -> F:
    """Compile `function` on first use, without the GIL, and keep the machine code on disk."""
    return cast(F, Kernel(function, SAFE_FAST_MATH))


def strict(function: F) -> F:
    """`kernel` whose arithmetic is done as written: for code that proves its last bit right."""
    return cast(F, Kernel(function, frozenset()))


def inline(function: Any = None, *, shared: bool = False, strict: bool = False) -> Any:
    """`kernel` that leaves no call in the machine code of the kernels that call it.

    A call may end in any copy of the function that was loaded before, and copies optimised in
    different places round differently: a fit with compiled kernels and one with kernels from disk
    would differ in last digits.

    Parameters
    ----------
    shared : True: compiled by itself and taken in by LLVM; False: copied into the source of its
        callers before these are compiled, so that what is rounded where depends on them alone
    strict : True: arithmetic as written, whatever the caller's; only what is shared can have it

    Notes
    -----
    Seconds of processor time to compile so many kernels that invert a matrix modulo a prime and
    call three functions each (Numba 0.68); all run in 5 to 7 ms, however they call.

    | kernels | calls left | shared    | copied    |
    |---------|------------|-----------|-----------|
    | 1       | 0.7–0.8    | 0.6–0.9   | 0.6–0.7   |
    | 2       | 1.1–1.2    | 1.1–1.2   | 1.4       |
    | 6       | 2.8–2.9    | 2.7–2.9   | 3.8–4.1   |

    So: `@inline` for what has one caller, `@inline(shared=True)` for what has several.
    """
    if function is None:
        return lambda function: inline(function, shared=shared, strict=strict)
    if strict and not shared:
        raise TypeError("strict=True wants shared=True: what is copied rounds as its caller does")
    how: dict[str, Any] = {"forceinline": True} if shared else {"inline": "always"}
    return Kernel(function, frozenset() if strict else SAFE_FAST_MATH, **how)


class Kernel:
    """A function and its machine code: from a file, or made by the compiler when it is needed."""

    calls = 0  # of all kernels, by machine code from files

    def __init__(self, function: Any, fastmath: frozenset[str], **more: Any) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.options = {**OPTIONS, "fastmath": set(fastmath), **more}
        self._made: Any = None
        self._kept: dict[Any, Any] = {}
        self._entrances: dict[Any, Any] = {}
        self._tuples: bool | None = None  # whether some arguments are tuples

    def __call__(self, *given: Any, **named: Any) -> Any:
        if self._made is None and not named and _alone():
            like, flat = _machine.laid_out(given)
            run = self._found(given, like)
            if run is not None:
                Kernel.calls += 1
                return run(flat)
        if named or self._tuples is False:
            return self.compiled(*given, **named)
        return self._entered(given)

    def _entered(self, given: tuple[Any, ...]) -> Any:
        """Call what was compiled for such arguments.

        The compiler's own dispatcher takes tuples of equal contents for one another, whatever their
        classes are; where it was wrong it asks for the types of all arguments, 0.1 ms a call.
        """
        like = _machine.likeness(given)
        entrance = self._entrances.get(like)
        if entrance is not None:
            return entrance(*given)
        made = self.compiled
        result = made(*given)
        self._tuples = bool(self._tuples) or any(isinstance(one, tuple) for one in given)
        try:
            types = tuple(made.typeof_pyval(one) for one in given)
            self._entrances[like] = made.overloads[types].entry_point
        except (AttributeError, KeyError):  # another version of the compiler, or none
            self._entrances[like] = made
        return result

    def at_hand(self, *given: Any) -> bool:
        """Whether a call with such arguments does not have to import the compiler."""
        return not _alone() or self._found(given, _machine.laid_out(given)[0]) is not None

    def _found(self, given: tuple[Any, ...], like: tuple[Any, ...]) -> Any:
        """The function for such arguments, by machine code kept before."""
        if like not in self._kept:
            names = _machine.kinds(given)
            if names not in self._kept:
                self._kept[names] = self._linked(CACHE, names, given) if CACHE and names else None
            self._kept[like] = self._kept[names]
        return self._kept[like]

    def _linked(self, folder: Path, names: str, given: tuple[Any, ...]) -> Any:
        """The function that is kept for types of these names, if it is known how to call it."""
        try:
            if not _machine.convention_holds(folder):
                return None
            code = _machine.read(folder, self.py_func, names)
            return _machine.linked(code, given) if code and code.symbol else None
        except Exception as problem:  # whatever it is, compiling is the way out
            _kernel_cache.tell(f"a kept kernel cannot be used, and is compiled again: {problem!r}")
            return None

    @property
    def compiled(self) -> Any:
        """What the compiler calls this function."""
        if self._made is None:
            from linsep._compile.compiler import compiled

            with _compiling:
                self._made = self._made or compiled(self)
        return self._made

    @property
    def _numba_type_(self) -> Any:  # kernels that call this one ask for it
        return self.compiled._numba_type_

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.compiled, name)


_compiling = RLock()
_AS_PYTHON = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"


def _alone() -> bool:
    """Whether kernels are to be run without the compiler."""
    return Kernel.calls < FEW and not _AS_PYTHON and "numba" not in sys.modules


BY_TYPE: list[Any] = []
"""Functions the compiler has to be told of, when it comes."""


def by_type(function: F) -> F:
    """Let kernels call `function(value, ...)` as the method of that name of `value`'s type."""
    BY_TYPE.append(function)
    return function
