"""Rows that a step moves so far that the quadratic model of their logistic losses is wrong.

Their curvatures are replaced by those of chords (`linsep.train.convex.chords`), which changes the
model's matrix by few rows, and its minimum is looked for again.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.train.convex.chords import ROUNDS, chord
from linsep.train.convex.l1.model import Model, Way

Floats = npt.NDArray[np.float64]

RELIED = 0.75  # part of what it foretold that a mended model has to hold
FEW = 8  # a model is mended where it is wrong in less than one row in so many


def mended(
    model: Model,
    way: Way,
    asked: tuple[Any, ...],
    at: tuple[Floats, float, Any, Floats],
    near: float,
    loss: Callable[[Way], float],
) -> Way:
    """The way to the minimum of a model that is right about the rows that it moves far.

    Once is mostly enough; it is done again where much less is gained than the model foretold, or
    where no more than `near` is to be gained: its multipliers are then to prove that.

    Parameters
    ----------
    way, asked : of the model, and what it was asked with
    at : scores, intercept, signs and c
    loss : Σ cℓ at the end of a way
    """
    (S, b, signs, c), (terms, _, w) = at, asked[:3]
    value = model.penalty.value
    for k in range(ROUNDS):
        if k and -way.slope > near:
            gained = terms.loss + value(w) - loss(way) - value(w + way.change)
            if gained >= RELIED * -way.foretold:
                break
        rows, curved = far_rows((S, b), way.along, model.curved, signs, c, len(S) // FEW)
        if not len(rows):
            break
        model.bend(rows, curved)
        way = model.way_again(*asked)
    return way


def far_rows(
    at: tuple[Floats, float], along: Floats, curved: Floats, signs: Any, c: Floats, most: int
) -> tuple[npt.NDArray[np.int64], Floats]:
    """The rows whose models are wrong, and their curvatures by chords; none where more than `most`.

    Parameters
    ----------
    at : scores and intercept before the step
    along : what the step adds to scores and intercept
    curved : the model's curvatures
    c : of all rows, or one for all
    """
    rows, bend = np.empty(most + 1, np.int64), np.empty(most + 1)
    count = _far_rows(*at, along, curved, signs, c, rows, bend)
    if count > most:
        count = 0
    return rows[:count], bend[:count]


@kernel
def _far_rows(S, b, along, curved, signs, c, rows, bend):  # type: ignore[no-untyped-def]
    count = 0
    for i in range(S.shape[0]):
        z, step = (S[i] + b) * signs[i], along[i] * signs[i]
        bent = chord(z, step, c[0 if c.shape[0] == 1 else i], curved[i])
        if bent == curved[i]:
            continue
        rows[count], bend[count] = i, bent
        count += 1
        if count == rows.shape[0]:
            break
    return count
