"""Figures of rows that a fit has not seen: some held out, or all of them in turn.

Nothing is learnt from rows whose figures are told: what fills gaps, which texts have features,
scales and weights all come from the other rows.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.sources.raw_table import RawTable, Slices, splittable
from linsep.views.metrics import tally_for
from linsep.views.scoring import add_rows

Array = npt.NDArray[Any]

LEAST = 40  # rows from which on some can be spared
LARGE = 1 << 24  # entries beyond which a second fit is made on request alone

Split = RawTable | Slices

Made = Callable[[Any, Any, Split], Any]
"""Fits a learner to features and labels, and gives it back; it is also given the rows before
anything was learnt from them."""


def spares(y: Array, n_features: int, classes: bool) -> bool:
    """Whether rows can be held out without being asked: enough, not too many, all classes left."""
    if len(y) < LEAST or len(y) * n_features > LARGE:
        return False
    return not classes or bool(np.unique(y, return_counts=True)[1].min() >= 5)


def held_out(fit: Made, rows: Split, y: Array, share: float, classes: bool) -> Any:
    """The figures of `share` of the rows, of a fit to the others; classes keep their shares."""
    rng = np.random.default_rng(0)
    chosen = []
    for group in _groups(y, classes):
        take = min(len(group) - 1, max(1, round(share * len(group))))
        chosen.append(rng.permutation(group)[:take])
    return _figures(fit, rows, y, [np.sort(np.concatenate(chosen))])


def crossed(fit: Made, rows: Split, y: Array, folds: int, classes: bool) -> tuple[Any, list[float]]:
    """The figures of all rows, each by a fit to the other folds; and each fold's share right, or
    R² of numbers."""
    each: list[float] = []
    pooled = _figures(fit, rows, y, _folds(y, folds, classes), each)
    return pooled, each


def _groups(y: Array, classes: bool) -> list[Array]:
    """Rows of each class, or all rows."""
    return (
        [np.flatnonzero(y == label) for label in np.unique(y)] if classes else [np.arange(len(y))]
    )


def _folds(y: Array, folds: int, classes: bool) -> Iterator[Array]:
    """Rows of each fold: shuffled once, each class dealt out evenly."""
    rng = np.random.default_rng(0)
    dealt = np.concatenate([rng.permutation(rows) for rows in _groups(y, classes)])
    for k in range(folds):
        yield np.sort(dealt[k::folds])


def _figures(fit: Made, rows: Split, y: Array, parts: Any, each: list[float] | None = None) -> Any:
    from linsep.model.files.store import as_model

    seen: Any = None
    for test in parts:
        train = np.ones(len(y), bool)
        train[test] = False
        seen_rows, new_rows = rows.split(np.flatnonzero(train), test)
        model = as_model(fit(seen_rows, y[train], rows.part(np.flatnonzero(train))))
        seen = tally_for(model.classes_) if seen is None else seen
        add_rows(seen, model, new_rows, y[test])
        if each is not None:
            each.append(model.score(new_rows, y[test]))
    return seen


def rows_in_memory(source: Any) -> tuple[Any, Any] | None:
    """Rows and labels of a source after a fit; None where they lie on disk."""
    if not hasattr(source, "gather"):
        X, y = source.load()
        return X, np.asarray(y)
    gathered = source.gather()
    return None if gathered.on_disk else (gathered.X, np.asarray(gathered.labels()))


def tuned(learner: Any, rows: Split, y: Any) -> tuple[float, list[str]]:
    """The C that scores best on held-out rows as by `linsep.path`, and its table.

    What fills gaps, which texts have features, and scales come from the rows that a fold fits.
    """
    from sklearn.model_selection import StratifiedKFold

    from linsep.learners.model_selection.path import path, path_of_folds
    from linsep.rows.scaling import measure

    inner = getattr(learner, "learner", learner)

    def fold(train: Array, test: Array) -> tuple[Any, Array, Any, Array]:
        seen, new = rows.split(train, test)
        if inner is not learner:
            scaling = measure(seen, None, learner.how, None)
            seen, new = scaling.apply(seen), scaling.apply(new)
        return seen, y[train], new, y[test]

    if inner is learner and isinstance(rows, Slices):  # nothing is learnt but the fits
        best = path(inner, rows.X, y)
    else:
        folds = StratifiedKFold(5).split(y, y)
        best = path_of_folds(inner, (fold(*parts) for parts in folds))
    return best.C, [*str(best).splitlines(), *_at_the_edge(best.C, best.Cs)]


def _at_the_edge(C: float, tried: Array) -> list[str]:
    """That the best C is the first or the last that was tried."""
    for edge, word, beyond in ((min(tried), "smallest", 0.1), (max(tried), "largest", 10.0)):
        if edge == C:
            return [f"It is the {word} C that was tried; another beyond it: -p C={C * beyond:.3g}"]
    return []


class Validation:
    """What `fit` says of rows that it has not seen.

    Parameters
    ----------
    fit : fits the learner that was asked for
    source : the rows
    holdout : share of rows to hold out; None where that is to be judged, 0 for none
    cv : folds, or None
    """

    def __init__(self, fit: Made, source: Any, holdout: float | None, cv: int | None) -> None:
        self.held: Any = None
        self.crossed: Any = None
        self.each: list[float] = []
        self.share = holdout
        self.lines: list[str] = []
        if holdout == 0 and cv is None:
            return
        known = None if getattr(source, "judged", None) is not None else rows_in_memory(source)
        if known is None:
            self._say_why_not(holdout, cv, "they are too many to be kept in memory")
            return
        X, y = known
        classes = source.classes is not None
        if cv is not None:
            rows = splittable(source, X)
            self.crossed, self.each = crossed(fit, rows, y, cv, classes)
            self._tell_crossed(cv)
        if holdout is None and (cv is not None or not spares(y, X.shape[1], classes)):
            few = len(y) < LEAST or (classes and np.unique(y, return_counts=True)[1].min() < 5)
            self.share = 0.0
            if cv is None:
                reason = "they are few" if few else "a second fit would take as long as the first"
                self._say_why_not(None, None, reason)
            return
        if holdout != 0:
            self.share = 0.2 if holdout is None else holdout
            rows = splittable(source, X) if cv is None else rows
            self.held = held_out(fit, rows, y, self.share, classes)
            self.lines += [
                "",
                f"Held-out rows ({self.share:.0%}, fitted on the others; the model kept is fitted "
                f"on all rows): {self.held.text()}",
            ]

    def _say_why_not(self, holdout: float | None, cv: int | None, reason: str) -> None:
        self.share = 0.0
        other = "--test FILE" if "memory" in reason else "--holdout 0.2, --cv 5 or --test FILE"
        self.lines += ["", f"No rows were held out: {reason}. Figures of unseen rows: {other}."]

    def _tell_crossed(self, cv: int) -> None:
        mean, spread = float(np.mean(self.each)), float(np.std(self.each, ddof=1))
        self.lines += [
            "",
            f"Cross-validation ({cv} folds; each row by a fit to the other folds): "
            f"{self.crossed.text()}",
            f"Score by fold: mean {mean:.4f}, standard deviation {spread:.4f} "
            f"({', '.join(f'{one:.4f}' for one in self.each)}).",
        ]

    def record(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        held = None if self.held is None else {"share": self.share} | self.held.record()
        cross = None if self.crossed is None else {"folds": self.each} | self.crossed.record()
        return {"holdout": held, "cv": cross}
