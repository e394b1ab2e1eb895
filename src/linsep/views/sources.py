"""Data for the command line: an embedded set by its name, or a file."""

from pathlib import Path
from typing import Any

import numpy as np

from linsep.errors import DataError

EMBEDDED = {
    "digits": "8x8 images of handwritten digits, ten classes",
    "digits01": "zeros against ones of the same",
    "iris": "three kinds of iris",
    "cancer": "breast cancer, benign or malignant",
    "wine": "three kinds of wine",
    "xor": "the four rows no hyperplane separates",
}


def open_data(name: str, target: str | None = None) -> tuple[Any, Any]:
    """Rows and labels of an embedded set or of the file `name`."""
    if Path(name).exists():
        from linsep.data.reading import read

        return read(name, target).load()
    if name == "xor":
        from linsep.data import toys

        return toys.xor()
    if name not in EMBEDDED:
        known = ", ".join(EMBEDDED)
        raise DataError(f"DATA is {name!r}: no such file, nor an embedded set ({known}).")
    from sklearn import datasets

    loader = {"cancer": "breast_cancer", "digits01": "digits"}.get(name, name)
    X, y = getattr(datasets, f"load_{loader}")(return_X_y=True)
    if name == "digits01":
        X, y = X[y < 2], y[y < 2]
    return np.ascontiguousarray(X, float), y
