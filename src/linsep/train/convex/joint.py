"""Which solver Crammer and Singer's machine is left to, by what each would cost.

Costs are counted in operations, never by the clock, so that the same data meets the same solver on
every machine. The interior point method serves where weights are few, whatever the scale of the
columns: 178 x 13 raw columns, 3 classes: 13 steps in 3 ms, descent leaves a gap of 0.99 after 1,000
passes. Where weights are too many for its steps and rows are dense and wide, descent crawls as
well, and an augmented Lagrangian with Newton steps begins. Descent serves sparse rows, and dense
ones while its gap falls: 7,291 x 256 pixels, 10 classes: 2 s, the augmented Lagrangian 6 s.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster
from linsep.train.convex.classes.joint_problem import JointProblem
from linsep.train.convex.drive import Solver
from linsep.train.convex.handover import Handover
from linsep.train.convex.solvers.augmented_lagrangian import AugmentedLagrangian
from linsep.train.convex.solvers.joint_descent import JointDescent
from linsep.train.convex.solvers.joint_interior_point import JointInteriorPoint

Array = npt.NDArray[Any]

# Costs in nanoseconds of one core: estimates, of which only the ratios matter.
PAIR, CUBE, NUMBER, STEP = 0.06, 0.05, 15.0, 1.5e5  # of a step: n·pairs, M³, n·K, the step
ENTRY, ROW, CALL = 0.5, 150.0, 2e5  # of a pass of descent: nnz·K, each row, the pass
STEPS = {True: 15, False: 50}  # of the interior point method, where rows are few or many
FEW = 1 << 16  # rows times classes up to which they are few
AT_ONCE = 100.0  # passes of descent that are not worth waiting for, where steps cost no more
AT_ALL = 5e9  # what a step may cost at most
WRITTEN = 1 << 24  # entries up to which rows are written out for steps
WIDE = 160  # features from which descent crawls on dense rows


def joint_solver(
    problem: JointProblem,
    *,
    which: str = "auto",
    max_iter: int = 1000,
    n_jobs: int | None = None,
    seed: int = 0,
    start: tuple[Array, Array] | None = None,
) -> Solver:
    """The solver for 'auto' or 'dual'; begin at multipliers and intercepts, if any."""

    def descent(at: tuple[Array, Array] | None) -> JointDescent:
        return JointDescent(problem, max_iter, seed, at, n_jobs)

    one_pass, steps = costs(problem.X, problem.n_classes, problem.intercept)
    if which == "auto" and steps <= AT_ONCE * one_pass:
        return JointInteriorPoint(problem, n_jobs, start)
    inside = JointInteriorPoint(problem, n_jobs)
    dense = not (sp.issparse(problem.X) or on_cluster(problem.X))
    if which == "auto" and dense and steps == np.inf and problem.X.shape[1] >= WIDE:
        newton = AugmentedLagrangian(problem, n_jobs, start)
        return Handover(newton, lambda at: descent((at.alpha, at.b)))
    if which == "dual" or steps == np.inf:
        return descent(start)
    return Handover(descent(start), lambda at: inside, steps / one_pass)


def costs(X: Any, n_classes: int, free: bool) -> tuple[float, float]:
    """Of a pass of descent, and of all steps of the interior point method.

    >>> one_pass, steps = costs(np.zeros((150, 4)), 3, True)
    >>> bool(steps < AT_ONCE * one_pass), costs(np.zeros((4000, 800)), 20, True)[1]
    (True, inf)
    """
    n, K, D = X.shape[0], float(n_classes), float(X.shape[1] + free)
    entries = float(X.nnz if sp.issparse(X) else X.shape[0] * X.shape[1])
    one_pass = ENTRY * entries * K + ROW * n + CALL
    step = PAIR * n * K * (K + 1) * D * (D + 1) / 4 + CUBE * (K * D) ** 3
    step += n * K * (NUMBER + D) + STEP
    if n * D > WRITTEN or step > AT_ALL:
        return one_pass, float(np.inf)
    return one_pass, STEPS[n * K <= FEW] * step
