"""One pass over a long file, whose rows are learnt from while they are parsed."""

from typing import Any

import numpy as np

from linsep.data.encoding.label_statistics import ProgressiveLoss
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.one_pass import ScanMismatch, stream_of
from linsep.learners.fitting.diagnosis import SMALL
from linsep.status import Status
from linsep.train.online.stream_problem import StreamProblem


def fit_stream(learner: Any, chunks: Chunks, callback: Any, verbose: bool | str) -> bool:
    """Fit on rows as they come, without a copy; False where they have to be read as others are.

    The model has the same bytes either way. What was learnt from rows that
    differ from the scan before is forgotten.
    """
    source = chunks.source
    try:
        stream = stream_of(chunks)
        if stream is None or stream.n_rows * stream.n_features <= SMALL:
            return False
        problem: Any = StreamProblem(stream, learner.n_jobs)
        learner.n_features_in_, learner.classes_ = stream.n_features, stream.classes
        learner._from_file = False
        learner._reset(problem)
        with learner._listening(callback, verbose, problem) as listeners:
            with np.errstate(over="ignore", invalid="ignore"):
                status = learner._train(problem, listeners)
            source.version.check(stream.path)
            whole = status is not Status.interrupted
            learner.data_ = problem.digest() if whole else None
            chunks.settle(stream.scan.labels, stream.n_rows)
            rows, mistakes = learner._solver.progressive_loss
            chunks.judged = ProgressiveLoss(rows, mistakes, stream.counts.tolist())
            learner._end(status, 4)
    except ScanMismatch:
        source.begin()
        return False
    learner.encoding_ = chunks.encoding
    return True
