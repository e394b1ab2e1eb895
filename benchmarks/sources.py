"""The data of the benchmarks: real sets when they lie beside the project, made ones otherwise."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep import read

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def mnist() -> tuple[Any, Any, str]:
    """60,000 images as float32 pixels in [0, 1], and their digits."""
    folder = SHARED / "mnist"
    if folder.exists():
        X, y = read(folder / "train-images-idx3-ubyte.gz").load()
        return np.ascontiguousarray(X, np.float32) / np.float32(255), np.asarray(y), "MNIST"
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 60_000)
    centres = rng.random((10, 784)).astype(np.float32)
    X = np.maximum(0, centres[y] + rng.normal(0, 0.8, (60_000, 784)).astype(np.float32))
    return X, y, "made images (MNIST is not here)"


def news() -> tuple[Any, Any, str]:
    """Text of twenty groups as TF-IDF rows in random order, and the groups."""
    found = _words("20news")
    if found is not None:
        return *found, "20news"
    rng = np.random.default_rng(0)
    X = sp.random(11_000, 130_000, 0.0012, "csr", rng=rng)
    return X, rng.integers(0, 20, 11_000), "made text (20news is not here)"


def imdb() -> tuple[Any, Any, str]:
    """25,000 reviews as TF-IDF rows in random order, and whether they praise."""
    found = _words("imdb")
    if found is not None:
        return found[0], found[1] > 0, "IMDB"
    X, y, _ = news()
    return X, y >= 10, "made text (IMDB is not here)"


def _words(name: str) -> tuple[Any, Any] | None:
    """TF-IDF rows of unit norm in random order, and the labels, if the counts are here."""
    folder = SHARED / name
    if not folder.exists():
        return None
    from sklearn.feature_extraction.text import TfidfTransformer

    counts = sp.load_npz(folder / "train_counts.npz").astype(np.float64)
    y = np.load(folder / "train_y.npy")
    order = np.random.default_rng(0).permutation(len(y))
    return TfidfTransformer().fit_transform(counts)[order].tocsr(), y[order]


def covtype() -> tuple[Any, Any, str]:
    """581,012 patches of forest as 54 numbers, and their cover types."""
    path = SHARED / "covtype" / "covtype.csv.gz"
    if path.exists():
        X, y = read(path).load()
        return np.ascontiguousarray(X, np.float64), np.asarray(y).astype(int), "covtype"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300_000, 54))
    y = np.where(X @ rng.normal(size=54) + rng.normal(size=300_000) > 0, 2, 1)
    return X, y, "made table (covtype is not here)"
