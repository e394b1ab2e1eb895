"""Correction rules of the perceptron family, as values known to `kernels/perceptron/rules.hpp`.

A rule sees the signed score z = y(⟨w, x⟩ + b) of a row and says whether the row must be corrected,
and by how much of yx. With several classes there are two roads: one-vs-rest asks the same question
once per class; Kesler's construct asks it of every difference s_c − s_j between the score of the
true class and a rival's, and the correction is shared among the classes.
"""

from typing import NamedTuple

import numpy as np


class Rosenblatt(NamedTuple):
    """The perceptron: a row at or below the margin moves the weights by η yx.

    Positive and negative rows have margins of their own, so that a score of exactly 0 may be right
    for one of them (`rosenblatt`).
    """

    eta: float
    positive: float
    negative: float


class PassiveAggressive(NamedTuple):
    """The smallest step that clears margin one: τ = min(most, (1 − z)/(‖x‖² + soft)).

    Crammer et al. (2006): PA-I cuts the step off at `most`, PA-II softens it by `soft`.
    """

    most: float
    soft: float


Rule = Rosenblatt | PassiveAggressive

BOUNDARIES = ("wrong", "right", "strict")


def rosenblatt(eta: float, margin: float, boundary: str = "wrong") -> Rosenblatt:
    """The perceptron's rule, with what it makes of a score that is exactly at the margin.

    'wrong' corrects such rows, 'strict' leaves them alone, and 'right' takes them to be on the
    positive side: it corrects negative rows only. z ≥ m is z > the float below m.

    >>> rosenblatt(1.0, 0.0, "right")
    Rosenblatt(eta=1.0, positive=-5e-324, negative=0.0)
    """
    below = float(np.nextafter(margin, -np.inf))
    positive = margin if boundary == "wrong" else below
    return Rosenblatt(float(eta), float(positive), below if boundary == "strict" else float(margin))


def passive_aggressive(variant: str, C: float) -> PassiveAggressive:
    """Steps of at most C ('PA-I'), or softened by 1/(2C) ('PA-II').

    >>> passive_aggressive("PA-II", 0.25)
    PassiveAggressive(most=inf, soft=2.0)
    """
    if variant == "PA-I":
        return PassiveAggressive(float(C), 0.0)
    return PassiveAggressive(np.inf, 0.5 / C)
