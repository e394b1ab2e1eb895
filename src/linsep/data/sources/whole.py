"""Data files, read whole."""

import os
from typing import Any

import numpy.typing as npt

from linsep.data.sources.read import read


def load(
    path: str | os.PathLike[str], target: str | int | None = None, format: str | None = None
) -> tuple[Any, npt.NDArray[Any]]:
    """Read a data file into memory as rows `X` and labels `y`; a missing value is an error.

    What `linsep.read(path, target, format, fill="fail").load()` gives.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "points.csv"
    ...     _ = path.write_text("height,sex,ok\\n1.5,f,yes\\n2,m,no\\n")
    ...     X, y = load(path)
    >>> X.tolist(), y.tolist()
    ([[1.5, 1.0, 0.0], [2.0, 0.0, 1.0]], ['yes', 'no'])
    """
    return read(path, target, format, fill="fail").load()
