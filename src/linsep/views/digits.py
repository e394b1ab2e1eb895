"""Handwritten digits for the experiments: MNIST where its files are given, else embedded ones."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linsep.errors import DataError


class Digits(NamedTuple):
    """Images as rows of pixels from 0 to 1 in the order of the file, and what they show."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    shape: tuple[int, int]
    mnist: bool

    def only(self, *kept: int) -> "Digits":
        """Images of these digits alone."""
        train, test = np.isin(self.y, kept), np.isin(self.y_test, kept)
        return self._replace(
            X=self.X[train], y=self.y[train], X_test=self.X_test[test], y_test=self.y_test[test]
        )


def digits(data: Path | None) -> Digits:
    """MNIST from the folder of its four IDX files, or the digits that come with scikit-learn."""
    if data is None:
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        cut = 1200  # later pages were written by other people
        X = X.astype(np.float32) / np.float32(16)
        name = "1,797 built-in images of 8 by 8 pixels; --data FOLDER reads MNIST"
        return Digits(name, X[:cut], y[:cut], X[cut:], y[cut:], (8, 8), False)
    from linsep.data.files.idx import load_idx

    parts = []
    for kind in ("train", "t10k"):
        files = sorted(data.glob(f"{kind}-images*")) if data.is_dir() else []
        if not files:
            raise DataError(
                f"--data is {data}, which holds no file {kind}-images-idx3-ubyte (or .gz); give "
                "the folder with the four MNIST files."
            )
        X, y = load_idx(files[0])
        parts += [X / np.float32(255), y.astype(np.int64)]
    side = round(parts[0].shape[1] ** 0.5)
    name = f"MNIST, {len(parts[0]):,} images to learn from and {len(parts[2]):,} new"
    return Digits(name, parts[0], parts[1], parts[2], parts[3], (side, side), True)
