"""Types as the compiler knows them, by the names that `linsep._machine` gives to values."""

from typing import Any, cast

from numba.core import types
from numba.np.numpy_support import as_dtype

from linsep._machine import NUMBERS

_BITS = {"float32": "float", "float64": "double"}  # the rest are whole numbers of so many bits


def kinds(arguments: Any) -> str:
    """The types of arguments; nothing where one has no name."""
    names = [kind(one) for one in arguments]
    return ",".join(names) if all(names) else ""


def kind(one: Any) -> str:
    """A type by the name that `_machine.kinds` gives to its values."""
    if isinstance(one, types.Array):
        dtype, rest = as_dtype(one.dtype), "" if one.mutable else "r"
        plain = one.aligned and type(one) is types.Array and dtype.name in NUMBERS
        return f"{dtype.name}[{one.ndim}{one.layout}{rest}]" if plain else ""
    if isinstance(one, types.BaseTuple):
        parts = [kind(part) for part in cast(Any, one)]
        made = getattr(one, "instance_class", None)
        name = "" if made is None else f"{made.__module__}.{made.__name__}"
        return f"{name}({','.join(parts)})" if all(parts) else ""
    return "nothing" if isinstance(one, types.NoneType) else _number(one) or ""


def _number(one: Any) -> str | None:
    one = types.unliteral(one)
    if isinstance(one, types.Boolean):
        return "bool"
    plain = isinstance(one, (types.Integer, types.Float)) and str(one) in NUMBERS
    return str(one) if plain else None


def returned(one: Any) -> str | None:
    """What a kernel returns, where that is nothing, a number or several; otherwise None."""
    if isinstance(one, types.NoneType):
        return ""
    if isinstance(one, types.BaseTuple):
        parts = [_number(part) for part in cast(Any, one)]
        plain = not hasattr(one, "instance_class") and len(parts) > 0 and all(parts)
        return f"({','.join(map(str, parts))})" if plain else None
    return _number(one)


def parameters(arguments: Any) -> list[str]:
    """The LLVM types of what a kernel takes, as `_machine.linked` hands it over."""
    flat = ["ptr", "ptr"]  # room for the answer, and for an error
    for one in arguments:
        _add_parameters(one, flat)
    return flat


def _add_parameters(one: Any, flat: list[str]) -> None:
    if isinstance(one, types.Array):
        flat += ["ptr", "ptr", "i64", "i64", "ptr"] + ["i64"] * (2 * one.ndim)
    elif isinstance(one, types.BaseTuple):
        for part in cast(Any, one):
            _add_parameters(part, flat)
    elif isinstance(one, types.NoneType):
        flat.append("ptr")
    else:
        name = _number(one) or ""
        digits = "".join(filter(str.isdigit, name))
        flat.append(_BITS.get(name) or ("i8" if name == "bool" else f"i{digits}"))
