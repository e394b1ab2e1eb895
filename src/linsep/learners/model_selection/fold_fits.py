"""Logistic regression for every fold and every C of a path at once, where work can be shared."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone

from linsep.data.check.arrays import require_finite
from linsep.learners.fitting.sklearn_compat import l1_share
from linsep.status import Status
from linsep.train.convex.path.folds import Folded, fit_folds, homes

Array = npt.NDArray[Any]

Folds = Sequence[tuple[Array, Array]]


def shared_fits(
    learner: Any, X: Any, codes: Array, folds: Folds, Cs: Array, tol: float, keep: bool
) -> Folded | None:
    """All folds' models along the path; None where they have to be fitted one by one.

    The work is shared for two classes, one penalty ½‖w‖², equal weights, and folds that leave
    each row out once. `keep` asks for the weights, not only for the scores of held-out rows.
    """
    home = homes(folds, len(codes)) if _plain(learner) and np.isfinite(Cs).all() else None
    if home is None or codes.max() != 1:
        return None
    kinds = np.bincount(2 * home + codes, minlength=2 * len(folds)).reshape(-1, 2)
    if not (kinds < kinds.sum(axis=0)).all():  # some fold keeps one class only
        return None
    signs = np.where(codes == 1, 1.0, -1.0)
    if not sp.issparse(X) and X.shape[1] > X.shape[0]:  # solved in the space of the rows
        return None
    require_finite(X)
    settings = {"fit_intercept": learner.fit_intercept, "tol": tol, "n_jobs": learner.n_jobs}
    return fit_folds(X, signs, home, Cs, keep=keep, **settings)


def _plain(learner: Any) -> bool:
    if type(learner).__name__ != "LogisticRegression" or learner.prior is not None:
        return False
    if learner.class_weight is not None:
        return False
    heard = learner.callback is not None or learner.trace or learner.verbose
    return not heard and l1_share(learner) == 0 and learner.solver == "auto"


def model_of(learner: Any, X: Any, classes: Array, w: Array, b: float) -> Any:
    """The learner as if fitted to these weights."""
    model = clone(learner)
    model.classes_, model.n_features_in_ = classes, X.shape[1]
    model.coef_ = np.ascontiguousarray(w[None], X.dtype)
    model.intercept_ = np.array([b], X.dtype)
    model.status_, model.n_iter_ = Status.converged, 1
    return model


def begin_at(model: Any, classes: Array, fits: Folded, c: int) -> None:
    """Let a warm start of `model` begin at the model of all rows for this C."""
    model._begin(classes, fits.whole[c, :-1], fits.whole[c, -1])
