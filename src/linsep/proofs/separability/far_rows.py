"""Separability of rows that lie on a cluster: some rows here, all rows asked.

The prover works on a few rows. If no plane separates these, none separates all, and the rows that
show it are the proof. If one does, every block says, exactly, how far its rows lie from that plane
on their own side; the worst of them join the few, and the prover goes on, until no row of any
block is on the wrong side and the margin is about as wide as that of the few, which no plane for
all rows exceeds.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans
from linsep.parallel import Pool, one_thread
from linsep.proofs.exact.scores import (
    Plane,
    least,
    least_difference,
    root_below,
)  # fmt: skip
from linsep.proofs.separability.certificate import Separability, fingerprint
from linsep.proofs.separability.prover import Prover

Array = npt.NDArray[Any]

FIRST = 4096  # rows to begin with
JOIN = 1024  # rows that join at a time, at least
PER_FEATURE = 4  # and for each feature
ROUGH = 0.1  # how near the margin should come to that of the few rows, unless asked
MOST = 60  # rounds, at most


class Leads(NamedTuple):
    """Of the rows of a block: the exact least lead, and the rows with small ones."""

    least: Fraction
    rows: Array
    leads: Array


class Measure:
    """How far rows are on their own side of planes, block by block.

    Parameters
    ----------
    X, codes : rows on a cluster, and their classes
    W, b : one plane of two classes, or one for each class
    count : rows with small leads that a block names, at most
    """

    def __init__(self, X: Any, codes: Array, W: Array, b: Array, count: int) -> None:
        self.X, self.codes, self.W, self.b, self.count = X, codes, W, b, count

    def __call__(self, span: tuple[int, int]) -> Leads:
        rows, codes = self.X[slice(*span)], self.codes[slice(*span)]
        with np.errstate(all="ignore"):
            S = np.asarray(rows.astype(np.float64) @ self.W.T) + self.b
            if len(self.W) == 1:
                signs = np.where(codes == 1, 1, -1)
                lead = signs * S[:, 0]
                exact = least(rows, signs, self.W[0], float(self.b[0]))
            else:
                own = S[np.arange(len(S)), codes]
                S[np.arange(len(S)), codes] = -np.inf
                lead = own - S.max(axis=1)
                exact = least_difference(rows, codes, self.W, self.b)
        some = np.argsort(lead, kind="stable")[: self.count]
        return Leads(exact, some + span[0], lead[some])


def all_leads(X: Any, codes: Array, W: Array, b: Array, count: int = 0) -> Leads:
    """The exact least lead of all rows, and `count` rows with the smallest."""
    with Pool(1) as pool:
        each = pool.map(Measure(X, codes, W, b, count), spans(X.shape[0]))
    rows, leads = (np.concatenate([one[k] for one in each]) for k in (1, 2))
    some = np.argsort(leads, kind="stable")[:count]
    return Leads(min(one.least for one in each), rows[some], leads[some])


def planes_of(proof: Separability) -> tuple[Array, Array]:
    """Weights (K, d) and biases (K,) of a separator, K = 1 for two classes."""
    W = np.atleast_2d(np.asarray(proof.weights, np.float64))
    return W, np.array(np.broadcast_to(np.asarray(proof.bias, np.float64), (len(W),)))


def prove_far(
    X: Any,
    classes: Array,
    codes: Array,
    fit_intercept: bool,
    late: Callable[[], bool],
    gap: float | None,
) -> Separability:
    """What `linsep.separability` says of rows on a cluster."""
    n, d = X.shape
    start = Separability(None, None, classes, X.shape, fit_intercept=fit_intercept)
    start = replace(start, fingerprint=fingerprint(X, codes))
    firsts = [int(np.argmax(codes == k)) for k in range(len(classes))]
    some = np.unique(np.append(np.arange(min(n, FIRST)) * n // min(n, FIRST), firsts))
    near, join = ROUGH if gap is None else gap, max(JOIN, PER_FEATURE * d)
    best = start
    for _ in range(MOST):
        few, own = X[some], np.asarray(codes[some])
        with one_thread, np.errstate(all="ignore"):
            here = replace(start, shape=few.shape)
            proof = Prover(few, own, here, late, min(near, ROUGH)).run()
        if proof.separable is False:
            return _impossible(proof, start, some)
        if proof.separable is None or proof.plane is not None:
            break
        W, b = planes_of(proof)
        leads = all_leads(X, codes, W, b, join)
        upper = min(best.margin_upper, proof.margin_upper)
        square = sum((Plane(row, 0.0).square() for row in W), Fraction(0)) * (
            1 if len(W) == 1 else 2
        )
        margin = root_below(leads.least**2 / square) if leads.least > 0 else 0.0
        if margin > best.margin:
            best = replace(
                start, separable=True, quasi_separable=False, weights=proof.weights,
                bias=proof.bias, margin=margin,
            )  # fmt: skip
        best = replace(best, margin_upper=upper, **_bound(proof, some))
        wide = best.margin >= (1.0 - near) * upper or gap == np.inf
        more = np.setdiff1d(leads.rows, some)
        if (best.separable and wide) or late() or not len(more):
            break
        some = np.union1d(some, more)
    return best


def _bound(proof: Separability, some: Array) -> dict[str, Any]:
    """The combination behind the bound on the margin, its rows counted among all."""
    if proof.bound_rows is None:
        return {}
    return {
        "bound_rows": some[proof.bound_rows],
        "bound_rivals": proof.bound_rivals,
        "bound_multipliers": proof.bound_multipliers,
    }


def _impossible(proof: Separability, start: Separability, some: Array) -> Separability:
    """No plane separates some rows: none separates all."""
    return replace(
        start, separable=False, rows=some[proof.rows], rivals=proof.rivals,
        multipliers=proof.multipliers, margin_upper=0.0,
    )  # fmt: skip
