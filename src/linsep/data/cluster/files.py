"""Files that the workers read themselves, as rows on a cluster.

Each task reads a file, or a stretch of a text file, and keeps its rows; what all rows settle
together (categories, means, classes, the least index) comes to the client in small summaries. Means
are summed over the fixed blocks of all rows, as `linsep.read` sums them, so that a model has the
same encoding, to the last digit.
"""

import copy
import io
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK
from linsep.data.blocks.store import Growing, pointers
from linsep.data.cluster import layout, ranges
from linsep.data.cluster.collections import _spill, gathered_codes, rows_of
from linsep.data.cluster.ranges import FilePart
from linsep.data.cluster.row_numbers import narrow
from linsep.data.cluster.rows import ClusterRows
from linsep.data.cluster.waiting import fetched, key_of, mapped, settled
from linsep.data.encoding.label_statistics import EncodedLabels, LabelStatistics
from linsep.data.files.bad_rows import BadRows
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.svmlight import SvmlightSource
from linsep.data.sources.tables import TableSource
from linsep.data.svmlight import parser as svmlight
from linsep.data.table import delimited
from linsep.errors import ClusterError, DataError, ParameterError
from linsep.kernels.tables import add_up, fill

Array = npt.NDArray[Any]


class Piece(NamedTuple):
    """Rows that one task has read; numbers with their gaps, or svmlight entries as written."""

    rows: Any
    labels: Array
    kept: Array | None


class Summary(NamedTuple):
    """What a piece adds to what all rows settle."""

    n: int
    source: Any
    labels: LabelStatistics
    skipped: int
    first: list[str]


def rows_of_files(client: Any, chunks: Chunks) -> tuple[ClusterRows, Any]:
    """The rows of files on a cluster, and their labels; `chunks` learns what was settled."""
    if chunks.bad_rows.how not in ("fail", "skip"):
        raise ParameterError(
            f"bad_rows is {str(chunks.bad_rows.how)!r}; rows that workers read are listed in no "
            "file. Use 'skip', which counts them, or 'fail'."
        )
    rows, read, summaries = rows_of_parts(client, chunks, _split(client, chunks.source))
    return rows, _labels(rows, chunks, read, summaries)


def rows_of_parts(
    client: Any, chunks: Chunks, parts: list[Any]
) -> tuple[ClusterRows, list[Any], list[Summary]]:
    """Rows of parts of files, or of futures of frames; what was read of each, and noted."""
    source, encoding, how = chunks.source, chunks._known, chunks.bad_rows.how
    source.begin()
    if encoding is not None:
        source.encode(encoding)
    read = [
        client.submit(
            _read, source, part, k, chunks._keep, how, encoding, key=_key("read", part, k)
        )
        for k, part in enumerate(parts)
    ]
    summaries: list[Summary] = mapped(client, _summary, read, name="summary")
    labels = _merged_labels(summaries, chunks)
    _merge(source, summaries)
    chunks.bad_rows.count = sum(one.skipped for one in summaries)
    chunks.bad_rows.first = [text for one in summaries for text in one.first][:20]
    if encoding is None and isinstance(source, TableSource):
        source.statistics._means = _means(client, read)  # type: ignore[assignment]
    chunks.settle(labels, sum(one.n for one in summaries))
    return rows_of(client, _finished(client, chunks, parts, read)), read, summaries


def _key(what: str, part: Any, k: int) -> str:
    """What the dashboard shows of a task: the file and the number of the part."""
    of = part.path.name if isinstance(part, FilePart) else "frame"
    return key_of(f"{what}-{of}-{k}")


