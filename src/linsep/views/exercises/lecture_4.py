"""Exercises of the fourth lecture: a pass by hand, two layers, and where least squares errs."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from linsep.errors import ParameterError
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

STEP, VISITED = Fraction(1, 10), [((1, 1), 1), ((2, -1), -1)]
LAYERS = "W, b, v, c: two rows of two weights, two biases, two weights, one bias"
MOST = 12


def _one_pass(answer: Any) -> Verdict:
    given = numbers(answer, (3,), "three numbers w1, w2, b")
    w = [Fraction(0)] * 3
    for x, target in VISITED:
        error = target - dot(w, (*x, 1))
        w = [a + STEP * error * b for a, b in zip(w, (*x, 1), strict=True)]
    if max(abs(a - b) for a, b in zip(given, w, strict=True)) > Fraction(1, 10**6):
        first = "after the first row w = (0.1, 0.1) and b = 0.1, and its error is that of y = 0"
        return wrong(f"{first}; go on with the second from there.")
    return right(f"w = ({shown(w[0])}, {shown(w[1])}), b = {shown(w[2])}.")


def _two_layers(answer: Any) -> Verdict:
    try:
        W, b, v, c = answer
    except (TypeError, ValueError):
        raise ParameterError(f"The answer is {answer!r}; it must be {LAYERS}.") from None
    W, b, v = numbers(W, (2, 2), LAYERS), numbers(b, (2,), LAYERS), numbers(v, (2,), LAYERS)
    (c,) = numbers(np.ravel(c), (1,), LAYERS)
    for x in product((0, 1), repeat=2):
        hidden = [int(dot(W[2 * k : 2 * k + 2], x) + b[k] >= 0) for k in range(2)]
        says, wanted = int(dot(v, hidden) + c >= 0), x[0] ^ x[1]
        if says != wanted:
            return wrong(f"for {x} the hidden units say {hidden}, and the last {says}.")
    return right("the network computes exclusive or.")


def _least_squares_errs(answer: Any) -> Verdict:
    try:
        X, y = (np.asarray(part, float) for part in answer)
    except (TypeError, ValueError):
        X, y = np.empty(0), np.empty(0)
    if X.ndim != 2 or y.shape != X.shape[:1] or not 2 <= len(X) <= MOST:
        raise ParameterError(f"The answer must be rows X, at most {MOST}, and labels y of ±1.")
    if set(y.tolist()) != {-1.0, 1.0}:
        raise ParameterError("The labels must be −1 and +1, and both must be there.")
    if not separability(X, y).separable:
        return wrong("no plane separates these rows, as is proved exactly.")
    wide = np.column_stack([X, np.ones(len(X))])
    scores = y * (wide @ np.linalg.lstsq(wide, y, rcond=None)[0])
    if scores.min() >= -1e-9:
        return wrong(
            f"least squares has all on their sides, the least y f(x) is {scores.min():.4f}."
        )
    row = X[int(scores.argmin())].tolist()
    return right(f"a plane separates them, and least squares has {row} on the wrong side.")


EXERCISES = [
    Exercise(
        "One pass of the delta rule",
        "Start at w = 0 and b = 0. With η = 0.1, visit (1, 1) with target 1, then (2, −1) with "
        "target −1, correcting by η(t − y)x and η(t − y) with y = ⟨w, x⟩ + b. Where does it end?",
        "three numbers w1, w2, b",
        _one_pass,
    ),
    Exercise(
        "Exclusive or in two layers",
        "Wire two hidden units [W x + b ≥ 0] and one unit [⟨v, h⟩ + c ≥ 0] that together compute "
        "exclusive or of two inputs 0 and 1.",
        LAYERS,
        _two_layers,
    ),
    Exercise(
        "Where least squares errs and a perceptron does not",
        "Give rows of two classes that a plane separates while the plane of least squared error, "
        "with targets ±1 and a free bias, has at least one on the wrong side.",
        f"rows X, at most {MOST}, and labels y of ±1",
        _least_squares_errs,
    ),
]
