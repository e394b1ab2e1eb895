"""Fits on rows that lie on the workers of a cluster."""

import warnings
from typing import Any

import numpy as np

from linsep.data.cluster.collections import TextsError, labels_of, numbers_of, rows_of
from linsep.data.cluster.connect import client_of
from linsep.data.cluster.files import rows_of_files
from linsep.data.cluster.frames import rows_of_frames
from linsep.data.cluster.rows import ClusterRows, gathered
from linsep.data.cluster.shipping import NotOnClusterError
from linsep.data.sources.dataset import Chunks
from linsep.errors import ClusterError, ClusterNote, ParameterError
from linsep.learners.cluster import mixing

KEEP_ROWS = ("VotedPerceptron", "KernelPerceptron", "KernelSVC")
"""Learners whose model is made of rows."""

SMALL = 1 << 21
"""Numbers in X up to which rows are brought to the client at once: rounds would cost more."""


def fit_on_cluster(
    learner: Any, X: Any, y: Any, sample_weight: Any, in_order: bool = False, **how: Any
) -> None:
    """Fit on Dask collections, with the bytes of a fit in memory.

    Rows stay on the workers, which send sums. A solver that needs all rows in one place gets them:
    a copy on the client, in memory while it is small and in a file that is read block by block
    where not, so that the bytes are the same again.
    """
    _check(learner, in_order, how.get("checkpoint"))
    how["in_order"] = in_order
    if isinstance(X, Chunks):
        _fit_files(learner, X, y, sample_weight, **how)
        return
    with client_of() as client:
        try:
            rows, encoding = rows_of(client, X), None
        except TextsError:
            rows, encoding = rows_of_frames(client, X)
        if getattr(learner, "_estimator_type", None) == "regressor" or _learns_numbers(learner):
            labels = numbers_of(client, y, len(rows), "y")
        else:
            labels = labels_of(rows, y)
        weights = numbers_of(client, sample_weight, len(rows), "sample_weight")
        fit_rows(learner, rows, labels, weights, encoding, **how)


def _check(learner: Any, in_order: bool, checkpoint: Any) -> None:
    """Refuse learners that no cluster helps, before anything is read."""
    name = type(learner).__name__
    if name in KEEP_ROWS:
        raise ClusterError(
            f"{name} keeps rows, each compared with all others, and cannot be trained on sums from "
            "a cluster; use LogisticRegression, LinearSVC or Perceptron there, or bring a sample "
            "of the rows into memory."
        )
    drawn = name == "Perceptron" and learner.penalty is not None
    if drawn or (name == "LinearSVC" and learner.penalty == "l1"):
        raise ClusterError(
            f"penalty is {learner.penalty!r}, which {name} has for rows in memory. Leave it out "
            "there, or bring a sample of the rows into memory."
        )
    if getattr(learner, "early_stopping", False):
        raise ClusterError(
            "early_stopping=True holds rows out, which is done in memory. Leave it out there."
        )
    if hasattr(learner, "_method") and not in_order:
        mixing.check(learner, checkpoint)


def _fit_files(learner: Any, chunks: Chunks, y: Any, sample_weight: Any, **how: Any) -> None:
    """Fit on files that the workers read."""
    if y is not None:
        raise ParameterError(
            "y is given, but X comes from linsep.read, which brings its labels; leave y out."
        )
    with client_of(chunks.cluster) as client:
        rows, labels = rows_of_files(client, chunks)
        weights = numbers_of(client, sample_weight, len(rows), "sample_weight")
        fit_rows(learner, rows, labels, weights, chunks.encoding, **how)


def _learns_numbers(learner: Any) -> bool:
    from sklearn.base import ClassifierMixin

    return not isinstance(learner, ClassifierMixin)


def fit_rows(
    learner: Any, rows: ClusterRows, labels: Any, weights: Any, encoding: Any,
    in_order: bool = False, **how: Any,
) -> None:  # fmt: skip
    """Fit on rows of a cluster, or on a copy of them where that is what it takes."""
    learner.names_told = rows.names
    try:
        _fit_somewhere(learner, rows, labels, weights, encoding, in_order, **how)
    finally:
        del learner.names_told


def _fit_somewhere(
    learner: Any, rows: ClusterRows, labels: Any, weights: Any, encoding: Any, in_order: bool,
    **how: Any,
) -> None:  # fmt: skip
    if rows.size > SMALL and not in_order:
        try:
            learner._fit_rows(rows, labels, weights, encoding, **how)
            return
        except NotOnClusterError as reason:
            warnings.warn(
                f"{type(learner).__name__}: this solver needs all rows in one place ({reason}); "
                "they are brought to the client, into a file where they are many.",
                ClusterNote, stacklevel=4,
            )  # fmt: skip
    with gathered(rows) as X:
        learner._fit_rows(X, labels, weights, encoding, **how)
    if rows.names is not None:
        learner.feature_names_in_ = np.array(rows.names, dtype=object)
