"""How a learner fares from strong to weak penalties, and which C to take."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from linsep.data.check.arrays import check_shape, require_finite
from linsep.data.check.labels import encode
from linsep.data.cluster.recognise import from_dask
from linsep.errors import ParameterError
from linsep.learners.fitting.parameters import one_of, positive
from linsep.learners.fitting.sklearn_compat import l1_share
from linsep.learners.model_selection.fold_fits import begin_at, model_of, shared_fits
from linsep.train.convex.basis import better_basis
from linsep.train.convex.path.folds import Folded

Array = npt.NDArray[Any]

FOLD_TOL = 1e-3  # the relative gap of fits to folds, unless the learner's own is larger


@dataclass(frozen=True)
class Path:
    """Scores of held-out rows for every C and fold, and the model at the C chosen.

    Attributes
    ----------
    Cs : (m,) array, ascending
    scores : (folds, m) array
    gaps : (folds, m) array, the relative duality gap of each fold's fit
    mean, error : (m,) arrays, the mean over folds and its standard error
    C : the one chosen
    model : the learner fitted to all rows with it
    """

    Cs: Array
    scores: Array
    C: float
    model: Any = field(repr=False)
    gaps: Array = field(repr=False)

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
    fold_tol: float | None = None,
) -> Path:
    """Try penalties from strong to weak by cross-validation, each fit begun at the one before.

    Two classes, equal weights and folds that leave each row out once: then the folds of
    `LogisticRegression` are fitted side by side, and a pass over the rows serves them all.

    Parameters
    ----------
    learner : LogisticRegression or LinearSVC
        Its own `C` is not looked at; all other parameters are kept.
    X, y : rows and labels, in memory or as Dask collections; on a cluster folds are cut by row
        number, and held-out rows are scored by the share of right answers alone
    Cs : int or sequence of floats
        How many values between 1e-4 and 1e4, evenly on a logarithmic scale; or the values.
    cv : int, splitter or iterable of (train, test) rows
        Folds, as in scikit-learn: a number means folds with equal shares of the classes.
    choose : {'best', 'one-standard-error'}
        The C with the best mean score; or the smallest whose mean is within one standard error of
        it, a simpler model that the folds cannot tell from the best.
    scoring : str or callable
        As in scikit-learn; the share of right answers by default.
    fold_tol : float
        The relative duality gap asked of the fits to folds; by default 1e-3, or the learner's `tol`
        where that is larger. Scores of held-out rows vary far more from fold to fold than between
        a fit with this gap and the optimum. The model at the C chosen is fitted to `tol`.

    Returns
    -------
    Path
        Its `model` is fitted to all rows at the C chosen; printing it shows the table.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from linsep import LogisticRegression, path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> chosen = path(LogisticRegression(), X / X.std(axis=0), y, Cs=[0.01, 0.1, 1])
    >>> float(chosen.C), chosen.scores.shape
    (1.0, (5, 3))
    """
    one_of("choose", choose, ("best", "one-standard-error"))
    values = _values(Cs)
    learner = _warm(learner)
    if fold_tol is not None:
        positive("fold_tol", fold_tol)
    tol = max(float(learner.tol), FOLD_TOL) if fold_tol is None else float(fold_tol)
    learner._check_parameters()
    if from_dask(X):
        from linsep.learners.model_selection.cluster_path import opened

        if scoring is not None:
            raise ParameterError(
                f"scoring is {scoring!r}; held-out rows of a cluster are scored by the share of "
                "right answers. Leave scoring out, or bring the rows into memory."
            )
        return opened(X, y, lambda X, y: _path(learner, X, y, values, cv, choose, None, tol))  # type: ignore[no-any-return]
    return _path(learner, check_shape(X, None), y, values, cv, choose, scoring, tol)


def _path(
    learner: Any, X: Any, y: Any, values: Array, cv: Any, choose: str, scoring: Any, tol: float
) -> Path:
    """`path` on rows that have been opened: in memory, or `FarRows`."""
    far = hasattr(X, "codes")
    classes, codes = (X.classes, X.codes) if far else encode(y, X.shape[0])
    y = np.asarray(y)
    try:
        score = None if scoring is None else check_scoring(learner, scoring)
    except (TypeError, ValueError) as problem:
        raise ParameterError(f"scoring is {scoring!r:.60}: {problem}") from None
    folds = _folds(cv, codes)
    rows = X if far else _in_row_space(learner, X)
    if far:
        shared = X.shared(learner, folds, values, tol)
    else:
        shared = shared_fits(learner, rows, codes, folds, values, tol, score is not None)
    if shared is not None:
        scores, gaps = _held_out(learner, rows, y, codes, classes, folds, shared, score), shared.gap
    else:
        loose = clone(learner).set_params(tol=tol)
        each = [
            [
                *(
                    X.along(loose, a, b, values)
                    if far
                    else _along(loose, rows[a], y[a], rows[b], y[b], values, score)
                )
            ]
            for a, b in folds
        ]
        scores, gaps = np.moveaxis(np.array(each), 2, 0)
    best = _chosen(scores, choose)
    model = clone(learner).set_params(C=float(values[best]))
    if far:
        X.fit(model, shared, best)
    else:
        if shared is not None and rows is X:
            begin_at(model, classes, shared, best)
        model.fit(X, y)
    model.set_params(warm_start=False)
    return Path(values, scores, float(values[best]), model, gaps)


def _folds(cv: Any, codes: Array) -> list[tuple[Array, Array]]:
    try:
        folds = list(check_cv(cv, codes, classifier=True).split(codes, codes))
    except (TypeError, ValueError) as problem:
        raise ParameterError(f"cv is {cv!r}, which does not fit X and y: {problem}") from None
    if len(folds) < 2:
        raise ParameterError(f"cv gives {len(folds)} fold; two are the least to compare by.")
    return folds


def _held_out(
    learner: Any,
    X: Any,
    y: Array,
    codes: Array,
    classes: Array,
    folds: Any,
    shared: Folded,
    score: Any,
) -> Array:
    """Scores of the rows that each fold leaves out, for every C."""
    if score is None:
        right = (shared.scores > 0) == (codes == 1)[:, None]
        return np.array([right[test].mean(axis=0) for _, test in folds])
    scores = np.empty(shared.gap.shape)
    for f, (_, test) in enumerate(folds):
        held, wanted = X[test], y[test]
        for c in range(shared.gap.shape[1]):
            model = model_of(learner, X, classes, shared.W[f, c], shared.b[f, c])
            scores[f, c] = float(score(model, held, wanted))
    return scores


def _in_row_space(learner: Any, X: Any) -> Any:
    """Rows in coordinates of the space they span, where there are fewer of them than features.

    Weights with a penalty ½‖w‖² lie in the span of the rows that are fitted, and have the same
    length and the same scores there. Logistic regression would look for such coordinates in every
    fit: 80 x 600, ten C and five folds 2.4 -> 0.12 s.
    """
    logistic = type(learner).__name__ == "LogisticRegression" and l1_share(learner) == 0
    if sp.issparse(X) or not logistic or X.shape[0] >= X.shape[1]:
        return X
    require_finite(X)
    basis = better_basis(X, 1.0, centre=False)
    return X if basis is None else basis.Z.astype(X.dtype, copy=False)


def path_of_folds(learner: Any, folds: Iterable[tuple[Any, Array, Any, Array]]) -> Path:
    """The scores of `path` for folds given as rows, labels, held-out rows and their labels, each
    perhaps in features of its own; there is no model of all rows."""
    values, learner = _values(10), _warm(learner)
    loose = learner.set_params(tol=max(float(learner.tol), FOLD_TOL))
    each = []
    for rows, labels, held, wanted in folds:
        both = sp.issparse(rows) or sp.issparse(held)
        near = rows if both else _in_row_space(loose, np.concatenate([rows, held]))
        if near is not rows:
            rows, held = near[: len(rows)], near[len(rows) :]
        each.append([*_along(loose, rows, labels, held, wanted, values, None)])
    scores, gaps = np.moveaxis(np.array(each), 2, 0)
    return Path(values, scores, float(values[_chosen(scores, "best")]), None, gaps)


def _along(
    learner: Any, rows: Any, labels: Any, held: Any, wanted: Any, values: Array, score: Any
) -> Any:
    """Score of one fold's held-out rows and gap of its fit, from the smallest C to the largest."""
    model = clone(learner)
    for C in values:
        model.set_params(C=float(C)).fit(rows, labels)
        own = model.score(held, wanted) if score is None else score(model, held, wanted)
        yield float(own), float(getattr(model, "gap_", np.nan))


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
    told = [name for name in ("penalty_weights", "bounds") if known.get(name) is not None]
    if told:
        raise ParameterError(
            f"{' and '.join(told)} cannot be heeded along a path; vary C by scikit-learn's "
            "GridSearchCV."
        )
    if known.get("penalty") is None and "penalty" in known:
        raise ParameterError("penalty is None, which leaves no C to choose; leave penalty out.")
    return clone(learner).set_params(warm_start=True)
