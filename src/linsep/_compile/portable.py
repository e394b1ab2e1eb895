"""Object code for processes without the compiler, and the probe whether they may call it."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba

from linsep import _convention, _kernel_cache, _machine
from linsep._compile.type_names import kinds, parameters, returned
from linsep._machine import AS_ASSUMED, LEFT, OTHERWISE, STUBS, Code

# What machine code may call that any process has: the interpreter, and functions of numbers.
PRESENT = ("llvm.", "Py", "_Py")
ANYWHERE = {
    "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "pow", "sqrt", "tanh", "floor", "ceil",
    "fma", "fmod", "round", "trunc", "memcpy", "memset", "memmove",
}  # fmt: skip


def keep(folder: Path, function: Any, made: Any) -> None:
    """Keep object code for processes without the compiler, if it calls nothing they lack."""
    names = kinds(made.signature.args)
    if names:
        _machine.write(folder, function, names, portable(made))


def portable(made: Any) -> Code:
    """Object code of what was compiled; none if it cannot be called without the compiler."""
    with suppress(Exception):  # the compiler's insides are not as they were: left to it
        returns = returned(made.signature.return_type)
        symbol = made.fndesc.llvm_func_name
        module = made.library._final_module
        entrance = [str(one.type) for one in module.get_function(symbol).arguments]
        as_assumed = entrance == parameters(made.signature.args)
        if returns is not None and as_assumed and _stands_alone(module):
            code = made.library._get_compiled_object()
            return Code(symbol, returns, code, _entrance(symbol, entrance))
    return LEFT


def _entrance(symbol: str, types: list[str]) -> bytes:
    """Object code of a function of one address, where the arguments lie eight bytes apart.

    To hand a hundred numbers over one by one takes longer than many a kernel.
    """
    loads = [
        f"  %p{k} = getelementptr i8, ptr %all, i64 {8 * k}\n  %a{k} = load {one}, ptr %p{k}\n"
        for k, one in enumerate(types)
    ]
    given = ", ".join(f"{one} %a{k}" for k, one in enumerate(types))
    lines = [
        f'declare i32 @"{symbol}"({", ".join(types)})',
        f"define i32 @{_machine.ENTRANCE}(ptr %all) {{",
        *loads,
        f'  %status = call i32 @"{symbol}"({given})',
        "  ret i32 %status\n}",
    ]
    target = llvm.Target.from_default_triple().create_target_machine(jit=True)
    code: bytes = target.emit_object(llvm.parse_assembly("\n".join(lines)))
    return code


def _stands_alone(module: Any) -> bool:
    called = [one.name for one in (*module.functions, *module.global_variables)
              if one.is_declaration]  # fmt: skip
    return all(name.startswith(PRESENT) or name in ANYWHERE or name in STUBS for name in called)


def probe(folder: Path, options: dict[str, Any]) -> None:
    """Find out, once for a cache and a compiler, whether kept code may be called."""
    with suppress(OSError):
        path = _machine.convention_file(folder)
        if _kernel_cache.load(path) not in (AS_ASSUMED, OTHERWISE) and _kernel_cache.is_writable(
            folder
        ):
            codes = list(_probes(options))
            verdict = OTHERWISE if LEFT in codes else _convention.verdict(codes)
            if verdict is not None:
                _kernel_cache.store(path, verdict)


def _probes(options: dict[str, Any]) -> Iterator[Code]:
    for function, given in _convention.examples():
        dispatcher: Any = numba.njit(**options)(function)
        dispatcher.compile(tuple(numba.typeof(one) for one in given))
        (made,) = dispatcher.overloads.values()
        yield portable(made)
