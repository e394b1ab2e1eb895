"""Files in the svmlight format as a source of rows."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.store import Store, blocks, pointers
from linsep.data.encoding.encoding import Encoding
from linsep.data.files.bad_rows import BadRows
from linsep.data.files.compression import open_plain
from linsep.data.sources.tables import Source
from linsep.data.svmlight import parser as svmlight
from linsep.errors import DataError

Array = npt.NDArray[Any]


def _lines_of_rows(path: Path) -> Iterator[int]:
    """Numbers of the lines that hold more than a comment."""
    with open_plain(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.partition(b"#")[0].strip():
                yield number


class SvmlightSource(Source):
    """Lines of `label index:value …`; the least index of all files tells where counting begins."""

    def __init__(
        self, paths: list[Path], base: int | None, n_features: int | None,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(paths, n_jobs)
        self.base, self.n_features = base, n_features
        self.summary = "svmlight lines"
        self.begin()

    def begin(self) -> None:
        self.least, self.most, self.queries, self.n = svmlight.LARGEST + 1, -1, 0, 0

    def _raw(self, path: Path, bad: BadRows) -> Iterator[tuple[Any, Any]]:
        lines = _lines_of_rows(path) if self.numbered else iter(())
        for part in svmlight.parts(path, self.n_jobs):
            bad.take(path, part.bad)
            if self.numbered:
                own = np.fromiter(islice(lines, len(part.labels) + len(part.bad)), np.int64)
                self.numbers = np.setdiff1d(own, [row.line for row in part.bad])
            if len(part.labels):
                yield part, part.labels

    def note(self, piece: Any) -> None:
        self.least, self.most = min(self.least, piece.least), max(self.most, piece.most)
        self.queries += piece.queries
        self.n += len(piece.labels)

    def settled(self) -> Encoding:
        if self.n and self.most < 0:
            raise DataError(f"{self.paths[0]} holds no index:value pair; is it another format?")
        base = self.base if self.base is not None else int(self.least > 0)
        if self.least < base:
            raise DataError(
                f"{self.paths[0]} has the index {self.least}, but features were said to count "
                f"from {base}; pass base=0."
            )
        needed = self.most + 1 - base
        width = needed if self.n_features is None else self.n_features
        if needed > width:
            raise DataError(
                f"{self.paths[0]} has the index {self.most}, beyond the {width} features known; "
                "fit on files that hold them all, or pass n_features= then."
            )
        begins = "zero" if base == 0 else "one"
        self.summary = f"svmlight, {width} features counted from {begins}"
        self.summary += f"; {self.queries} query ids were passed over." if self.queries else "."
        return Encoding(n_features=width, base=base)

    def rows(self, piece: Any, encoding: Encoding) -> Any:
        base = self.base if self.base is not None else encoding.base or 0
        places, values, counts = piece.places, piece.values, piece.counts
        if base:
            places -= np.int32(base)  # nobody else looks at the piece
        if piece.least < base and piece.most >= 0:
            raise DataError(
                f"{self.paths[0]} has the index {piece.least}, but features count from {base} "
                "where the model was fitted; pass base=0 if they count from zero here."
            )
        if piece.most - base >= encoding.n_features:  # features no training row had: no weight
            known = places < encoding.n_features
            owner = np.repeat(np.arange(len(counts)), counts)[known]
            counts = np.bincount(owner, minlength=len(counts))
            places, values = places[known], values[known]
        shape = (len(piece.labels), encoding.n_features)
        X = sp.csr_array((values, places, pointers(counts)), shape=shape)
        X.has_canonical_format = True  # the parser has seen to it
        return X

    def put(
        self, store: Store, piece: Any, labels: Array, keep: Any, encoding: Encoding | None
    ) -> None:
        if encoding is not None:
            super().put(store, piece, labels, keep, encoding)
            return
        if keep is not None:
            piece = svmlight.without(piece, np.flatnonzero(~keep).tolist())
        store.add_sparse(piece.values, piece.places, piece.counts, labels)

    def finish(self, arrays: dict[str, Array], n: int, encoding: Encoding) -> None:
        if encoding.base:
            places = arrays["places"]
            for part in blocks(places):
                places[part] -= np.int32(encoding.base)