def _split(client: Any, source: Any) -> list[FilePart]:
    """Files, and stretches of text files that are long."""
    text = isinstance(source, SvmlightSource) or (isinstance(source, TableSource) and source.csv)
    plain = text and getattr(getattr(source, "layout", None), "encoding", "utf-8") in (
        "utf-8", "utf-8-sig",
    )  # fmt: skip
    quote = source.layout.quote.encode() if isinstance(source, TableSource) else b""
    parts: list[FilePart] = []
    for path in source.paths:
        path = Path(path).resolve()
        size = path.stat().st_size if path.is_file() else 0
        if not plain or size <= ranges.RANGE or ranges.whole(path):
            parts.append(FilePart(path))
            continue
        ends = [*range(0, size, ranges.RANGE), size]
        spans = list(itertools.pairwise(ends))
        counts = [0] * len(spans)
        if quote:
            jobs = [client.submit(ranges.quotes, path, *span, quote) for span in spans]
            counts = fetched(client, jobs, "quotes")
        odd = np.concatenate([[0], np.cumsum(counts)]) % 2 == 1
        parts += [
            FilePart(path, *span, (bool(odd[k]), bool(odd[k + 1]))) for k, span in enumerate(spans)
        ]
    return parts


def _pieces(source: Any, part: Any, bad: BadRows) -> Iterator[tuple[Any, Any]]:
    """(piece, its labels) of a file, a stretch of one or a frame, as `Source.raw` gives them."""
    if not isinstance(part, FilePart):
        yield from source._raw(source.paths[0], bad)
        return
    if part.stop is None:
        yield from source._raw(part.path, bad)
        return
    quote = source.layout.quote.encode() if isinstance(source, TableSource) else b""
    text, first = ranges.content(part, quote)

    def moved(rows: Any) -> Any:
        before = ranges.lines_before(part.path, first) if rows else 0
        return [row.moved(before) for row in rows]

    if isinstance(source, SvmlightSource):
        rows = svmlight.parse_piece(text)
        bad.take(part.path, moved(rows.bad))
        if len(rows.labels):
            yield rows, rows.labels
        return
    layout = source.layout
    if part.path != Path(source.paths[0]).resolve() and layout.header:
        layout = source._same_columns(part.path)
    if first:
        layout = replace(layout, header=False, skip=0)
    make = source._encoded if source.known else source._beside
    for table in delimited.stream_parts(io.BytesIO(text), part.path, layout, 1, make=make):
        source._note_rounded(table.columns.rounded)
        bad.take(part.path, moved(table.bad))
        if table.n:
            yield table.columns, source.target and table.columns[source.target.column]


def _own(source: Any, part: Any) -> Any:
    """The source as one task has it."""
    source = copy.copy(source) if isinstance(part, FilePart) else source.holding(part)
    if isinstance(source, TableSource):
        source.drift = copy.copy(source.drift)  # workers that are threads would share it
    return source


def _read(source: Any, part: Any, k: int, keep: Any, how: str, encoding: Any) -> Any:
    """A part of the files: its rows as far as they can be made now, and what it adds."""
    try:
        return _noted(_own(source, part), part, keep, how, encoding)
    except OSError as problem:
        raise ClusterError(
            f"a worker cannot read {part.path} ({problem.strerror}); files must be where all "
            "workers find them."
        ) from None
    except DataError as problem:
        where = str(part.path) if isinstance(part, FilePart) else f"partition {k} of X"
        if where in str(problem):
            raise
        raise DataError(f"{where}: {problem}") from None


def _noted(source: Any, part: Any, keep: Any, how: str, encoding: Any) -> tuple[Piece, Summary]:
    bad, labels = BadRows(how), LabelStatistics(source.target, keep)
    source.begin()
    if encoding is not None:
        source.encode(encoding)
    rows, stored, kept = [], [], []
    for piece, cells in _pieces(source, part, bad):
        if isinstance(source, TableSource):
            source.statistics.add(piece, None)
        else:
            source.note(piece)
        codes, which = Chunks._labelled(labels, piece, cells)
        stored.append(codes)
        rows.append(_provisional(source, piece, encoding))
        kept.append(np.ones(len(codes), bool) if which is None else which)
    piece = Piece(
        _together(rows),
        np.concatenate(stored) if stored else np.empty(0),
        np.concatenate(kept) if keep is not None and kept else None,
    )
    if hasattr(source, "cells"):
        source.cells, source._read = {}, {}  # they stay where they are
    return piece, Summary(len(piece.labels), source, labels, bad.count, bad.first)


