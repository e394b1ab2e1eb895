"""Certificates for other programs: how rows lie in a file that these can read, and such files."""

import csv
import io
from pathlib import Path
from typing import Any

import click
import numpy as np
import scipy.sparse as sp

from linsep.data.files.atomic import replace
from linsep.errors import DataError

_HOW = (
    "give --rows FILE, and the rows are written there as linsep has read them (CSV, or svmlight "
    "where they are sparse), for the verifier to read"
)


def place_of(chunks: Any, data: str, classes: str | None, X: Any) -> dict[str, Any]:
    """How the numbers of one plain file lie in it; an error where it takes linsep to read it."""
    source: Any = getattr(chunks, "source", None)
    options = getattr(chunks, "options", {"format": "a built-in set"})
    kind, problem = options["format"], ""
    if kind not in ("csv", "svmlight", "npy") or len(source.paths) != 1:
        problem = f"{data} is {kind} or several files"
    elif classes is not None or chunks.skipped or chunks.left_out:
        problem = "rows are left out"
    elif (
        not str(source.paths[0])
        .lower()
        .endswith((".csv", ".tsv", ".txt", ".data", ".svm", ".libsvm", ".svmlight", ".npy"))
    ):
        problem = f"{data} may be packed"
    if problem:
        raise click.UsageError(f"{problem}; {_HOW}.")
    if kind == "svmlight":
        return {"base": chunks.encoding.base}
    if kind == "npy":
        beside = source.paths[0].with_name(f"{source.paths[0].stem}_y.npy")
        if options["target"] is None and beside.exists():
            raise click.UsageError(f"the labels are in {beside}; {_HOW}.")
        width = X.shape[1] + 1
        return {"target": (-1 if options["target"] is None else int(options["target"])) % width}
    layout, encoding, target = source.layout, chunks.encoding, source.target
    plain = (
        all(column.kind == "number" and not column.part for column in encoding.columns)
        and len(encoding.columns) == len(layout.names) - 1
        and not any(source.missing.values())
        and (layout.decimal, layout.quote, layout.skip, layout.loose) == (".", '"', 0, frozenset())
        and layout.encoding.lower() in ("utf-8", "utf-8-sig", "ascii")
    )
    if not plain or target.asks:
        raise click.UsageError(f"{data} is more than a plain table of numbers; {_HOW}.")
    return {
        "target": layout.names.index(target.column),
        "header": bool(layout.header),
        "delimiter": layout.delimiter,
    }


def write_rows(path: Path, X: Any, y: Any) -> dict[str, Any]:
    """Rows and labels as text that gives every number back exactly; how they lie in it."""
    labels = [str(label) for label in np.asarray(y).tolist()]
    out = io.StringIO()
    if sp.issparse(X):
        odd = next((label for label in labels if not label or set(label) & set(" \t#:")), None)
        if odd is not None:
            raise DataError(
                f"the label {odd!r} cannot stand in an svmlight file; rename the class, or give "
                "dense rows."
            )
        X = sp.csr_array(X)
        X.sort_indices()
        for i, label in enumerate(labels):
            part = slice(X.indptr[i], X.indptr[i + 1])
            pairs = zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)
            out.write(" ".join([label, *(f"{j + 1}:{float(x)!r}" for j, x in pairs)]) + "\n")
        replace(path, [out.getvalue().encode()])
        return {"base": 1}
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*(f"x{j}" for j in range(X.shape[1])), "label"])
    for row, label in zip(np.asarray(X, np.float64).tolist(), labels, strict=True):
        writer.writerow([*map(repr, row), label])
    replace(path, [out.getvalue().encode()])
    return {"target": X.shape[1], "header": True, "delimiter": ","}
