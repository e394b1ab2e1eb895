"""Reading a trace back, line by line, trusting none of them."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from linsep.data.files.system_errors import explain
from linsep.errors import DataError
from linsep.status import Status
from linsep.train.run.loop import UNCOUNTED
from linsep.train.run.trace import SCHEMA, KeptRows, Trace

Array = npt.NDArray[Any]


class _WrongLineError(ValueError):
    """What is wrong with a line; `read_into` adds which line it is."""


@contextmanager
def opened(path: str | Path) -> Iterator[TextIO]:
    """The lines of a file."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            yield file
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {explain(problem)}") from None


def read_into(trace: Trace, lines: Iterable[str], name: str) -> None:
    """Fill an empty trace from the lines of a file written by `Trace.save`.

    Raises
    ------
    DataError
        Naming the line and what is wrong with it, or that the file ends too early.
    """
    number, ended = 0, False
    try:
        for number, line in enumerate(lines, 1):
            if ended:
                raise _WrongLineError("comes after the end of the run")
            ended = _take(trace, _object(line), first=number == 1)
    except (_WrongLineError, UnicodeDecodeError) as problem:
        said = problem if isinstance(problem, _WrongLineError) else "is not UTF-8 text"
        raise DataError(
            f"{name} line {max(number, 1)} {said}. A trace is what `linsep fit --trace FILE` or "
            "`learner.trace_.save(path)` writes."
        ) from None
    if not ended:
        raise DataError(
            f"{name} stops after {number} lines without the end of the run: it was cut off, or is "
            "no trace. Write it again with `linsep fit --trace FILE`."
        )


