"""What the next pass of a run depends on, as plain values, and back.

A part of a run says what that is by `state()` and takes it again by `restore()`; nobody else needs
to know its insides. `freeze` turns states into JSON and a list of arrays, `thaw` gives them back;
`copied` keeps one while the run goes on.
"""

from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
R = TypeVar("R", bound=type)

RECORDS: dict[str, Any] = {}
"""Named tuples that may be part of a state, by their names."""


def record(kind: R) -> R:
    """Mark a named tuple that may be part of a state."""
    RECORDS[_name(kind)] = kind
    return kind


def _name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


class Stateful:
    """A part of a run whose state is some of its attributes.

    >>> class Counter(Stateful):
    ...     state_names = ("seen",)
    ...     seen = 3
    >>> counter = Counter()
    >>> counter.restore({"seen": 5}), counter.state()
    (None, {'seen': 5})
    """

    state_names: ClassVar[tuple[str, ...]] = ()

    def state(self) -> dict[str, Any]:
        """What the next pass depends on."""
        return {name: getattr(self, name) for name in self.state_names}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        for name in self.state_names:
            setattr(self, name, state[name])


def freeze(value: Any, arrays: list[Array]) -> Any:
    """A value as JSON; arrays go to `arrays`."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic):
        return freeze(value.item(), arrays)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"named": _name(type(value)), "of": [freeze(one, arrays) for one in value]}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [freeze(one, arrays) for one in value]}
    if isinstance(value, dict):
        return {"dict": {name: freeze(one, arrays) for name, one in value.items()}}
    return {"object": {name: freeze(one, arrays) for name, one in value.state().items()}}


def thaw(frozen: Any, present: Any, arrays: list[Array]) -> Any:
    """The value again; `present` is what stands in its place now, and is restored if it can be."""
    if not isinstance(frozen, dict):
        return frozen
    ((kind, inside), *rest) = frozen.items()
    if kind == "array":
        return arrays[inside]
    if kind == "named":
        return RECORDS[inside](*(thaw(one, None, arrays) for one in rest[0][1]))
    if kind in ("list", "tuple"):
        have = present if isinstance(present, list) and len(present) == len(inside) else None
        pairs = zip(inside, have or [None] * len(inside), strict=True)
        values = [thaw(one, old, arrays) for one, old in pairs]
        return tuple(values) if kind == "tuple" else values
    if kind == "dict":
        return {name: thaw(one, None, arrays) for name, one in inside.items()}
    now = present.state()
    present.restore({name: thaw(one, now[name], arrays) for name, one in inside.items()})
    return present


def copied(state: Any) -> Any:
    """A state that stays as it is when the run goes on: its arrays are copies.

    >>> state = {"w": np.zeros(1), "seen": [(1, np.ones(1))]}
    >>> kept = copied(state)
    >>> state["w"][0] = 5.0
    >>> kept
    {'w': array([0.]), 'seen': [(1, array([1.]))]}
    """
    if isinstance(state, np.ndarray):
        return np.array(state)
    if isinstance(state, dict):
        return {name: copied(one) for name, one in state.items()}
    if isinstance(state, tuple) and hasattr(state, "_fields"):
        return type(state)(*(copied(one) for one in state))
    if isinstance(state, (list, tuple)):
        return type(state)(copied(one) for one in state)
    return state
