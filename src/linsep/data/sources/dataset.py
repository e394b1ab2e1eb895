"""`Chunks`: the rows and labels of files, to be walked in blocks or gathered for a fit."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from linsep._arguments import path_of
from linsep.data.blocks.blocks import BLOCK
from linsep.data.blocks.page_release import trim
from linsep.data.blocks.store import (
    Gathered,
    Store,
    blocks,
    pointers,
    read_manifest,
    write_manifest,
    writing,
)
from linsep.data.encoding.encoding import Encoding
from linsep.data.encoding.label_statistics import (
    Labels,
    LabelStatistics,
    ProgressiveLoss,
)
from linsep.data.files.bad_rows import BadRows
from linsep.data.files.compression import Identity
from linsep.data.sources.cutting import in_blocks
from linsep.data.sources.tables import Source
from linsep.errors import DataError, ParameterError

Array = npt.NDArray[Any]
F = TypeVar("F", bound=Callable[..., Any])

MOST_COUNTED = 1000  # labels that are counted one by one


class Chunks:
    """Rows and labels of files of any size; what `linsep.read` gives back.

    Iterate to get `(X, y)` in blocks; `load()` for all rows in memory; or hand it to `fit`. How
    columns become features (`encoding`) and which classes there are is settled by a pass over all
    rows, made when first needed.

    Attributes
    ----------
    notes : list of str
        What was found: the format, its details, filled gaps, rows left out.
    skipped : int
        Rows that could not be read, after a pass with bad_rows='skip'; `bad_rows.first` tells some.
    left_out : int
        Rows whose class was not asked for.
    judged : ProgressiveLoss or None
        What a single pass has counted, where it kept no row.
    """

    def __init__(
        self, source: Source, options: dict[str, Any], encoding: Encoding | None, keep: Any,
        bad_rows: str | os.PathLike[str], memory: int, cache: Any,
    ) -> None:  # fmt: skip
        self.source = source
        self.options = options
        self.bad_rows = BadRows(bad_rows)
        self.memory = memory
        self.cache = None if cache is None else path_of("cache", cache)
        self._keep = keep
        self._known = encoding
        self._given = encoding is not None
        self._labels: Labels | None = None
        self._statistics: LabelStatistics | None = None
        self._n: int | None = None
        self._gathered: Gathered | None = None
        self.judged: ProgressiveLoss | None = None
        self.cluster: Any = None

    @property
    def untouched(self) -> bool:
        """Whether all rows are wanted as they are, and none has been read."""
        begun = self._known, self._labels, self._gathered, self.cache, self._keep
        return all(one is None for one in begun)

    @property
    def encoding(self) -> Encoding:
        """How columns become features; settled over all rows."""
        if self._known is None:
            self._look()
        assert self._known is not None
        return self._known

    @property
    def classes(self) -> Array | None:
        """The classes, sorted; None where labels are numbers to predict, or absent."""
        if self._labels is None:
            self._look()
        assert self._labels is not None
        return self._labels.classes

    @property
    def n_rows(self) -> int:
        """How many rows there are, without those skipped or left out."""
        if self._n is None:
            self._look()
        assert self._n is not None
        return self._n

    @property
    def n_features(self) -> int:
        """How many features each row has."""
        return self.encoding.n_features

    @property
    def skipped(self) -> int:
        """Rows that could not be read."""
        return self.bad_rows.count

    @property
    def left_out(self) -> int:
        """Rows whose class was not asked for."""
        return 0 if self._statistics is None else self._statistics.left_out

    @property
    def notes(self) -> list[str]:
        """What was found in the files, in sentences."""
        notes = [self.source.summary] if self.source.summary else []
        notes += [sentence[0].upper() + sentence[1:] for sentence in self.source.doubts]
        gaps = {name: n for name, n in self.source.missing.items() if n}
        if gaps:
            some = ", ".join(f"{name} {n}" for name, n in list(gaps.items())[:10])
            more = f" and in {len(gaps) - 10:,} columns more" if len(gaps) > 10 else ""
            notes.append(f"Missing values filled in: {some}{more}.")
        if self.source.rounded:
            names = sorted(self.source.rounded)
            notes.append(
                "Whole numbers beyond 2^53 were rounded to the nearest float64: "
                f"{', '.join(names[:10])}. Pass columns={{{names[0]!r}: 'drop'}} if it only names "
                "rows."
            )
        for name, count in self._unique().items():
            notes.append(
                f"Column {name!r} has a different text in nearly every row, and {count} features: "
                f"is it an id, or sentences? Pass columns={{{name!r}: 'drop'}} or "
                f"columns={{{name!r}: 'words'}}."
            )
        if self.skipped:
            unread = "1 row" if self.skipped == 1 else f"{self.skipped} rows"
            notes.append(f"{unread} could not be read; first: {self.bad_rows.first[0]}")
        if self.left_out:
            notes.append(f"{self.left_out} rows of other classes were left out.")
        return notes

    def _unique(self) -> dict[str, int]:
        statistics: Any = getattr(self.source, "statistics", None)
        return {} if statistics is None or self._given else statistics.unique()

    def _look(self) -> None:
        """A pass over all rows that settles the encoding and the classes."""
        self.look(lambda piece, cells: None)

    def look(self, observe: Callable[[Any, Any], None]) -> Counter[Any]:
        """The same, with somebody told of every piece and its labels; how often each label is met.

        Where labels are numbers to predict, these are not counted beyond a thousand of them.
        """
        source, statistics = self.source, LabelStatistics(self.source.target, self._keep)
        source.begin()
        n, met = 0, Counter[float]()
        for piece, cells in source.raw(self.bad_rows):
            source.note(piece)
            observe(piece, cells)
            stored, _ = self._labelled(statistics, piece, cells)
            n += len(stored)
            if len(met) <= MOST_COUNTED:
                values, times = np.unique(stored, return_counts=True)
                met.update(dict(zip(values.tolist(), times.tolist(), strict=True)))
        self.settle(statistics, n)
        labels = self._labels
        if labels is None or labels.classes is None:
            return Counter()
        places = labels.codes(np.array(list(met)))
        return Counter(dict(zip(labels.classes[places].tolist(), met.values(), strict=True)))

    def settle(self, statistics: LabelStatistics, n: int, looked: bool = False) -> None:
        """All rows have been seen: n of them, with these labels."""
        if n == 0 and not (self._given and self._keep is None and not self.skipped):
            raise DataError(
                f"{self.source.paths[0]} gave no row"
                + (f" of the classes {self._keep!r}" if self._keep is not None else "")
                + (f"; {self.skipped} could not be read" if self.skipped else "")
                + ". Rows are wanted."
                + (f" The first: {self.bad_rows.first[0]}" if self.skipped else "")
            )
        if not (self._given or looked):
            self._known = self.source.settled()
        self._statistics, self._labels, self._n = statistics, statistics.finish(), n

    @staticmethod
    def _labelled(
        statistics: LabelStatistics, piece: Any, cells: Any
    ) -> tuple[Array, Array | None]:
        if cells is None:
            n = _length(piece)
            return np.zeros(n), None
        if getattr(cells, "dtype", np.dtype(float)).kind in "UO":
            from linsep.data.table.table_part import from_texts

            cells = from_texts([str(one) for one in cells.tolist()])
        return statistics.add(cells)

    def kept_rows(self, labels: list[Any]) -> Array | None:
        """Which of the rows with these labels, piece by piece, are of the classes asked for."""
        if self._keep is None:
            return None
        statistics = LabelStatistics(self.source.target, self._keep)
        return np.concatenate([np.asarray(statistics.add(cells)[1]) for cells in labels])

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self.blocks()

    def blocks(self, size: int = BLOCK) -> Iterator[tuple[Any, Any]]:
        """(X, y) with `size` rows each, the last with what is left; y is None without labels."""
        if size < 1:
            raise ParameterError(f"size is {size!r}; a block has at least one row.")
        if self._gathered is not None:
            yield from self._gathered.blocks(size)
            return
        yield from in_blocks(self._pieces(self.encoding), size)

    def _pieces(self, encoding: Encoding) -> Iterator[tuple[Any, Any]]:
        """(X, y) as they are read."""
        source, statistics = self.source, LabelStatistics(self.source.target, self._keep)
        source.encode(encoding)
        for piece, cells in source.raw(self.bad_rows):
            stored, keep = self._labelled(statistics, piece, cells)
            X = source.rows(piece, encoding)
            y = None if cells is None else statistics.decoded(stored, self._labels)
            yield X if keep is None else X[keep], y
        self._statistics = statistics

    def with_columns(
        self, names: list[str], lines: bool = False
    ) -> Iterator[tuple[Any, dict[str, Any], Any]]:
        """(X, columns as they were read, by name, and the line of each row), piece by piece.

        Columns are those of a table. Lines count from 1 as in an editor; rows of binary files
        count from 0. Bad rows are counted in the same way.
        """
        source: Any = self.source
        if names and not hasattr(source, "pass_on"):
            raise ParameterError("keep names columns, but the rows are no table and have none.")
        if names:
            source.pass_on(names)
        if lines:
            source.number_lines()
        encoding = self.encoding
        source.encode(encoding)
        for piece, _ in source.raw(self.bad_rows):
            yield source.rows(piece, encoding), getattr(piece, "passed", {}), source.numbers

    @property
    def drift(self) -> list[str]:
        """How the rows differ from those of the fit they are read for, in sentences."""
        known = getattr(self.source, "drift", None)
        return [] if known is None or not self._given else known.sentences()

    def load(self) -> tuple[Any, Any]:
        """All rows and labels in memory, as `X` and `y`; y is None without labels."""
        gathered = self._gather(Store(memory=1 << 62))
        return gathered.X, gathered.labels()

    def gather(self) -> Gathered:
        """All rows as arrays: in memory up to `memory` bytes, else a binary copy on disk."""
        if self._gathered is None:
            self._gathered = self._from_cache() or self._gather(Store(self._room(), self.cache))
        return self._gathered

    def _room(self) -> int:
        """Bytes of rows to keep in memory: none where the files say that they are too many."""
        return self.memory if self.source.size() <= self.memory else 0

    def _gather(self, store: Store) -> Gathered:
        source = self.source
        studied = self._known is not None
        looked = not (studied or source.direct)
        if looked:
            self._look()
            studied = True
        statistics = LabelStatistics(source.target, self._keep)
        if not looked:
            source.begin()
        if self._known is not None:
            source.encode(self._known)
        try:
            for piece, cells in source.raw(self.bad_rows):
                if not looked:
                    source.note(piece)
                stored, keep = self._labelled(statistics, piece, cells)
                source.put(store, piece, stored, keep, self._known if studied else None)
            arrays = store.finish()
        except BaseException:
            store.close()
            raise
        self.settle(statistics, store.n, looked)
        gathered = self._finished(arrays, store, studied)
        if gathered.on_disk:
            trim()
        return gathered

    def _finished(self, arrays: dict[str, Array], store: Store, studied: bool) -> Gathered:
        """Close gaps, count from zero, number the labels; then the arrays are ready."""
        encoding, labels = self.encoding, self._labels
        assert labels is not None
        if not studied:
            self.source.finish(arrays, store.n, encoding)
        if labels.classes is not None:
            arrays["codes"] = _numbered(arrays.pop("labels"), labels, store)
        if store.folder is not None:
            write_manifest(store.folder, self._about(), self._results(), arrays)
        return self._arranged(arrays, store.spilled)

    def _arranged(self, arrays: dict[str, Array], on_disk: bool) -> Gathered:
        encoding, labels, n = self.encoding, self._labels, self._n
        assert labels is not None and n is not None
        codes, y = arrays.get("codes"), None if labels.absent else arrays.get("labels")
        X: Any
        if "values" in arrays:
            entries = arrays["values"], arrays["places"], pointers(arrays["counts"])
            import scipy.sparse as sp  # slow to import; no table to predict needs it

            X = sp.csr_array(entries, shape=(n, encoding.n_features), copy=False)
        else:
            X = arrays["rows"].reshape(n, -1)
        return Gathered(X, codes, y, labels.classes, list(arrays.values()), on_disk)

    def _about(self) -> dict[str, Any]:
        """What a kept copy must agree with to be used again."""
        options = {k: str(v) for k, v in self.options.items()}
        files = [[str(p), *self.identity(p)] for p in self.source.paths]
        like = self._known.to_json() if self._given and self._known else None
        about = {"files": files, "asked": options, "keep": str(self._keep), "block": BLOCK}
        return about | {"like": like}

    @staticmethod
    def identity(path: Path) -> list[Any]:
        """What tells one version of a file from another."""
        return list(Identity.of(path)) if path.is_file() else [str(path)]

    def _from_cache(self) -> Gathered | None:
        """The binary copy kept by an earlier fit, if it is whole and of these very files."""
        if self.cache is None or not (self.cache / "manifest.json").exists():
            return None
        kept = read_manifest(self.cache, self._about())
        if kept is None:
            return None
        results, arrays = kept
        self._known = Encoding.from_json(results["encoding"])
        classes = results["classes"]
        classes = None if classes is None else np.array(classes)
        self._labels = Labels(classes, None, results["unlabelled"])
        self._n = results["n_rows"]
        return self._arranged(arrays, True)

    def _results(self) -> dict[str, Any]:
        """What the pass over all rows has settled, as plain values."""
        classes = self.classes
        return {
            "encoding": self.encoding.to_json(),
            "classes": None if classes is None else classes.tolist(),
            "n_rows": self.n_rows,
            "unlabelled": self._labels is not None and self._labels.absent,
        }


def _length(piece: Any) -> int:
    if hasattr(piece, "labels"):
        return len(piece.labels)
    rows = getattr(piece, "rows", piece)  # of a table they are made already
    if rows is not None:
        return int(rows.shape[0])
    cells = next(iter(piece.values()))  # but not of one that holds texts alone
    return len(getattr(cells, "codes", cells))


def _numbered(stored: Array, labels: Labels, store: Store) -> Array:
    """Labels as class numbers, in the place where they were stored."""
    from linsep.data.blocks.store import Growing

    codes = Growing("codes", np.int32)
    try:
        with writing(store.folder):
            if store.spilled:
                codes.spill(store.folder)
            for part in blocks(stored):
                codes.add(labels.codes(np.asarray(stored[part])))
            return codes.finish()
    except BaseException:
        codes.close()
        raise
