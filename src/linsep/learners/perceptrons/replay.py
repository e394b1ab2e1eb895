"""Corrections that were noted by row and step, told to a trace with their weights."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep.train.problem import Problem
from linsep.train.run.trace import Trace
from linsep.train.voted.corrections import CorrectionBatch, VotedPlanes

Add = Callable[[CorrectionBatch], None]


def traced(add: Add, trace: Trace | None, walk: Any, problem: Problem, epoch: int) -> Add:
    """`add`, and with a trace each correction also to that, the weights made again from it.

    A walk in a kernel's feature space has no weights; of it a trace has the passes alone.
    """
    if trace is None or not isinstance(walk, VotedPlanes):
        return add
    planes = walk.planes
    w, b = np.array(planes.by_class(planes.W), order="C"), planes.b.copy()
    trace.begin(w, b)

    def add_and_trace(batch: CorrectionBatch) -> None:
        add(batch)
        for i, step in zip(batch.rows.tolist(), batch.steps, strict=True):
            row = problem.X[[i]]
            x = row.toarray()[0] if sp.issparse(row) else row[0]
            scores = w @ x + b
            np.add(w, np.outer(step, x), out=w, casting="same_kind")  # wₙ₊₁ ← wₙ + yx
            np.add(b, planes.bias * step, out=b)
            trace.update(1, epoch, i, scores, step, w, b)
        # parts of a step may have been rounded otherwise
        w[...], b[...] = planes.by_class(planes.W), planes.b

    return add_and_trace
