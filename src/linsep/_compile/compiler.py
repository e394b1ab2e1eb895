"""The compiler itself, imported when a kernel is first needed whose machine code is not there."""

import contextlib
import sys
from collections.abc import Iterator
from time import perf_counter
from typing import Any, cast

import numba
from numba.core import event, types
from numba.extending import overload
from numba.np.numpy_support import as_dtype

from linsep._compile import address_code as address_code
from linsep._compile import bit_code as bit_code
from linsep._compile import lane_code as lane_code
from linsep._compile import memory_code as memory_code
from linsep._compile.core import BY_TYPE, CACHE, INSIDE, Kernel
from linsep._machine import LEFT, NUMBERS, STUBS, Code, read, write

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_CONFIG: Any = numba.config

# What machine code may call that any process has: the interpreter, and functions of numbers.
PRESENT = ("llvm.", "Py", "_Py")
ANYWHERE = {
    "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "pow", "sqrt", "tanh", "floor", "ceil",
    "fma", "fmod", "round", "trunc", "memcpy", "memset", "memmove",
}  # fmt: skip


def compiled(kernel: Kernel) -> Any:
    """A kernel as the compiler knows it."""
    _tell_of_methods()
    function, options = kernel.py_func, kernel.options
    if CACHE is None:
        return numba.njit(**options)(function)
    before, _CONFIG.CACHE_DIR = _CONFIG.CACHE_DIR, str(CACHE)
    try:
        made: Any = numba.njit(cache=True, **options)(function)
        if made is not function:  # NUMBA_DISABLE_JIT leaves it as it is
            _keep_in_turn(made)
        return made
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
    save, load = dispatcher._cache.save_overload, dispatcher._cache.load_overload

    def alone(signature: Any, code: Any) -> None:
        with _turn():
            save(signature, code)
        _keep_code(dispatcher.py_func, code)

    def whole(signature: Any, context: Any) -> Any:
        kinds = _kinds(getattr(signature, "args", signature))
        if CACHE and kinds and read(CACHE, dispatcher.py_func, kinds) is None:
            return None  # what other processes need is lost: made again
        return load(signature, context)

    dispatcher._cache.save_overload, dispatcher._cache.load_overload = alone, whole


@contextlib.contextmanager
def _turn() -> Iterator[None]:
    if fcntl is None or CACHE is None:
        yield
        return
    with (CACHE / ".turn").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # let go of when the file is closed
        yield


def _keep_code(function: Any, code: Any) -> None:
    """Keep object code for processes without the compiler, if it calls nothing they lack."""
    kinds = _kinds(code.signature.args)
    if CACHE is None or not kinds:
        return
    made, returns = LEFT, _returned(code.signature.return_type)
    if returns is not None and _stands_alone(code.library):
        made = Code(code.fndesc.llvm_func_name, returns, code.library._get_compiled_object())
    write(CACHE, function, kinds, made)


def _kinds(arguments: Any) -> str:
    found = [_kind(one) for one in arguments]
    return ",".join(found) if all(found) else ""


def _stands_alone(library: Any) -> bool:
    module = library._final_module
    called = [one.name for one in (*module.functions, *module.global_variables)
              if one.is_declaration]  # fmt: skip
    return all(name.startswith(PRESENT) or name in ANYWHERE or name in STUBS for name in called)


def _kind(one: Any) -> str:
    """A type by the name that `_machine.kinds` gives to its values."""
    if isinstance(one, types.Array):
        kind, rest = as_dtype(one.dtype), "" if one.mutable else "r"
        plain = one.aligned and type(one) is types.Array and kind.name in NUMBERS
        return f"{kind.name}[{one.ndim}{one.layout}{rest}]" if plain else ""
    if isinstance(one, types.BaseTuple):
        parts = [_kind(part) for part in cast(Any, one)]
        made = getattr(one, "instance_class", None)
        name = "" if made is None else f"{made.__module__}.{made.__name__}"
        return f"{name}({','.join(parts)})" if all(parts) else ""
    return "nothing" if isinstance(one, types.NoneType) else _number(one) or ""


def _number(one: Any) -> str | None:
    one = types.unliteral(one)
    if isinstance(one, types.Boolean):
        return "bool"
    plain = isinstance(one, (types.Integer, types.Float)) and str(one) in NUMBERS
    return str(one) if plain else None


def _returned(one: Any) -> str | None:
    """What a kernel returns, where that is nothing, a number or several; otherwise None."""
    if isinstance(one, types.NoneType):
        return ""
    if isinstance(one, types.BaseTuple):
        parts = [_number(part) for part in cast(Any, one)]
        plain = not hasattr(one, "instance_class") and len(parts) > 0 and all(parts)
        return f"({','.join(map(str, parts))})" if plain else None
    return _number(one)


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
            kept = "kept for next time" if CACHE else "no folder to keep them in: set LINSEP_CACHE"
            print(f"linsep: compiling kernels, once ({kept})", file=sys.stderr)
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
