"""Correction rules of the perceptron family, as values that kernels are specialised for.

A rule sees the signed score z = y(⟨w, x⟩ + b) of a row and says whether the row must be corrected
(`wrong`, which is also told the sign y) and by how much of yx (`size`). With several classes there
are two roads: one-vs-rest asks the same question once per class; Kesler's construct asks it of
every difference s_c − s_j between the score of the true class and a rival's, and `spread` shares
the correction among the classes.
"""

from typing import NamedTuple

import numpy as np

from linsep._compile import by_type


class Rosenblatt(NamedTuple):
    """The perceptron: a row at or below the margin moves the weights by η yx.

    Positive and negative rows have margins of their own, so that a score of exactly 0 may be right
    for one of them (`rosenblatt`).
    """

    eta: float
    positive: float
    negative: float

    def wrong(self, z, y):
        return not z > (self.positive if y > 0.0 else self.negative)

    def size(self, z, square):
        return self.eta

    def loss(self, z):
        return max(0.0, self.negative - z)

    def spread(self, s, c, square, pace, a):
        corrections = 0
        own = self.eta * pace * square  # ⟨w_c + ηx, x⟩ = s_c + η‖x‖²
        for j in range(s.shape[0]):
            margin = self.positive if c < j else self.negative  # of equal scores the first wins
            if j != c and not s[c] - s[j] > margin:  # row (c, j) of Kesler's construct
                a[c] += self.eta
                a[j] -= self.eta
                s[c] += own
                s[j] -= own
                corrections += 1
        return corrections


class PassiveAggressive1(NamedTuple):
    """PA-I: the smallest step that clears margin one, at most C (Crammer et al., 2006)."""

    C: float

    def wrong(self, z, y):
        return not z >= 1.0

    def size(self, z, square):
        return min(self.C, (1.0 - z) / square) if square > 0.0 else 0.0

    def loss(self, z):
        return max(0.0, 1.0 - z)

    def spread(self, s, c, square, pace, a):
        r = 1 if c == 0 else 0
        for j in range(s.shape[0]):
            if j != c and s[j] > s[r]:
                r = j
        tau = min(self.C, (1.0 - s[c] + s[r]) / (2.0 * square)) if square > 0.0 else 0.0
        a[c] += tau
        a[r] -= tau
        return 1


class PassiveAggressive2(NamedTuple):
    """PA-II: the step is softened by 1/(2C) instead of cut off (Crammer et al., 2006)."""

    C: float

    def wrong(self, z, y):
        return not z >= 1.0

    def size(self, z, square):
        return (1.0 - z) / (square + 0.5 / self.C)

    def loss(self, z):
        return max(0.0, 1.0 - z)

    def spread(self, s, c, square, pace, a):
        r = 1 if c == 0 else 0
        for j in range(s.shape[0]):
            if j != c and s[j] > s[r]:
                r = j
        tau = (1.0 - s[c] + s[r]) / (2.0 * square + 0.5 / self.C)
        a[c] += tau
        a[r] -= tau
        return 1


BOUNDARIES = ("wrong", "right", "strict")


def rosenblatt(eta: float, margin: float, boundary: str = "wrong") -> Rosenblatt:
    """The perceptron's rule, with what it makes of a score that is exactly at the margin.

    'wrong' corrects such rows, 'strict' leaves them alone, and 'right' takes them to be on the
    positive side: it corrects negative rows only. z ≥ m is z > the float below m.

    >>> rule = rosenblatt(1.0, 0.0, "right")
    >>> rule.wrong(0.0, 1.0), rule.wrong(0.0, -1.0)
    (False, True)
    """
    below = float(np.nextafter(margin, -np.inf))
    positive = margin if boundary == "wrong" else below
    return Rosenblatt(eta, positive, below if boundary == "strict" else margin)


Rule = Rosenblatt | PassiveAggressive1 | PassiveAggressive2


@by_type
def wrong(rule, z, y):
    """Whether a row of sign y with signed score z must be corrected."""
    return rule.wrong(z, y)


@by_type
def size(rule, z, square):
    """How much of yx to add, given z and ‖(x, bias)‖²."""
    return rule.size(z, square)


@by_type
def loss(rule, z):
    """What a row with signed score z costs."""
    return rule.loss(z)


@by_type
def spread(rule, s, c, square, pace, a):
    """aⱼ ← how much of x each class receives of a whole step; returns the number of corrections.

    While the rivals are gone through, the scores move by `pace` of a step, from 0 to 1.
    """
    return rule.spread(s, c, square, pace, a)
