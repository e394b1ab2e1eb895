"""Which solver a multinomial logistic regression is left to."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import ParameterError
from linsep.train.convex.basis import better_basis
from linsep.train.convex.classes.class_sums import ClassProblem
from linsep.train.convex.drive import Solver
from linsep.train.convex.handover import Handover
from linsep.train.convex.row_space import InRowSpace
from linsep.train.convex.solution import Solution
from linsep.train.convex.solvers.lbfgs import LBFGS
from linsep.train.convex.solvers.newton_classes import NewtonClasses

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WEIGHTS = 800  # in all classes together, up to which a matrix of their products is cheap
MOST = 3000  # and up to which it is made where nothing else ends, or gives all digits


def softmax_solver(
    X: Any,
    codes: Array,
    weights: Floats | None = None,
    C: float = 1.0,
    *,
    n_classes: int,
    fit_intercept: bool = True,
    tol: float = 1e-4,
    n_jobs: int | None = None,
    start: tuple[Array, Array] | None = None,
    alpha: Array | None = None,
) -> Solver:
    """Newton's method for ½‖W‖² + C Σ cᵢ × softmax loss: by Hessians where these are cheap, or
    nothing else gives all digits, and otherwise by L-BFGS with a first guess at them.

    Parameters
    ----------
    X : checked C-contiguous float32 or float64 array, or CSR matrix
    codes : class number of each row
    weights : cᵢ ≥ 0, or None where each row counts once
    C : weight of the losses; infinity stands for no penalty
    n_classes : how many classes there are
    fit_intercept : whether the intercepts are free; otherwise they are 0
    tol, n_jobs, start, alpha : as of `LBFGS`

    Examples
    --------
    >>> from linsep.train.convex.drive import solve
    >>> X, codes = np.array([[0.0], [1.0], [2.0], [0.5]]), np.array([0, 1, 2, 1])
    >>> solution = solve(softmax_solver, X, codes, n_classes=3, tol=1e-10)
    >>> solution.w.round(4).ravel(), solution.status.name
    (array([-0.599 , -0.1242,  0.7232]), 'converged')
    """
    if not C > 0:
        raise ParameterError(f"C is {C!r}; it must be positive, or infinite for no penalty.")
    settings = np.asarray(codes), weights, float(C), n_classes, bool(fit_intercept)
    if sp.issparse(X):
        return LBFGS(ClassProblem.of(X, *settings), tol, n_jobs, start, alpha)
    basis = better_basis(X, C, fit_intercept)
    if basis is None:
        return _by_shape(ClassProblem.of(X, *settings), tol, n_jobs, start)
    if start is not None:
        start = basis.inside(start[0], np.asarray(start[1]))
    inner = ClassProblem.of(basis.Z, *settings)
    return InRowSpace(_by_shape(inner, tol, n_jobs, start), basis)


def _by_shape(
    problem: ClassProblem, tol: float, n_jobs: int | None, start: tuple[Array, Array] | None
) -> Solver:
    size = problem.K * (problem.design.d + 1)
    if size <= (WEIGHTS if problem.penalised else MOST):
        return NewtonClasses(problem, n_jobs, start)
    descent = LBFGS(problem, tol, n_jobs, start)
    if size > MOST:
        return descent

    def newton(at: Solution) -> Solver:
        return NewtonClasses(problem.rescaled() or problem, n_jobs, (at.w, at.b))

    return Handover(descent, newton)
