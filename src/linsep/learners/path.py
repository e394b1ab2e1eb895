"""How a learner fares from strong to weak penalties, and which C to take."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from linsep.data.arrays import check_shape
from linsep.data.labels import encode
from linsep.errors import ParameterError
from linsep.learners.base import one_of

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Path:
    """Scores of held-out rows for every C and fold, and the model at the C chosen.

    Attributes
    ----------
    Cs : (m,) array, ascending
    scores : (folds, m) array
    mean, error : (m,) arrays, the mean over folds and its standard error
    C : the one chosen
    model : the learner fitted to all rows with it
    """

    Cs: Array
    scores: Array
    C: float
    model: Any = field(repr=False)

    @property
    def mean(self) -> Array:
        return self.scores.mean(axis=0)

    @property
    def error(self) -> Array:
        return self.scores.std(axis=0, ddof=1) / np.sqrt(len(self.scores))

    def __str__(self) -> str:
        lines = [f"{'C':>12}  score of held-out rows"]
        for C, mean, error in zip(self.Cs, self.mean, self.error, strict=True):
            mark = "  <- chosen" if self.C == C else ""
            lines.append(f"{C:>12.4g}  {mean:.4f} ± {error:.4f}{mark}")
        return "\n".join(lines)


def path(
    learner: Any,
    X: Any,
    y: Any,
    *,
    Cs: int | Sequence[float] = 10,
    cv: Any = 5,
    choose: str = "best",
    scoring: Any = None,
) -> Path:
    """Try penalties from strong to weak by cross-validation, each fit begun at the one before.

    Parameters
    ----------
    learner : LogisticRegression or LinearSVC
        Its own `C` is not looked at; all other parameters are kept.
    X, y : rows and labels
    Cs : int or sequence of floats
        How many values between 1e-4 and 1e4, evenly on a logarithmic scale; or the values.
    cv : int, splitter or iterable of (train, test) rows
        Folds, as in scikit-learn: a number means folds with equal shares of the classes.
    choose : {'best', 'one-standard-error'}
        The C with the best mean score; or the smallest whose mean is within one standard error of
        it, a simpler model that the folds cannot tell from the best.
    scoring : str or callable
        As in scikit-learn; the share of right answers by default.

    Returns
    -------
    Path
        Its `model` is fitted to all rows at the C chosen; printing it shows the table.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from linsep import LogisticRegression, path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = path(LogisticRegression(), X / X.std(axis=0), y, Cs=[0.01, 0.1, 1])
    >>> float(found.C), found.scores.shape
    (1.0, (5, 3))
    """
    one_of("choose", choose, ("best", "one-standard-error"))
    values = _values(Cs)
    learner = _warm(learner)
    X = check_shape(X, None)
    _, codes = encode(y, X.shape[0])
    y = np.asarray(y)
    score = check_scoring(learner, scoring)
    folds = list(check_cv(cv, codes, classifier=True).split(X, codes))
    if len(folds) < 2:
        raise ParameterError(f"cv gives {len(folds)} fold; two are the least to compare by.")
    scores = np.array(
        [[*_along(learner, X, y, train, test, values, score)] for train, test in folds]
    )
    C = float(values[_chosen(scores, choose)])
    model = clone(learner).set_params(C=C, warm_start=False).fit(X, y)
    return Path(values, scores, C, model)


def _along(
    learner: Any, X: Any, y: Any, train: Array, test: Array, values: Array, score: Any
) -> Any:
    """Scores of one fold's held-out rows, from the strongest penalty to the weakest."""
    model = clone(learner)
    rows, labels = X[train], y[train]
    held, wanted = X[test], y[test]
    for C in values:
        model.set_params(C=float(C)).fit(rows, labels)
        yield float(score(model, held, wanted))


def _chosen(scores: Array, choose: str) -> int:
    mean = scores.mean(axis=0)
    best = int(mean.argmax())
    if choose == "best":
        return best
    error = scores[:, best].std(ddof=1) / np.sqrt(len(scores))
    return int(np.flatnonzero(mean >= mean[best] - error)[0])


def _values(Cs: Any) -> Array:
    if isinstance(Cs, (int, np.integer)) and not isinstance(Cs, bool):
        if Cs < 1:
            raise ParameterError(f"Cs is {Cs}; try one value or more.")
        return np.logspace(-4, 4, int(Cs))
    try:
        values = np.unique(np.asarray(Cs, dtype=float))
    except (TypeError, ValueError):
        raise ParameterError(f"Cs is {Cs!r}; give a number of values, or the values.") from None
    if not values.size or not (values > 0).all():
        raise ParameterError(f"Cs is {Cs!r}; every C must be above zero.")
    return values


def _warm(learner: Any) -> Any:
    known = learner.get_params() if hasattr(learner, "get_params") else {}
    if not {"C", "warm_start"} <= set(known):
        raise ParameterError(
            f"{type(learner).__name__} has no penalty C to vary with warm starts; give "
            "LogisticRegression or LinearSVC."
        )
    return clone(learner).set_params(warm_start=True)
