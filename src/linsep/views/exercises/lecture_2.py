"""Exercises of the second lecture: what no unit computes, orders and Novikoff's bound."""

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from linsep.data.toys import three_points
from linsep.errors import ParameterError
from linsep.views.exercises.exercise import (
    Exercise,
    Verdict,
    dot,
    numbers,
    right,
    shown,
    wrong,
)

PAIR = "two lists of inputs (x1, x2, x3, x4): some with f = 1, and some with f = 0"
LARGEST = 200


def _impossible(answer: Any) -> Verdict:
    try:
        ones, zeros = ([tuple(int(bit) for bit in row) for row in rows] for rows in answer)
        proper = all(len(row) == 4 and set(row) <= {0, 1} for row in ones + zeros)
    except (TypeError, ValueError):
        proper = False
    if not proper:
        raise ParameterError(f"The answer is {answer!r}; it must be {PAIR}.")
    for rows, wanted in ((ones, True), (zeros, False)):
        for a, b, c, d in rows:
            if bool((a and b) or (c and d)) != wanted:
                return wrong(f"f{(a, b, c, d)} is {int(not wanted)}, not {int(wanted)}.")
    if not ones or len(ones) != len(zeros):
        return wrong("each inequality holds b once: take as many rows with f = 1 as with f = 0.")
    sums = [tuple(np.sum(rows, axis=0).tolist()) for rows in (ones, zeros)]
    if sums[0] != sums[1]:
        return wrong(f"the rows add up to {sums[0]} and to {sums[1]}; they must cancel.")
    return right(f"both add up to {sums[0]} and {len(ones)} b, once ≥ 0 and once < 0.")


def _corrections(order: tuple[int, ...]) -> int:
    """Corrections of the perceptron from zero until a pass has none, in whole numbers."""
    X, y = three_points()
    rows = [([*map(Fraction, x), Fraction(1)], int(s)) for x, s in zip(X.tolist(), y, strict=True)]
    w, count, before = [Fraction(0)] * 3, 0, -1
    while before != count:
        before = count
        for i in order:
            x, sign = rows[i]
            if sign * dot(w, x) <= 0:
                w, count = [a + sign * b for a, b in zip(w, x, strict=True)], count + 1
    return count


def _order(answer: Any) -> Verdict:
    order = tuple(int(one) for one in numbers(answer, (3,), "an order of 0, 1 and 2"))
    if sorted(order) != [0, 1, 2]:
        raise ParameterError(f"The answer is {answer!r}; it must be an order of 0, 1 and 2.")
    made = _corrections(order)
    fewest = min(map(_corrections, permutations(range(3))))
    if made > fewest:
        return wrong(f"it makes {made} corrections; another order makes fewer.")
    return right(f"it makes {made} corrections, and none of the six orders makes fewer.")


def _bound(answer: Any) -> Verdict:
    plane = numbers(answer, (3,), "three numbers w1, w2, b")
    X, y = three_points()
    rows = [[*x, 1.0] for x in X.tolist()]
    scores = [int(s) * dot(plane, x) for x, s in zip(rows, y, strict=True)]
    if min(scores) <= 0:
        row = X[scores.index(min(scores))].tolist()
        return wrong(f"{row} is not on its side, so that no γ > 0 bounds the mistakes.")
    bound = max(dot(x, x) for x in rows) * dot(plane, plane) / min(scores) ** 2
    if bound > LARGEST:
        return wrong(f"it bounds the mistakes by {shown(bound)}; a better plane is wanted.")
    return right(f"(R/γ)² = {shown(bound)}, so that no run makes more than {int(bound)} mistakes.")


EXERCISES = [
    Exercise(
        "A proof that there is no unit",
        "f is 1 where x1 and x2 are 1, or x3 and x4 are. Suppose a unit computed it: then "
        "⟨w, x⟩ + b ≥ 0 for each x with f = 1, and < 0 for each with f = 0. Choose rows of either "
        "kind so that adding up their inequalities leaves 0 < 0.",
        PAIR,
        _impossible,
    ),
    Exercise(
        "Orders matter",
        "Rows 0, 1 and 2 are (1, 1) and (0.5, 3) of class +1 and (2, 2) of class −1, each with a "
        "constant 1 added. The perceptron starts at zero and visits them in the same order in each "
        "pass until a pass is without corrections. In which order does it make the fewest?",
        "an order such as 0, 1, 2",
        _order,
    ),
    Exercise(
        "Novikoff's bound, by a plane of yours",
        "For the same three rows with their constant 1, R is the length of the longest and γ the "
        "smallest y⟨v, x⟩ of a v = (w1, w2, b) of length one. Any v with γ > 0 bounds the mistakes "
        f"by (R/γ)². Give a v, of any length, whose bound is at most {LARGEST}.",
        "three numbers w1, w2, b",
        _bound,
    ),
]
