"""A kernel as object code, for processes without the compiler: part of `linsep._compile`."""

from typing import Any

import numba

from linsep._machine import RELEASE


def object_code(kernel: Any, examples: tuple[Any, ...]) -> tuple[str, bytes] | None:
    """The name and object code of a kernel; None if it calls anything outside itself."""
    if not hasattr(kernel, "py_func"):  # compiling is switched off: the kernel is plain Python
        return None

    flags: Any = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    function: Any = numba.njit(**flags)(kernel.py_func)
    types = tuple(numba.typeof(one) for one in examples)
    function.compile(types)
    done = function.overloads[types]
    module = done.library._final_module
    calls = [line for line in str(module).splitlines() if line.startswith("declare")]
    if any("@llvm." not in line and f"@{RELEASE}(" not in line for line in calls):
        return None
    return done.fndesc.llvm_func_name, done.library.codegen._tm.emit_object(module)
