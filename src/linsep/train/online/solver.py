"""All hyperplanes of a learner, trained together or each on its own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans
from linsep.parallel import in_order
from linsep.rows.int8_screen import FEWEST, int8_screen
from linsep.rows.rows import CSR, WIDEST, Dense
from linsep.train.online.batch import batch_pass
from linsep.train.online.method import Method
from linsep.train.online.minibatch import minibatch_pass
from linsep.train.online.tally import MISTAKES, SEEN
from linsep.train.online.trainer import Trainer, row_pass
from linsep.train.problem import Problem
from linsep.train.run.loop import Pass
from linsep.train.run.state import Stateful
from linsep.train.run.trace import Trace

Array = npt.NDArray[Any]

WORTH = 4  # passes that repay a screen of dense rows
NEAR = 1 << 18  # weights that fit near the processor
SMALL = 1 << 16  # numbers in the rows from which on hyperplanes are shared out among threads

PASSES: dict[str, Callable[[Trainer, Method, Problem, int, Trace | None], Pass]] = {
    "row": row_pass,
    "minibatch": minibatch_pass,
    "pass": batch_pass,
}


class OnlineSolver(Stateful):
    """All hyperplanes of a learner: one `Trainer`, or with one-vs-rest one per class.

    The hyperplanes of one-vs-rest know nothing of each other, so threads share them out, and one
    that made no mistakes in a pass is left alone from then on: it never will again.

    Parameters
    ----------
    problem : what is being learned
    keep : 'last', 'average' or 'pocket'
    bias : square of the constant feature
    kesler : several classes by Kesler's construct, not one against the rest
    grouped : whether hyperplanes of sparse rows may share their visits to a row
    passes : about how many there will be
    """

    state_names = ("trainers", "done")

    def __init__(
        self,
        problem: Problem,
        keep: str,
        bias: float,
        kesler: bool,
        grouped: bool = False,
        passes: int = 1,
    ) -> None:
        self.often = passes >= WORTH
        self.n_jobs = problem.n_jobs if problem.entries >= SMALL else 1
        self.apart = not (problem.binary or kesler)
        self.grouped = self.apart and grouped and isinstance(problem.rows, CSR) and keep != "pocket"
        if self.grouped:
            # One visit to a sparse entry serves many classes. Weights that do not fit near the
            # processor are not shared out among threads: each would fetch as many cache lines.
            K = problem.n_classes
            near = problem.n_features * K <= NEAR
            most = min(WIDEST, -(-K // problem.n_jobs)) if near else WIDEST
            self.trainers = [
                Trainer(problem, keep, bias, k, min(most, K - k)) for k in range(0, K, most)
            ]
        elif self.apart:
            parts = problem.one_vs_rest()
            self.trainers = [Trainer(part, keep, bias, k) for k, part in enumerate(parts)]
        else:
            self.trainers = [Trainer(problem, keep, bias)]
        self.done = [False] * len(self.trainers)

    @property
    def n_planes(self) -> int:
        """How many hyperplanes there are."""
        return sum(len(trainer.planes.b) for trainer in self.trainers)

    @property
    def moved(self) -> float:
        """The norm of the last correction by all rows."""
        return float(np.sqrt(sum(trainer.moved**2 for trainer in self.trainers)))

    @property
    def progressive_loss(self) -> tuple[int, int]:
        """Presentations, and mistakes among those of the last pass; for one hyperplane."""
        tally = self.trainers[0].tally
        return int(tally[SEEN]), int(tally[MISTAKES])

    def _problems(self, problem: Problem) -> list[Problem]:
        if self.apart and not self.grouped:
            return problem.one_vs_rest()
        return [problem] * len(self.trainers)

    def start_at(self, coef: Array, intercept: Array) -> None:
        """Begin from these (K, d) weights and (K,) intercepts instead of zero."""
        for trainer in self.trainers:
            first = trainer.first or 0
            mine = slice(first, first + len(trainer.planes.b))
            trainer.start_at(coef[mine], intercept[mine])

    def fit_layout(self, problem: Problem) -> None:
        """Carry the weights over when later rows come in another layout."""
        self.done = [False] * len(self.trainers)
        for trainer in self.trainers:
            trainer.fit_layout(problem)
            trainer.total = problem.total
        problem.widen(self.trainers[0].planes.W.dtype)

    def one_pass(self, problem: Problem, method: Method, trace: Trace | None, epoch: int) -> Pass:
        """One pass of every hyperplane that still makes mistakes, and what they did together."""
        jobs = zip(self.trainers, self._problems(problem), strict=True)
        active = [(k, *job) for k, job in enumerate(jobs) if not self.done[k]]
        if (
            epoch == 1
            and self.often
            and self.trainers[0].binary
            and isinstance(problem.rows, Dense)
            and problem.entries >= FEWEST
        ):
            screen = int8_screen(problem.rows.X, problem.n_jobs)
            for trainer in self.trainers:
                trainer.row_screen = screen

        def one(job: tuple[int, Trainer, Problem]) -> Pass:
            _, trainer, part = job
            made = PASSES[method.after](trainer, method, part, epoch, trace)
            trainer.fill_pocket(part, epoch)
            return made

        # A recording has one order of events; and threads cost more than a short pass.
        n_jobs = problem.n_jobs if trace is None and problem.entries >= SMALL else 1
        together = map(one, active) if n_jobs == 1 else in_order(one, active, n_jobs, problem.halt)
        passes = list(together)
        for (k, _, _), made in zip(active, passes, strict=True):
            self.done[k] = made.updates == 0
        seen = max(trainer.seen for trainer in self.trainers)
        for trainer in self.trainers:  # a mean is over all presentations, also of those left alone
            trainer.tally[SEEN] = seen
            problem.require_in_range(trainer.planes.W, trainer.planes.b)
        return Pass(
            epoch,
            sum(p.mistakes for p in passes),
            sum(p.updates for p in passes),
            sum(p.loss for p in passes),
            passes[0].eta,
        )

    def part_pass(self, problem: Problem, method: Method, trace: Trace | None) -> Pass:
        """`one_pass` over rows that come in parts, in whatever layout these come."""
        self.fit_layout(problem)
        if trace is not None:
            trace.begin(*self.now())
        return self.one_pass(problem, method, trace, 0)

    def misplaced(self, problem: Problem) -> float:
        """The weight of rows that the kept hyperplanes do not put strictly on their own side."""
        return sum(
            trainer.misplaced(part, *trainer.kept())
            for trainer, part in zip(self.trainers, self._problems(problem), strict=True)
        )

    def misplaced_now(self, problem: Problem) -> float:
        """The same for the hyperplanes as they stand."""
        return sum(
            trainer.misplaced(part, trainer.planes.W, trainer.planes.b)
            for trainer, part in zip(self.trainers, self._problems(problem), strict=True)
        )

    def set_bias(self, square: float) -> None:
        """Let the constant feature that stands for the bias have this square from now on."""
        for trainer in self.trainers:
            trainer.planes.bias = square

    def rest(self) -> None:
        """Give back the memory of what only saves time, at the end of a fit."""
        for trainer in self.trainers:
            trainer.rest()

    def now(self) -> tuple[Array, Array]:
        """The hyperplanes as they stand, whatever will be kept of them."""
        planes = [trainer.planes for trainer in self.trainers]
        coef = np.concatenate([one.by_class(one.W) for one in planes])
        return coef, np.concatenate([one.b for one in planes])

    def kept(self) -> tuple[Array, Array]:
        """The hyperplanes to keep, as (K, d) weights and (K,) intercepts."""
        intercept = np.concatenate([trainer.kept_biases() for trainer in self.trainers])
        planes = self.trainers[0].planes
        coef = np.empty((len(intercept), planes.by_class(planes.W).shape[1]), planes.W.dtype)

        def fill(span: tuple[int, int]) -> None:  # near each other in both orders
            for trainer in self.trainers:
                trainer.hand_out(coef, *span)

        if self.n_jobs == 1:
            fill((0, coef.shape[1]))
        else:
            for _ in in_order(fill, spans(coef.shape[1]), self.n_jobs):
                pass
        return coef, intercept.astype(coef.dtype)
