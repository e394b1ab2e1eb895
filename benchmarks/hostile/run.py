"""Fit hostile problems, hold every ending against extended precision, and print a table."""

import argparse
import signal
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.hostile.problems import Hostile, made
from benchmarks.hostile.reference import Long, Objective, least
from linsep import KernelSVC, LinearSVC, LogisticRegression, Scaled
from linsep.errors import LinsepError

LIMIT = 20.0
"""Seconds for a fit; then it is interrupted, as by Ctrl-C."""
ALIKE = 1e-9
"""Objectives in extended and in double precision may differ by this share."""


class Ending(NamedTuple):
    """How one fit ended.

    Attributes
    ----------
    seed, problem : what was fitted
    status : its name, or the name of the error that was raised
    gap, tol : as the learner tells them
    off : by what share `objective_` differs from the objective counted in extended precision
    better : by what share the objective is above the best point known
    seconds : of the fit
    """

    seed: int
    problem: str
    status: str
    gap: float = 0.0
    tol: float = 0.0
    off: float = 0.0
    better: float = 0.0
    seconds: float = 0.0

    @property
    def faults(self) -> list[str]:
        """What must not be."""
        wrong = []
        if self.status == "converged" and not self.gap <= self.tol:
            wrong.append(f"converged with gap_ {self.gap:.1e} above tol {self.tol:.0e}")
        if self.status != "converged" and self.gap <= self.tol and self.status in DONE:
            wrong.append(f"{self.status} with gap_ {self.gap:.1e}, within tol {self.tol:.0e}")
        if self.better > max(self.gap, ALIKE) + ALIKE:
            wrong.append(f"a point {self.better:.1e} better is known, and gap_ is {self.gap:.1e}")
        if self.off > max(self.gap, ALIKE):
            wrong.append(f"objective_ is off by {self.off:.1e}, and gap_ is {self.gap:.1e}")
        return wrong


DONE = ("gap_left", "unproved", "rounding")


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Ctrl-C after so many seconds."""

    def ring(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ending(seed: int, limit: float = LIMIT) -> Ending:
    """Fit the problem of a seed, and look for a better point."""
    problem = made(seed)
    name, begun = str(problem), time.perf_counter()
    try:
        with _limited(limit), warnings.catch_warnings(action="ignore"):
            model = problem.learner.fit(problem.X, problem.y, problem.weights)
    except LinsepError as refused:
        return Ending(seed, name, type(refused).__name__)
    except KeyboardInterrupt:
        return Ending(seed, name, "no answer")
    seconds = time.perf_counter() - begun
    inner = getattr(model, "learner_", model)
    status, gap = inner.status_.name, float(inner.gap_)
    off = better = 0.0
    if not isinstance(model, Scaled):
        with np.errstate(all="ignore"):
            value, best = _compared(problem, model)
            if value > 0:
                off = float(abs(value - Long(model.objective_)) / value)
                better = float((value - best) / value)
    return Ending(seed, name, status, gap, float(inner.tol), off, better, seconds)


def _compared(problem: Hostile, model: Any) -> tuple[Any, Any]:
    """The objective at the weights of a fit, and the least that is known."""
    value = best = Long(0)
    for objective, W, b in _objectives(problem, model):
        value += objective.value(W, b)
        best += least(objective, (W, b))
    factor = Long(0.5) if _pair(model) else Long(1)
    return factor * value, factor * best


def _pair(model: Any) -> bool:
    """Two classes by Crammer and Singer's loss: half of the usual objective with 2C."""
    return getattr(model, "multiclass", "") == "crammer-singer" and len(model.classes_) == 2


def _objectives(problem: Hostile, model: Any) -> Iterator[tuple[Objective, Any, Any]]:
    """What a learner minimises, by the formulas of its page, and where it ended."""
    X = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    c = Long(model.C) * np.ones(len(X), Long)
    if problem.weights is not None:
        c = c * problem.weights
    c = 2 * c if _pair(model) else c
    codes = np.searchsorted(model.classes_, problem.y)
    free = bool(model.fit_intercept)
    joint = getattr(model, "multiclass", "") == "crammer-singer"
    if isinstance(model, KernelSVC):
        yield from _kernel(X, codes, c, model, free)
        return
    loss = "logistic" if isinstance(model, LogisticRegression) else model.loss
    l1 = float(getattr(model, "l1_ratio", 0.0) or 0.0)
    l1 = 1.0 if getattr(model, "penalty", "") == "l1" else l1
    W, b, K = model.coef_, model.intercept_, len(model.classes_)
    if K == 2 or joint or loss == "logistic":
        yield Objective(X, codes, c, loss, l1, 1 - l1, free, len(W)), W, b
        return
    assert isinstance(model, LinearSVC)
    for k in range(K):
        one = Objective(X, (codes == k).astype(int), c, loss, l1, 1 - l1, free, 1)
        yield one, W[k : k + 1], b[k : k + 1]


def _kernel(X: Any, codes: Any, c: Any, model: Any, free: bool) -> Iterator[Any]:
    """Machines with a kernel, as hyperplanes over the columns of its matrix."""
    Z = X.astype(Long)
    G, gamma = Z @ Z.T, Long(model.gamma_ or 0)
    if model.kernel == "rbf":
        square = np.einsum("ij,ij->i", Z, Z)
        G = np.exp(-gamma * np.maximum(0, square[:, None] + square - 2 * G))
    elif model.kernel == "poly":
        G = (gamma * G + Long(model.coef0)) ** model.degree
    beta = np.zeros((len(model.dual_coef_), len(X)))
    beta[:, model.support_] = model.dual_coef_
    for k in range(len(beta)):
        own = codes == (1 if len(beta) == 1 else k)
        one = Objective(G, own.astype(int), c, "hinge", 0.0, 1.0, free, 1, G)
        yield one, beta[k : k + 1], model.intercept_[k : k + 1]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks hostile")
    parser.add_argument("count", type=int, nargs="?", default=1000, help="how many problems")
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for a fit")
    parser.add_argument("--verbose", action="store_true", help="name what did not converge")
    asked = parser.parse_args(arguments)
    endings = []
    for seed in range(asked.seed, asked.seed + asked.count):
        endings.append(one := ending(seed, asked.limit))
        if one.faults or (asked.verbose and one.status != "converged"):
            print(
                f"{seed} {one.problem}\n    {one.status}, gap_ {one.gap:.1e}, tol {one.tol:.0e}",
                end="",
            )
            print(f", {one.seconds:.1f} s. {'; '.join(one.faults).upper()}", flush=True)
    print(table(endings))
    if any(one.faults for one in endings):
        raise SystemExit(1)


def table(endings: list[Ending]) -> str:
    """How many ended in which status, with the largest gap of each."""
    lines = [f"{'status':<22}{'fits':>6}{'largest gap_':>14}{'slowest s':>11}"]
    for status, count in Counter(one.status for one in endings).most_common():
        own = [one for one in endings if one.status == status]
        gap, slowest = max(one.gap for one in own), max(one.seconds for one in own)
        lines.append(f"{status:<22}{count:>6}{gap:>14.1e}{slowest:>11.1f}")
    false = sum(one.status == "converged" and not one.gap <= one.tol for one in endings)
    better = sum(one.better > max(one.gap, one.tol) + ALIKE for one in endings)
    faults = sum(bool(one.faults) for one in endings)
    lines.append(f"{len(endings)} fits: {false} say converged with gap_ > tol; of {better} a point")
    lines.append(f"better by more than tol and gap_ is known; {faults} have some fault.")
    return "\n".join(lines)
