"""The face learners show to scikit-learn; a plain one in a process that never shows it.

`linsep fit FILE` makes a learner, fits it, saves the model and ends: no pipeline, no clone, no
check. There scikit-learn would be imported, for longer than many fits take, only to be inherited
from. Such a process says so by `alone` before it imports a learner, and the classes below stand in.
"""

import inspect
import sys
from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from types import MethodType
from typing import Any

alone = False
"""Whether learners of this process are handed to nothing that asks for scikit-learn's classes."""

_HOME = {
    "BaseEstimator": "sklearn.base",
    "ClassifierMixin": "sklearn.base",
    "ClassNamePrefixFeaturesOutMixin": "sklearn.base",
    "ConvergenceWarning": "sklearn.exceptions",
    "RegressorMixin": "sklearn.base",
    "TransformerMixin": "sklearn.base",
    "available_if": "sklearn.utils.metaestimators",
    "check_is_fitted": "sklearn.utils.validation",
}


own_process = False
"""Whether the process was started for one command, and ends with it."""


def stand_alone() -> None:
    """Let learners imported from now on stand alone, unless others may still ask for more."""
    global alone
    alone = own_process and "sklearn" not in sys.modules


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'linsep._face' has no attribute {name!r}")
    if alone:
        return _PLAIN.get(name, object)
    return getattr(import_module(_HOME[name]), name)


class _Parameters:
    """Parameters are the arguments of `__init__`, kept under their own names."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **given: Any) -> Any:
        for name, value in given.items():
            setattr(self, name, value)
        return self


class _Nothing:
    """Adds nothing: what it stands for is asked by scikit-learn alone."""


class _AvailableIf:
    """A method that is there where `check` says so."""

    def __init__(self, method: Callable[..., Any], check: Callable[[Any], Any]) -> None:
        self.method, self.check = method, check
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if owner is None:
            return self.method
        if not self.check(owner):
            raise AttributeError(f"{kind.__name__!r} has no {self.method.__name__!r} as it is set")
        return MethodType(self.method, owner)


def _available_if(check: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda method: _AvailableIf(method, check)


def _check_is_fitted(learner: Any, attributes: Any = None, **how: Any) -> None:
    """Nothing to ask: the process fits before it predicts."""


_PLAIN: dict[str, Any] = {
    "BaseEstimator": _Parameters,
    "ClassifierMixin": _Nothing,
    "ClassNamePrefixFeaturesOutMixin": type("_NoNames", (), {}),
    "ConvergenceWarning": UserWarning,
    "RegressorMixin": type("_NoScore", (), {}),
    "TransformerMixin": type("_NoOutput", (), {}),
    "available_if": _available_if,
    "check_is_fitted": _check_is_fitted,
}
