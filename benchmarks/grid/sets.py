"""The sets of the grid by name: real ones that lie beside the project, embedded ones, made ones.

A set is made once and kept as a file, in the folder LINSEP_GRID_SETS or a temporary one.
"""

import bz2
import gzip
import io
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.grid import made
from benchmarks.sources import SHARED

Array = Any
KEPT = Path(os.environ.get("LINSEP_GRID_SETS", Path(tempfile.gettempdir(), "linsep-grid-sets")))


class Set(NamedTuple):
    """Rows and labels.

    Attributes
    ----------
    make : gives X and y; y holds −1 and +1, or class numbers, or (kind 'numbers') any numbers
    folder : of the shared data, or '' where it is made or embedded
    positive : the class against which all others stand for learners of two classes, if any
    """

    make: Callable[[], tuple[Array, Array]]
    folder: str = ""
    positive: int | None = None

    @property
    def here(self) -> bool:
        """Whether the data can be had on this machine."""
        return not self.folder or (SHARED / self.folder).exists()


def standard(X: Array) -> Array:
    """Columns with mean 0 and deviation 1, constants left at 0."""
    X = np.asarray(X, np.float64)
    deviation = X.std(axis=0)
    return np.ascontiguousarray((X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0))


def _scaled(make: Callable[[], tuple[Array, Array]]) -> tuple[Array, Array]:
    X, y = make()
    return standard(X), y


def _svmlight(name: str, dense: bool = False) -> tuple[Array, Array]:
    from sklearn.datasets import load_svmlight_file

    path = SHARED / name
    unpack = bz2.decompress if path.suffix == ".bz2" else gzip.decompress
    X, y = load_svmlight_file(io.BytesIO(unpack(path.read_bytes())))
    return (X.toarray() if dense else X), np.where(y == 1, 1, -1)


def _table(name: str, features: slice, target: int, **options: Any) -> tuple[Array, Array]:
    """Numeric columns of a CSV file, and class numbers in the order of their names."""
    import pandas as pd

    frame = pd.read_csv(SHARED / name, **options)
    X = frame.iloc[:, features].select_dtypes("number").to_numpy(float)
    names = np.asarray(frame.iloc[:, target].astype(str))
    return X, np.unique(names, return_inverse=True)[1]


def _kdd99() -> tuple[Array, Array]:
    import pandas as pd

    frame = pd.read_csv(SHARED / "kdd99/kddcup.data_10_percent.gz", header=None)
    X = frame.drop(columns=[1, 2, 3, 41]).to_numpy(float)
    return X, np.where(frame[41] == "normal.", 1, -1)


def _wine_quality() -> tuple[Array, Array]:
    import pandas as pd

    frame = pd.read_csv(SHARED / "winequality/winequality-white.csv.gz", sep=";")
    return frame.iloc[:, :-1].to_numpy(float), np.where(frame["quality"] > 5, 1, -1)


def _covtype() -> tuple[Array, Array]:
    with gzip.open(SHARED / "covtype/covtype.csv.gz") as file:
        rows = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.float32)
    return np.ascontiguousarray(rows[:, :54]), rows[:, 54].astype(int) - 1


def _covtype_scaled() -> tuple[Array, Array]:
    X, y = _covtype()
    return standard(X).astype(np.float32), y


def _mnist(divisor: float) -> tuple[Array, Array]:
    import linsep

    X, y = linsep.read(SHARED / "mnist" / "train-images-idx3-ubyte.gz").load()
    return np.ascontiguousarray(X, np.float32) / np.float32(divisor), np.asarray(y, int)


def _words(folder: str, part: str) -> tuple[Array, Array]:
    """TF-IDF rows of unit length."""
    from sklearn.feature_extraction.text import TfidfTransformer

    counts = sp.load_npz(SHARED / folder / f"{part}_counts.npz").astype(np.float64)
    y = np.load(SHARED / folder / f"{part}_y.npy").astype(int)
    return sp.csr_matrix(TfidfTransformer().fit_transform(counts)), y


def _flights() -> tuple[Array, Array]:
    """300,000 flights: distance, origin and destination one-hot; later than 15 minutes or not."""
    import pandas as pd

    frame = pd.read_parquet(SHARED / "flights3m/flights-3m.parquet")
    frame = frame.sample(300_000, random_state=0)
    parts = [sp.csr_matrix(standard(frame[["distance"]].to_numpy(float)))]
    for name in ("origin", "destination"):
        codes = frame[name].astype("category").cat.codes.to_numpy()
        rows = np.arange(len(codes))
        parts.append(sp.csr_matrix((np.ones(len(codes)), (rows, codes))))
    return sp.hstack(parts, "csr"), np.where(frame["delay"] > 15, 1, -1)


def _usps() -> tuple[Array, Array]:
    kept = np.load(SHARED / "usps/usps_train.npz")
    return np.ascontiguousarray(kept["X"]), kept["y"].astype(int)


def _embedded(name: str) -> tuple[Array, Array]:
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, (np.where(y == 1, 1, -1) if name == "breast_cancer" else y)


