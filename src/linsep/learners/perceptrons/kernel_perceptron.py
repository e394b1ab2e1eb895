"""The perceptron in a kernel's feature space (Aizerman, Braverman and Rozonoer, 1964)."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from linsep.data.check.arrays import require_finite
from linsep.data.sources.learner_rows import by_block
from linsep.learners.base import LinearClassifier
from linsep.learners.fitting.parameters import one_of, positive
from linsep.model.expansion import Expansion
from linsep.parallel import Pool
from linsep.rows.kernels import check_kernel, kernel_of
from linsep.status import Status
from linsep.train.order import seed_of
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener, Pass, run
from linsep.train.voted.kernel_perceptron import Dual, KernelScores, misplaced

Array = npt.NDArray[Any]


class KernelPerceptron(LinearClassifier):
    """Separate classes by a hyperplane in a feature space you never have to write out.

    The online perceptron only ever adds rows to its weights, so w = Σ αⱼ φ(xⱼ), and a score needs
    inner products alone: f(x) = Σ αⱼ κ(xⱼ, x) + b. While some row has yᵢ f(xᵢ) ≤ 0 it is a
    mistake: αᵢ ← αᵢ + yᵢ, b ← b + yᵢ. Several classes go by Kesler's construct. With
    kernel='linear' this is `Perceptron`, correction by correction.

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf'} or callable
        κ(x, x') is ⟨x, x'⟩; (γ⟨x, x'⟩ + coef0)^degree; exp(−γ‖x − x'‖²); or a function of two
        matrices of rows, A and B, that returns the (len(A), len(B)) matrix of κ(a, b). It is
        called with blocks of rows, and must be symmetric.
    degree, coef0
        Of the polynomial.
    gamma : {'scale', 'auto'} or float
        γ: 1 / (d · variance of X), 1 / d, or a number. `partial_fit` settles it by the rows of
        the first call; give a number when those do not stand for the rest.
    keep : {'last', 'average', 'pocket'}
        The last separator; the mean of those after every presentation; or the one that misplaced
        the fewest rows, looked for among the longest-lived of each pass.
    max_iter : int
        The most passes to make.
    tol : float
        End when a pass finds at most this share of the rows misplaced.
    cache_size : float
        Megabytes for rows of the Gram matrix; it never changes what is learned.
    trace : bool
        Record the passes in `trace_`; a feature space has no weights to write down.
    fit_intercept, shuffle, class_weight, n_jobs, random_state, callback, verbose
        As in `Perceptron`. Threads never change the result.

    Attributes
    ----------
    support_ : (S,) array
        Numbers of the rows that carry the separator, counted over all calls of `partial_fit`.
    support_vectors_ : (S, d) array or sparse matrix
        These rows; predicting costs one kernel value for each.
    dual_coef_ : (1, S) array, or (K, S) for K > 2 classes
        α, what each row has been added with, for each class.
    intercept_ : (1,) or (K,) array
    gamma_ : float
        The γ used.
    mistakes_, mistakes_per_epoch_, status_, trace_, classes_, n_iter_, n_features_in_
        As in `Perceptron`.

    Examples
    --------
    >>> from linsep import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> xor = KernelPerceptron("poly", degree=2, gamma=1, coef0=1, shuffle=False).fit(X, y)
    >>> xor.predict(X)
    array([0, 1, 1, 0])
    >>> xor.support_, xor.dual_coef_
    (array([0, 1, 2, 3]), array([[-8.,  6.,  6., -5.]]))
    """

    _sparsifies = False

    _order_matters = True
    _resumable = ("_walk", "_dual", "mistakes_", "mistakes_per_epoch_")

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        keep: str = "last",
        max_iter: int = 100,
        tol: float = 0.0,
        fit_intercept: bool = True,
        shuffle: Any = True,
        class_weight: Any = None,
        cache_size: float = 200,
        n_jobs: int | None = None,
        random_state: Any = 0,
        trace: bool = False,
        callback: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.keep = keep
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.trace = trace
        self.callback = callback
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_kernel(self.kernel, self.degree, self.gamma, self.coef0)
        one_of("keep", self.keep, ("last", "average", "pocket"))
        one_of("shuffle", self.shuffle, (True, False, "draw"))
        positive("max_iter", self.max_iter, whole=True)
        positive("tol", self.tol, zero=True)
        positive("cache_size", self.cache_size, zero=True)

    def _reset(self, problem: Problem) -> None:
        self._kernel = kernel_of(self.kernel, self.degree, self.gamma, self.coef0, problem.X)
        self._dual = Dual(1 if problem.binary else problem.n_classes, self.keep)
        self.gamma_ = self._kernel.gamma
        self.mistakes_ = 0
        self.mistakes_per_epoch_ = []

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        seed = seed_of(self.random_state)
        with Pool(self.n_jobs) as pool:
            walk = self._walk = self._begin(problem, pool)
            status = run(
                lambda epoch: self._pass(problem, walk, epoch, seed, self.shuffle),
                lambda done: self._ending(problem, done),
                self.max_iter,
                listeners,
                lambda: self._publish(self._dual.settled(problem, walk.seen)),
            )
            self._dual = self._dual.settled(problem, walk.seen)
            self._publish(self._dual)
            if status is Status.separated and self.keep == "average":
                F = walk.gram.combine(self._dual.index, self._dual.kept)
                if misplaced(problem, F, self.intercept_) > 0:
                    status = Status.averaged
            del self._walk  # it holds the rows
        return status

    def _begin(self, problem: Problem, pool: Pool) -> KernelScores:
        self._dual.begin(problem)
        return KernelScores(
            self._kernel,
            problem,
            self._dual.support,
            self._dual.last,
            1.0 if self.fit_intercept else 0.0,
            self.cache_size * 2**20,
            seen=self._dual.seen,
            each=pool.map,
        )

    def _pass(
        self, problem: Problem, walk: KernelScores, epoch: int, seed: int, shuffle: Any
    ) -> Pass:
        before = walk.seen
        done = walk.one_pass(problem, seed, epoch, shuffle, self._dual.add)
        if self.keep == "pocket":
            self._dual.put_in_pocket(problem, walk, before)
        self._count(done)
        return done

    def _ending(self, problem: Problem, done: Pass) -> Status | None:
        walk = self._walk
        if done.updates == 0 and (
            self.shuffle != "draw" or misplaced(problem, walk.F, walk.b) == 0
        ):
            return Status.separated  # a drawn pass alone does not tell of all rows
        return Status.converged if done.mistakes <= self.tol * problem.n_rows else None

    def _publish(self, dual: Dual) -> None:
        self._support, self._coefficients = dual.support, dual.kept
        self._carrying = self._coefficients.any(axis=1)
        self.support_ = dual.index[self._carrying]
        self.dual_coef_ = self._coefficients[self._carrying].T.copy()
        self.intercept_ = float(self.fit_intercept) * self._coefficients.sum(axis=0)
        self.n_iter_ = len(self.mistakes_per_epoch_)

    @property
    def support_vectors_(self) -> Any:
        """The rows that carry the separator."""
        rows = self._support.all(self.n_features_in_)
        return rows if self._carrying.all() else rows[np.flatnonzero(self._carrying)]

    def _scores(self, X: Any) -> Array:
        require_finite(X, self)
        with Pool(self.n_jobs) as pool:
            return np.asarray(self._form().scores(X, pool.map))

    def _form(self) -> Any:
        return Expansion(self._support, self._coefficients, self.intercept_, self._kernel)

    def _restore(self, form: Any) -> None:
        self._support, self._coefficients = form.support, form.coefficients
        self.intercept_, self._kernel = form.intercept, form.kernel
        self._carrying = self._coefficients.any(axis=1)
        self.dual_coef_ = self._coefficients[self._carrying].T.copy()
        self.gamma_ = form.kernel.gamma

    @by_block
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Go on learning from these rows, once, in the order given.

        Ends where one pass over all rows so far, in the order they came, would have ended. Pass
        all labels in `classes` on the first call if these rows do not hold them all.
        """
        rows = X, y, classes, sample_weight
        return self._fit_part(rows, not hasattr(self, "_dual"), self._one_part)

    def _one_part(self, problem: Problem) -> Pass:
        with Pool(self.n_jobs) as pool:
            walk = self._begin(problem, pool)
            done = self._pass(problem, walk, 0, 0, shuffle=False)
        self._dual = self._dual.settled(problem, walk.seen)
        self._publish(self._dual)
        return done
