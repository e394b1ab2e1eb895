"""A path of penalties on the rows of a cluster: folds by row number, fits on sums.

Where folds can share the work (`fold_fits`), the fits are those made in memory, byte by byte. Else
a fold is fitted to all rows with weight zero for those it leaves out, so that no row moves; its
held-out rows are then scored where they are.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from linsep.data.blocks.blocks import BLOCK
from linsep.data.cluster.collections import labels_of, rows_of
from linsep.data.cluster.connect import client_of
from linsep.data.cluster.rows import gathered
from linsep.learners.cluster.fit import SMALL, fit_rows
from linsep.learners.model_selection.fold_fits import Folds, begin_at, shared_fits
from linsep.train.convex.path.folds import Folded

Array = npt.NDArray[Any]

HELD = 1 << 24
"""Numbers up to which the client holds all rows, and scores of theirs, for shared fits."""


class FarRows:
    """Rows on a cluster and their labels, as a path asks for them."""

    def __init__(self, rows: Any, labels: Any) -> None:
        self.rows, self.labels = rows, labels
        self.classes, self.codes = labels.classes, np.asarray(labels.codes)

    def shared(self, learner: Any, folds: Folds, Cs: Array, tol: float) -> Folded | None:
        """All folds' fits at once, or None where the client would hold too much for them."""
        n, d = self.rows.shape
        if n * max(d, len(Cs)) > HELD:
            return None
        with gathered(self.rows) as here:
            return shared_fits(learner, here, self.codes, folds, Cs, tol, False)

    def along(self, learner: Any, train: Array, test: Array, Cs: Array) -> Any:
        """Share of held-out rows that are right and gap of each fit, from the smallest C on."""
        model, weights = clone(learner), np.zeros(len(self.codes))
        weights[train] = 1.0
        for C in Cs:
            model.set_params(C=float(C))
            fit_rows(model, self.rows, self.labels, weights, None)
            right = _predicted(model, self.rows)[test] == self.codes[test]
            yield float(right.mean()), float(getattr(model, "gap_", np.nan))

    def fit(self, model: Any, shared: Folded | None, best: int) -> None:
        """The model of all rows."""
        if shared is not None:
            begin_at(model, self.classes, shared, best)
        fit_rows(model, self.rows, self.labels, None, None)


def opened(X: Any, y: Any, path: Any) -> Any:
    """path(rows, labels) of few rows, brought here; path(FarRows) of many."""
    with client_of() as client:
        rows = rows_of(client, X)
        labels = labels_of(rows, y)
        if rows.size > SMALL:
            return path(FarRows(rows, labels), None)
        with gathered(rows) as here:
            return path(here, labels.classes[labels.codes])


def _predicted(model: Any, rows: Any) -> Array:
    """The number of the class that a model has for each row."""
    W, b, n = model.coef_.astype(np.float64), model.intercept_, len(rows)

    def block(k: int) -> Array:
        S = rows[k * BLOCK : min(n, (k + 1) * BLOCK)] @ W.T + b
        return (S[:, 0] >= 0).astype(np.int32) if len(W) == 1 else S.argmax(axis=1).astype(np.int32)

    return np.concatenate(list(rows.in_order(block, range(-(-n // BLOCK)))))
