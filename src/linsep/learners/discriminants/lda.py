"""Linear discriminant analysis: Gaussian classes that share one covariance, in closed form."""

import operator
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from linsep.data.blocks.blocks import on_cluster
from linsep.data.check.arrays import check_rows
from linsep.data.check.plain import is_sparse
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.learner_rows import scores_of
from linsep.data.sources.new_rows import new_rows
from linsep.errors import ParameterError
from linsep.learners.base import LinearClassifier
from linsep.learners.fitting.sklearn_compat import check_discriminant
from linsep.model.centred import CentredModel, in_range
from linsep.model.chances import log_chances
from linsep.model.forms import Centred
from linsep.parallel import one_thread
from linsep.status import Status
from linsep.train.closed.frame import in_units, power
from linsep.train.closed.moments import Moments, moments
from linsep.train.closed.whitening import Whitening, axes_of, complete, whiten
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener, Pass, tell

Array = npt.NDArray[Any]


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, LinearClassifier
):
    """Classify by the most probable of Gaussian classes that share one covariance.

    Means mₖ, covariance Σ (1/N) and priors πₖ are those of maximum likelihood. For two classes

        P(second | x) = sigmoid(⟨w, x⟩ + b),   w = (m₁ − m₀)Σ⁻¹,
        b = ½(m₀Σ⁻¹m₀ᵀ − m₁Σ⁻¹m₁ᵀ) + log(π₁/π₀);

    for more, one such score per class. The answer does not depend on the units, the offsets or any
    other invertible affine re-encoding of the features. Everything comes from sums over fixed
    blocks of rows: two or three passes, without a copy of X.

    Parameters
    ----------
    priors : (K,) array, optional
        Class probabilities, in any unit; the shares of the classes when None.
    shrinkage : None, 'auto' or float
        Mix Σ with a multiple of the identity of equal trace: (1 − α)Σ + α tr(Σ)/d I. With 'auto'
        α is Ledoit and Wolf's, and columns are in units of their own spread. The sum of the
        weights counts as the number of rows.
    n_components : int, optional
        Columns of `transform`; at most K − 1.
    n_jobs : int, optional
        Threads; they never change the result.
    trace, callback, verbose
        Record the one pass that it takes in `trace_`; be told of it; show it.
    covariance_estimator : estimator with `covariance_`, optional
        Estimates the covariance of each class, such as `sklearn.covariance.LedoitWolf()`; Σ is
        their mean by the priors.
    solver, store_covariance, tol
        Of scikit-learn, accepted where they say what holds here: there is one solver, the
        covariance is always stored, and rounding alone decides which directions have spread.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    means_ : (K, d)
    covariance_ : (d, d)
        After shrinkage. Refused with a sentence where no float can hold it.
    priors_ : (K,)
    xbar_, scalings_, explained_variance_ratio_
        As in scikit-learn; `transform` is (X − xbar_) @ scalings_.
    rank_ : int
        Directions in which some class has spread.
    shrinkage_ : float
        The α used.
    status_ : linsep.Status
        `solved`; `deficient` where some direction has no within-class spread; `no_spread` where
        the classes differ in such a direction; `no_difference` where they differ in none.

    Notes
    -----
    With fewer rows than columns, or with collinear columns, Σ has no inverse. Directions without
    within-class spread in which the classes agree are left out; where they differ, a spread of
    1e-4 of that difference is assumed, so that they decide (the limit of maximum likelihood).

    Examples
    --------
    >>> from linsep import LinearDiscriminantAnalysis
    >>> from linsep.data.toys import two_groups
    >>> X, y = two_groups()
    >>> learner = LinearDiscriminantAnalysis().fit(X, y)
    >>> learner.means_.round(4).tolist()
    [[0.1375, 0.6], [0.825, 0.5]]
    >>> learner.predict_proba([[0.5, 0.5]]).round(3).tolist()
    [[0.36, 0.64]]
    >>> print(learner.status_.value)
    Solved exactly.
    """

    _sparsifies = False

    _any_scale = True
    _first_at_zero = True

    def __init__(
        self,
        priors: Any = None,
        shrinkage: Any = None,
        n_components: int | None = None,
        *,
        n_jobs: int | None = None,
        trace: bool = False,
        callback: Any = None,
        verbose: bool = False,
        solver: str = "svd",
        store_covariance: bool = True,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.priors = priors
        self.shrinkage = shrinkage
        self.n_components = n_components
        self.n_jobs = n_jobs
        self.trace = trace
        self.callback = callback
        self.verbose = verbose
        self.solver = solver
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def _check_parameters(self) -> None:
        check_discriminant(self)
        a = self.shrinkage
        if a is None or (isinstance(a, str) and a == "auto"):
            return
        number = isinstance(a, (int, float, np.integer, np.floating)) and not isinstance(a, bool)
        if not (number and 0 <= a <= 1):
            raise ParameterError(
                f"shrinkage is {a!r}; give None, 'auto' or a number from 0 (none) to 1 (all)."
            )

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        with one_thread:  # inside matrix products: others would wait for work in a loop
            return self._solve(problem, listeners)

    def _solve(self, problem: Problem, listeners: list[Listener]) -> Status:
        n, d = problem.n_rows, problem.n_features
        components = self._components(problem)
        sums = moments(problem, scatter=n > d)
        self.priors_ = self._priors(sums.frame.shares)
        if self.covariance_estimator is None:
            white = whiten(sums, problem, self.shrinkage)
        else:
            scatter = self._estimated(problem, sums.frame.exponents)
            sums = sums._replace(scatter=scatter)
            white = complete(axes_of(sums, scatter), sums)
        self._set_planes(sums, white, problem.X.dtype)
        self._set_projection(sums, white, components)
        self._set_covariance(sums, white)
        self.means_ = sums.means
        self.rank_ = white.rank
        self.shrinkage_ = white.axes.shrinkage
        self.n_iter_ = 1
        if listeners:
            wrong = problem.sum(lambda block: self._wrong(problem, block), operator.add)
            tell(listeners, Pass(1, wrong, 1, wrong / n))
        return _status(white)

    def _estimated(self, problem: Problem, exponents: Array) -> Array:
        """Σ = Σₖ πₖ Σₖ, that of each class by the estimator; columns in units of 2^exponents."""
        if problem.weights.size or on_cluster(problem.X):
            raise ParameterError(
                "covariance_estimator is given, and the rows have weights or lie on a cluster, "
                "which it cannot take; give shrinkage='auto' or a number instead."
            )
        X = np.asarray(problem.X.toarray() if is_sparse(problem.X) else problem.X, np.float64)
        covariance = np.zeros((problem.n_features,) * 2)
        for k, prior in enumerate(self.priors_):
            estimator = deepcopy(self.covariance_estimator)
            estimator.fit(X[problem.codes == k])
            covariance += prior * np.atleast_2d(estimator.covariance_)
        unit = power(-exponents)
        return covariance * unit * unit[:, None]

    def _priors(self, shares: Array) -> Array:
        if self.priors is None:
            return shares
        try:
            priors = np.asarray(self.priors, dtype=np.float64)
        except (TypeError, ValueError):
            priors = np.empty(0)
        good = priors.shape == shares.shape and np.isfinite(priors).all() and (priors > 0).all()
        if not good:
            raise ParameterError(
                f"priors is {self.priors!r}; give {len(shares)} positive numbers, one for each "
                f"class of {self.classes_.tolist()!r}."
            )
        return priors / priors.sum()

    def _components(self, problem: Problem) -> int:
        most = min(problem.n_classes - 1, problem.n_features)
        wanted = self.n_components
        if wanted is None:
            return most
        if not isinstance(wanted, (int, np.integer)) or isinstance(wanted, bool) or wanted < 1:
            raise ParameterError(f"n_components is {wanted!r}; give None or a whole number >= 1.")
        if wanted > most:
            raise ParameterError(
                f"n_components is {wanted}; {problem.n_classes} classes of {problem.n_features} "
                f"features have at most {most} discriminant axes."
            )
        return int(wanted)

    def _set_planes(self, sums: Moments, white: Whitening, dtype: Any) -> None:
        """wₖ = mₖΣ⁻¹ and bₖ = −½mₖΣ⁻¹mₖᵀ + log πₖ, with means taken from the centre."""
        M, log_prior = white.means, np.log(self.priors_)
        if len(M) == 2:
            apart = M[1:] - M[:1]  # bₖ as a product of sum and difference: squares would cancel
            at_centre = -0.5 * apart @ (M[1] + M[0]) + (log_prior[1] - log_prior[0])
        else:
            apart = M
            at_centre = -0.5 * np.square(M).sum(axis=1) + log_prior
        weights = white.back(apart, sums.frame.exponents)
        self._planes = CentredModel(weights, at_centre, sums.frame.raw(sums.centre))
        self._planes.require_finite()
        self.coef_, self.intercept_ = self._planes.as_type(dtype)

    def _set_projection(self, sums: Moments, white: Whitening, components: int) -> None:
        """Axes along which the whitened class means spread most, widest first."""
        middle = self.priors_ @ white.means
        spread = np.sqrt(self.priors_)[:, None] * (white.means - middle)
        _, s, axes = np.linalg.svd(spread, full_matrices=False)
        rank = int((s > 1e-12 * s.max(initial=0.0)).sum())
        columns = max(1, min(components, rank))
        if len(axes) == 0:  # no column has any spread at all
            s, axes = np.zeros(1), np.zeros((1, 0))
        axes = axes[:columns]
        scalings = white.back(axes, sums.frame.exponents).T
        standard = axes @ white.map.T
        largest = np.abs(standard).argmax(axis=1)
        scalings = scalings * np.where(standard[np.arange(columns), largest] < 0, -1.0, 1.0)
        self.scalings_ = scalings
        offset = np.nan_to_num(self.priors_ @ sums.offsets)
        self.xbar_ = sums.frame.raw(sums.centre + offset)
        self._projection = CentredModel(scalings.T, np.zeros(columns), self.xbar_)
        total = float(np.square(s).sum())
        self.explained_variance_ratio_ = np.square(s[:columns]) / (total if total > 0 else 1.0)
        self._n_features_out = columns

    def _set_covariance(self, sums: Moments, white: Whitening) -> None:
        """Keep what `covariance_` is made of: the scatter, or the axes where it is changed."""
        axes = white.axes
        self._exponents = sums.frame.exponents
        self._axes = None if sums.scatter is not None and axes.rest == 0 else axes
        self._scatter: Any = sums.scatter if self._axes is None else None

    @property
    def covariance_(self) -> Array:
        """The covariance shared by the classes, in the units of the data."""
        check_is_fitted(self)
        if self._axes is not None:
            return self._axes.covariance(self._exponents)
        return in_units(self._scatter, self._exponents)

    def _form(self) -> Any:
        return Centred(self.coef_, self.intercept_, self._planes, self._projection)

    def _restore(self, form: Any) -> None:
        super()._restore(form)
        self._planes = form.planes
        if form.axes is not None:
            self._projection = form.axes
            self.scalings_, self.xbar_ = form.axes.weights.T, form.axes.centre
            self._n_features_out = len(form.axes.weights)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class for each row."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`, without underflow."""
        return log_chances(self.decision_function(X))

    def transform(self, X: Any) -> Array:
        """Coordinates along the discriminant axes: within-class covariance one, widest first."""
        check_is_fitted(self)
        X = new_rows(X, self)
        if isinstance(X, Chunks):
            return scores_of(X, getattr(self, "encoding_", None), self.transform)
        X = check_rows(X, self, reset=False)
        along = in_range(self._projection.scores(X)).reshape(
            X.shape[0], len(self._projection.weights)
        )
        return along.astype(X.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _status(white: Whitening) -> Status:
    if white.equal:
        return Status.no_difference
    if white.floored:
        return Status.no_spread
    return Status.deficient if white.deficient else Status.solved
