"""Exercises of the third lecture: least squares, the step of descent, a gradient."""

from fractions import Fraction
from typing import Any

import numpy as np

from linsep.losses import Logistic
from linsep.views.exercises.exercise import (
    Exercise,
    Verdict,
    dot,
    numbers,
    right,
    shown,
    wrong,
)

LINE = [(0, 1), (1, 3), (2, 2), (3, 6)]
ROWS = [(1, 1), (1, -1), (2, 2)]
CLOSE = Fraction(1, 10**6)
DRAWN = 20


def _least_squares(answer: Any) -> Verdict:
    slope, intercept = numbers(answer, (2,), "two numbers a, b")
    left = [y - slope * x - intercept for x, y in LINE]
    total, along = sum(left, Fraction(0)), dot([x for x, _ in LINE], left)
    if max(abs(total), abs(along)) > CLOSE:
        return wrong(
            f"the residuals add up to {shown(total)}, and times x to {shown(along)}; "
            "at the minimum both sums are zero."
        )
    return right("the residuals and their products with x add up to zero.")


def _largest_step(answer: Any) -> Verdict:
    (step,) = numbers(np.ravel(answer), (1,), "one number")
    X = np.array(ROWS, float)
    steepest = float(np.linalg.eigvalsh(X.T @ X / len(X))[-1])
    factor = abs(1.0 - float(step) * steepest)
    if abs(factor - 1.0) > 1e-6 or step <= 0:
        grows = "grow" if factor > 1.0 else "still shrink: a larger step converges as well"
        return wrong(f"errors along the steepest axis, times {factor:.4f} in each step, {grows}.")
    return right(f"the largest curvature is {steepest:.6f}, and 2 over it is {float(step):.6f}.")


def _gradient(answer: Any) -> Verdict:
    rng = np.random.default_rng(0)
    for _ in range(DRAWN):
        w, x, y = rng.normal(size=3), rng.normal(size=3), float(rng.choice([-1, 1]))
        exact = float(Logistic().slope(y * (w @ x))) * y * x
        given = np.asarray(answer(w, x, y), float)
        if given.shape != (3,) or not np.allclose(given, exact, rtol=1e-8, atol=1e-12):
            return wrong(f"at w = {w.round(3)}, x = {x.round(3)}, y = {y:+.0f} it is {exact}.")
    return right(f"it is the gradient at {DRAWN} drawn points.")


EXERCISES = [
    Exercise(
        "A line through four points",
        "Give the line y = a x + b with the least squared error for the points (0, 1), (1, 3), "
        "(2, 2), (3, 6), from the normal equations.",
        "two numbers a, b",
        _least_squares,
    ),
    Exercise(
        "The largest step",
        "Gradient descent with a constant step η on J(w) = 1/(2n) Σ (⟨w, xᵢ⟩ − yᵢ)² converges from "
        "anywhere for η below a limit, whatever the targets are. Give the limit for the three rows "
        "(1, 1), (1, −1), (2, 2).",
        "one number",
        _largest_step,
    ),
    Exercise(
        "The gradient of the logistic loss",
        "Write the gradient in w of log(1 + exp(−y⟨w, x⟩)) as a function of the arrays w and x, "
        "and y = ±1.",
        "a function of w, x and y that returns an array",
        _gradient,
    ),
]
