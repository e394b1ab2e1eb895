"""Single parameters of functions: paths, numbers, switches, words; each refused by its name."""

import os
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError, ParameterError


def path_of(name: str, value: Any) -> Path:
    """A parameter that names a file."""
    if not isinstance(value, (str, os.PathLike)) or isinstance(os.fspath(value), bytes):
        raise ParameterError(f"{name} is {value!r:.60}; give the name of a file, text or a Path.")
    return Path(value)


def require_number(name: str, value: Any, wanted: str = "a number") -> None:
    """Refuse what is no number; NaN and infinity are for the caller to judge."""
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} is {value!r:.60}; give {wanted}.")


def require_switch(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    known = isinstance(value, (bool, np.bool_)) or (isinstance(value, Integral) and value in (0, 1))
    if not known:
        raise ParameterError(f"{name} is {value!r:.60}; give True or False.")


def require_one_of(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse what is none of the choices."""
    if isinstance(value, np.ndarray) or value not in choices:
        words = ", ".join(map(repr, choices))
        raise ParameterError(f"{name} is {value!r:.60}; choose one of {words}.")


def numbers_of(name: str, value: Any) -> npt.NDArray[np.float64]:
    """One number or many, as an array of floats."""
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} is {value!r:.60}; give numbers.") from None
