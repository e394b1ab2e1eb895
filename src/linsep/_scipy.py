"""Parts of scipy, each imported when something of it is wanted, and without ballast.

`sp` is `scipy.sparse`. scipy copies every name of numpy, and that imports numpy's Fortran compiler
and test tools: a third of the time until `scipy.sparse` is there. In a process that is linsep's own
they are left out of that one import. `linalg` and `special` take as long again, and many fits need
neither.
"""

import sys
from importlib import import_module
from typing import Any

from linsep import _face, _trim

if _face.own_process and "scipy.sparse" not in sys.modules:
    _trim.import_without("scipy.sparse", unused=("numpy.f2py", "numpy.testing"))

import scipy.sparse as sp


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
