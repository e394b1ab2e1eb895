"""Why a fit did not reach its goal, where that is cheap to know."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.page_release import rows_of
from linsep.learners.fitting.certificates import sentence_of
from linsep.status import Status
from linsep.train.problem import Problem

if TYPE_CHECKING:
    from linsep.proofs.separability.certificate import Separability

Array = npt.NDArray[Any]

SMALL = 20_000  # numbers in X up to which the question is asked
TINY = 256  # numbers in X up to which it is asked after however few passes: 2 ms
EXACT_STEP = 8_000  # numbers presented in half the time of a step in exact arithmetic, 40 us
LIMITED = 50  # fewer passes are a limit that somebody has set
EARNED = 16  # times as long as after few passes a proof may take after many
SAMPLE = 4096  # rows from which the spread of columns is estimated
UNEVEN = 1e3  # a ratio of spreads that makes solvers slow
FACTORED = 2_000_000  # numbers in X up to which columns are searched for combinations
NAMED = 3  # columns named in one sentence, at most
SECONDS = 10.0  # a cap for a slow or cold machine; the answer takes milliseconds

_prover: ContextVar["Callable[..., Separability] | None"] = ContextVar("prover", default=None)


@contextmanager
def proved_by(prover: "Callable[..., Separability]") -> Iterator[None]:
    """Within, fits ask `prover` in place of `separability`: for callers that know more."""
    before = _prover.set(prover)
    try:
        yield
    finally:
        _prover.reset(before)


def separation(problem: Problem, classes: Array, fit_intercept: bool) -> "Separability | None":
    """Whether a separator exists, with its proof; None where that is not cheap to know.

    The proof speaks of the labels in `classes`, so that users can verify it with their own, and
    of planes through the origin where the learner has no intercept.
    """
    small = problem.n_rows * problem.n_features <= SMALL
    if not small or (problem.weights.size and not problem.weights.all()):
        return None
    from linsep.proofs.separability.linear_separability import (
        separability,  # long to import, and seldom asked
    )

    X = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    X = X.astype(np.float64)  # one kind of rows: its kernels serve all fits, and are compiled once
    labels = classes[problem.codes]
    proof = (_prover.get() or separability)(
        X, labels, fit_intercept=fit_intercept, time_limit=SECONDS, gap=np.inf
    )  # whether, and not how widely: bounds on the margin would cost far more than the fit
    return None if proof.separable is None else proof


def out_of_passes(
    problem: Problem, classes: Array, fit_intercept: bool, passes: int
) -> "tuple[Status, Separability | None]":
    """The status after so many passes with mistakes left, and the proof behind it.

    Exact arithmetic on d + 2 rows takes (d + 2)³ steps, each as long as to present thousands of
    numbers; most proofs take far fewer. Where few passes took less than half of that, a fit does
    not end with a proof; after many, whoever waited for them is told why they were in vain.
    """
    n, d = problem.n_rows, problem.n_features
    presented = passes * n * (d + 16) * (1 if passes < LIMITED else EARNED)
    brief = presented < EXACT_STEP * (d + 2) ** 3
    if brief and n * d > TINY:
        return Status.budget, None
    try:
        proof = separation(problem, classes, fit_intercept)
    except KeyboardInterrupt:
        return Status.interrupted, None
    if proof is None:
        return Status.budget, None
    return (Status.separable if proof.separable else Status.not_separable), proof


def explain(learner: Any, problem: Problem, status: Status) -> str | None:
    """One sentence with cause, number, consequence and fix, where a convex fit met trouble."""
    if status is Status.gap_left:
        return _gap_left(learner, problem)
    if status is Status.no_optimum:
        return (
            f"The classes are separable: all {problem.n_rows} rows can lie on their own side, so "
            "no finite optimum exists without a penalty and probabilities go to 0 and 1; the "
            "weights kept separate them. Set a finite C, for instance C=1.0."
        )
    if np.inf == learner.C and status is not Status.unproved:
        return _collinear(learner, problem)
    return sentence_of(learner, status, partial(_largest, learner, problem))


def _largest(learner: Any, problem: Problem) -> str:
    """Which column has the largest entries, judged by a sample of the rows."""
    part = rows_of(problem.X, np.arange(0, problem.n_rows, max(1, problem.n_rows // SAMPLE)))
    sizes = abs(part).max(axis=0)
    sizes = sizes.toarray().ravel() if sp.issparse(sizes) else sizes
    j = int(sizes.argmax())
    return f"column {_name(learner, j)} reaches {sizes[j]:.1e}"


def _gap_left(learner: Any, problem: Problem) -> str:
    met = (
        f"Stopped after {learner.n_iter_} of at most {learner.max_iter} passes with a duality gap "
        f"of {learner.gap_:.1e}, above tol={learner.tol:g}"
    )
    after = "so the objective may be too large by that part"
    uneven = _uneven(learner, problem)
    if uneven is not None:
        return f"{met}: {uneven}, {after}. Bring the features to one scale (linsep.Scaled does)."
    more = f"{met}, {after}."
    if learner.n_iter_ < learner.max_iter:
        return f"{more} No step made progress any more: lower C={learner.C:g}, or raise tol."
    return f"{more} Raise max_iter or tol, or lower C={learner.C:g}."


def _uneven(learner: Any, problem: Problem) -> str | None:
    """Which columns differ most in how much they vary, where that slows a solver down."""
    part = rows_of(problem.X, np.arange(0, problem.n_rows, max(1, problem.n_rows // SAMPLE)))
    with np.errstate(over="ignore", invalid="ignore"):
        if sp.issparse(part):
            part = part.astype(np.float64)
            squares = np.asarray(part.multiply(part).mean(axis=0)).ravel()
            spread = np.sqrt(np.maximum(0.0, squares - np.asarray(part.mean(axis=0)).ravel() ** 2))
        else:
            spread = part.std(axis=0, dtype=np.float64)
    spread = np.where(np.isfinite(spread), spread, 0.0)
    if not (spread > 0).any():
        return None
    most, least = int(spread.argmax()), int(np.where(spread > 0, spread, np.inf).argmin())
    ratio = spread[most] / spread[least]
    if ratio < UNEVEN:
        return None
    wide, narrow = _name(learner, most), _name(learner, least)
    return f"column {wide} varies {ratio:.0e} times as much as column {narrow}"


def _collinear(learner: Any, problem: Problem) -> str | None:
    """Which column is a combination of which others: a pivoted QR shows the first such."""
    if problem.X.shape[0] * problem.X.shape[1] > FACTORED:
        return None
    import scipy.linalg

    dense = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    peak = np.abs(dense).max(axis=0).astype(np.float64)
    Z = dense / np.where(peak > 0, peak, 1.0)
    Z -= Z.mean(axis=0) if learner.fit_intercept else 0.0
    size = np.abs(Z).max(axis=0)
    alive = np.flatnonzero(size > 1e-12)  # what varies less is a constant, up to rounding
    if not len(alive):
        return None
    Z = Z[:, alive] / size[alive]
    R, pivots = scipy.linalg.qr(Z, mode="r", pivoting=True, check_finite=False)
    levels = np.abs(np.diag(R))
    rank = int(np.sum(levels > 1e-10 * levels[0])) if levels[0] > 0 else 0
    if rank in (0, len(alive)):
        return None
    part = scipy.linalg.solve_triangular(R[:rank, :rank], R[:rank, rank])
    others = np.sort(alive[pivots[:rank][np.abs(part) > 1e-8]])
    names = [_name(learner, int(j)) for j in others[:NAMED]]
    if len(others) > NAMED:
        names.append(f"{len(others) - NAMED} more")
    return (
        f"Column {_name(learner, int(alive[pivots[rank]]))} is a combination of "
        f"{', '.join(names)}: {len(alive)} columns hold {rank} different ones, so without a "
        "penalty the data do not settle their weights, though they do the predictions. Drop a "
        "column, or set a finite C."
    )


def _name(learner: Any, j: int) -> str:
    names = getattr(learner, "feature_names_in_", None)
    encoding = getattr(learner, "encoding_", None)
    if names is None and encoding is not None:
        names = encoding.feature_names
    return str(j) if names is None else repr(str(names[j]))
