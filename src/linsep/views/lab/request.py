"""What the page asks for, read strictly: every value is known, finite and within bounds."""

import json
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError
from linsep.views.lab.choices import (
    CLASSES,
    LEARNERS,
    LIFTS,
    PARAMETERS,
    POINTS,
    REACH,
    Choice,
    Switch,
)
from linsep.views.lab.toys import TOYS

Array = npt.NDArray[Any]

FIELDS = {"toy", "points", "names", "axes", "opened", "table", "features", "learners",
          "parameters", "lift", "scale"}  # fmt: skip
SOURCES = ("toy", "points", "opened", "table")
NAME = 60  # letters of a class's name at most


class RunRequest(NamedTuple):
    """A run that was asked for.

    Attributes
    ----------
    toy : the name of a toy, or None
    rows : points and labels that were placed by hand, or None
    table : which file that was dropped on the page, or None
    features : which of its columns are looked at, or None for all
    learners : one or two names
    parameters : all parameters, those left out as they usually are
    lift : '', or the name of a third feature
    scale : whether features are brought to one scale
    axes : what the two coordinates of points are called, or nothing
    """

    toy: str | None
    rows: tuple[Array, Array] | None
    table: str | None
    features: list[int] | None
    learners: list[str]
    parameters: dict[str, Any]
    lift: str
    scale: bool
    axes: list[str]


def read_json(body: bytes) -> dict[str, Any]:
    """The object in a body of JSON: no number that is none, no name twice, no half of a letter."""
    try:
        document = json.loads(body.decode(), parse_constant=_no_number, object_pairs_hook=_once)
        if b"\\u" in body:
            json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as problem:
        raise DataError(f"The request is not JSON: {problem}.") from None
    if not isinstance(document, dict):
        raise DataError("The request is not a JSON object.")
    return document


def read_request(body: bytes) -> RunRequest:
    """The request in a body of JSON; anything unexpected is a DataError that says what.

    >>> read_request(b'{"toy": "xor", "learners": ["online"]}').learners
    ['online']
    """
    fields = read_json(body)
    for name in fields:
        if name not in FIELDS:
            raise DataError(f"The request has {name[:40]!r}; it may have {_list(FIELDS)}.")
    if sum(name in fields for name in SOURCES) != 1:
        raise DataError("The request needs exactly one of toy, points, opened and table.")
    if fields.get("opened", True) is not True:
        raise DataError("opened is not true; leave it out, or say true.")
    toy = fields.get("toy")
    if "toy" in fields and (not isinstance(toy, str) or toy not in TOYS):
        raise DataError(f"toy is {_short(toy)}; there are {_list(TOYS)}.")
    table = fields.get("table")
    if "table" in fields and not isinstance(table, str):
        raise DataError(f"table is {_short(table)}; the name of a file opened here was wanted.")
    lift = fields.get("lift", "")
    if not isinstance(lift, str) or lift not in LIFTS:
        raise DataError(f"lift is {_short(lift)}; there are {_list(LIFTS)}.")
    scale = fields.get("scale", False)
    if not isinstance(scale, bool):
        raise DataError(f"scale is {_short(scale)}; true or false was wanted.")
    rows = _points(fields["points"], fields.get("names")) if "points" in fields else None
    learners, parameters = _learners(fields.get("learners")), _parameters(fields.get("parameters"))
    features = _features(fields.get("features"))
    axes = _names("axes", fields.get("axes", []), 0, 2)
    return RunRequest(toy, rows, table, features, learners, parameters, lift, scale, axes)


def _features(features: Any) -> list[int] | None:
    if features is None:
        return None
    whole = isinstance(features, list) and all(type(one) is int and one >= 0 for one in features)
    if not whole or not 1 <= len(features) <= 1000 or len(set(features)) < len(features):
        raise DataError(f"features is {_short(features)}; a list of column numbers was wanted.")
    return list(features)


def _points(points: Any, names: Any) -> tuple[Array, Array]:
    if not isinstance(points, list) or not 2 <= len(points) <= POINTS:
        n = len(points) if isinstance(points, list) else _short(points)
        raise DataError(f"points has {n}; 2 to {POINTS} points [x1, x2, class] were wanted.")
    most = CLASSES if names is None else len(_names("names", names, 2, 20))
    for k, point in enumerate(points):
        if not isinstance(point, list) or len(point) != 3:
            raise DataError(f"point {k} is {_short(point)}; [x1, x2, class] was wanted.")
        x, y, code = point
        if not (_finite(x) and _finite(y) and abs(x) <= REACH and abs(y) <= REACH):
            raise DataError(
                f"point {k} is at {_short(point[:2])}; numbers of at most {REACH:g} were wanted."
            )
        if type(code) is not int or not 0 <= code < most:
            raise DataError(f"point {k} has the class {_short(code)}; 0 to {most - 1} was wanted.")
    X = np.array([[float(one) for one in point[:2]] for point in points])
    codes = np.array([point[2] for point in points])
    if len(set(codes.tolist())) < 2:
        raise DataError(f"All points have the class {codes[0]}; add one of another class.")
    if names is not None:
        return X, np.array(names)[codes]
    return X, 2 * codes - 1 if codes.max() < 2 else codes


def _names(field: str, names: Any, least: int, most: int) -> list[str]:
    fine = isinstance(names, list) and all(isinstance(one, str) for one in names)
    if not fine or not least <= len(names) <= most or len(set(names)) < len(names):
        raise DataError(
            f"{field} is {_short(names)}; {least} to {most} different texts were wanted."
        )
    if any(len(one) > NAME for one in names):
        raise DataError(f"{field} has one of more than {NAME} letters.")
    return list(names)


def _learners(learners: Any) -> list[str]:
    if not isinstance(learners, list) or not 1 <= len(learners) <= 2:
        raise DataError(f"learners is {_short(learners)}; a list of one or two names was wanted.")
    for name in learners:
        if not isinstance(name, str) or name not in LEARNERS:
            raise DataError(f"learners has {_short(name)}; there are {_list(LEARNERS)}.")
    return learners


def _parameters(parameters: Any) -> dict[str, Any]:
    values: dict[str, Any] = {name: one.usual for name, one in PARAMETERS.items()}
    if parameters is None:
        return values
    if not isinstance(parameters, dict):
        raise DataError(
            f"parameters is {_short(parameters)}; an object of names and values was wanted."
        )
    for name, value in parameters.items():
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
    if isinstance(kind, Choice):
        if not isinstance(value, str) or value not in kind.options:
            raise DataError(f"{name} is {_short(value)}; there are {_list(kind.options)}.")
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
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return members


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _list(names: Any) -> str:
    return ", ".join(sorted(names))
