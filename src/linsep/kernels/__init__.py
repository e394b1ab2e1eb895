"""The compiled kernels: all arithmetic over rows, and nothing else.

A submodule for each subject (`rows`, `online`, `parse`, ...), written in the C++ files beside this
one and compiled when linsep is built. Kernels take NumPy arrays in exactly the types they say and
write into those they are given; they decide nothing, keep nothing, and run without the GIL.

A build holds one level of instructions of the processor it was made for; a released wheel holds
two, and the better one that this processor has is taken.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def _runs_v3() -> bool:
    """Whether this processor has all that x86-64-v3 asks for, as NumPy found out."""
    known = import_module("numpy._core._multiarray_umath").__cpu_features__
    return all(known.get(name, False) for name in ("AVX2", "FMA3", "F16C"))


def _compiled() -> Any:
    """The extension module for this processor."""
    built = [level for level in ("v3", "v2", "native") if find_spec(f"{__name__}._kernels_{level}")]
    if not built:
        raise ImportError(
            "The compiled kernels of linsep are missing: the sources were put on the path without "
            "being built. Install the package (pip install .), or run make demo in a clone."
        )
    for level in built:
        if level != "v3" or _runs_v3():
            return import_module(f"{__name__}._kernels_{level}")
    raise ImportError(
        "The kernels of linsep were built for processors with AVX2 and FMA, and this one lacks "
        "them. Install linsep anew on this machine (pip install .)."
    )


_module = _compiled()
for _name, _part in vars(_module).items():
    if not _name.startswith("_"):
        globals()[_name] = _part
        sys.modules[f"{__name__}.{_name}"] = _part


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
