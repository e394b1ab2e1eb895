"""Small problems that arithmetic finds hard, each made from its seed."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep import KernelSVC, LinearSVC, LogisticRegression, Scaled

Array = npt.NDArray[Any]


class Hostile(NamedTuple):
    """A learner, and the rows it is to be fitted to."""

    learner: Any
    X: Any
    y: Array
    weights: Array | None

    def __str__(self) -> str:
        inner = self.learner.learner if isinstance(self.learner, Scaled) else self.learner
        n, d = self.X.shape
        layout = "sparse" if sp.issparse(self.X) else "dense"
        weighed = "" if self.weights is None else ", weights"
        return (
            f"{self.learner!r}: {n} x {d} {layout} {self.X.dtype}, {len(np.unique(self.y))} "
            f"classes, C {inner.C:.1e}{weighed}"
        ).replace("\n", "")


def made(seed: int) -> Hostile:
    """The problem of this seed."""
    rng = np.random.default_rng([seed, 2026])
    n, d = int(rng.integers(10, 120)), int(rng.integers(1, 7))
    K = int(rng.choice([2, 2, 2, 3, 4]))
    X = _rows(rng, n, d)
    y = _labels(rng, X, K)
    X = X * _scales(rng, d)
    if rng.random() < 0.15:
        X = X * 10.0 ** rng.uniform(-4, 4, (n, 1))
    dtype = np.float32 if rng.random() < 0.4 else np.float64
    with np.errstate(over="ignore", under="ignore"):
        X = X.astype(dtype)
    if rng.random() < 0.25:
        X = sp.csr_matrix(np.where(rng.random(X.shape) < 0.6, X, 0.0).astype(dtype))
    return Hostile(_learner(rng, K), X, y, _weights(rng, n, y))


def _rows(rng: Any, n: int, d: int) -> Array:
    kind = rng.integers(6)
    X = rng.standard_normal((n, d))
    if kind == 0:
        X = np.round(2 * X)
    elif kind == 1 and d > 1:
        X[:, -1] = X[:, 0] + 1e-6 * X[:, -1]  # nearly a copy
    elif kind == 2:
        X += 10.0 ** rng.uniform(0, 6)  # far from the origin
    elif kind == 3:
        X = rng.standard_t(1.5, (n, d))  # outliers
    elif kind == 4:
        X = X[rng.integers(0, max(2, n // 4), n)]  # rows that occur several times
    return np.asarray(X)


def _labels(rng: Any, X: Array, K: int) -> Array:
    n, d = X.shape
    centred = X - X.mean(axis=0)
    scores = centred @ rng.standard_normal((d, K))
    noise = float(rng.choice([0.0, 0.3, 3.0, 1e3]))  # separable, nearly, hardly, not at all
    spread = scores.std() + 1e-12
    y = (scores + noise * spread * rng.standard_normal((n, K))).argmax(axis=1)
    y[:K] = np.arange(K)
    return np.asarray(y)


def _scales(rng: Any, d: int) -> Array:
    kind = rng.integers(4)
    if kind == 0:
        return np.full(d, 10.0 ** rng.uniform(-8, 8))
    if kind == 1:
        return np.asarray(10.0 ** rng.uniform(-2, 2, d))
    return np.asarray(10.0 ** rng.uniform(-8, 8, d))


def _weights(rng: Any, n: int, y: Array) -> Array | None:
    kind = rng.integers(5)
    if kind == 0:
        return np.asarray(10.0 ** rng.uniform(-6, 6, n))
    if kind == 1:
        weights = rng.integers(0, 4, n).astype(float)
        weights[np.unique(y, return_index=True)[1]] = 1.0  # every class is there
        return weights
    return None


def _learner(rng: Any, K: int) -> Any:
    C, free = float(10.0 ** rng.uniform(-6, 6)), bool(rng.random() < 0.8)
    tol = {} if rng.random() < 0.7 else {"tol": float(10.0 ** rng.uniform(-10, -2))}
    asked = {"C": C, "fit_intercept": free, **tol}
    kind = rng.integers(12)
    if kind < 3:
        solvers = ["auto", "auto", "newton", "lbfgs", "gradient"] + (["dual"] if K == 2 else [])
        learner: Any = LogisticRegression(solver=str(rng.choice(solvers)), **asked)
    elif kind < 5:
        learner = LogisticRegression(l1_ratio=float(rng.choice([0.2, 0.5, 1.0])), **asked)
    elif kind < 7:
        learner = LinearSVC(loss="hinge", solver=str(rng.choice(["auto", "dual"])), **asked)
    elif kind < 8:
        learner = LinearSVC(loss="squared_hinge", **asked)
    elif kind < 9:
        learner = LinearSVC(loss="squared_hinge", penalty="l1", **asked)
    elif kind < 10:
        learner = LinearSVC(multiclass="crammer-singer", **asked)
    elif kind < 11:
        learner = KernelSVC(kernel=str(rng.choice(["linear", "rbf", "poly"])), **asked)
    else:
        inner = [LogisticRegression(**asked), LinearSVC(**asked)][rng.integers(2)]
        learner = Scaled(inner)
    return learner
