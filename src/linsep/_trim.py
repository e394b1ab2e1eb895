"""Imports without ballast, for the process of linsep's own command and no other.

Libraries import more than linsep ever asks of them, and a command that ends in half a second waits
for that. While one of them is imported, stand-ins take the place of what it does not need. They are
gone when it is there, and whoever looks into one that was kept finds the module itself. Where a
library has changed so that it needs more, it is imported as anybody would import it.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class StandIn(ModuleType):
    """A module that is imported by the first look into it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by the import system
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def import_without(module: str, unused: tuple[str, ...], absent: tuple[str, ...] = ()) -> None:
    """Import a module while others look unneeded, or (`absent`) as if they were not installed."""
    hidden: dict[str, Any] = {name: StandIn(name) for name in unused if name not in sys.modules}
    hidden |= {name: None for name in absent if name not in sys.modules}
    before = set(sys.modules)
    parents = [name for name in hidden if _lend_to_parent(name, hidden[name])]
    sys.modules.update(hidden)
    failed = False
    try:
        import_module(module)
    except Exception:
        failed = True
    finally:
        for name, stand_in in hidden.items():
            if name in sys.modules and sys.modules[name] is stand_in:
                del sys.modules[name]
        for name in parents:
            _take_from_parent(name, hidden[name])
    if failed:
        _forget(module.partition(".")[0], before)
        import_module(module)


def _lend_to_parent(name: str, stand_in: Any) -> bool:
    """A package that makes attributes when they are asked for would import the module at once."""
    package, _, last = name.rpartition(".")
    if stand_in is None:
        return False
    parent = import_module(package)
    if last in vars(parent):
        return False
    setattr(parent, last, stand_in)
    return True


def _take_from_parent(name: str, stand_in: Any) -> None:
    package, _, last = name.rpartition(".")
    parent = sys.modules[package]
    if vars(parent).get(last) is stand_in:
        delattr(parent, last)


def _forget(package: str, before: set[str]) -> None:
    """Let Python modules of a package be imported anew; compiled ones can be loaded only once."""
    for name in set(sys.modules) - before:
        ours = name == package or name.startswith(f"{package}.")
        if ours and str(getattr(sys.modules[name], "__file__", "")).endswith(".py"):
            del sys.modules[name]
