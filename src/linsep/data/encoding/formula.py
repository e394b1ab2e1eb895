"""Features that a formula makes of the features of a table: sums, products and functions of them.

A formula is plain data here: trees of lists, such as ["*", ["log", ["x", 2]], ["x", 0]]. No text of
it is ever run as code, so that a model file can carry it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError

Array = npt.NDArray[Any]
Tree = Any  # a number, ["x", place], or [name, *trees]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power,
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "exp": np.exp,
    "expm1": np.expm1, "sqrt": np.sqrt, "abs": np.abs, "sin": np.sin, "cos": np.cos,
    "tanh": np.tanh,
}  # fmt: skip
TWO = ("+", "-", "*", "/", "**")
DEEPEST = 40
MOST = 1 << 16  # features of a formula


@dataclass(frozen=True)
class Formula:
    """How features are made, and of what.

    Attributes
    ----------
    text : as it was given
    names : of the features
    trees : one for each feature, of places among the features of the table
    texts : columns of texts that it uses, each with its first place and how many it has: a row
        without any of them has no place in the formula
    intercept : whether the learner is to have one

    Examples
    --------
    >>> size = Formula("y ~ log(a) * b", ("log(a):b",), (("*", ("log", ("x", 0)), ("x", 1)),))
    >>> size.apply(np.array([[1.0, 5.0], [math.e, 2.0]])).tolist()
    [[0.0], [2.0]]
    """

    text: str
    names: tuple[str, ...]
    trees: tuple[Tree, ...]
    texts: tuple[tuple[str, int, int], ...] = ()
    intercept: bool = True

    def apply(self, rows: Array) -> Array:
        """The features of the formula of rows of features of the table."""
        for name, first, width in self.texts:
            lost = rows[:, first : first + width].sum(axis=1) == 0
            if lost.any():
                raise DataError(
                    f"the column {name!r} is missing, or holds a text that was not in the fit, at "
                    f"row {int(lost.argmax())}; the formula has no weight for it. Drop the row, or "
                    "give it another text."
                )
        made = np.empty((len(rows), len(self.trees)))
        with np.errstate(all="ignore"):
            for j, tree in enumerate(self.trees):
                made[:, j] = _value(tree, rows)
        if not np.isfinite(made).all():
            i, j = np.argwhere(~np.isfinite(made))[0].tolist()
            raise DataError(
                f"{self.names[j]} is {made[i, j]} at row {i}. Leave the row out, or change the "
                "formula."
            )
        return made

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "text": self.text, "names": list(self.names),
            "trees": [_listed(tree) for tree in self.trees],
            "texts": [list(one) for one in self.texts], "intercept": self.intercept,
        }  # fmt: skip

    @classmethod
    def from_json(cls, document: Any, width: int) -> "Formula":
        """The formula of a document over so many features of a table, every field checked."""
        fields = {"text", "names", "trees", "texts", "intercept"}
        _want(isinstance(document, dict) and set(document) == fields, "fields")
        text, names, trees = document["text"], document["names"], document["trees"]
        _want(isinstance(text, str), "text")
        _want(isinstance(document["intercept"], bool), "intercept")
        _want(isinstance(names, list) and 0 < len(names) <= MOST, "names")
        _want(all(isinstance(name, str) for name in names), "names")
        _want(len(set(names)) == len(names), "names (one twice)")
        _want(isinstance(trees, list) and len(trees) == len(names), "trees")
        texts = document["texts"]
        _want(isinstance(texts, list), "texts")
        for one in texts:
            _want(isinstance(one, list) and len(one) == 3 and isinstance(one[0], str), "texts")
            _want(all(_whole(place) for place in one[1:]), "texts")
            _want(0 <= one[1] < one[1] + one[2] <= width, "texts")
        read = tuple(_read(tree, width, DEEPEST) for tree in trees)
        groups = tuple((name, first, count) for name, first, count in texts)
        return cls(text, tuple(names), read, groups, document["intercept"])


def _value(tree: Tree, rows: Array) -> Any:
    if isinstance(tree, (int, float)):
        return float(tree)
    name, *parts = tree
    if name == "x":
        return rows[:, parts[0]]
    return FUNCTIONS[name](*(_value(part, rows) for part in parts))


def _listed(tree: Tree) -> Any:
    return [_listed(part) for part in tree] if isinstance(tree, tuple) else tree


def _read(tree: Any, width: int, deep: int) -> Tree:
    if isinstance(tree, (int, float)) and not isinstance(tree, bool):
        _want(abs(tree) < 2**53 if isinstance(tree, int) else math.isfinite(tree), "trees")
        return tree
    _want(isinstance(tree, list) and len(tree) > 0 and deep > 0, "trees")
    name, *parts = tree
    _want(isinstance(name, str) and (name == "x" or name in FUNCTIONS), "trees")
    _want(len(parts) == (2 if name in TWO else 1), "trees")
    if name == "x":
        _want(_whole(parts[0]) and 0 <= parts[0] < width, "trees")
        return name, parts[0]
    return name, *(_read(part, width, deep - 1) for part in parts)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _want(right: bool, field: str) -> None:
    if not right:
        raise DataError(f"the encoding's formula has {field} that are not valid.")
