"""Numbers of a run over time: wrong rows, loss, length of the weights, margin, angle."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.views.scene.run import Run

Array = npt.NDArray[Any]

ROOM = 4_000_000  # scores at a time


class Series(NamedTuple):
    """One number for each frame, or one bit for each frame and row.

    Attributes
    ----------
    wrong : (T, n) of bool, rows not strictly on their own side
    misplaced : how many those are
    least : the smallest lead of a right class over the others
    loss : mean loss of the learner's kind
    norm : length of all weights
    margin : `least` as a distance: divided by the length of the weights
    angle : degrees between the weights and a reference
    """

    wrong: Array
    misplaced: Array
    least: Array
    loss: Array
    norm: Array
    margin: Array
    angle: Array


def series_of(run: Run, reference: Array | None) -> Series:
    """All of them; the reference is a separator's weights, or those at the end."""
    T, K, _ = run.W.shape
    n = len(run.rows.X)
    wrong, least, loss = np.empty((T, n), bool), np.empty(T), np.empty(T)
    each = max(1, ROOM // max(1, n * K))
    for first in range(0, T, each):
        part = slice(first, first + each)
        lead = leads(run, part)
        wrong[part] = lead <= 0
        least[part] = lead.min(axis=1)
        loss[part] = _loss(run.trace.learner, lead).mean(axis=1)
    flat = run.W.reshape(T, -1)
    norm = np.linalg.norm(flat, axis=1)
    spread = norm if run.binary else _apart(run.W)
    with np.errstate(all="ignore"):
        margin = least / spread
        towards = flat[-1] if reference is None else reference.ravel()
        cosine = flat @ towards / (norm * np.linalg.norm(towards))
        angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    return Series(wrong, wrong.sum(axis=1), least, loss, norm, margin, angle)


def leads(run: Run, part: slice) -> Array:
    """(frames, rows): how far the score of the right class is ahead."""
    scores = np.einsum("tkd,nd->tnk", run.W[part], run.rows.X) + run.b[part, None, :]
    if run.binary:
        return np.asarray(run.signs * scores[:, :, 0])
    codes = run.rows.codes
    own = np.take_along_axis(scores, np.broadcast_to(codes[None, :, None], (*scores.shape[:2], 1)),
                             axis=2)[:, :, 0]  # fmt: skip
    rivals = np.where(np.arange(scores.shape[2]) == codes[:, None], -np.inf, scores)
    return np.asarray(own - rivals.max(axis=2))


def _apart(W: Array) -> Array:
    """The largest distance between the weights of two classes."""
    return np.array([max(np.linalg.norm(one - two) for one in w for two in w) for w in W])


def _loss(learner: str, lead: Array) -> Array:
    if learner == "LogisticRegression":
        return np.logaddexp(0.0, -lead)
    if learner in ("LinearSVC", "PassiveAggressive"):
        return np.maximum(0.0, 1 - lead)
    if learner == "LinearRegression":
        return np.square(1 - lead)
    return np.maximum(0.0, -lead)


LOSSES = {
    "LogisticRegression": "log loss",
    "LinearSVC": "hinge loss",
    "PassiveAggressive": "hinge loss",
    "LinearRegression": "squared loss",
}
