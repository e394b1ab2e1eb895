"""Parts of scipy, each imported when something of it is wanted, and without ballast.

`sp` is `scipy.sparse`. scipy copies every name of numpy, and that imports numpy's Fortran compiler
and test tools: a third of the time until `scipy.sparse` is there. In a process that is linsep's own
empty modules stand in for them for the time of that one import. `linalg` and `special` take as long
again, and many fits need neither.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from linsep import _face

_UNUSED = ("f2py", "testing")


def _import_sparse() -> None:
    hidden = [name for name in _UNUSED if f"numpy.{name}" not in sys.modules]
    for name in hidden:
        sys.modules[f"numpy.{name}"] = stub = ModuleType(f"numpy.{name}")
        setattr(np, name, stub)
    try:
        import scipy.sparse  # noqa: F401
    finally:
        for name in hidden:
            del sys.modules[f"numpy.{name}"]
            delattr(np, name)


if _face.own_process and "scipy.sparse" not in sys.modules:
    _import_sparse()

import scipy.sparse as sp  # noqa: E402


class _Later:
    """A module that is imported by the first look into it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


linalg: Any = _Later("scipy.linalg")
special: Any = _Later("scipy.special")

__all__ = ["linalg", "sp", "special"]
