"""Data files of any size and format, as rows and labels in blocks."""

import glob
import math
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from linsep._arguments import path_of, require_one_of
from linsep.data.blocks.store import MEMORY
from linsep.data.encoding.encoding import Encoding
from linsep.data.files.compression import SUFFIXES, open_plain, unpacking
from linsep.data.files.system_errors import storing, temporary_folder
from linsep.data.sources.dataset import Chunks
from linsep.data.table.column import Column
from linsep.data.table.memory import is_table
from linsep.data.table.number_signs import GROUPS, settle_signs
from linsep.data.table.target import Target
from linsep.errors import DataError, ParameterError, UnknownParameterError

FORMATS = ("csv", "svmlight", "npy", "npz", "idx", "parquet", "feather")

_SUFFIXES = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".data": "csv", ".parquet": "parquet",
    ".feather": "feather", ".arrow": "feather", ".npy": "npy", ".npz": "npz", ".svm": "svmlight",
    ".libsvm": "svmlight", ".svmlight": "svmlight",
}  # fmt: skip

_LAYOUT = ("delimiter", "quote", "decimal", "thousands", "header", "skip", "encoding", "missing",
           "missing_only")  # fmt: skip


def read(
    source: Any,
    target: Any = None,
    format: str | None = None,
    classes: Any = None,
    *,
    columns: Mapping[str, str] | None = None,
    fill: str = "mean",
    bad_rows: str | os.PathLike[str] = "fail",
    base: int | None = None,
    n_features: int | None = None,
    like: Any = None,
    memory: int = MEMORY,
    cache: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    cluster: Any = None,
    **layout: Any,
) -> Chunks:
    """Open data of any size: rows and labels, in blocks that fit in memory.

    Learners take what comes back in the place of `X` and `y`: `Perceptron().fit(read("big.csv"))`
    gives the same bytes as a fit on the same rows in arrays. csv, svmlight and idx may be packed by
    gzip, bzip2 or zstd. The first bytes tell the format:

    =========  =====================================================================================
    csv        delimiter, quotes, header, decimal sign and kinds of columns are judged from the
               first 1000 rows (see `notes` of the result)
    parquet    also Feather; columns of numbers, truth values, times and texts; needs pyarrow
    svmlight   `label index:value …`, sparse; zero- or one-based is settled over all rows
    npy        one array of numbers, `target` a column of it, or labels in `NAME_y.npy`
    npz        arrays `X` and `y`; or a sparse matrix, with its labels in `NAME_y.npy`
    idx        images (MNIST), labels beside them
    =========  =====================================================================================

    Numbers become float64. Whole numbers beyond 2^53 are rounded to the nearest; `notes` names the
    columns in which that was done (of csv, those in which the first 1000 rows show it).

    Parameters
    ----------
    source : path, list of paths, folder, pattern such as 'part-*.csv', or '-' for standard input
        Files of a folder are read in the order of their names. Standard input goes to a temporary
        file first. Also a table in memory: a frame of pandas, polars or Arrow, a dict of columns,
        a list of records (dicts); or the bytes of a file, or an open one. The same cells give the
        same rows, wherever they lie.
    target : str or int, optional
        The column of labels, by name or position; or a question such as `delay > 15`, whose
        labels are False and True. Default: the last column, or that of `like`. A number is a
        position, unless there is a header that holds it as a name.
    format : str, optional
        One of the names above, where the first bytes should not decide.
    classes : list, optional
        Labels to keep; rows of other classes are left out, and counted in `left_out`.
    columns : dict of name to kind, optional
        'number' (also with thousands separators, signs of currencies, %); 'truth'; 'date' (days
        since 1970) or 'parts' (year, month, day, weekday, hour), perhaps with the order 'date:dmy';
        'text' (one feature per text) or 'text:50' (the 50 most frequent, and one for all others);
        'hash' or 'hash:64' (a fixed number of features shared by the texts); 'words' or 'words:500'
        (how often each of the most frequent words is in the cell) or 'words+hash'; 'drop'.
        Numbers and dates may end in '+gap' for one more feature that tells missing cells, texts
        in '+fold' to make no difference between capitals and small letters.
    fill : {'mean', 'fail'}
        What becomes of a missing number: the mean of its column, or a bad row. A missing text has
        no feature of its own.
    bad_rows : 'fail', 'skip', or a path
        Rows that cannot be read: an error that names file, line and column; or left out and
        counted in `skipped`; or that, and listed in a CSV file at this path.
    base : {0, 1}, optional
        The index of the first svmlight feature.
    n_features : int, optional
        The number of svmlight features, where the files do not hold them all.
    like : Encoding, or a learner fitted on a file
        Encode as it was done there; then labels need not be there. A csv file has a header if
        that one had, and columns go by its names; otherwise by position.
    memory : int
        Bytes of rows that a fit keeps in memory; more goes to a binary copy on disk.
    cache : path, optional
        A folder that keeps the binary copy for later fits, checked against the files. Otherwise
        it is temporary.
    n_jobs : int, optional
        Threads; never changes what is read.
    cluster : 'local', an address such as 'tcp://host:8786', or a client of Dask, optional
        Have its workers read the files themselves when a learner is fitted, and keep the rows
        there; needs the extra dask. The model has the same bytes.
    delimiter, quote, header, skip, encoding, missing
        For csv, where it should not be judged: signs, whether there is a header, lines to leave
        out before it, the encoding of the text, and words that stand for a missing cell beside
        the usual ones (nothing, ?, NA, NaN, null and the like).
    decimal, thousands : '.' or ','
        What a point or a comma in a number means, where it should not be judged: 1.234 is more
        than a thousand with `thousands="."` or `decimal=","`. Where no cell tells, `read` asks for
        one of the two. `thousands` may also be an apostrophe or a space. A model keeps it.
    missing_only : word or list of words
        Words for a missing cell in the place of the usual ones.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "points.csv"
    ...     _ = path.write_text("height,sex,ok\\n1.5,f,yes\\n2,m,no\\n,f,yes\\n")
    ...     chunks = read(path, target="ok")
    ...     X, y = chunks.load()
    >>> X.tolist(), y.tolist()
    ([[1.5, 1.0, 0.0], [2.0, 0.0, 1.0], [1.75, 1.0, 0.0]], ['yes', 'no', 'yes'])
    >>> chunks.encoding.feature_names
    ['height', 'sex=f', 'sex=m']
    """
    _check(format, fill, base, layout)
    settle_signs(layout)
    if columns is not None and not isinstance(columns, Mapping):
        raise ParameterError(f"columns is {columns!r:.60}; give a dict of column: how to read it.")
    if classes is not None and (isinstance(classes, str) or not isinstance(classes, Iterable)):
        raise ParameterError(f"classes is {classes!r:.60}; give a list of labels to keep.")
    encoding = like if isinstance(like, Encoding) else getattr(like, "encoding_", None)
    table = is_table(source)
    with ExitStack() as spool:  # what is kept of a buffer goes with the chunks, or with an error
        paths = [] if table else _paths(source, spool)
        kind = "frame" if table else _format(paths, format, encoding)
        if encoding is None and like is not None:
            encoding = _of_numbers(like, kind)
            n_features = (
                like.n_features_in_ if kind == "svmlight" and not n_features else n_features
            )
        options: dict[str, Any] = {
            "format": kind,
            "target": target,
            "columns": dict(columns or {}),
            "fill": fill,
            "layout": {name: layout.get(name) for name in _LAYOUT if layout.get(name) is not None},
            "base": base,
            "n_features": n_features,
        }
        opened = _open(source if table else paths, options, encoding, n_jobs)
        chunks = Chunks(opened, options, encoding, classes, bad_rows, memory, cache)
        chunks.cluster = cluster
        weakref.finalize(chunks, spool.pop_all().close)
    return chunks


