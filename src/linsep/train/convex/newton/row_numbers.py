"""Two numbers of each row, margin and curvature, kept between one evaluation and the next.

In memory they lie in two arrays. On a cluster each worker keeps those of its own rows for as long
as it has room; where they are gone, or the worker is, they are computed again, by the same code:
what is kept saves time and decides nothing.
"""

import itertools
import os
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import on_cluster

Floats = npt.NDArray[np.float64]
Span = tuple[int, int]
Pair = tuple[Floats, Floats]

ROOM = 1 << 28
"""Bytes that a worker keeps, at most."""

_counter = itertools.count()


class RowNumbers:
    """Margins z and curvatures D of the rows of X.

    Examples
    --------
    >>> numbers = RowNumbers(np.zeros((3, 2)))
    >>> numbers.begin()
    >>> numbers.keep((1, 3), np.ones(2), np.zeros(2))
    >>> numbers.of((1, 3), lambda: None)
    (array([1., 1.]), array([0., 0.]))
    """

    def __init__(self, X: Any) -> None:
        self._owner = f"{os.getpid()}-{next(_counter)}"
        self._evaluation = 0
        self._both = None if on_cluster(X) else np.empty((2, X.shape[0]))

    def begin(self) -> None:
        """All numbers are about to be made anew."""
        self._evaluation += 1

    def keep(self, span: Span, z: Floats, D: Floats) -> None:
        """Those of the rows start..stop."""
        assert self._both is not None
        self._both[0, slice(*span)], self._both[1, slice(*span)] = z, D

    def of(self, span: Span, make: Callable[[], Pair]) -> Pair:
        """Those of the rows start..stop; `make` computes them."""
        assert self._both is not None
        return self._both[0, slice(*span)], self._both[1, slice(*span)]

    def __reduce__(self) -> Any:
        return _there, (self._owner, self._evaluation)


class _There:
    """The same on a worker."""

    def __init__(self, owner: str, evaluation: int) -> None:
        self._owner, self._evaluation = owner, evaluation

    def keep(self, span: Span, z: Floats, D: Floats) -> None:
        with _lock:
            _kept[self._owner, span] = self._evaluation, z, D
            _kept.move_to_end((self._owner, span))
            while len(_kept) > 1 and sum(one[1].nbytes * 2 for one in _kept.values()) > ROOM:
                _kept.popitem(last=False)

    def of(self, span: Span, make: Callable[[], Pair]) -> Pair:
        with _lock:
            known = _kept.get((self._owner, span))
        if known is not None and known[0] == self._evaluation:
            return known[1], known[2]
        z, D = make()
        self.keep(span, z, D)
        return z, D


_there = _There
_kept: OrderedDict[tuple[str, Span], tuple[int, Floats, Floats]] = OrderedDict()
_lock = Lock()
