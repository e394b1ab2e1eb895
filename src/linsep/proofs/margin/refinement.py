"""From any separator towards the widest one, with a bound on how much is still to be gained."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.proofs.halfspaces.separator import centred
from linsep.proofs.margin.exact_margin import polish
from linsep.proofs.margin.max_margin_qp import Hulls, hulls

Array = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_NUMBERS = 2e7  # entries of the working set
_UNKNOWNS = 4000


class RefinedMargin(NamedTuple):
    """The widest separator found, and multipliers that bound every margin.

    `multipliers` are whole and exact, for the constraints `ids`, where they are known.
    """

    v: Floats
    ids: Array
    alpha: Floats
    multipliers: list[int] | None = None


def refine(
    problem: Halfspaces,
    v: Floats,
    gap: float,
    rounds: int = 30,
    out_of_time: Callable[[], bool] = bool,
) -> RefinedMargin | None:
    """Widen the separator `v` until it is within `gap` (relative) of the best possible.

    A working set of the rows nearest to the plane; rows that the result overlooks join it.

    Examples
    --------
    >>> X, codes = np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1])
    >>> solved = refine(Halfspaces.of(X, codes), np.array([1.0, -1.5]), 1e-9)
    >>> w, b = solved.v
    >>> round(float(-b / w), 6), solved.alpha.round(6).tolist()
    (2.0, [0.0, 0.5, 0.5])
    """
    best_v, lowest = v, _margin(problem, v)[0]
    best: RefinedMargin | None = None
    narrowest = np.inf
    ids = _nearest(problem, v)
    active = ids[:0]
    for _ in range(rounds):
        solved = _solve(problem, ids, gap / 8, out_of_time)
        if solved is None:
            break
        v = centred(problem, solved.v)
        lower, z = _margin(problem, v)
        if lower > lowest:
            best_v, lowest = v, lower
        if solved.reach < narrowest:
            narrowest, best = solved.reach, RefinedMargin(best_v, ids, solved.alpha)
            active = ids[solved.active]
        if lowest >= (1 - gap) * narrowest or out_of_time():
            break
        overlooked = np.flatnonzero(z < (1 - gap / 4) * solved.reach)
        overlooked = np.setdiff1d(overlooked, ids)
        if not len(overlooked):
            break
        order = np.argsort(z[overlooked], kind="stable")
        grown = np.union1d(ids, overlooked[order][: max(200, len(ids) // 2)])
        size = len(grown) * problem.blocks * len(problem.columns_of(grown))
        if size > max(_NUMBERS, problem.stored):
            break
        ids = grown
    if best is None:
        return None
    best = best._replace(v=best_v)
    return best if lowest >= (1 - gap) * narrowest else _polished(problem, best, lowest, active)


def _polished(
    problem: Halfspaces, best: RefinedMargin, lowest: float, active: Array
) -> RefinedMargin:
    """The exact optimum on the rows that seem to determine it, as far as it is an improvement."""
    polished = polish(problem, active)
    if polished is None:
        return best
    v = centred(problem, polished.v)
    if not _margin(problem, v)[0] > lowest:
        v = best.v
    return RefinedMargin(v, polished.ids, np.array([]), polished.multipliers)


def _margin(problem: Halfspaces, v: Floats) -> tuple[float, Floats]:
    """The margin of v in floats, in original units, and the distances of all constraints."""
    V = v.reshape(problem.blocks, -1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        length = float(np.linalg.norm(np.ldexp(V[:, :-1], -problem.exponents)))
        if not (length > 0 and np.isfinite(length)):
            return -np.inf, np.full(problem.n_rows, np.inf)
        z = problem.values(v) / length
    return float(z.min()), z


def _nearest(problem: Halfspaces, v: Floats) -> Array:
    """The constraints nearest to the plane, of every class: a start, which violators join."""
    most = max(300, min(problem.dimension // 2, 1000))
    everything = problem.all()
    if len(everything) <= 2 * most:
        return everything
    z = problem.values(v)
    own = problem.codes if problem.n_classes == 2 else np.repeat(problem.codes, problem.n_classes)
    chosen = []
    for k in range(problem.n_classes):  # every class must be there
        members = np.flatnonzero((own == k) & np.isfinite(z))
        count = min(len(members), max(2, most // problem.n_classes))
        chosen.append(members[np.argpartition(z[members], count - 1)[:count]])
    return np.sort(np.concatenate(chosen))


class _Solved(NamedTuple):
    v: Floats
    alpha: Floats
    active: npt.NDArray[np.bool_]
    reach: float


def _solve(
    problem: Halfspaces, ids: Array, gap: float, out_of_time: Callable[[], bool]
) -> _Solved | None:
    """The widest v on the constraints `ids`, its multipliers, and the margin they bound."""
    columns = problem.columns_of(ids)
    exponents = problem.exponents[columns]
    top = int(exponents.max(initial=0)) if problem.extreme_scale else 0
    F = np.ldexp(problem.features(ids, columns), exponents - top)  # true proportions again
    centre = F.mean(axis=0) * problem.constant
    F -= centre
    scale = int(np.frexp(np.abs(F).max(initial=0))[1])
    M = problem.expand(ids, np.ldexp(F, -scale))
    penalty = problem.penalty(len(columns))
    weights, biases = np.flatnonzero(penalty), np.flatnonzero(penalty == 0)
    biases = biases if problem.fit_intercept else biases[:0]
    basis = None
    part = M[:, weights]
    if len(weights) > len(ids):  # fewer rows than columns: a rotation moves all into few of them
        basis, triangle = np.linalg.qr(part.T)
        part = triangle.T
    if part.shape[1] > _UNKNOWNS:
        return None
    rows = np.ascontiguousarray(np.hstack([part, M[:, biases]]))
    mask = np.append(np.ones(part.shape[1]), np.zeros(len(biases)))
    widest: Hulls | None = hulls(rows, mask, gap, out_of_time)
    if widest is None:
        return None
    v = np.zeros(len(penalty))
    u = widest.v[: part.shape[1]]
    v[weights] = u if basis is None else basis @ u
    v[biases] = widest.v[part.shape[1] :]
    V = v.reshape(problem.blocks, -1)
    # f = (x/2^top - centre)/2^scale: back to the scaled columns of the problem
    V[:, -1] -= np.ldexp(V[:, :-1], -scale) @ centre
    V[:, :-1] = np.ldexp(V[:, :-1], -scale + exponents - top)
    reach = float(np.linalg.norm(mask * (rows.T @ widest.alpha)))
    reach = float(np.ldexp(reach, scale + top))
    return _Solved(problem.spread(V, columns), widest.alpha, widest.active, reach)
