"""Long vectors, such as the weights of many features, on their way to the workers.

A vector that is new goes along with every task, in one message, where that is not much to send:
nothing waits for anything. One that comes again, or that is too long for that, is given to one
worker; others fetch it there once, and later tasks find it.
"""

import hashlib
from collections import OrderedDict
from typing import Any

from linsep.data.cluster.shipping import LONG
from linsep.data.cluster.waiting import key_of

TOGETHER = 1 << 23
"""Bytes of a vector, times the tasks of a round, up to which each task carries it."""
KEPT = 4
"""Vectors that workers keep, and marks of others that are remembered."""


def held(vector: Any) -> Any:
    """A vector that is sent to one worker; others fetch it there."""
    return vector


class Vectors:
    """What tasks get in place of vectors: themselves, or futures of them.

    Parameters
    ----------
    client : of Dask
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._there: OrderedDict[bytes, Any] = OrderedDict()
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    def sent(self, vector: Any, tasks: int) -> Any:
        """A vector, an array or bytes, as so many tasks of one round get it."""
        size = memoryview(vector).nbytes
        if size < LONG:
            return vector
        mark = hashlib.blake2b(vector, digest_size=16).digest()
        if mark in self._there:
            self._there.move_to_end(mark)
            return self._there[mark]
        if mark not in self._seen and size * tasks <= TOGETHER:
            self._seen[mark] = None
            _forget(self._seen)
            return vector
        self._there[mark] = self.client.submit(held, vector, key=key_of("weights"), pure=False)
        _forget(self._there)
        return self._there[mark]


def _forget(known: OrderedDict[bytes, Any]) -> None:
    while len(known) > KEPT:
        known.popitem(last=False)
