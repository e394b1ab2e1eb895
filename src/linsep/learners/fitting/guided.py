"""What a modeller tells a fit: offsets of rows, weights of penalties, and bounds on weights."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from linsep.data.check.plain import check_offset
from linsep.data.cluster.shipping import NotOnClusterError
from linsep.data.sources.dataset import Chunks
from linsep.errors import DataError, ParameterError
from linsep.learners.cluster.lazy import make_lazy
from linsep.learners.fitting.missing import names_of_features
from linsep.learners.fitting.sklearn_compat import SAME_OPTIMUM
from linsep.proofs.gap.moves import Told
from linsep.train.convex.penalties import Bounds
from linsep.train.problem import Problem

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

SIGNS = {"positive": (0.0, np.inf), "negative": (-np.inf, 0.0)}


class ActiveBound(NamedTuple):
    """A bound that a weight lies at, and what it costs.

    Attributes
    ----------
    feature : name of the feature, or its number
    plane : the class whose hyperplane it is; None of a single one
    side : 'lower' or 'upper'
    bound : where the weight is held
    multiplier : by how much the objective falls for each unit that the bound gives way, for as long
        as no other takes over
    """

    feature: Any
    plane: Any
    side: str
    bound: float
    multiplier: float

    def __str__(self) -> str:
        whose = "" if self.plane is None else f" (class {self.plane!r})"
        held = f"{self.feature}{whose}: held at its {self.side} bound {self.bound:g}"
        if not self.multiplier:
            return f"{held}, which costs nothing: without it the weight would be there too."
        return (
            f"{held}, which costs {self.multiplier:.4g} of the objective for each unit that the "
            "bound gives way."
        )


class Guided:
    """`fit` with an offset, and what `penalty_weights` and `bounds` come to."""

    n_features_in_: int
    offset_: Any
    penalty_weights: Any
    bounds: Any
    constraints_: list[ActiveBound]
    _above = 1  # more calls between the user's and the warning than without an offset

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None,
        *, callback: Any = None, verbose: bool | str = False, checkpoint: Any = None,
        in_order: bool = False,
    ) -> Self:  # fmt: skip
        """Learn from rows `X` and labels (for a regression, numbers) `y`.

        Parameters
        ----------
        X : (n, d) array, sparse matrix, data frame, or a file opened by `linsep.read`
        y : (n,) labels of any kind, or the numbers of a regression; a file brings its own
        sample_weight : (n,) weights, optional
        offset : (n,) numbers added to the scores, optional
            What is known of each row beforehand; (n, K) for K > 2 classes. Predictions ask for it
            again. The name of a column of a frame or file instead: that column is a feature whose
            weight is 1, so that predictions and exports need nothing more.
        callback, verbose, checkpoint, in_order
            As of `Perceptron.fit`. A checkpoint is not written of fits with offsets, weights of
            penalties, or bounds.

        Returns
        -------
        self
        """
        self._offset = offset
        if checkpoint is not None and self._is_told:
            raise ParameterError(
                "checkpoint= writes down no offsets, penalty_weights or bounds; leave it out, or "
                "leave these out."
            )
        how = {"callback": callback, "verbose": verbose, "checkpoint": checkpoint}
        try:
            super().fit(X, y, sample_weight, in_order=in_order, **how)  # type: ignore[misc]
        finally:
            del self._offset
        return self

    @property
    def _is_told(self) -> bool:
        given = self.penalty_weights, self.bounds, getattr(self, "_offset", None)
        return any(one is not None for one in given)

    def _told(self, problem: Problem, planes: int) -> Told | None:
        """What this fit is told, checked against its rows; None where that is nothing."""
        offset = getattr(self, "_offset", None)
        self.offset_ = offset if isinstance(offset, str) or offset is None else True
        self.constraints_ = []
        if not self._is_told:
            return None
        if problem.on_cluster:
            raise NotOnClusterError("offsets, weights of penalties and bounds")
        return self._told_of(offset, problem.n_rows, problem.n_features, planes)

    def _told_of(self, offset: Any, n: int, d: int, planes: int) -> Told:
        """Weights, bounds and offsets of n rows with d features."""
        names = known_names(self)
        weight = weights_of(self.penalty_weights, names, d)
        low, high = bounds_of(self.bounds, names, d)
        numbers = None
        if isinstance(offset, str):
            if planes > 1:
                raise ParameterError(
                    f"offset is the column {offset!r}, which would be added to the scores of all "
                    f"{planes} classes alike. Give an array with a column for each class."
                )
            at = places_of(offset, names, d, "offset")
            _refuse_twice(offset, at, self.penalty_weights, self.bounds)
            weight[at], low[at], high[at] = 0.0, 1.0, 1.0
        elif offset is not None:
            numbers = check_offset(offset, n, planes)
        shape = planes, d
        return Told(
            weight, np.broadcast_to(low, shape), np.broadcast_to(high, shape),
            None if numbers is None or not numbers.any() else numbers,
        )  # fmt: skip

    def _told_again(self, offset: Any, n: int, d: int, planes: int) -> Told | None:
        """What the fit was told, for whoever looks at its rows again."""
        fitted = getattr(self, "offset_", None)
        if fitted is True and offset is None:
            raise DataError(
                "The model was fitted with an offset; give offset= with that of each row again."
            )
        offset = fitted if offset is None else offset
        return self._told_of(offset, n, d, planes) if self._is_told or offset is not None else None

    def _costs(
        self, problem: Problem, W: Array, moves: Floats, penalty: tuple[float, float],
        labels: Sequence[Any],
    ) -> None:  # fmt: skip
        """Set `constraints_`: what each bound costs, by the multipliers of the rows, (K, n)."""
        told, W, (l1, l2) = problem.told, np.atleast_2d(np.asarray(W, np.float64)), penalty
        at = (told.low == W) | (told.high == W)
        if isinstance(self.offset_, str):
            at &= told.low != told.high
        columns, names = np.flatnonzero(at.any(axis=0)), known_names(self)
        if not len(columns):
            return
        X = problem.X[:, columns]
        pull, noise = np.asarray((X.T @ moves.T).T), 1e-9 * np.asarray(abs(X).T @ abs(moves).T).T
        weight, w = told.weight[columns], W[:, columns]
        bounds = Bounds(told.low[:, columns], told.high[:, columns])
        costs = bounds.multipliers(w, l2 * weight * w - pull, l1 * weight)
        costs[np.abs(costs) <= noise] = 0.0
        for k, j in zip(*np.nonzero(at[:, columns]), strict=True):
            lower = w[k, j] == bounds.low[k, j] and not costs[k, j] < 0.0
            feature = int(columns[j]) if names is None else str(names[columns[j]])
            self.constraints_.append(ActiveBound(
                feature, labels[k] if len(W) > 1 else None, "lower" if lower else "upper",
                float(w[k, j]), abs(float(costs[k, j])),
            ))  # fmt: skip

    def _given(self, X: Any, offset: Any, planes: int = 1) -> Any:
        """What an offset adds to the scores of rows that are to be predicted."""
        fitted = getattr(self, "offset_", None)
        if isinstance(offset, str) and offset == fitted:
            return 0.0  # the column is a feature
        if isinstance(offset, str) or isinstance(fitted, str):
            told = f"the column {fitted!r}, which X holds" if isinstance(fitted, str) else "numbers"
            raise DataError(f"offset is {offset!r:.60}, but what the fit was told is {told}.")
        if offset is None:
            raise DataError(
                "The model was fitted with an offset, so that its predictions need one: give "
                "offset= with a number for each row; offset=0 leaves it out."
            )
        n = None if isinstance(X, Chunks) else (X.shape[0] if hasattr(X, "shape") else len(X))
        return check_offset(offset, n, planes)


class GuidedClassifier(Guided):
    """Scores and decisions with an offset."""

    def decision_function(self, X: Any, offset: Any = None) -> Array:
        """⟨w, x⟩ + b for each row, and its offset: a column per class for more than two."""
        scores = super().decision_function(X)  # type: ignore[misc]
        if offset is None and getattr(self, "offset_", None) is not True:
            return np.asarray(scores)
        return np.asarray(
            scores + self._given(X, offset, 1 if scores.ndim == 1 else scores.shape[1])
        )

    def predict(self, X: Any, reject: float | None = None, offset: Any = None) -> Array:
        """The class of each row; the first of those whose score is largest.

        Of two classes, a score above zero means the second, and zero the first. With `reject`, a
        probability, rows whose likeliest class has less get the label `linsep.NO_DECISION`.
        `offset` is that of these rows, where the fit was told one.
        """
        return np.asarray(self._predicted(X, reject, {"offset": offset}))  # type: ignore[attr-defined]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> float:
        """The share of rows whose class is predicted right, each counted with its weight."""
        return float(self._scored(X, y, sample_weight, {"offset": offset}))  # type: ignore[attr-defined]

    def rank(self, X: Any, offset: Any = None) -> Array:
        """All classes for each row, best first."""
        return np.asarray(self._ranked(X, {"offset": offset}))  # type: ignore[attr-defined]


make_lazy(GuidedClassifier)


def refuse_told(learner: Any, solvers: tuple[str, ...]) -> None:
    """Refuse offsets, weights of penalties and bounds where they cannot be heeded."""
    told = "offset, penalty_weights and bounds are"
    if learner.solver not in solvers and learner.solver not in SAME_OPTIMUM:
        raise ParameterError(
            f"{told} for solver={' or '.join(map(repr, solvers))}; here it is {learner.solver!r}."
        )
    if getattr(learner, "penalty", None) == "firth":
        raise ParameterError(f"{told} not for penalty='firth'; leave one or the other out.")


def known_names(learner: Any) -> Array | None:
    """What the features are called; None where they have no names."""
    given = vars(learner)
    if given.get("names_told") is not None:  # rows of an array, whose names somebody knows
        return np.array(given["names_told"], object)
    names = given.get("feature_names_in_")
    return names_of_features(learner) if names is None else names


def places_of(key: Any, names: Array | None, d: int, what: str) -> list[int]:
    """The features that a name stands for, or the number of one."""
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and -d <= key < d:
        return [int(key) % d]
    known = [] if names is None else [str(one) for one in names]
    if str(key) in known:
        return [known.index(str(key))]
    starts = f"{key}=", f"{key}>="  # what a column of texts, or of ordered ones, has become
    whole = [j for j, name in enumerate(known) if name.startswith(starts)]
    if whole:
        return whole
    if names is None:
        raise ParameterError(
            f"{what} names {key!r}, but X has no names of columns; give a frame, a file with a "
            f"header, or the number of the feature, 0 to {d - 1}."
        )
    raise ParameterError(
        f"{what} names {key!r}, which is no feature; the features are {', '.join(known[:20])}"
        f"{', ...' if len(known) > 20 else ''}."
    )


def _refuse_twice(name: str, at: list[int], *others: Any) -> None:
    told = [k for one in others if isinstance(one, Mapping) for k in one if k == name]
    if told or len(at) > 1:
        raise ParameterError(
            f"offset is the column {name!r}, whose weight is 1; it must be one column of numbers, "
            "and have no bounds or penalty of its own."
        )


def weights_of(given: Any, names: Array | None, d: int) -> Floats:
    """How many times the penalty of each weight counts.

    >>> weights_of({"age": 0, "size": 2.5}, np.array(["age", "income", "size"]), 3).tolist()
    [0.0, 1.0, 2.5]
    """
    weight = np.ones(d)
    try:
        if isinstance(given, Mapping):
            for key, value in given.items():
                weight[places_of(key, names, d, "penalty_weights")] = float(value)
        elif given is not None:
            weight = np.array(given, np.float64)
    except (TypeError, ValueError) as problem:
        if isinstance(problem, ParameterError):
            raise
        raise ParameterError(
            f"penalty_weights is {given!r:.80}; give a number for each feature, or a dict of "
            "feature: number."
        ) from None
    if weight.shape != (d,):
        raise ParameterError(
            f"penalty_weights has shape {weight.shape}; X has {d} features, so give {d} numbers, "
            "or a dict of feature: number."
        )
    bad = ~np.isfinite(weight) | (weight < 0)
    if bad.any():
        j = int(bad.argmax())
        raise ParameterError(
            f"penalty_weights is {weight[j]} for feature {j if names is None else names[j]!r}; "
            "give finite numbers >= 0; 0 leaves a weight without a penalty."
        )
    return weight


def bounds_of(given: Any, names: Array | None, d: int) -> tuple[Floats, Floats]:
    """Lower and upper bounds of each weight.

    >>> low, high = bounds_of({"age": "positive", 2: (-1, 1)}, np.array(["age", "x", "y"]), 3)
    >>> low.tolist(), high.tolist()
    ([0.0, -inf, -1.0], [inf, inf, 1.0])
    """
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    if given is None:
        return low, high
    if isinstance(given, Mapping):
        for key, value in given.items():
            at = places_of(key, names, d, "bounds")
            low[at], high[at] = _ends(value, key)
        return low, high
    alone = isinstance(given, str) or (
        isinstance(given, (tuple, list)) and len(given) == 2 and not any(map(_nested, given))
    )
    each = [given] * d if alone else given
    if not hasattr(each, "__len__") or len(each) != d:
        raise ParameterError(
            f"bounds is {given!r:.80}; give 'positive', 'negative' or a pair (low, high) for all "
            f"features, {d} of these, or a dict of feature: bound."
        )
    for j, value in enumerate(each):
        low[j], high[j] = _ends(value, j if names is None else names[j])
    return low, high


def _nested(value: Any) -> bool:
    return isinstance(value, str) or np.ndim(value) > 0


def _ends(value: Any, feature: Any) -> tuple[float, float]:
    if value is None:
        return -np.inf, np.inf
    if isinstance(value, str) and value in SIGNS:
        return SIGNS[value]
    try:
        low, high = value
        ends = (
            -np.inf if low is None else float(low), np.inf if high is None else float(high)
        )  # fmt: skip
    except (TypeError, ValueError):
        raise ParameterError(
            f"bounds are {value!r:.60} for feature {feature!r}; give 'positive', 'negative', or a "
            "pair (low, high), None for no bound."
        ) from None
    if not ends[0] <= ends[1]:  # also where one is NaN
        raise ParameterError(
            f"bounds are {value!r} for feature {feature!r}; the lower one must not be above the "
            "upper one, and neither NaN."
        )
    if ends[0] == np.inf or ends[1] == -np.inf:
        raise ParameterError(
            f"bounds are {value!r} for feature {feature!r}; no weight is infinite. None stands for "
            "no bound."
        )
    return ends
