"""Sums of some parts as whole subtrees of the tree of `linsep.parallel.tree_sum`.

However parts are shared out, each share is a few subtrees; put together in their order they make
the one tree again, so that the sum has the same bytes.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Subtree(NamedTuple):
    """The sum of 2^height parts, from number `first` on, which is a multiple of 2^height."""

    first: int
    height: int
    total: Any


def subtrees(parts: Iterable[Subtree], add: Callable[[Any, Any], Any]) -> list[Subtree]:
    """Subtrees in their order, grown together as far as they go.

    >>> parts = [Subtree(k, 0, one) for k, one in enumerate("abcdef") if one != "b"]
    >>> [total for _, _, total in subtrees(parts, "({}{})".format)]
    ['a', '(cd)', '(ef)']
    """
    grown: list[Subtree] = []
    for first, height, total in parts:
        while grown and grown[-1].height == height and first % (2 << height) == 1 << height:
            if grown[-1].first + (1 << height) != first:
                break
            left = grown.pop()
            first, height, total = left.first, height + 1, add(left.total, total)
        grown.append(Subtree(first, height, total))
    return grown


def whole(parts: Iterable[Subtree], add: Callable[[Any, Any], Any]) -> Any:
    """The sum of all parts, from subtrees in any order.

    >>> whole([Subtree(4, 0, "e"), Subtree(0, 1, "(ab)"), Subtree(2, 1, "(cd)")], "({}{})".format)
    '(((ab)(cd))e)'
    """
    grown = subtrees(sorted(parts, key=lambda part: part.first), add)
    total = grown.pop().total
    while grown:
        total = add(grown.pop().total, total)
    return total
