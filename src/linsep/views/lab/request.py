"""What the page asks for, read strictly: every value is known, finite and within bounds."""

import json
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError
from linsep.views.lab.choices import (
    LEARNERS,
    PARAMETERS,
    POINTS,
    REACH,
    TOYS,
    Switch,
)

Array = npt.NDArray[Any]

FIELDS = {"toy", "points", "opened", "learners", "parameters"}


class Asked(NamedTuple):
    """A run that was asked for.

    Attributes
    ----------
    toy : the name of a toy, or None
    rows : points and labels that were placed by hand, or None
    learners : one or two names
    parameters : all parameters, those left out as they usually are
    """

    toy: str | None
    rows: tuple[Array, Array] | None
    learners: list[str]
    parameters: dict[str, Any]


def read_request(body: bytes) -> Asked:
    """The request in a body of JSON; anything unexpected is a DataError that says what.

    >>> read_request(b'{"toy": "xor", "learners": ["online"]}').learners
    ['online']
    """
    try:
        asked = json.loads(body, parse_constant=_no_number, object_pairs_hook=_once)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"The request is not JSON: {problem}.") from None
    if not isinstance(asked, dict):
        raise DataError("The request is not a JSON object.")
    for name in asked:
        if name not in FIELDS:
            raise DataError(f"The request has {name[:40]!r}; it may have {_list(FIELDS)}.")
    if sum(name in asked for name in ("toy", "points", "opened")) != 1:
        raise DataError("The request needs exactly one of toy, points and opened.")
    if asked.get("opened", True) is not True:
        raise DataError("opened is not true; leave it out, or say true.")
    toy = asked.get("toy")
    if "toy" in asked and (not isinstance(toy, str) or toy not in TOYS):
        raise DataError(f"toy is {_short(toy)}; there are {_list(TOYS)}.")
    rows = _points(asked["points"]) if "points" in asked else None
    return Asked(toy, rows, _learners(asked.get("learners")), _parameters(asked.get("parameters")))


def _points(found: Any) -> tuple[Array, Array]:
    if not isinstance(found, list) or not 2 <= len(found) <= POINTS:
        n = len(found) if isinstance(found, list) else _short(found)
        raise DataError(f"points has {n}; 2 to {POINTS} points [x1, x2, label] were wanted.")
    for k, point in enumerate(found):
        if not isinstance(point, list) or len(point) != 3:
            raise DataError(f"point {k} is {_short(point)}; [x1, x2, label] was wanted.")
        if not all(_finite(one) and abs(one) <= REACH for one in point[:2]):
            raise DataError(
                f"point {k} is at {_short(point[:2])}; numbers of at most {REACH:g} were wanted."
            )
        if isinstance(point[2], bool) or point[2] not in (-1, 1):
            raise DataError(f"point {k} has the label {_short(point[2])}; -1 or 1 was wanted.")
    X = np.array([[float(one) for one in point[:2]] for point in found])
    y = np.array([int(point[2]) for point in found])
    if len(set(y.tolist())) < 2:
        raise DataError(f"All points have the label {y[0]}; add one of the other class.")
    return X, y


def _learners(found: Any) -> list[str]:
    if not isinstance(found, list) or not 1 <= len(found) <= 2:
        raise DataError(f"learners is {_short(found)}; a list of one or two names was wanted.")
    for name in found:
        if not isinstance(name, str) or name not in LEARNERS:
            raise DataError(f"learners has {_short(name)}; there are {_list(LEARNERS)}.")
    return found


def _parameters(found: Any) -> dict[str, Any]:
    values: dict[str, Any] = {name: one.usual for name, one in PARAMETERS.items()}
    if found is None:
        return values
    if not isinstance(found, dict):
        raise DataError(f"parameters is {_short(found)}; an object of names and values was wanted.")
    for name, value in found.items():
        if name not in PARAMETERS:
            raise DataError(f"parameters has {name[:40]!r}; there are {_list(PARAMETERS)}.")
        values[name] = _parameter(name, value)
    return values


def _parameter(name: str, value: Any) -> Any:
    kind = PARAMETERS[name]
    if isinstance(kind, Switch):
        if not isinstance(value, bool):
            raise DataError(f"{name} is {_short(value)}; true or false was wanted.")
        return value
    wanted = (
        f"{'a whole number' if kind.whole else 'a number'} from {kind.least:g} to {kind.most:g}"
    )
    if not _finite(value) or not kind.least <= value <= kind.most:
        raise DataError(f"{name} is {_short(value)}; {wanted} was wanted.")
    if kind.whole:
        if value != int(value):
            raise DataError(f"{name} is {_short(value)}; {wanted} was wanted.")
        return int(value)
    return float(value)


def _finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not a number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _list(names: Any) -> str:
    return ", ".join(sorted(names))
