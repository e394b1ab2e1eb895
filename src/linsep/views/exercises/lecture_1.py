"""Exercises of the first lecture: units, features and margins."""

from itertools import product
from typing import Any

import numpy as np

from linsep.proofs.separability.linear_separability import separability
from linsep.views.exercises.exercise import (
    Exercise,
    Verdict,
    dot,
    numbers,
    right,
    shown,
    wrong,
)

FOUR = "four numbers w1, w2, w3, b"
POINTS, SIGNS = [(1, 1), (3, 2), (2, 4)], [-1, 1, 1]


def _two_of_three(answer: Any) -> Verdict:
    *w, b = numbers(answer, (4,), FOUR)
    for x in product((0, 1), repeat=3):
        score, wanted = dot(w, x) + b, sum(x) >= 2
        if (score >= 0) != wanted:
            return wrong(f"for {x} the unit must say {int(wanted)}; its sum is {shown(score)}.")
    return right("the unit says what it must for all eight inputs.")


def _exclusive_or(answer: Any) -> Verdict:
    rows = np.array([(u, v, float(answer(u, v))) for u, v in product((0, 1), repeat=2)])
    certificate = separability(rows, np.array([0, 1, 1, 0]))
    if not certificate.separable:
        features = ", ".join(shown(one) for one in rows[:, 2])
        return wrong(f"with the features {features} no plane separates, as is proved exactly.")
    return right(f"a plane separates the four rows with a margin of {certificate.margin:.4f}.")


def _widest_margin(answer: Any) -> Verdict:
    *w, b = numbers(answer, (3,), "three numbers w1, w2, b")
    scores = [sign * (dot(w, x) + b) for x, sign in zip(POINTS, SIGNS, strict=True)]
    if min(scores) <= 0:
        row = POINTS[scores.index(min(scores))]
        return wrong(f"{row} is not on its side: y(⟨w, x⟩ + b) = {shown(min(scores))}.")
    margin = float(min(scores)) / float(dot(w, w)) ** 0.5
    certificate = separability(np.array(POINTS, float), np.array(SIGNS))
    if margin < certificate.margin_upper * (1 - 1e-9):
        return wrong(
            f"all three are on their sides, the nearest at a distance of {margin:.6f}; "
            f"another plane keeps more than {certificate.margin * (1 - 1e-9):.6f}."
        )
    return right(f"the margin is {margin:.6f}, and no plane has a larger one.")


EXERCISES = [
    Exercise(
        "Two of three",
        "A threshold unit says 1 where w1 x1 + w2 x2 + w3 x3 + b ≥ 0, and 0 elsewhere. Choose its "
        "weights so that it says 1 exactly where at least two of the three inputs are 1.",
        FOUR,
        _two_of_three,
    ),
    Exercise(
        "A feature for exclusive or",
        "No line separates the inputs (u, v) of exclusive or. Give a feature f(u, v) with which a "
        "plane separates the rows (u, v, f(u, v)).",
        "a function of u and v that returns a number",
        _exclusive_or,
    ),
    Exercise(
        "The widest margin, by hand",
        "The rows (3, 2) and (2, 4) are of class +1, the row (1, 1) of class −1. Give the plane "
        "w1 x1 + w2 x2 + b = 0 that is farthest from the nearest row.",
        "three numbers w1, w2, b, in any scale",
        _widest_margin,
    ),
]