def _check(format: str | None, fill: str, base: Any, layout: dict[str, Any]) -> None:
    if format is not None and (not isinstance(format, str) or format not in FORMATS):
        raise ParameterError(f"format is {format!r}; choose one of {', '.join(FORMATS)}.")
    require_one_of("fill", fill, ("mean", "fail"))
    if base is not None and (not isinstance(base, int) or base not in (0, 1)):
        raise ParameterError(f"base is {base!r}; features count from 0 or from 1.")
    unknown = [name for name in layout if name not in _LAYOUT]
    if unknown:
        raise UnknownParameterError(
            f"{unknown[0]!r} is no parameter of read; for the layout of a file there are "
            f"{', '.join(_LAYOUT)}."
        )
    for name, value in layout.items():
        wanted = _unlike(name, value)
        if value is not None and wanted:
            raise ParameterError(f"{name} is {value!r}; give {wanted}.")


def _unlike(name: str, value: Any) -> str:
    """What was wanted, where a part of the layout is not that; otherwise nothing."""
    if name in ("delimiter", "quote"):
        return "" if isinstance(value, str) and len(value) == 1 else "one character"
    if name == "decimal":
        return "" if value in (".", ",") else "'.' or ','"
    if name == "thousands":
        fine = isinstance(value, str) and len(value) == 1 and value in GROUPS
        return "" if fine else "'.', ',', an apostrophe or a space"
    if name == "skip":
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return "" if whole else "a whole number >= 0"
    if name == "header":
        return "" if isinstance(value, bool) else "True or False"
    if name == "encoding":
        return "" if isinstance(value, str) else "the name of an encoding, such as 'latin-1'"
    words = isinstance(value, (list, tuple, set)) and all(isinstance(one, str) for one in value)
    return "" if words or isinstance(value, str) else "a word, or a list of words"


