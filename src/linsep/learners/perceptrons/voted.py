"""The voted perceptron: every separator met on the way has a say (Freund and Schapire, 1999)."""

from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from linsep.data.check.arrays import require_finite
from linsep.data.sources.learner_rows import by_block
from linsep.errors import ParameterError
from linsep.learners.base import LinearClassifier
from linsep.learners.fitting.parameters import one_of, positive
from linsep.learners.perceptrons.replay import traced
from linsep.model.expansion import Expansion, Votes
from linsep.parallel import Pool
from linsep.rows.kernels import Kernel, check_kernel, kernel_of
from linsep.status import Status
from linsep.train.order import seed_of
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener, Pass, run
from linsep.train.voted.corrections import Corrections, History, VotedPlanes, nothing_yet, votes
from linsep.train.voted.kernel_perceptron import KernelScores
from linsep.train.voted.running_average import RunningAverage

Array = npt.NDArray[Any]


class VotedPerceptron(LinearClassifier):
    """Let all separators of a perceptron run vote, each with the rows it survived.

    The online perceptron goes through separators w₀, w₁, ..., each living until its first mistake;
    cₙ counts the rows it got right until then. The decision is sgn Σ cₙ sgn(⟨wₙ, x⟩ + bₙ); with
    several classes (by Kesler's construct) each separator votes for its best class. Separators
    are stored as the list of corrections, and each corrected row once. With a kernel the same
    run happens in its feature space: ⟨wₙ, φ(x)⟩ is a sum of κ over the first n corrections.

    Parameters
    ----------
    max_iter : int
        Passes to make, unless one makes no mistakes.
    decide : {'vote', 'average', 'last'}
        The weighted vote; the single hyperplane Σ cₙwₙ; or the last separator. Without a kernel
        the latter two set `coef_` and `intercept_`.
    kernel : None, {'linear', 'poly', 'rbf'} or callable
        None for hyperplanes of X itself; the others as in `KernelPerceptron`.
    degree, gamma, coef0, cache_size
        Of the kernel, as in `KernelPerceptron`.
    trace : bool
        Record the corrections in `trace_`; with a kernel, which has no weights to write down, the
        passes.
    fit_intercept, shuffle, class_weight, n_jobs, random_state, callback, verbose
        As in `Perceptron`. Threads never change the result.

    Attributes
    ----------
    survival_ : (n_vectors_,) array
        The votes cₙ of each separator; w₀ = 0 comes first.
    n_vectors_ : int
        How many separators there are.
    mistakes_, mistakes_per_epoch_, status_, trace_, classes_, n_iter_, n_features_in_
        As in `Perceptron`.

    Examples
    --------
    >>> from linsep import VotedPerceptron
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> both = VotedPerceptron(shuffle=False).fit(X, [0, 0, 0, 1])
    >>> both.survival_
    array([0., 2., 0., 0., 1., 1., 0., 0., 2., 0., 1., 1., 1., 0., 0., 2., 0., 1., 6.])
    >>> both.decision_function(X)
    array([-1.        , -0.55555556, -0.11111111,  0.66666667])
    >>> VotedPerceptron(kernel="rbf", gamma=1).fit(X, [0, 1, 1, 0]).predict(X)
    array([0, 1, 1, 0])
    """

    _sparsifies = False

    _order_matters = True
    _resumable = ("_walk", "_history", "mistakes_", "mistakes_per_epoch_")

    def __init__(
        self,
        max_iter: int = 10,
        *,
        decide: str = "vote",
        kernel: Any = None,
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
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
        self.max_iter = max_iter
        self.decide = decide
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
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
        positive("max_iter", self.max_iter, whole=True)
        one_of("shuffle", self.shuffle, (True, False, "draw"))
        one_of("decide", self.decide, ("vote", "average", "last"))
        positive("cache_size", self.cache_size, zero=True)
        kernel = "linear" if self.kernel is None else self.kernel
        check_kernel(kernel, self.degree, self.gamma, self.coef0)

    def _reset(self, problem: Problem) -> None:
        planes = 1 if problem.binary else problem.n_classes
        self._corrections = nothing_yet(planes)
        self._average = RunningAverage(planes, problem.n_features) if self._single else None
        if self.kernel is None:
            self._kernel = Kernel("linear")
            self._planes = VotedPlanes(problem, float(self.fit_intercept))
        else:
            self._kernel = kernel_of(self.kernel, self.degree, self.gamma, self.coef0, problem.X)
        self.mistakes_ = 0
        self.mistakes_per_epoch_ = []

    def _train(self, problem: Problem, listeners: list[Listener]) -> Status:
        seed = seed_of(self.random_state)
        history = self._history = self._average or History(self._corrections)
        with Pool(self.n_jobs) as pool:
            walk = self._walk = self._begin(problem, pool)
            status = run(
                lambda epoch: self._pass(problem, walk, history, epoch, seed, self.shuffle),
                lambda done: Status.separated if done.updates == 0 and self._whole else None,
                self.max_iter,
                listeners,
                lambda: self._publish(history, problem, walk.votes[0]),
            )
        # That the last separator makes no mistakes says nothing of the vote.
        if status is Status.budget or (status is Status.separated and self.decide != "last"):
            status = Status.voted
        self._publish(history, problem, walk.votes[0])
        del self._walk, self._history  # they hold the rows
        return status

    @property
    def _whole(self) -> bool:
        """Whether a pass shows every row, so that one without corrections tells of all."""
        return self.shuffle != "draw"

    @property
    def _single(self) -> bool:
        """Whether one hyperplane decides, and no separator has to be remembered."""
        return self.kernel is None and self.decide != "vote"

    def _begin(self, problem: Problem, pool: Pool) -> VotedPlanes | KernelScores:
        if self.kernel is None:
            self._planes.fit_layout(problem)
            return self._planes
        return KernelScores(
            self._kernel,
            problem,
            self._corrections.support,
            self._corrections.merged(),
            float(self.fit_intercept),
            self.cache_size * 2**20,
            votes=self._corrections.survival[-1],
            each=pool.map,
        )

    def _pass(
        self,
        problem: Problem,
        walk: VotedPlanes | KernelScores,
        history: RunningAverage | History,
        epoch: int,
        seed: int,
        shuffle: bool,
    ) -> Pass:
        add: Any = history.add
        if isinstance(history, RunningAverage):
            add = partial(add, X=problem.X)
        add = traced(add, self._recorder, walk, problem, epoch)
        done = walk.one_pass(problem, seed, epoch, shuffle, add)
        self._count(done)
        return done

    def _publish(self, history: RunningAverage | History, problem: Problem, votes: float) -> None:
        self.n_iter_ = len(self.mistakes_per_epoch_)
        for name in ("coef_", "intercept_"):
            if hasattr(self, name):
                delattr(self, name)
        bias = float(self.fit_intercept)
        if isinstance(history, RunningAverage):
            self.survival_ = history.survival(votes, problem.X)
            coef, self.intercept_ = history.hyperplanes(votes, self.decide == "average", bias)
            self.coef_ = np.ascontiguousarray(coef, dtype=problem.X.dtype)
        else:
            self._corrections = history.corrections(problem.X, votes)
            self.survival_ = self._corrections.survival
            if self.decide != "vote":
                self._coefficients = self._corrections.merged(self._share())
                self.intercept_ = bias * self._coefficients.sum(axis=0)
        self.n_vectors_ = len(self.survival_)

    def _share(self) -> Array:
        """Of Σₙ cₙwₙ / Σ cₙ, or of the last separator: correction m is part of all from m + 1."""
        survival = self.survival_
        if self.decide == "average" and survival.any():
            return np.cumsum(survival[:0:-1])[::-1] / survival.sum()
        return np.ones(len(survival) - 1)

    def _scores(self, X: Any) -> Array:
        if self.decide != "vote" and self.kernel is None:
            return super()._scores(X)
        require_finite(X, self)
        with Pool(self.n_jobs) as pool:
            if self.decide == "vote":
                bias = float(self.fit_intercept)
                return votes(self._corrections, self._kernel, X, bias, pool.map)
            return np.asarray(self._form().scores(X, pool.map))

    def _form(self) -> Any:
        if self.decide == "vote":
            support, where, steps, survival = self._corrections
            bias = float(self.fit_intercept)
            return Votes(support, where, steps, survival, self._kernel, bias)
        if self.kernel is None:
            return super()._form()
        support = self._corrections.support
        return Expansion(support, self._coefficients, self.intercept_, self._kernel)

    def _restore(self, form: Any) -> None:
        if isinstance(form, Votes):
            self._corrections = Corrections(form.support, form.where, form.steps, form.survival)
            self._kernel = form.kernel
            self.survival_ = form.survival
            self.n_vectors_ = len(form.survival)
        elif isinstance(form, Expansion):
            self._corrections = nothing_yet(1)._replace(support=form.support)
            self._coefficients, self.intercept_ = form.coefficients, form.intercept
            self._kernel = form.kernel
        else:
            super()._restore(form)

    @by_block
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Go on learning from these rows, once, in the order given."""
        first = not hasattr(self, "_corrections")
        if not first and self._single != (self._average is not None):
            raise ParameterError(
                f"decide is {self.decide!r} now, for which other sums should have been kept from "
                "the first part on; set it before, or start again with fit."
            )
        return self._fit_part((X, y, classes, sample_weight), first, self._one_part)

    def _one_part(self, problem: Problem) -> Pass:
        history = self._average or History(self._corrections)
        with Pool(self.n_jobs) as pool:
            walk = self._begin(problem, pool)
            done = self._pass(problem, walk, history, 0, 0, shuffle=False)
        self._publish(history, problem, walk.votes[0])
        return done