_spambase = partial(_table, "spambase/spambase.csv.gz", slice(-1), -1)
_adult = partial(
    _table, "adult/adult-train.csv.gz", slice(-1), -1, header=None, skipinitialspace=True
)
_letter = partial(
    _table, "letter/letter-recognition.data.gz", slice(-1), -1, header=None, sep=" "
)  # fmt: skip
_cancer, _iris, _wine = (partial(_embedded, name) for name in ("breast_cancer", "iris", "wine"))

SETS = {
    "a9a": Set(partial(_svmlight, "a9a/a9a.gz"), "a9a"),
    "adult-raw": Set(_adult, "adult", 1),
    "adult": Set(partial(_scaled, _adult), "adult", 1),
    "covtype-raw": Set(_covtype, "covtype", 1),
    "covtype": Set(_covtype_scaled, "covtype", 1),
    "flights": Set(_flights, "flights3m"),
    "ijcnn1": Set(partial(_svmlight, "ijcnn1/ijcnn1.trn.bz2", True), "ijcnn1"),
    "imdb": Set(partial(_words, "imdb", "train"), "imdb", 1),
    "kdd99-raw": Set(_kdd99, "kdd99"),
    "kdd99": Set(partial(_scaled, _kdd99), "kdd99"),
    "letter": Set(partial(_scaled, _letter), "letter", 0),
    "mnist-raw": Set(partial(_mnist, 1.0), "mnist", 8),
    "mnist": Set(partial(_mnist, 255.0), "mnist", 8),
    "mushrooms": Set(partial(_svmlight, "mushrooms/mushrooms.gz"), "mushrooms"),
    "20news": Set(partial(_words, "20news", "train"), "20news"),
    "phishing": Set(partial(_svmlight, "phishing/phishing.gz", True), "phishing"),
    "sms-spam": Set(partial(_words, "sms_spam", "all"), "sms_spam"),
    "spambase-raw": Set(_spambase, "spambase", 1),
    "spambase": Set(partial(_scaled, _spambase), "spambase", 1),
    "usps": Set(_usps, "usps", 8),
    "winequality-raw": Set(_wine_quality, "winequality"),
    "winequality": Set(partial(_scaled, _wine_quality), "winequality"),
    "cancer-raw": Set(_cancer),
    "cancer": Set(partial(_scaled, _cancer)),
    "digits": Set(partial(_embedded, "digits"), positive=8),
    "iris": Set(_iris, positive=1),
    "wine-raw": Set(_wine, positive=0),
    "wine": Set(partial(_scaled, _wine), positive=0),
    "small-500x8": Set(partial(made.correlated, 500, 8, 4)),
    "table-5000x60": Set(partial(made.correlated, 5_000, 60, 5)),
    "tall-1e6x20": Set(partial(made.correlated, 1_000_000, 20, 1)),
    "square-20000x1000": Set(partial(made.correlated, 20_000, 1_000, 2)),
    "wide-300x20000": Set(partial(made.correlated, 300, 20_000, 3)),
    "text-2e5x1e6": Set(partial(made.text, 200_000, 1_000_000, 50, 2, 9)),
    "short-text-60000x30000": Set(partial(made.text, 60_000, 30_000, 12, 2, 10)),
    "text-k100": Set(partial(made.text, 20_000, 20_000, 40, 100, 13)),
    "one-hot-100000x2400": Set(partial(made.one_hot, 100_000, 12, 200, 11)),
    "one-hot-4000x120": Set(partial(made.one_hot, 4_000, 15, 8, 12)),
    "clicks-200000x262144": Set(partial(made.clicks, 200_000, 24, 1 << 18, 14)),
    **{
        f"embedding-{d}-k{classes}": Set(partial(made.embeddings, 50_000, d, classes, seed))
        for seed, d in enumerate((384, 768, 1536), 20)
        for classes in (2, 10, 100)
    },
    "embedding-768-k1000": Set(partial(made.clusters, 20_000, 768, 1_000, 30)),
}


def get(name: str) -> tuple[Array, Array]:
    """X and y of a set; made at first, read from its file later."""
    path = KEPT / f"{name}.npz"
    if not path.exists():
        X, y = SETS[name].make()
        order = np.random.default_rng(0).permutation(len(y))
        X, y = X[order], np.asarray(y)[order]
        KEPT.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{os.getpid()}.npz")
        if sp.issparse(X):
            sp.save_npz(part, sp.csr_matrix(X), compressed=False)
            with np.load(part) as kept:
                np.savez(part, y=y, **kept)
        else:
            np.savez(part, X=np.ascontiguousarray(X), y=y)
        part.replace(path)
    with np.load(path) as kept:
        if "X" in kept:
            return kept["X"], kept["y"]
        shape = tuple(kept["shape"])
        return sp.csr_matrix((kept["data"], kept["indices"], kept["indptr"]), shape), kept["y"]


def in_order(X: Array, y: Array, order: int) -> tuple[Array, Array]:
    """The same rows in another order; order 0 leaves them."""
    if not order:
        return X, y
    places = np.random.default_rng(order).permutation(len(y))
    return X[places], y[places]


def two_classes(y: Array, positive: int | None) -> Array | None:
    """Labels −1 and +1, or None where the set has more classes and none of them is singled out."""
    if set(np.unique(y)) <= {-1, 1}:
        return y
    return None if positive is None else np.where(y == positive, 1, -1)
