"""Parameters of the wrong type are refused by name, for every learner alike."""

import difflib
import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from numbers import Integral, Real
from typing import Any, Self, cast

import numpy as np

from linsep.errors import ParameterError, UnknownParameterError
from linsep.learners.fitting.notebook import NotebookView


class NamedParameters(NotebookView):
    """Refuses keywords that no parameter is called by in words, before `__init__` would."""

    def __new__(cls, *values: Any, **named: Any) -> Self:
        check_names(cls, named)
        return super().__new__(cls)


@cache
def parameters_of(kind: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of a learner, as its `__init__` lists them."""
    return inspect.signature(kind).parameters


def check_names(kind: type, named: Iterable[str]) -> None:
    """Refuse names that are not among the parameters of a learner."""
    parameters = parameters_of(cast(Any, kind))
    for name in named:
        if name not in parameters:
            if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
                return
            close = difflib.get_close_matches(name, parameters, 1)
            hint = f"; did you mean {close[0]}?" if close else "."
            raise UnknownParameterError(
                f"{kind.__name__} has no parameter {name}{hint} It has {', '.join(parameters)}."
            )


def check_types(learner: Any) -> None:
    """Refuse a parameter that is not of the kind of its default: a switch, a number.

    `shuffle='no'` would otherwise count as true. What numbers may be is for the learner to say.
    """
    for name, default in _defaults(cast(Any, type(learner))):
        value = getattr(learner, name, None)
        if type(value) is int and abs(value) >= 1 << 63:
            raise ParameterError(f"{name} is {value!r:.60}; give a number that 64 bits hold.")
        if type(value) is type(default):
            continue
        if isinstance(value, np.ndarray):
            raise ParameterError(f"{name} is an array; give a single value, such as {default!r}.")
        if isinstance(default, str):
            continue  # a word, which the learner looks at
        if name == "random_state":
            _check_state(value)
        elif name == "callback":
            check_callback(value)
        elif isinstance(default, bool):
            loud = name == "verbose" and (isinstance(value, Integral) or value == "log")
            if not _is_switch(value) and not loud:
                raise ParameterError(f"{name} is {value!r}; give True or False.")
        elif name == "tol" and value is None and type(learner).__name__ == "Perceptron":
            continue  # scikit-learn's word for no end before max_iter
        elif not _is_number(value):
            wanted = "a whole number" if isinstance(default, int) else "a finite number"
            raise ParameterError(f"{name} is {value!r}; give {wanted}.")


@cache
def _defaults(kind: Any) -> list[tuple[str, Any]]:
    """The parameters whose type is looked at, with their defaults."""
    return [
        (name, one.default)
        for name, one in parameters_of(kind).items()
        if name in ("random_state", "callback")
        or (isinstance(one.default, bool) and one.annotation is not Any)  # a switch, no more
        or type(one.default) in (int, float)
        or isinstance(one.default, str)
    ]


def check_callback(value: Any) -> None:
    """Refuse what cannot be told of a pass."""
    if value is None or callable(value):
        return
    if not (isinstance(value, Iterable) and all(callable(one) for one in value)):
        raise ParameterError(
            f"callback is {value!r}; give a function of one pass, or a list of them."
        )


def _check_state(value: Any) -> None:
    known = (Integral, np.random.RandomState, np.random.Generator)
    if value is not None and (isinstance(value, bool) or not isinstance(value, known)):
        raise ParameterError(
            f"random_state is {value!r}; give a whole number, None, or a generator of numpy."
        )


def _is_switch(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_)) or (isinstance(value, Integral) and value in (0, 1))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def one_of(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a `value` that is not among the `choices` for parameter `name`."""
    if isinstance(value, np.ndarray) or value not in choices:
        raise ParameterError(f"{name} is {value!r}; choose one of {', '.join(map(repr, choices))}.")


def check_schedule(value: Any, choices: tuple[str, ...]) -> None:
    """Refuse what is neither a schedule's name nor a function of the number of the pass."""
    if not callable(value):
        one_of("schedule", value, choices)


def positive(name: str, value: Any, *, zero: bool = False, whole: bool = False) -> None:
    """Refuse a `value` that is not a positive (or zero, where allowed) number."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    fine = isinstance(value, kinds) and not isinstance(value, bool)
    if not fine or not 0 <= value < np.inf or (value == 0 and not zero):
        wanted = "a whole number" if whole else "a finite number"
        raise ParameterError(f"{name} is {value!r}; give {wanted} {'>= 0' if zero else '> 0'}.")
