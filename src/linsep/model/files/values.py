"""Labels and parameters as JSON, and back, with their types.

JSON knows text, numbers, true, false and null. What it does not know is written as an object with
one key that names the kind: {"int": "18446744073709551616"}, {"float": "inf"}, {"bytes": "é"}.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ParameterError

Array = npt.NDArray[Any]

EXACT = 1 << 53  # whole numbers up to here are the same in every JSON reader
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
BROKEN = ("float16", "float32", "float64")
KINDS = ("str", "bytes", "bool", *WHOLE, *BROKEN, "object")
DEEP = 8  # lists within lists of a parameter


def pack_classes(classes: Array) -> dict[str, Any]:
    """Classes as {"type": one of KINDS, "values": [...]}.

    >>> pack_classes(np.array([1, 2**60]))
    {'type': 'int64', 'values': [1, {'int': '1152921504606846976'}]}
    """
    kind = {"U": "str", "S": "bytes", "O": "object"}.get(classes.dtype.kind, classes.dtype.name)
    if kind not in KINDS:
        raise ParameterError(
            f"classes_ has the type {classes.dtype}, which a model file does not hold; fit with "
            "labels that are texts, numbers, booleans or bytes."
        )
    return {"type": kind, "values": [_pack_label(label) for label in classes.tolist()]}


def unpack_classes(document: Any) -> Array:
    """The classes a document describes; ValueError where it describes none."""
    if not isinstance(document, dict) or set(document) != {"type", "values"}:
        raise ValueError("classes are not a type and values")
    kind, values = document["type"], document["values"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"classes have the type {kind!r}")
    if not isinstance(values, list) or len(values) < 2:
        raise ValueError("there are fewer than two classes")
    labels = [unpack(value) for value in values]
    wanted = {"str": str, "bytes": bytes, "bool": bool, "object": object}
    exact = wanted.get(kind, int if kind in WHOLE else float)
    if exact is not object and any(type(label) is not exact for label in labels):
        raise ValueError(f"a class is not of the type {kind}")
    if any(isinstance(label, float) and not math.isfinite(label) for label in labels):
        raise ValueError("a class is NaN or infinite")
    if len(set(labels)) != len(labels):
        raise ValueError("a class occurs twice")
    if exact is object:
        classes = np.empty(len(labels), object)
        classes[:] = labels
        return classes
    if any(label >= after for label, after in pairwise(labels)):
        raise ValueError("the classes are not sorted")
    try:
        classes = np.array(labels, {"str": "U", "bytes": "S"}.get(kind, kind))
    except OverflowError:
        raise ValueError(f"a class does not fit into {kind}") from None
    if classes.tolist() != labels:
        raise ValueError(f"a class does not fit into {kind}")
    return classes


def _pack_label(label: Any) -> Any:
    if type(label) not in (str, bytes, bool, int, float):
        raise ParameterError(
            f"The class {label!r} is a {type(label).__name__}, which a model file does not hold; "
            "fit with labels that are texts, numbers, booleans or bytes."
        )
    return pack(label)


def pack(value: Any) -> Any:
    """A parameter as JSON; what cannot be written becomes {"unsaved": its type}."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= EXACT else {"int": str(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return {"array": pack(value.tolist())}
    if isinstance(value, (list, tuple)):
        return {"tuple" if isinstance(value, tuple) else "list": [pack(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[pack(key), pack(item)] for key, item in value.items()]}
    return {"unsaved": type(value).__name__}


class Unsaved(str):
    """Stands for a parameter that was not written down; the text is the name of its type."""


def unpack(value: Any, deep: int = DEEP) -> Any:
    """The value that `pack` wrote; ValueError for anything else."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        if abs(value) > EXACT:
            raise ValueError(f"{value} is too large for a plain number")
        return value
    if isinstance(value, float):
        return value
    if not isinstance(value, dict) or len(value) != 1 or deep == 0:
        raise ValueError(f"{str(value)[:40]!r} is no value of a known kind")
    kind, content = next(iter(value.items()))
    if kind not in _READERS:
        raise ValueError(f"{kind!r} is no known kind of value")
    return _READERS[kind](content, deep - 1)


def _integer(text: Any, deep: int) -> int:
    if not isinstance(text, str) or len(text) > 4000:
        raise ValueError("a large whole number must be written as a text")
    number = int(text)
    if str(number) != text or abs(number) <= EXACT:
        raise ValueError(f"{text[:40]!r} is not how a large whole number is written")
    return number


def _infinite(text: Any, deep: int) -> float:
    if not isinstance(text, str) or text not in ("inf", "-inf", "nan"):
        raise ValueError("only inf, -inf and nan are written as texts")
    return float(text)


def _bytes(text: Any, deep: int) -> bytes:
    if not isinstance(text, str):
        raise ValueError("bytes must be written as a text")
    return text.encode("latin-1")


def _list(items: Any, deep: int) -> list[Any]:
    if not isinstance(items, list):
        raise ValueError("a list must be written as a list")
    return [unpack(item, deep) for item in items]


def _dict(pairs: Any, deep: int) -> dict[Any, Any]:
    if not isinstance(pairs, list) or any(not isinstance(p, list) or len(p) != 2 for p in pairs):
        raise ValueError("a dict must be written as pairs")
    keys = [unpack(key, deep) for key, _ in pairs]
    if any(type(key) not in (str, bytes, bool, int, float) for key in keys):
        raise ValueError("a key of a dict is not a plain value")
    return dict(zip(keys, [unpack(item, deep) for _, item in pairs], strict=True))


def _array(nested: Any, deep: int) -> Array:
    array = np.array(unpack(nested, deep))
    if array.dtype.kind not in "fiub":
        raise ValueError("an array must hold numbers")
    return array


def _unsaved(text: Any, deep: int) -> Unsaved:
    if not isinstance(text, str):
        raise ValueError("the name of a type must be a text")
    return Unsaved(text)


_READERS: dict[str, Callable[[Any, int], Any]] = {
    "int": _integer,
    "float": _infinite,
    "bytes": _bytes,
    "list": _list,
    "tuple": lambda items, deep: tuple(_list(items, deep)),
    "dict": _dict,
    "array": _array,
    "unsaved": _unsaved,
}
