"""Words of texts as features: how often each stands in a cell."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.encoding.assemble import Beside, sparse
from linsep.data.table.column import Column, Texts

Array = npt.NDArray[Any]


def counted(column: Column, cells: Texts) -> Any:
    """One sparse row of counts for each cell; a missing cell has no words."""
    import scipy.sparse as sp

    entries = [sorted(column.counts(text).items()) for text in cells.texts]
    ends = np.cumsum([0, *map(len, entries), 0])
    places = np.array([place for one in entries for place, _ in one], np.int32)
    values = np.array([count for one in entries for _, count in one], np.float64)
    by_text = sp.csr_array((values, places, ends), shape=(len(entries) + 1, column.width))
    return by_text[cells.codes]


def beside_words(
    columns: tuple[Column, ...], parts: list[Any], become: list[Beside]
) -> tuple[Any, Array]:
    """Rows of all features, sparse; and for each column whether a number is odd there."""
    import scipy.sparse as sp

    odd = np.zeros(len(columns), bool)
    pieces: list[Any] = []
    run: list[int] = []  # columns that are not words, since the last that is

    def close() -> None:
        if not run:
            return
        first = become[run[0]].first
        own = [become[j]._replace(first=become[j].first - first) for j in run]
        cells = [getattr(parts[j], "codes", parts[j]) for j in run]
        entries, odd[run] = sparse(cells, own)
        shape = len(cells[0]), sum(one.width for one in own)
        pieces.append(sp.csr_array(entries, shape=shape))
        run.clear()

    for j, column in enumerate(columns):
        if column.kind == "words":
            close()
            pieces.append(counted(column, parts[j]))
        else:
            run.append(j)
    close()
    return sp.csr_array(sp.hstack(pieces, format="csr")), odd
