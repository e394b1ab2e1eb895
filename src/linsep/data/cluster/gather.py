"""All rows of a cluster on the client: in memory while they are few, else in a file.

The file is read like an array, block by block, and its pages are given back: the client stays small
however many rows there are.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from linsep._scipy import sp
from linsep.data.blocks.store import MEMORY, Gathered, Growing, pointers
from linsep.data.cluster.partition import Pieces
from linsep.data.cluster.rows import ClusterRows

Arrays = dict[str, Growing]


@contextmanager
def gathered(rows: ClusterRows) -> Iterator[Any]:
    """The rows as an array or CSR matrix."""
    n, d = rows.shape
    if sp.issparse(rows):
        kinds: dict[str, Any] = {"values": rows.dtype, "places": np.int32, "counts": np.int32}
    else:
        kinds = {"rows": rows.dtype}
    arrays = {name: Growing(name, kind) for name, kind in kinds.items()}
    for run, k in rows.rounds.runs:
        _take_in(arrays, rows.rounds.run(run, k))
    finished = {name: one.finish() for name, one in arrays.items()}
    X: Any
    if sp.issparse(rows):
        entries = finished["values"], finished["places"], pointers(finished["counts"])
        X = sp.csr_array(entries, shape=(n, d), copy=False)
        X.has_canonical_format = True
    else:
        X = finished["rows"].reshape(n, d)
    with Gathered(X, None, None, None, list(finished.values()), True):
        yield X


def _take_in(arrays: Arrays, part: Any) -> None:
    if sp.issparse(part):
        arrays["values"].add(part.data)
        arrays["places"].add(part.indices)
        arrays["counts"].add(np.diff(part.indptr))
    else:
        for rows in part.arrays if isinstance(part, Pieces) else [part]:
            arrays["rows"].add(rows)
    if sum(one.held for one in arrays.values()) > MEMORY:
        for one in arrays.values():
            one.spill(None)
