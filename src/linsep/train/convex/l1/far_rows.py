"""Rows that a step moves so far that the quadratic model of their logistic losses is wrong.

A row's multiplier α(z) = c/(1 + eᶻ), which a model of curvature D takes to α − D·Δz, ends at
α(z + Δz). Where these differ the curvature is replaced by that of a chord, with which model and
loss agree:

- where the loss bends less than the model says, (α − α(z + Δz))/Δz, the chord over the step;
- where it bends more, D·Δz/δ with α(z + δ) = α − D·Δz: the multiplier that the model proposes, at
  the margin that has it. A chord over a step that is far too long would be far too steep.

A column that few rows speak for, all of them deep on one side, has next to no curvature: Newton's
step takes its weight many times too far, and a line search then shortens the steps of all others.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.train.convex.l1.model import Model, Way

Floats = npt.NDArray[np.float64]

FAR = 1.0  # change of a margin from which on a model is looked at
WRONG = 0.25  # part of that change by which the margin with the model's multiplier may differ
ROUNDS = 3  # in which a model is mended, at most
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
        if not abs(along[i]) > FAR:
            continue
        z, step = (S[i] + b) * signs[i], along[i] * signs[i]
        weight = c[0 if c.shape[0] == 1 else i]
        told = curved[i] * step
        alpha, left = weight / (1.0 + np.exp(z)), weight / (1.0 + np.exp(-z))  # α and c − α
        moved = alpha - weight / (1.0 + np.exp(z + step))
        chord = moved / step
        if alpha - told > 0.0 and left + told > 0.0:
            reached = np.log((left + told) / (alpha - told)) - z  # δ
            if abs(reached - step) <= WRONG * abs(step):
                continue
            if abs(moved) > abs(told) and reached * step > 0.0:
                chord = told / reached
        rows[count], bend[count] = i, chord
        count += 1
        if count == rows.shape[0]:
            break
    return count
