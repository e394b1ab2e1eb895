"""Fisher's discriminant: the direction that sets classes apart most for the spread they have."""

import math
import operator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from linsep.data.blocks.blocks import spans
from linsep.data.blocks.page_release import room_for
from linsep.errors import OverflowedError
from linsep.learners.base import LinearClassifier
from linsep.learners.discriminants.best_threshold import Line, best_cut
from linsep.learners.fitting.parameters import one_of
from linsep.model.centred import CentredModel, in_range
from linsep.model.forms import Centred
from linsep.parallel import Pool, one_thread
from linsep.status import Status
from linsep.train.closed.frame import in_units
from linsep.train.closed.moments import Moments, moments
from linsep.train.closed.whitening import Whitening, whiten, whiten_each
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener, Pass, tell

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class FisherDiscriminant(LinearClassifier):
    """Project on the direction along which the class means are furthest apart for their scatter.

    With S_w = Σ (xᵢ − mean of its class)(xᵢ − mean of its class)ᵀ the criterion

        J(w) = ⟨w, μ₊ − μ₋⟩² / wᵀS_w w   is largest at   w = S_w⁻¹(μ₊ − μ₋),

    which is kept at this length. With more than two classes there is one such direction for each
    class against all others.

    Parameters
    ----------
    bias : {'margin', 'midpoint'}
        Where to cut along w: in the middle between the closest rows of the two classes, if w
        separates them, otherwise where the fewest rows (by weight) are misplaced, in the middle of
        the widest such gap; or half-way between the class means.
    n_jobs : int, optional
        Threads; they never change the result.
    trace, callback, verbose
        Record the one pass that it takes in `trace_`; be told of it; show it.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    scatter_ : (d, d)
        S_w. Refused with a sentence where no float can hold it.
    criterion_ : float, or (K,) for more than two classes
        J(w), infinite where the classes differ in a direction without any scatter.
    means_ : (K, d)
    rank_ : int
        Directions in which some class has scatter.
    status_ : linsep.Status
        As in `LinearDiscriminantAnalysis`.

    Examples
    --------
    >>> from linsep import FisherDiscriminant
    >>> from linsep.data.toys import two_groups
    >>> X, y = two_groups()
    >>> learner = FisherDiscriminant().fit(X, y)
    >>> learner.scatter_.round(6).tolist()
    [[0.204375, 0.03], [0.03, 1.24]]
    >>> learner.coef_.round(5).tolist(), learner.intercept_.round(5).tolist()
    ([[3.38778, -0.16261]], [-1.4432])
    """

    _sparsifies = False

    _any_scale = True

    def __init__(
        self,
        bias: str = "margin",
        *,
        n_jobs: int | None = None,
        trace: bool = False,
        callback: Any = None,
        verbose: bool = False,
    ) -> None:
        self.bias = bias
        self.n_jobs = n_jobs
        self.trace = trace
        self.callback = callback
        self.verbose = verbose

    def _check_parameters(self) -> None:
        one_of("bias", self.bias, ("margin", "midpoint"))

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        with one_thread:  # inside matrix products: others would wait for work in a loop
            return self._solve(problem, listeners)

    def _solve(self, problem: Problem, listeners: list[Listener]) -> Status:
        n, d = problem.n_rows, problem.n_features
        sums = moments(problem, scatter=n > d)
        total = _total(sums)
        maps = [whiten(sums, problem)] if problem.binary else whiten_each(sums, problem)
        planes, criteria, floored, ranks = [], [], 0, []
        for k, white in enumerate(maps, start=int(problem.binary)):
            planes.append(self._plane(problem, k, sums, white, total))
            criteria.append(_criterion(white, total))
            floored += white.floored
            ranks.append(white.rank)
            axes = white.axes
        self._planes = CentredModel(
            np.vstack([plane.weights for plane in planes]),
            np.concatenate([plane.at_centre for plane in planes]),
            planes[0].centre,
            np.array([plane.size for plane in planes]),
        )
        self._planes.require_finite()
        self.coef_, self.intercept_ = self._planes.as_type(problem.X.dtype)
        self.criterion_ = criteria[0] if problem.binary else np.array(criteria)
        self.means_ = sums.means
        self.rank_ = min(ranks)
        self._total, self._exponents = total, sums.frame.exponents
        self._scatter: Any = sums.scatter
        self._axes = axes if sums.scatter is None else None
        self.n_iter_ = 1
        if listeners:
            wrong = problem.sum(lambda block: self._wrong(problem, block), operator.add)
            tell(listeners, Pass(1, wrong, 1, wrong / n))
        if not self.coef_.any():
            return Status.no_difference
        if floored:
            return Status.no_spread
        return Status.deficient if self.rank_ < d else Status.solved

    def _plane(
        self, problem: Problem, k: int, sums: Moments, white: Whitening, total: float
    ) -> CentredModel:
        """w = S_w⁻¹(μ₊ − μ₋) and its bias for class k, from the whitened means of the two sides."""
        apart = (white.means[1] - white.means[0]) / total
        weights = white.back(apart[None], sums.frame.exponents)
        size = float(apart @ (white.means[1] - white.means[0]))
        plane = CentredModel(
            weights, np.zeros(1), sums.frame.raw(sums.centre), size if size > 0 else 1.0
        )
        if not apart.any():
            cut = 1.0 - 2.0 * float(sums.frame.shares[k])  # the more frequent side
        elif self.bias == "midpoint":
            cut = 0.5 * float(apart @ (white.means[1] + white.means[0]))
        else:
            plane.require_finite()
            cut = best_cut(_along(plane, problem, k))
        return plane._replace(at_centre=np.array([-cut]))

    @property
    def scatter_(self) -> Array:
        """The within-class scatter S_w, in the units of the data."""
        check_is_fitted(self)
        if self._axes is not None:
            return self._total * self._axes.covariance(self._exponents)
        return self._total * in_units(self._scatter, self._exponents)

    def _form(self) -> Any:
        return Centred(self.coef_, self.intercept_, self._planes)

    def _restore(self, form: Any) -> None:
        super()._restore(form)
        self._planes = form.planes


