"""Corrections that were written down by row and step, told to a trace with their weights."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep.train.problem import Problem
from linsep.train.run.trace import Trace
from linsep.train.voted.corrections import Found, Hyperplanes


def retold(
    tell: Callable[[Found], None], trace: Trace | None, walk: Any, problem: Problem, epoch: int
) -> Callable[[Found], None]:
    """`tell`, and with a trace each correction also to that, the weights made again from it.

    A walk in a kernel's feature space has no weights; of it a trace has the passes alone.
    """
    if trace is None or not isinstance(walk, Hyperplanes):
        return tell
    w, b = planes(walk)
    trace.begin(w, b)

    def hear(found: Found) -> None:
        tell(found)
        for i, step in zip(found.where.tolist(), found.steps, strict=True):
            row = problem.X[[i]]
            x = row.toarray()[0] if sp.issparse(row) else row[0]
            scores = w @ x + b
            np.add(w, np.outer(step, x), out=w, casting="same_kind")  # wₙ₊₁ ← wₙ + yx
            np.add(b, walk.bias * step, out=b)
            trace.update(1, epoch, i, scores, step, w, b)
        w[...], b[...] = planes(walk)  # parts of a step may have been rounded otherwise

    return hear


def planes(walk: Hyperplanes) -> tuple[Any, Any]:
    """Copies of the weights (K, d) and intercepts (K,) of a walk, whatever its layout."""
    W = walk.W[:, : len(walk.b)].T if walk.sparse else walk.W
    return np.array(W, order="C"), walk.b.copy()
