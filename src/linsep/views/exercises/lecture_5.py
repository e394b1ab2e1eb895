"""Exercises of the fifth lecture: Gaussians, Fisher's direction and Kesler's construct."""

from fractions import Fraction
from typing import Any

from linsep.views.exercises.exercise import (
    Exercise,
    Verdict,
    dot,
    numbers,
    right,
    shown,
    wrong,
)

LOG_ODDS = [Fraction(1), Fraction(1), Fraction(-3, 2)]
SCATTER, APART = [(2, 1), (1, 2)], (3, 0)
CLASSES = [
    ((3, 1), 0), ((2, -1), 0), ((-1, 3), 1), ((-2, 1), 1), ((0, -3), 2), ((-1, -2), 2),
]  # fmt: skip


def _gaussians(answer: Any) -> Verdict:
    given = numbers(answer, (3,), "three numbers w1, w2, b")
    if max(abs(a - b) for a, b in zip(given, LOG_ODDS, strict=True)) > Fraction(1, 10**6):
        score = dot(given, (1, Fraction(1, 2), 1))
        if score:
            middle = "half way between the means, at (1, 0.5), the odds are even"
            return wrong(f"{middle}; yours are log-odds of {shown(score)}.")
        return wrong("half way between the means it is zero as it must be; w is Σ⁻¹(μ₁ − μ₀).")
    return right("w = Σ⁻¹(μ₁ − μ₀), and b makes the odds even half way between the means.")


def _fisher(answer: Any) -> Verdict:
    v = numbers(answer, (2,), "two numbers v1, v2")
    spread = dot(v, [dot(row, v) for row in SCATTER])
    if spread == 0:
        return wrong("the zero vector is no direction.")
    reached, largest = dot(v, APART) ** 2 / spread, Fraction(6)
    if reached < largest * (1 - Fraction(1, 10**9)):
        return wrong(f"its criterion is {shown(reached)}; another direction reaches more.")
    return right(f"the criterion is {shown(reached)}, the largest there is.")


def _kesler(answer: Any) -> Verdict:
    W = numbers(answer, (3, 2), "three rows of two weights")
    smallest: Any = None
    for x, own in CLASSES:
        scores = [dot(W[2 * k : 2 * k + 2], x) for k in range(3)]
        for rival in {0, 1, 2} - {own}:
            ahead = scores[own] - scores[rival]
            if ahead <= 0:
                return wrong(f"{x} is of class {own}, and class {rival} scores no less: "
                             f"⟨w{own} − w{rival}, x⟩ = {shown(ahead)}.")  # fmt: skip
            smallest = ahead if smallest is None else min(smallest, ahead)
    return right(f"all twelve of Kesler's rows are positive, the least is {shown(smallest)}.")


EXERCISES = [
    Exercise(
        "The plane between two Gaussians",
        "Two classes are as frequent, with means (0, 0) and (2, 1) and one covariance matrix, "
        "diagonal with 2 and 1. The log-odds of the second class are w1 x1 + w2 x2 + b. Give them.",
        "three numbers w1, w2, b; their scale matters",
        _gaussians,
    ),
    Exercise(
        "Fisher's direction",
        "The means of two classes are (3, 0) apart, and the scatter within classes is "
        "[[2, 1], [1, 2]]. Give the direction v with the largest ⟨v, m⟩² / vᵀSv.",
        "two numbers v1, v2, in any scale",
        _fisher,
    ),
    Exercise(
        "Kesler's construct",
        "Class 0 has (3, 1) and (2, −1), class 1 (−1, 3) and (−2, 1), class 2 (0, −3) and "
        "(−1, −2). Give one weight vector for each class, without biases, so that every row scores "
        "highest in its own class: twelve inequalities.",
        "three rows of two weights",
        _kesler,
    ),
]
