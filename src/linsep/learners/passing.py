"""One pass over a long file, whose rows are learnt from while they are parsed."""

from typing import Any

import numpy as np

from linsep.data.sources.dataset import Chunks
from linsep.data.sources.one_pass import Unlike, flow_of
from linsep.data.table.column_statistics import Judged
from linsep.learners.diagnosis import SMALL
from linsep.status import Status
from linsep.train.online.stream_problem import Passing


def fit_passing(learner: Any, chunks: Chunks, callback: Any, verbose: bool) -> bool:
    """Fit on rows as they come, without a copy; False where they have to be read as others are.

    The model has the same bytes either way. What was learnt from rows that turn out to be `Unlike`
    what was told of them is forgotten.
    """
    source = chunks.source
    try:
        flow = flow_of(chunks)
        if flow is None or flow.n_rows * flow.n_features <= SMALL:
            return False
        problem: Any = Passing(flow, learner.n_jobs)
        learner.n_features_in_, learner.classes_ = flow.n_features, flow.classes
        learner._from_file = False
        learner._reset(problem)
        with learner._listening(callback, verbose, problem) as listeners:
            with np.errstate(over="ignore", invalid="ignore"):
                status = learner._train(problem, listeners)
            source.version.check(flow.path)
            whole = status is not Status.interrupted
            learner.data_ = problem.digest() if whole else None
            chunks.settle(flow.found.study, flow.n_rows)
            rows, mistakes = learner._solver.progressive_loss
            chunks.judged = Judged(rows, mistakes, flow.counts.tolist())
            learner._end(status, 4)
    except Unlike:
        source.begin()
        return False
    learner.encoding_ = chunks.encoding
    return True
