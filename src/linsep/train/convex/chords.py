"""The curvature with which a quadratic model agrees with a logistic loss where a step ends.

A row's multiplier α(z) = c/(1 + eᶻ), which a model of curvature D takes to α − D·Δz, ends at
α(z + Δz). Where these differ the curvature is replaced by that of a chord:

- where the loss bends less than the model says, (α − α(z + Δz))/Δz, the chord over the step;
- where it bends more, D·Δz/δ with α(z + δ) = α − D·Δz: the multiplier that the model proposes, at
  the margin that has it. A chord over a step that is far too long would be far too steep.

A column that few rows speak for, all of them deep on one side, has next to no curvature: Newton's
step takes its weight many times too far, and a line search then shortens the steps of all others.
"""

import numpy as np

from linsep._compile import inline

FAR = 1.0  # change of a margin from which on a model is looked at
WRONG = 0.25  # part of that change by which the margin with the model's multiplier may differ
ROUNDS = 3  # in which a model is mended, at most


@inline(shared=True)
def chord(z, step, weight, curved):  # type: ignore[no-untyped-def]
    """The curvature of a row at margin z, moved by `step`; `curved` where that is right enough"""
    if not abs(step) > FAR:
        return curved
    told = curved * step
    alpha, left = weight / (1.0 + np.exp(z)), weight / (1.0 + np.exp(-z))  # α and c − α
    moved = alpha - weight / (1.0 + np.exp(z + step))
    bend = moved / step
    if alpha - told > 0.0 and left + told > 0.0:
        reached = np.log((left + told) / (alpha - told)) - z  # δ
        if abs(reached - step) <= WRONG * abs(step):
            return curved
        if abs(moved) > abs(told) and reached * step > 0.0:
            bend = told / reached
    return bend