def _of_numbers(learner: Any, kind: str) -> Encoding | None:
    """The columns of a learner that was fitted on rows of numbers: by the names of its frame, or
    by their places, the labels perhaps behind them; no gap is filled."""
    d = getattr(learner, "n_features_in_", None)
    if d is None:
        raise ParameterError(
            f"like is a {type(learner).__name__} that is not fitted; give a fitted learner, a "
            "model, or an Encoding."
        )
    if kind not in ("csv", "parquet", "feather", "frame"):
        return None if kind == "svmlight" else Encoding(n_features=d)
    names = getattr(learner, "feature_names_in_", None)
    if names is not None:
        return Encoding.of([Column(str(name), mean=math.nan) for name in names])
    columns = [Column(str(j), mean=math.nan) for j in range(d)]
    return Encoding.of(columns, Target(str(d)), header=False, width=d + 1)


def _open(
    paths: Any, options: dict[str, Any], encoding: Encoding | None, n_jobs: int | None
) -> Any:
    """The source of rows for this format."""
    kind, target = options["format"], options["target"]
    if kind == "frame":
        from linsep.data.sources.frames import FrameSource

        return FrameSource(paths, options, encoding, n_jobs)
    if kind in ("csv", "parquet", "feather"):
        from linsep.data.sources.tables import TableSource

        if encoding is not None and not encoding.columns:
            raise DataError(
                f"{paths[0]} is a table, but the model was fitted on rows of numbers without names."
            )
        return TableSource(paths, options, encoding, n_jobs)
    if encoding is not None and encoding.columns:
        raise DataError(f"{paths[0]} is {kind}, but the model was fitted on a table with columns.")
    if target is not None and kind in ("svmlight", "npz", "idx"):
        raise ParameterError(
            f"target is {target!r}, but {paths[0]} is {kind}, whose labels have a fixed place; "
            "leave target out."
        )
    if kind == "svmlight":
        from linsep.data.sources.svmlight import SvmlightSource

        return SvmlightSource(paths, options["base"], options["n_features"], n_jobs)
    from linsep.data.sources.arrays import ArraySource

    known = None if encoding is None else encoding.n_features
    return ArraySource(paths, kind, target, known)


