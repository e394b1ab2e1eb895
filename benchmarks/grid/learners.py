"""The problems of the grid: linsep's learner for each, and the neutral code that judges an answer.

Every convex problem has the form penalty(W) + Σ loss with C = 1; an answer is (W, b), and `value`
is its objective, computed here in float64 from the rows. What has no objective to compare is judged
by the share of rows it gets wrong: training rows (discriminant) or held-out ones (path). All
perceptrons make the same passes, and whatever the last of them leaves is an answer.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

Array = Any
NEAR = 1e-4  # of the best objective, relative: as near as an answer has to come


class Learner(NamedTuple):
    """A kind of problem.

    Attributes
    ----------
    make : linsep's learner for a tolerance, or what is called with (X, y) instead of `fit`
    value : the number an answer is judged by: smaller is better
    several : whether it is for more than two classes
    dense, most : whether sparse rows are left out, and how many columns are the most
    alike : None where values are objectives, to be compared within `NEAR`; otherwise by how much a
        share of errors may differ
    """

    make: Callable[[float], Any]
    value: Callable[[Any, Array, Array], float]
    several: bool = False
    dense: bool = False
    most: float = np.inf
    alike: float | None = None

    @property
    def exact(self) -> bool:
        """Whether answers have an objective."""
        return self.alike is None

    def allowed(self, best: float) -> float:
        """The largest value that is as good as the best."""
        return best + (NEAR * abs(best) + 1e-9 if self.alike is None else self.alike)

    def suits(self, X: Array, classes: int) -> bool:
        """Whether the problem can be posed on such rows."""
        if self.dense and sp.issparse(X):
            return False
        return (classes > 2) == self.several and X.shape[1] <= self.most


def scores(answer: Any, X: Array) -> Array:
    """(n, K) of several classes, (n,) of one hyperplane."""
    W, b = (np.asarray(part, np.float64) for part in answer)
    S = np.asarray(X @ np.atleast_2d(W).T) + np.ravel(b)
    return S if S.shape[1] > 1 else S[:, 0]


def _penalised(loss: Callable[[Array], Array], power: int = 2) -> Callable[..., float]:
    def value(answer: Any, X: Array, y: Array) -> float:
        w = np.asarray(answer[0], np.float64)
        penalty = np.abs(w).sum() if power == 1 else 0.5 * np.vdot(w, w)
        return float(penalty + loss(y * scores(answer, X)).sum())

    return value


def _softmax(answer: Any, X: Array, y: Array) -> float:
    total = 0.5 * float(np.sum(np.square(answer[0], dtype=np.float64)))
    for start in range(0, X.shape[0], 8192):
        S = scores(answer, X[start : start + 8192])
        S -= S.max(axis=1, keepdims=True)
        own = S[np.arange(len(S)), y[start : start + 8192]]
        total += float((np.log(np.exp(S).sum(axis=1)) - own).sum())
    return total


def _joint_hinge(answer: Any, X: Array, y: Array) -> float:
    S = scores(answer, X)
    rows = np.arange(len(S))
    own = S[rows, y].copy()
    S[rows, y] = -np.inf
    slack = np.maximum(0.0, 1 - own + S.max(axis=1))
    return float(0.5 * np.sum(np.square(answer[0], dtype=np.float64)) + slack.sum())


def _errors(answer: Any, X: Array, y: Array) -> float:
    return float(np.mean((scores(answer, X) > 0) != (y > 0)))


def _squares(answer: Any, X: Array, y: Array) -> float:
    return float(np.sum((scores(answer, X) - y) ** 2))


def _told(answer: Any, X: Array, y: Array) -> float:
    return float(answer)


def _linsep(name: str, **options: Any) -> Callable[[float], Any]:
    def make(tol: float) -> Any:
        import linsep

        if name in ("LogisticRegression", "LinearSVC"):
            return getattr(linsep, name)(tol=tol, **options)
        return getattr(linsep, name)(**options)

    return make


class _Path:
    """`linsep.path` as a learner; its answer is the share of held-out rows that are wrong."""

    def __init__(self, tol: float) -> None:
        self.tol = tol

    def fit(self, X: Array, y: Array) -> Any:
        import linsep

        self.path = linsep.path(linsep.LogisticRegression(tol=self.tol), X, y)
        self.status_, self.gap_ = self.path.model.status_, float(self.path.gaps.max())
        return self

    @property
    def answer(self) -> float:
        return float(1 - self.path.mean.max())


LEARNERS = {
    "logistic": Learner(_linsep("LogisticRegression"), _penalised(lambda m: np.logaddexp(0, -m))),
    "hinge": Learner(
        _linsep("LinearSVC", loss="hinge", fit_intercept=False),
        _penalised(lambda m: np.maximum(0, 1 - m)),
    ),
    "squared-hinge": Learner(
        _linsep("LinearSVC", loss="squared_hinge"),
        _penalised(lambda m: np.maximum(0, 1 - m) ** 2),
    ),
    "l1": Learner(
        _linsep("LogisticRegression", l1_ratio=1.0), _penalised(lambda m: np.logaddexp(0, -m), 1)
    ),
    "perceptron": Learner(_linsep("Perceptron", max_iter=10), _errors, alike=np.inf),
    "lda": Learner(
        _linsep("LinearDiscriminantAnalysis"), _errors, dense=True, most=2_000, alike=5e-3
    ),
    "regression": Learner(_linsep("LinearRegression"), _squares),
    "softmax": Learner(_linsep("LogisticRegression"), _softmax, several=True),
    "crammer-singer": Learner(
        _linsep("LinearSVC", multiclass="crammer-singer", fit_intercept=False),
        _joint_hinge,
        several=True,
    ),
    "path": Learner(_Path, _told, alike=0.02),
}


def answer_of(model: Any) -> Any:
    """(W, b) of a fitted model of any library, or what it says of itself."""
    if hasattr(model, "answer"):
        return model.answer
    return np.asarray(model.coef_), np.asarray(getattr(model, "intercept_", 0.0))
