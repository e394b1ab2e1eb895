"""Which solver Crammer and Singer's machine is left to, by what each would cost.

Costs are counted in operations, never by the clock, so that the same data meets the same solver on
every machine. Measured: 178 x 13 raw columns, 3 classes: 13 steps in 3 ms, descent leaves a gap of
0.99 after 1,000 passes; 1,797 x 64 pixels, 10 classes: 28 steps, descent leaves 6e-4; 20,000 x 16,
26 classes: descent 152 passes, the steps would be 50 and cost twice as much. Where weights are too
many for steps and rows are dense and wide, descent crawls as well, and an augmented Lagrangian with
Newton steps begins: 60,000 x 784 pixels, 10 classes: 20 s, descent leaves a gap after minutes. Its
equations are the worse the nearer weights come to rows in number, and without intercepts passes
over weights and multipliers in turn are then quicker: 50,000 x 384, 768 and 1,536 embeddings of 100
classes 25, 50 and 59 s on two cores, against 47 s and two that do not end. With far more weights,
as where classes are many, descent on lists of classes does not crawl: 20,000 x 768, 1,000 classes:
340 passes. Where rows are too many to be written out for the interior point method, and weights
few, a softened loss takes Newton steps: 581,012 x 54 raw columns, 7 classes: 11 s on two cores,
where descent leaves 6e-3 after three minutes. Where the penalty is weak as well, it takes them on
wide rows: 60,000 x 784 raw pixels, 10 classes: 170 s, the augmented Lagrangian leaves gaps; at
7,291 x 256 and a mean of C‖x‖² of 2.1e4 6 s on one core, the interior point method leaves a gap of
0.9 after 30 s.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster
from linsep.train.convex.drive import Solver
from linsep.train.convex.handover import Handover
from linsep.train.convex.joint.augmented_lagrangian import WIDE, AugmentedLagrangian
from linsep.train.convex.joint.descent.crammer_singer import CrammerSinger
from linsep.train.convex.joint.descent.listed_descent import ListedDescent
from linsep.train.convex.joint.interior_point import JointInteriorPoint
from linsep.train.convex.joint.primal_dual import PrimalDual
from linsep.train.convex.joint.softened.softened_cg import LARGEST, SoftenedNewtonCG
from linsep.train.convex.joint.softened.softened_newton import SoftenedNewton
from linsep.train.convex.sampling import scattered
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]

# Costs in nanoseconds of one core: estimates, of which only the ratios matter.
PAIR, CUBE, NUMBER, STEP = 0.06, 0.05, 15.0, 1.5e5  # of a step: n·pairs, M³, n·K, the step
ENTRY, ROW, CALL = 0.5, 150.0, 2e5  # of a pass of descent: nnz·K, each row, the pass
STEPS = {True: 15, False: 50}  # of the interior point method, where rows are few or many
FEW = 1 << 16  # rows times classes up to which they are few
AT_ONCE = 100.0  # passes of descent that are not worth waiting for, where steps cost no more
AT_ALL = 5e9  # what a step may cost at most
SPARE = 8.0  # weights for each row from which descent on lists of classes begins
FILLED = 0.25  # weights for each row from which passes over weights and multipliers begin
WRITTEN = 1 << 24  # entries up to which rows are written out for steps
WEAK = 1e3  # mean of Uᵢ‖xᵢ‖² from which the penalty is weak
GLANCED_AT = 4096  # rows that it is the mean of


def joint_solver(
    X: Any,
    codes: Array,
    weights: Array | None,
    C: float,
    *,
    which: str = "auto",
    n_classes: int,
    fit_intercept: bool,
    max_iter: int,
    n_jobs: int | None = None,
    seed: int = 0,
    start: tuple[Array, Array] | None = None,
) -> Solver:
    """The solver for 'auto' or 'dual'; begin at multipliers and intercepts, if any."""
    shared: dict[str, Any] = {
        "n_classes": n_classes, "fit_intercept": fit_intercept, "n_jobs": n_jobs
    }  # fmt: skip

    def descent(at: tuple[Array, Array] | None) -> CrammerSinger:
        return CrammerSinger(X, codes, weights, C, max_iter=max_iter, seed=seed, start=at, **shared)

    one_pass, steps = costs(X, n_classes, fit_intercept)
    if which == "auto" and steps <= AT_ONCE * one_pass:
        return JointInteriorPoint(X, codes, weights, C, start=start, **shared)
    given: dict[str, Any] = {"n_classes": n_classes, "n_jobs": n_jobs}
    dense = not (sp.issparse(X) or on_cluster(X))
    bare = which == "auto" and dense and not fit_intercept

    def newton(at: tuple[Array, Array] | None) -> AugmentedLagrangian:
        return AugmentedLagrangian(X, codes, weights, C, start=at, **shared)

    if bare and followed(X, weights, C, n_classes):
        follow = SoftenedNewtonCG(X, codes, weights, C, start=start, **given)

        def after(at: Solution) -> Solver:
            if steps < np.inf:
                return JointInteriorPoint(X, codes, weights, C, **shared)
            return newton((at.alpha, at.b) if at.dual > 0.0 else start)

        return Handover(follow, after)
    if which == "auto" and dense and steps == np.inf and X.shape[1] >= WIDE:
        spare = n_classes * X.shape[1] / X.shape[0]
        if fit_intercept or spare < FILLED:
            return Handover(newton(start), lambda at: descent((at.alpha, at.b)))

        def turns(at: tuple[Array, Array] | None) -> PrimalDual:
            return PrimalDual(X, codes, weights, C, max_iter=max_iter, start=at, **given)

        if spare < SPARE:
            return Handover(turns(start), lambda at: newton((at.alpha, at.b)))
        listed = ListedDescent(X, codes, weights, C, start=start, seed=seed, **given)
        return Handover(listed, lambda at: turns((at.alpha, at.b)))
    if bare and tall(X, n_classes):
        softened = SoftenedNewton(X, codes, weights, C, start=start, **given)
        return Handover(softened, lambda at: descent((at.alpha, at.b)))
    if which == "dual" or steps == np.inf:
        return descent(start)
    return Handover(
        descent(start),
        lambda at: JointInteriorPoint(X, codes, weights, C, **shared),
        steps / one_pass,
    )


def costs(X: Any, n_classes: int, free: bool) -> tuple[float, float]:
    """Of a pass of descent, and of all steps of the interior point method.

    >>> one_pass, steps = costs(np.zeros((150, 4)), 3, True)
    >>> bool(steps < AT_ONCE * one_pass), costs(np.zeros((4000, 800)), 20, True)[1]
    (True, inf)
    """
    n, K, D = X.shape[0], float(n_classes), float(X.shape[1] + free)
    entries = float(X.nnz if sp.issparse(X) else X.shape[0] * X.shape[1])
    one_pass = ENTRY * entries * K + ROW * n + CALL
    step = _step(n, K, D)
    if n * D > WRITTEN or step > AT_ALL:
        return one_pass, float(np.inf)
    return one_pass, STEPS[n * K <= FEW] * step


def tall(X: Any, n_classes: int) -> bool:
    """Whether rows are too many to be written out, and a matrix of all weights can be made.

    >>> tall(np.empty((10, 54)), 7), tall(np.broadcast_to(0.0, (600_000, 54)), 7)
    (False, True)
    """
    n, d = X.shape
    return n * d > WRITTEN and _step(n, float(n_classes), float(d)) <= AT_ALL


def followed(X: Any, weights: Array | None, C: float, n_classes: int) -> bool:
    """Whether rows are wide and more than weights, a matrix of which can be made, and the penalty
    is weak: then the optimum of a softened loss is followed.

    >>> X = np.ones((1000, 200))
    >>> followed(X, None, 1.0, 3), followed(X, None, 10.0, 3), followed(X, None, 10.0, 6)
    (False, True, False)
    """
    n, d = X.shape
    if d < WIDE or (n_classes - 1) * d > LARGEST or n < n_classes * d:
        return False
    some = scattered(n, GLANCED_AT)
    x = np.asarray(X[some], np.float64)
    caps = np.full(len(some), float(C)) if weights is None else C * np.asarray(weights, float)[some]
    return bool(np.mean(caps * np.einsum("ij,ij->i", x, x)) > WEAK)


def _step(n: int, K: float, D: float) -> float:
    """What a step with the matrix of all weights costs."""
    pairs = K * (K + 1) * D * (D + 1) / 4
    return PAIR * n * pairs + CUBE * (K * D) ** 3 + n * K * (NUMBER + D) + STEP
