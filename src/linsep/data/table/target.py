"""What is to be predicted: a column, or a question about one such as `delay > 15`.

    target  = column | column operator literal
    operator = "<" | "<=" | ">" | ">=" | "==" | "=" | "!="
    literal = number | "text" | 'text' | text without quotes

A name with spaces or operators in it may stand in backquotes. Nothing is ever evaluated.
"""

import math
import re
from difflib import get_close_matches
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError, ParameterError

Array = npt.NDArray[Any]

_QUESTION = re.compile(
    r"\s*(?:`(?P<quoted>[^`]+)`|(?P<name>.*?[^<>=!\s]))\s*"
    r"(?P<op><=|>=|==|!=|<|>|=)\s*(?P<value>[^<>=!].*?|)\s*$",
    re.DOTALL,
)
_COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


class Target(NamedTuple):
    """A column, by name; with `operator` and `value` the labels are whether its cells fulfil it."""

    column: str
    operator: str | None = None
    value: float | str | None = None

    @property
    def asks(self) -> bool:
        """Whether labels are True and False, answers to a question about the column."""
        return self.operator is not None

    def __str__(self) -> str:
        return f"{self.column} {self.operator} {self.value!r}" if self.asks else self.column

    def answer(self, cells: Array) -> npt.NDArray[np.bool_]:
        """Whether each cell of the column fulfils the condition."""
        assert self.operator is not None
        texts = isinstance(self.value, str)
        if texts != (cells.dtype.kind in "UOT"):
            kinds = ("numbers", "a text") if texts else ("texts", "a number")
            raise DataError(
                f"target is {str(self)!r}, but column {self.column!r} holds {kinds[0]}, which "
                f"{kinds[1]} cannot be compared with; put the value "
                f"{'without' if texts else 'in'} quotes, or ask about another column."
            )
        compare: Any = _COMPARE[self.operator]
        return np.asarray(compare(cells, self.value))


def find_target(target: str | int | Target | None, names: list[str]) -> Target:
    """The target meant by a name, a position or a question; the last column if None.

    Examples
    --------
    >>> find_target("delay > 15", ["delay", "origin"])
    Target(column='delay', operator='>', value=15.0)
    >>> find_target("origin = 'SFO'", ["delay", "origin"])
    Target(column='origin', operator='==', value='SFO')
    >>> find_target(-1, ["delay", "origin"]).column
    'origin'
    """
    if isinstance(target, Target):
        return Target(_named(target.column, names, str(target)), target.operator, target.value)
    if target is None:
        return Target(names[-1])
    if isinstance(target, str):
        if target in names:
            return Target(target)
        question = _QUESTION.match(target)
        if question and question["value"]:
            operator = "==" if question["op"] == "=" else question["op"]
            column = _named(question["quoted"] or question["name"], names, target)
            return Target(column, operator, _literal(question["value"]))
        return Target(_named(target, names, target))
    if not isinstance(target, Integral):
        raise ParameterError(
            f"target is {target!r:.60}; give the name of a column, its number, or a condition "
            "such as 'delay > 15'."
        )
    if not -len(names) <= target < len(names):
        raise ParameterError(f"target is {target}; there are columns 0 to {len(names) - 1}.")
    return Target(names[target])


def is_position(name: str) -> bool:
    """Whether a text is a whole number: the position of a column, where none has that name.

    >>> is_position("0"), is_position("-1"), is_position("v2")
    (True, True, False)
    """
    return re.fullmatch(r"-?\d+", name) is not None


def _named(name: str, names: list[str], target: str) -> str:
    if name in names:
        return name
    if is_position(name):
        return find_target(int(name), names).column
    known = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    alike = {one.casefold(): one for one in reversed(names)}
    near = get_close_matches(name.casefold(), alike, 1)
    hint = f" Did you mean {alike[near[0]]!r}?" if near else ""
    raise ParameterError(f"target is {target!r}, which is no column; there are {known}.{hint}")


def _literal(text: str) -> float | str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return text
    if not math.isfinite(value):
        return text
    return value