def _object(line: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise _WrongLineError("is not JSON") from None
    if not isinstance(fields, dict):
        raise _WrongLineError("is not a JSON object")
    return fields


def _take(trace: Trace, fields: dict[str, Any], first: bool) -> bool:
    """Take a line in; whether it was the last."""
    if first:
        _header(trace, fields)
        return False
    kind = fields.pop("kind", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise _WrongLineError(f"is of kind {kind!r}; there are {', '.join(_KINDS)}")
    _KINDS[kind](trace, fields)
    return bool(kind == "end")


def _header(trace: Trace, fields: dict[str, Any]) -> None:
    if fields.get("linsep_trace") != SCHEMA:
        raise _WrongLineError(f"has no linsep_trace: {SCHEMA}")
    trace.learner = _typed(fields, "learner", str)
    trace.parameters = _typed(fields, "parameters", dict)
    trace.classes = _typed(fields, "classes", list)
    trace.stride = _whole(fields, "stride", 1)
    trace.count = _whole(fields, "corrections", 0)


def _rows(trace: Trace, fields: dict[str, Any]) -> None:
    X, codes, index = (
        _numbers(fields, name, n) for name, n in (("X", 2), ("codes", 1), ("index", 1))
    )
    total = _whole(fields, "of", len(X))
    if not len(X) == len(codes) == len(index):
        raise _WrongLineError(f"has {len(X)} rows, {len(codes)} codes and {len(index)} numbers")
    if len(X) and not (_within(codes, len(trace.classes)) and _within(index, total)):
        raise _WrongLineError("has a code or a row number that does not exist")
    if len(index) > 1 and not (np.diff(index) > 0).all():
        raise _WrongLineError("has row numbers that do not go up")
    trace.rows = KeptRows(X, codes.astype(np.int64), index.astype(np.int64), total)


def _start(trace: Trace, fields: dict[str, Any]) -> None:
    trace.start = _planes(trace, fields)


def _update(trace: Trace, fields: dict[str, Any]) -> None:
    w, b = _planes(trace, fields)
    row, plane = fields.get("row"), fields.get("plane")
    for name, value in (("row", row), ("plane", plane)):
        if value is not None and not (type(value) is int and value >= 0):
            raise _WrongLineError(f"has {name} {value!r}; a whole number or null was wanted")
    if plane is not None and plane + len(w) > len(trace.classes):
        raise _WrongLineError(f"has plane {plane}, but there are {len(trace.classes)} classes")
    event = {
        "n": _whole(fields, "n", 1),
        "epoch": _whole(fields, "epoch", 0),
        "row": row,
        "scores": _numbers(fields, "scores", 1).tolist(),
        "step": _numbers(fields, "step", 1).tolist(),
        "w": w,
        "b": b,
        "plane": plane,
    }
    if row is not None and not len(event["scores"]) == len(event["step"]) == len(w):
        raise _WrongLineError(f"has no score and step for each of its {len(w)} rows of weights")
    if trace.updates and event["n"] <= trace.updates[-1]["n"]:
        raise _WrongLineError(f"has correction {event['n']} after {trace.updates[-1]['n']}")
    trace.updates.append(event)


def _pass(trace: Trace, fields: dict[str, Any]) -> None:
    least = {"epoch": 0, "mistakes": UNCOUNTED, "updates": 0}
    event: dict[str, Any] = {name: _whole(fields, name, low) for name, low in least.items()}
    for name in ("loss", "eta"):
        value: Any = fields.get(name)
        plain = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not plain or (isinstance(value, int) and abs(value) >= 1 << 1023):
            raise _WrongLineError(f"has {name} {value!r:.40}; a number was wanted")
        event[name] = float(value)
    event["after"] = _whole(fields, "after", 0)
    trace.passes.append(event)


def _end(trace: Trace, fields: dict[str, Any]) -> None:
    name = str(fields.get("status"))
    if name not in Status.__members__:
        raise _WrongLineError(f"has status {name!r}, which is none of linsep.Status")
    trace.end(Status[name], *(_planes(trace, fields) if "w" in fields else ()))


def _planes(trace: Trace, fields: dict[str, Any]) -> tuple[Array, Array]:
    """Weights and intercepts, of the shape that all of this trace have."""
    w, b = _numbers(fields, "w", 2), _numbers(fields, "b", 1)
    if len(w) != len(b) or not w.size:
        raise _WrongLineError(f"has {len(w)} rows of weights and {len(b)} intercepts")
    known = trace.rows.X.shape[1] if trace.rows is not None else w.shape[1]
    if trace.updates:
        known = trace.updates[0]["w"].shape[1]
    if w.shape[1] != known:
        raise _WrongLineError(f"has {w.shape[1]} weights, where others have {known}")
    return w, b


def _numbers(fields: dict[str, Any], name: str, dimensions: int) -> Array:
    try:
        made = np.array(fields.get(name), dtype=float)
    except (TypeError, ValueError, OverflowError):
        made = np.array(np.nan)
    if made.size == 0 and dimensions == 1:
        made = made.reshape(0)
    if made.ndim != dimensions or not np.isfinite(made).all():
        kind = "a list" if dimensions == 1 else "a table"
        raise _WrongLineError(f"has no {name} that is {kind} of finite numbers")
    return made


def _typed(fields: dict[str, Any], name: str, kind: type) -> Any:
    if not isinstance(fields.get(name), kind):
        raise _WrongLineError(f"has no {name} of type {kind.__name__}")
    return fields[name]


def _whole(fields: dict[str, Any], name: str, least: int) -> int:
    value = fields.get(name)
    if type(value) is not int or not least <= value < 1 << 62:
        raise _WrongLineError(f"has {name} {value!r}; a whole number from {least} was wanted")
    return value


def _within(values: Array, stop: int) -> bool:
    return bool(
        (values == np.floor(values)).all() and (values >= 0).all() and (values < stop).all()
    )


_KINDS: dict[str, Callable[[Trace, dict[str, Any]], None]] = {
    "rows": _rows,
    "start": _start,
    "update": _update,
    "pass": _pass,
    "end": _end,
}
