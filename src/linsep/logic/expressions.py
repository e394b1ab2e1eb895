"""Boolean expressions as text, read without evaluating anything as Python.

    x1 & x2     and       also  &&  and  ∧          binds after not
    x1 ^ x2     xor       also  xor  ⊕
    x1 | x2     or        also  ||  or  ∨
    x1 -> x2    implies   also  =>                   a -> b -> c is a -> (b -> c)
    x1 <-> x2   equals    also  <=>  ==              binds last
    !x1         not       also  ~  not  ¬            binds first
    at_least(2, x1, x3, x4)   at_most(...)   exactly(...)   0   1   true   false   ( )

>>> parse("(x1 & x2) | (x3 & x4)").names
('x1', 'x2', 'x3', 'x4')
>>> parse("not a and b")(0, 1)
1
>>> parse("x1 & & x2")
Traceback (most recent call last):
    ...
linsep.logic.expressions.ExpressionError: character 6: found '&'; wanted an input, ...
    x1 & & x2
         ^
"""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linsep.errors import DataError, ParameterError
from linsep.logic.tables import MAX_INPUTS, TruthTable, all_rows, rows_without
from linsep.logic.units import binary_rows

_SPELLINGS = {
    "and": ("&&", "&", "∧", "and"),
    "xor": ("^", "⊕", "xor"),
    "or": ("||", "|", "∨", "or"),
    "implies": ("->", "=>"),
    "equals": ("<->", "<=>", "=="),
    "not": ("!", "~", "¬", "not"),
    "one": ("1", "true"),
    "zero": ("0", "false"),
}
_KIND = {spelling: kind for kind, spellings in _SPELLINGS.items() for spelling in spellings}
_BINDS = {"equals": 0, "implies": 1, "or": 2, "xor": 3, "and": 4}
_COUNTS = ("at_least", "at_most", "exactly")
_TOKEN = re.compile(
    r"\s*(?:(<->|<=>|->|=>|==|&&|\|\||[&|^!~∧∨⊕¬(),])|(\d+\w*)|([^\W\d]\w*)|(\S)|$)"
)
_OPERAND = "wanted an input, a constant, 'not' or '('"
_DEEPEST = 200


class ExpressionError(DataError):
    """An expression that cannot be read; `position` counts its characters from 1."""

    def __init__(self, reason: str, text: str, position: int) -> None:
        start = max(0, position - 41)
        shown = re.sub(r"\s", " ", text[start : start + 70])
        caret = " " * (position - 1 - start) + "^"
        super().__init__(f"character {position}: {reason}\n    {shown}\n    {caret}")
        self.position = position


@dataclass(frozen=True)
class Expression:
    """A Boolean expression that was read: its text, its inputs in order, and its truth table.

    Examples
    --------
    >>> both = parse("x1 & x2")
    >>> both([[0, 1], [1, 1]])
    array([0, 1])
    >>> both.truth_table().tolist()
    [0, 0, 0, 1]
    """

    text: str
    names: tuple[str, ...]
    table: TruthTable

    @property
    def n(self) -> int:
        """The number of inputs."""
        return len(self.names)

    def __call__(self, *rows: Any) -> Any:
        """Return 0 or 1 for one row, or an array of them for a 2-d array of rows."""
        X = binary_rows(rows, self.n)
        numbers = X @ (1 << np.arange(self.n)[::-1])
        values = self.table.values().astype(np.int64)[numbers]
        return int(values) if X.ndim == 1 else values

    def truth_table(self) -> NDArray[np.uint8]:
        """Return the 2ⁿ values, the first input most significant."""
        return self.table.values()

    def __str__(self) -> str:
        return self.text


def parse(text: str) -> Expression:
    """Read a Boolean expression.

    Inputs are sorted as people sort them, x2 before x10. When all are one word with a number, the
    numbers left out are inputs too, so that "x1 & x4" has the four inputs x1, x2, x3, x4.

    Parameters
    ----------
    text : str
        The expression; operators are listed at the top of this module.

    Raises
    ------
    ExpressionError
        A ValueError that shows where reading failed.

    Examples
    --------
    >>> from linsep.logic import realize
    >>> print(realize(parse("at_least(2, x1, x3, x4)")))
    x1 + x3 + x4 >= 2
    >>> parse("x1 & x4").n
    4
    """
    if not isinstance(text, str):
        raise ParameterError(f"text = {text!r}; wanted an expression such as 'x1 & x2'")
    reader = _Reader(text)
    tree = reader.expression(0)
    end = reader.take()
    if end.kind != "end":
        raise reader.error(end, f"found {end}; wanted an operator or the end")
    names = _inputs(reader)
    table = TruthTable(_value(tree, {name: i for i, name in enumerate(names)}), len(names))
    return Expression(text.strip(), names, table)


class _Token(NamedTuple):
    kind: str
    text: str
    position: int

    def __str__(self) -> str:
        return repr(self.text) if self.text else "the end"


class _Node(NamedTuple):
    kind: str
    parts: "list[_Node]"
    word: str = ""
    needed: int = 0


