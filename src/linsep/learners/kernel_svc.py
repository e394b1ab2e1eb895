"""Support vector machines in a kernel's feature space, with a certified duality gap."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.check.arrays import require_finite
from linsep.learners.base import LinearClassifier
from linsep.learners.fitting.parameters import positive
from linsep.model.expansion import Expansion
from linsep.parallel import Pool
from linsep.rows.gram import Support
from linsep.rows.kernels import check_kernel, kernel_of
from linsep.status import Status
from linsep.train.convex.solvers.gram_descent import Evaluation, GramCache, GramDescent, evaluate
from linsep.train.problem import Problem
from linsep.train.run.loop import UNCOUNTED, Listener, Pass, run

Array = npt.NDArray[Any]


class KernelSVC(LinearClassifier):
    """The widest margin in a feature space that you never have to write out.

    Minimises ½‖w‖² + C Σ cᵢ max(0, 1 − yᵢ(⟨w, φ(xᵢ)⟩ + b)) over the feature space of the kernel,
    κ(x, x') = ⟨φ(x), φ(x')⟩, through its dual: w = Σ βⱼ φ(xⱼ), so that a score is
    f(x) = Σ βⱼ κ(xⱼ, x) + b. Several classes have a machine each, against all others. The fit ends
    when the duality gap is at most `tol` of the objective. Only rows of the Gram matrix that were
    among the worst of some step are computed.

    Parameters
    ----------
    C : float
        Weight of the losses against the width of the margin.
    kernel, degree, gamma, coef0
        Of the kernel, as in `KernelPerceptron`.
    tol : float
        The relative duality gap asked for.
    max_iter : int
        The most working sets for each machine.
    cache_size : float
        Megabytes for rows of the Gram matrix; it never changes what is learned by more than `tol`.
    trace : bool
        Record the values in `trace_`; a feature space has no weights to write down.
    fit_intercept, class_weight, n_jobs, callback, verbose
        As in `LinearSVC`; the intercept is not penalised.

    Attributes
    ----------
    support_ : (S,) array
        Numbers of the rows that carry a machine; all others could be left out.
    n_support_ : (K,) array
        How many of them are of each class.
    support_vectors_ : (S, d) array or sparse matrix
        These rows; predicting costs one kernel value for each.
    dual_coef_ : (1, S) array, or (K, S) for K > 2 classes
        β, what each row counts in each machine.
    intercept_ : (1,) or (K,) array
    objective_ : float
        The objective, summed over the machines.
    gap_ : float
        How far above the optimum it can be at most, relative to it; counted after the fit from the
        multipliers kept, with kernel values computed anew.
    gamma_ : float
        The γ used.
    status_, trace_, classes_, n_iter_, n_features_in_
        As in `LinearSVC`.

    Examples
    --------
    >>> from linsep import KernelSVC
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> machine = KernelSVC(100.0, "poly", degree=2, gamma=1, coef0=1).fit(X, y)
    >>> machine.predict(X).tolist(), machine.gap_ <= 1e-3
    ([0, 1, 1, 0], True)
    >>> machine.dual_coef_.round(2).tolist()
    [[-3.33, 2.67, 2.67, -2.0]]
    """

    _sparsifies = False

    def __init__(
        self,
        C: float = 1.0,
        kernel: Any = "rbf",
        *,
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        fit_intercept: bool = True,
        class_weight: Any = None,
        cache_size: float = 400,
        n_jobs: int | None = None,
        trace: bool = False,
        callback: Any = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.trace = trace
        self.callback = callback
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_kernel(self.kernel, self.degree, self.gamma, self.coef0)
        positive("C", self.C)
        positive("tol", self.tol)
        positive("max_iter", self.max_iter, whole=True)
        positive("cache_size", self.cache_size, zero=True)

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        problem.settle()
        require_finite(problem.X, self)
        self._kernel = kernel_of(self.kernel, self.degree, self.gamma, self.coef0, problem.X)
        self.gamma_ = self._kernel.gamma
        weights = problem.weights if problem.weights.size else np.ones(problem.n_rows)
        caps = float(self.C) * weights
        wanted = [1] if problem.binary else range(problem.n_classes)
        signs = [np.where(problem.codes == k, 1.0, -1.0) for k in wanted]
        with Pool(self.n_jobs) as pool:
            each = self._kernel.shared(pool.map)
            if not isinstance(self._kernel.form, str):
                some = problem.X[: min(64, problem.n_rows)]
                self._kernel.square(some)  # a function is held to symmetry
            cache = GramCache(self._kernel, problem.X, self.cache_size * 2**20, each)
            machines = [GramDescent(cache, y, caps, bool(self.fit_intercept)) for y in signs]
            statuses, self.n_iter_ = [], 0
            for machine in machines:
                statuses.append(self._one(machine, listeners))
                if statuses[-1] in (Status.interrupted, Status.stopped):
                    break
            del cache
            self._publish(problem, machines)
            evaluations = self._recount(problem, machines, pool)
        self.intercept_ = np.array([one.bias for one in evaluations])
        self.objective_ = sum(one.primal for one in evaluations)
        self.gap_ = sum(one.gap for one in evaluations) / (self.objective_ or 1.0)
        status = next((one for one in statuses if not one.good), Status.converged)
        if status is Status.converged and self.gap_ > self.tol:
            return Status.unproved
        return Status.gap_left if status is Status.budget else status

    def _one(self, machine: GramDescent, listeners: list[Listener]) -> Status:
        """Work on one machine until its gap is small enough."""
        seen = machine.evaluate()

        def one_pass(number: int) -> Pass:
            nonlocal seen
            moves = machine.step()
            seen = machine.evaluate()
            self.n_iter_ += 1
            return Pass(number, UNCOUNTED, moves, seen.primal)

        def ending(done: Pass) -> Status | None:
            # A recount must still agree: half of what rounding may take is left to it.
            if seen.gap <= (1.0 - 1e-6) * self.tol * seen.primal:
                return Status.converged
            return Status.budget if machine.stuck else None

        return run(one_pass, ending, self.max_iter, listeners)

    def _publish(self, problem: Problem, machines: list[GramDescent]) -> None:
        beta = np.column_stack([machine.y * machine.alpha for machine in machines])
        self.support_ = np.flatnonzero(beta.any(axis=1))
        self._support = Support().plus(problem.X[self.support_])
        self._coefficients = np.ascontiguousarray(beta[self.support_])
        self.dual_coef_ = self._coefficients.T.copy()
        codes = problem.codes[self.support_]
        self.n_support_ = np.bincount(codes, minlength=len(self.classes_)).astype(np.int32)

    def _recount(
        self, problem: Problem, machines: list[GramDescent], pool: Pool
    ) -> list[Evaluation]:
        """Both values of each machine from the multipliers kept, kernel values computed anew."""
        each = self._kernel.shared(pool.map)
        F = self._support.expand(self._kernel, problem.X, self._coefficients, each)
        own = self._kernel.rounding(problem.X, len(self.support_))
        size = own[self.support_] @ np.abs(self._coefficients)
        return [
            evaluate(one.alpha, F[:, k], one.y, one.caps, one.free, own * size[k])
            for k, one in enumerate(machines)
        ]

    @property
    def support_vectors_(self) -> Any:
        """The rows that carry a machine."""
        return self._support.all(self.n_features_in_)

    def _scores(self, X: Any) -> Array:
        require_finite(X, self)
        with Pool(self.n_jobs) as pool:
            return np.asarray(self._form().scores(X, pool.map))

    def _form(self) -> Any:
        return Expansion(self._support, self._coefficients, self.intercept_, self._kernel)

    def _restore(self, form: Any) -> None:
        self._support, self._coefficients = form.support, form.coefficients
        self.intercept_, self._kernel = form.intercept, form.kernel
        self.dual_coef_ = self._coefficients.T.copy()
        self.gamma_ = form.kernel.gamma