def _paths(source: Any, spool: ExitStack) -> list[Path]:
    """The files meant, in order; `spool` removes one that standard input went to."""
    if isinstance(source, (bytes, bytearray, memoryview)) or hasattr(source, "read"):
        return [_spooled(spool, source)]
    if isinstance(source, (str, os.PathLike)):
        if str(source) == "-":
            return [_spooled(spool)]
        return _files(Path(source))
    if not isinstance(source, Iterable):
        raise ParameterError(f"source is {source!r}; give a path, a list of paths, or '-'.")
    files = [path for one in source for path in _files(path_of("source", one))]
    if not files:
        raise ParameterError("source is an empty list; give at least one path.")
    real = [path.resolve() for path in files]
    for k, path in enumerate(real):
        if path in real[:k]:
            raise ParameterError(f"source names {files[k]} twice; its rows would count twice.")
    return files


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        if list(path.glob("*images*idx*")):
            return [path]
        files = sorted(
            p for p in path.rglob("*")
            if p.is_file() and not any(s.startswith((".", "_")) for s in p.relative_to(path).parts)
        )  # fmt: skip
        if not files:
            raise DataError(f"the folder {path} holds no file; give one that does.")
        return files
    if not path.exists() and glob.has_magic(str(path)):
        files = sorted(Path(one) for one in glob.glob(str(path)))  # noqa: PTH207
        if not files:
            raise DataError(f"no file matches {path}; check the pattern.")
        return files
    return [path]


def _spooled(spool: ExitStack, source: Any = None) -> Path:
    """Standard input or a buffer in a file, so that it can be read more than once."""
    what = "standard input" if source is None else "the buffer"
    elsewhere = "For another folder set TMPDIR."
    with storing(f"{what} could not be kept in {temporary_folder()}", elsewhere):
        folder = tempfile.mkdtemp(prefix="linsep-")
        spool.callback(shutil.rmtree, folder, ignore_errors=True)
        path = Path(folder, "stdin" if source is None else "buffer")
        with path.open("wb") as file:
            for piece in _pieces_of_stdin() if source is None else _pieces_of(source):
                file.write(piece)
    return path


def _pieces_of(source: Any) -> Iterator[bytes]:
    if not hasattr(source, "read"):
        yield bytes(source)
        return
    while piece := source.read(1 << 20):
        yield piece.encode() if isinstance(piece, str) else piece


def _pieces_of_stdin() -> Iterator[bytes]:
    if sys.stdin is None:
        raise DataError("standard input is closed; give a file, or a pipe.")
    with unpacking(Path("standard input")):
        while piece := sys.stdin.buffer.read(1 << 20):
            yield piece


def _format(paths: list[Path], format: str | None, encoding: Encoding | None) -> str:
    if format is not None:
        return format
    text = None  # what a text is, where the fit knows
    if encoding is not None:
        text = "csv" if encoding.columns else None if encoding.base is None else "svmlight"
    kinds = [recognise(path, text) for path in paths]
    for path, kind in zip(paths, kinds, strict=True):
        if kind != kinds[0]:
            raise DataError(
                f"{paths[0]} is {kinds[0]} and {path} is {kind}; give files of one format."
            )
    return kinds[0]


def recognise(path: Path, text: str | None = None) -> str:
    """The format a file's first bytes announce; a text is `text`, or where that is None svmlight
    if it has index:value pairs."""
    if path.is_dir():
        return "idx"
    with unpacking(path), open_plain(path) as stream:
        start = bytes(stream.read(1 << 16))
    if not start:
        raise DataError(f"{path} is empty; rows are wanted.")
    for magic, kind in (
        (b"\x93NUMPY", "npy"), (b"PK\x03\x04", "npz"), (b"PAR1", "parquet"), (b"PARE", "parquet"),
        (b"ARROW1", "feather"),
    ):  # fmt: skip
        if start.startswith(magic):
            return kind
    if start[:2] == b"\0\0":
        return "idx"
    return "csv" if text == "csv" else _text_format(path, start, text)


def _text_format(path: Path, start: bytes, otherwise: str | None) -> str:
    name = path.name
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    named = _SUFFIXES.get(Path(name).suffix, "csv")
    if named == "svmlight":
        return named  # lines that are none are told of as such, not taken for words of a table
    for line in start.removeprefix(b"\xef\xbb\xbf").splitlines()[:20]:
        words = line.partition(b"#")[0].split()
        if words and all(w.partition(b":")[0] == b"qid" or _pair(w) for w in words[1:]):
            if len(words) > 1:
                return "svmlight"
        elif words:
            return "csv"
    return otherwise or named


def _pair(word: bytes) -> bool:
    index, colon, _ = word.partition(b":")
    return bool(colon) and index.isdigit()