class _Reader:
    """Reads tokens from left to right, each operator by how tightly it binds."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.first_use: dict[str, int] = {}
        self.tokens = self._tokens()
        self.next = 0
        self.depth = 0

    def _tokens(self) -> list[_Token]:
        tokens = []
        for match in _TOKEN.finditer(self.text):
            sign, digits, word, wrong = match.groups()
            symbol = sign or digits or word or wrong
            if not symbol:
                break
            token = _Token("", symbol, match.end() - len(symbol) + 1)
            if wrong:
                raise self.error(token, f"found {token}, which no expression uses")
            kind = _KIND.get(symbol.lower())
            kind = kind or (symbol if sign else "number" if digits else "word")
            tokens.append(token._replace(kind=kind))
        return [*tokens, _Token("end", "", len(self.text.rstrip()) + 1)]

    def error(self, token: _Token, reason: str) -> ExpressionError:
        return ExpressionError(reason, self.text, token.position)

    def take(self) -> _Token:
        token = self.tokens[self.next]
        self.next += token.kind != "end"
        return token

    def expression(self, weakest: int) -> _Node:
        """Read operands joined by operators that bind at least as tightly as `weakest`."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error(self.tokens[self.next], f"nested deeper than {_DEEPEST} levels")
        left = self._operand()
        while (tight := _BINDS.get(self.tokens[self.next].kind, -1)) >= weakest:
            kind = self.take().kind
            right = self.expression(tight + (kind != "implies"))
            if kind == left.kind and kind != "implies":
                left.parts.append(right)
            else:
                left = _Node(kind, [left, right])
        self.depth -= 1
        return left

    def _operand(self) -> _Node:
        negated = False
        while (token := self.take()).kind == "not":
            negated = not negated
        if token.kind == "(":
            node = self.expression(0)
            self._close(token)
        elif token.kind in ("one", "zero"):
            node = _Node(token.kind, [])
        elif token.kind == "word" and self.tokens[self.next].kind == "(":
            node = self._count(token)
        elif token.kind == "word":
            self.first_use.setdefault(token.text, token.position)
            node = _Node("input", [], token.text)
        else:
            raise self.error(token, f"found {token}; {_OPERAND}")
        return _Node("not", [node]) if negated else node

    def _count(self, name: _Token) -> _Node:
        """Read at_least(m, a, b, ...) and its relatives."""
        if name.text.lower() not in _COUNTS:
            raise self.error(name, f"found {name} before '('; known are {', '.join(_COUNTS)}")
        opening, number = self.take(), self.take()
        if not number.text.isdecimal():
            wanted = f"wanted how many: {name.text}(2, x1, x2, x3)"
            raise self.error(number, f"found {number}; {wanted}")
        parts = []
        while self.tokens[self.next].kind == ",":
            self.take()
            parts.append(self.expression(0))
        self._close(opening)
        return _Node("count", parts, name.text.lower(), min(int(number.text), len(parts) + 1))

    def _close(self, opening: _Token) -> None:
        token = self.take()
        if token.kind == "end":
            raise self.error(opening, "this '(' is never closed; wanted a ')'")
        if token.kind != ")":
            raise self.error(token, f"found {token}; wanted an operator or ')'")


def _inputs(reader: _Reader) -> tuple[str, ...]:
    """Return all inputs in order, those that a numbering leaves out among them."""
    names = sorted(reader.first_use, key=_natural)
    count = len(names)
    numbered = [re.fullmatch(r"(.*?)(0|[1-9]\d{0,5})", name) for name in names]
    words = {match[1] if match else "" for match in numbered}
    if len(words) == 1 and (word := words.pop()):
        lowest, highest = (int(name.removeprefix(word)) for name in (names[0], names[-1]))
        lowest = min(lowest, 1)
        count = highest - lowest + 1
    if count > MAX_INPUTS:
        reason = f"{names[-1]!r} makes {count} inputs; at most {MAX_INPUTS} can be written out"
        raise ExpressionError(reason, reader.text, reader.first_use[names[-1]])
    if count > len(names):
        names = [f"{word}{lowest + k}" for k in range(count)]
    return tuple(names)


def _natural(name: str) -> list[tuple[int, str]]:
    """Sort x2 before x10: words by letters, runs of digits by value."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), part) if part.isdigit() else (-1, part) for part in parts]


def _value(node: _Node, index: dict[str, int]) -> int:
    """Return the rows on which the expression is 1, as bits."""
    n = len(index)
    every = all_rows(n)
    if node.kind == "input":
        return every & ~rows_without(n, index[node.word])
    if node.kind in ("one", "zero"):
        return every if node.kind == "one" else 0
    parts = [_value(part, index) for part in node.parts]
    if node.kind == "count":
        return _counted(node.word, node.needed, parts, every)
    total = parts[0]
    if node.kind == "not":
        return every & ~total
    for part in parts[1:]:
        if node.kind == "and":
            total &= part
        elif node.kind == "or":
            total |= part
        elif node.kind == "xor":
            total ^= part
        elif node.kind == "equals":
            total = every & ~(total ^ part)
        else:
            total = every & ~total | part
    return total


def _counted(word: str, count: int, parts: list[int], every: int) -> int:
    reached = [every, *[0] * (len(parts) + 1)]  # reached[k]: the rows with at least k parts on
    for part in parts:
        for k in range(len(parts), 0, -1):
            reached[k] |= reached[k - 1] & part
    reached.append(0)
    more = every & ~reached[count + 1]
    return {"at_least": reached[count], "at_most": more, "exactly": reached[count] & more}[word]