def _provisional(source: Any, piece: Any, encoding: Any) -> Any:
    if encoding is not None:
        return source.rows(piece, encoding)
    if not isinstance(source, SvmlightSource):
        return piece.rows if isinstance(source, TableSource) else source.provisional(piece)
    shape = (len(piece.labels), max(1, piece.most + 1))
    return sp.csr_array((piece.values, piece.places, pointers(piece.counts)), shape=shape)


def _together(rows: list[Any]) -> Any:
    if not rows or rows[0] is None:
        return None
    if not sp.issparse(rows[0]):
        return np.concatenate(rows)
    width = max(one.shape[1] for one in rows)
    parts = [sp.csr_array((r.data, r.indices, r.indptr), shape=(r.shape[0], width)) for r in rows]
    return sp.csr_array(sp.vstack(parts, format="csr"))


def _summary(read: tuple[Piece, Summary]) -> Summary:
    return read[1]


def _merged_labels(summaries: list[Summary], chunks: Chunks) -> LabelStatistics:
    """Labels of all pieces, texts in the order of their first coming."""
    merged = LabelStatistics(chunks.source.target, chunks._keep)
    for summary in summaries:
        one = summary.labels
        merged._kinds |= one._kinds
        merged._whole &= one._whole
        merged.left_out += one.left_out
        for text in one.texts:
            merged.texts.setdefault(text, len(merged.texts))
        if merged._numbers is not None:
            numbers = one._numbers
            merged._numbers = None if numbers is None else merged._numbers | numbers
    return merged


def _merge(source: Any, summaries: list[Summary]) -> None:
    """What was noted of each piece, as if one had noted them all."""
    for one in (summary.source for summary in summaries):
        source.rounded |= one.rounded
        if isinstance(source, TableSource):
            source.drift.add(one.drift)
            source.statistics.merge(one.statistics)
        elif isinstance(source, SvmlightSource):
            source.least, source.most = min(source.least, one.least), max(source.most, one.most)
            source.queries, source.n = source.queries + one.queries, source.n + one.n
        elif one.width is not None:
            if source.width not in (None, one.width):
                raise DataError(
                    f"one file has {source.width} columns and another {one.width}; they must agree."
                )
            source.width, source.sparse = one.width, one.sparse


class _Settled(NamedTuple):
    means: Array
    gaps: Array

    def finish(self) -> tuple[Array, Array]:
        return self.means, self.gaps


