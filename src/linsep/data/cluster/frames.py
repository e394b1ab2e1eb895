"""Dask data frames, and delayed ones, with columns of texts or categories.

Each task takes its partition for what a file of the same cells would be (`files`): categories and
means are settled over all rows, and the encoding is that of the whole frame in memory.
"""

from typing import Any

from linsep.data.blocks.store import MEMORY
from linsep.data.cluster.collections import chunks_of
from linsep.data.cluster.files import rows_of_parts
from linsep.data.cluster.rows import ClusterRows
from linsep.data.cluster.waiting import mapped
from linsep.data.encoding.drift import tell
from linsep.data.encoding.encoding import Encoding
from linsep.data.sources.frames import frame_chunks
from linsep.data.sources.learner_rows import gaps_of
from linsep.data.table.dialect import LOOK


def rows_of_frames(client: Any, X: Any) -> tuple[ClusterRows, Encoding]:
    """Encoded rows of frames on a cluster, and how they are encoded."""
    parts = chunks_of(client, X)
    chunks = frame_chunks(_head(client, parts), MEMORY)
    rows, _, _ = rows_of_parts(client, chunks, parts)
    tell(gaps_of(chunks))
    return rows, chunks.encoding


def _head(client: Any, parts: list[Any]) -> Any:
    """The first rows of all, by which columns are judged."""
    heads: list[Any] = []
    for part in parts:
        (head,) = mapped(client, _first_rows, [part], LOOK, name="head")
        heads += [head] if len(head) or not heads else []
        if sum(map(len, heads)) >= LOOK:
            break
    some = [head for head in heads if len(head)]
    if len(some) < 2:
        return (some or heads)[0]
    import pandas as pd

    return pd.concat(some).iloc[:LOOK]


def _first_rows(frame: Any, n: int) -> Any:
    return frame[:n]