def _total(sums: Moments) -> float:
    """All weights together, in the units they were given in."""
    try:
        return math.ldexp(sums.frame.total, sums.frame.weight_exponent)
    except OverflowError:
        raise OverflowedError(
            "sample_weight adds up to more than the largest float; divide the weights by their "
            "largest, which leaves the direction as it is."
        ) from None


def _criterion(white: Whitening, total: float) -> float:
    """J(w) = ‖D‖⁴ / (N ‖D_V‖²), with D the whitened difference and D_V its part with scatter."""
    D = white.means[1] - white.means[0]
    inside = float(np.square(D[: white.inner]).sum())
    whole = float(np.square(D).sum())
    if whole == 0:
        return 0.0
    return whole / inside * whole / total if inside > 0 and not white.floored else math.inf


def _along(plane: CentredModel, problem: Problem, k: int) -> Line:
    """The rows along a direction, those of class k to be above the cut."""
    n, weights = problem.n_rows, problem.weights
    scores = room_for(np.broadcast_to(np.float64(0), n), problem.X)
    X = problem.X

    def along(span: tuple[int, int]) -> Array:
        return in_range(plane.scores(X[slice(*span)]))

    with Pool(1) as pool:
        for (i, j), part in zip(spans(n), pool.in_order(along, spans(n)), strict=True):
            scores[i:j] = part
    largest = weights.max() if weights.size else 1.0

    def of(i: int, j: int) -> tuple[Floats, Array, Floats | None]:
        counts = weights[i:j] / largest if weights.size else None
        return np.asarray(scores[i:j]), problem.codes[i:j] == k, counts

    return Line(n, of, problem.X)