def _means(client: Any, read: list[Any]) -> _Settled:
    """Means of the columns of numbers, summed over fixed blocks in their order."""
    numbers = [client.submit(_numbers, one, key=f"numbers-{one.key}") for one in read]
    if not max(mapped(client, _width, numbers, name="width"), default=0):
        return _Settled(np.zeros(0), np.zeros(0, np.int64))
    rows = rows_of(client, numbers, finite=False)
    total, count = np.zeros(rows.shape[1]), np.zeros(rows.shape[1], np.int64)
    for part, filled in rows.in_order(_block_sums(rows), range(-(-len(rows) // BLOCK))):
        total += part
        count += filled
    means = np.divide(total, count, out=np.zeros_like(total), where=count > 0)
    return _Settled(means, len(rows) - count)


def _numbers(read: tuple[Piece, Summary]) -> Array:
    return np.empty((0, 0)) if read[0].rows is None else np.asarray(read[0].rows)


def _width(rows: Array) -> int:
    return int(rows.shape[1])


def _block_sums(X: Any) -> Any:
    def sums(k: int) -> tuple[Array, Array]:
        rows = X[k * BLOCK : min(len(X), (k + 1) * BLOCK)]
        total, count = np.zeros(rows.shape[1]), np.zeros(rows.shape[1], np.int64)
        add_up(np.array(rows, order="C"), total, count)
        return total, count

    return sums


def _finished(client: Any, chunks: Chunks, parts: list[Any], read: list[Any]) -> list[Any]:
    """A future of the final rows of each piece."""
    source, encoding = chunks.source, chunks.encoding
    made = []
    for k, (part, one) in enumerate(zip(parts, read, strict=True)):
        if source.direct or chunks._given:
            made.append(client.submit(_final, one, encoding, chunks._given, key=f"rows-{one.key}"))
        else:
            made.append(
                client.submit(_encoded, source, part, one, encoding, key=_key("rows", part, k))
            )
    return made


def _final(read: tuple[Piece, Summary], encoding: Any, given: bool) -> Any:
    """Rows of numbers with their gaps filled, or sparse ones counted from zero."""
    rows, kept = read[0].rows, read[0].kept
    if rows is None:
        return np.empty((0, encoding.n_features))
    if sp.issparse(rows):
        places = rows.indices - (0 if given else encoding.base or 0)
        shape = (rows.shape[0], encoding.n_features)
        rows = sp.csr_array((rows.data, places.astype(np.int32), rows.indptr), shape=shape)
        rows.has_canonical_format = True
    elif encoding.columns and not given and not np.isfinite(rows).all():
        rows = np.array(rows, order="C")
        fill(rows, np.array([column.mean for column in encoding.columns]))
    return rows if kept is None else rows[kept]


def _encoded(source: Any, part: Any, read: tuple[Piece, Summary], encoding: Any) -> Any:
    """Rows with texts, read once more, now that all texts are known."""
    source = _own(source, part)
    source.encode(encoding)
    pieces = _pieces(source, part, BadRows("skip"))
    rows = _together([source.rows(piece, encoding) for piece, _ in pieces])
    if rows is None:
        return np.empty((0, encoding.n_features))
    return rows if read[0].kept is None else rows[read[0].kept]


def _labels(rows: ClusterRows, chunks: Chunks, read: list[Any], summaries: list[Summary]) -> Any:
    """Classes and the class number of every row, or numbers to predict."""
    client, labels, statistics = rows.rounds.client, chunks._labels, chunks._statistics
    assert labels is not None and statistics is not None
    if labels.absent:
        raise DataError(
            f"{chunks.source.paths[0]} holds no labels, and a fit learns from them; give rows with "
            "labels."
        )
    places = [
        np.array([statistics.texts[text] for text in one.labels.texts], np.int64)
        for one in summaries
    ]  # numbers of a piece's texts are its own
    if labels.classes is None:
        growing = Growing("codes", np.float64)
        for one, own in zip(read, places, strict=True):
            growing.add(settled(client, [client.submit(_stored, one, own)])[0])
            _spill(growing)
        return growing.finish()
    several = [[one] * len(read) for one in (labels, len(labels.classes))]
    keys = [f"codes-{one.key}" for one in read]
    codes_there = list(client.map(_codes, read, places, *several, key=keys))
    there = layout.Groups([[k] for k in range(len(read))], codes_there)
    lengths, codes = gathered_codes(client, there)
    parts = layout.partitions(client, there, lengths, rows.rounds.spans, "classes-of")
    rows.rounds.numbers.know(codes, parts)
    return EncodedLabels(labels.classes, codes)


def _stored(read: tuple[Piece, Summary], places: Array) -> Array:
    stored = read[0].labels
    return places[stored.astype(np.int64)] if len(places) else stored


def _codes(read: tuple[Piece, Summary], places: Array, labels: Any, n_classes: int) -> list[Array]:
    """Class numbers of a piece, as a group of one."""
    return [narrow(np.asarray(labels.codes(_stored(read, places)), np.int32), n_classes)]
