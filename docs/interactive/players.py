"""The runs that pages play: each is a film of its own."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import linsep
from linsep import LogisticRegression, Perceptron
from linsep.data.toys import overlapping, separated, three_classes, three_points, two_groups


def squeezed() -> Perceptron:
    """A run whose timeline draws both bounds of Novikoff's proof."""
    X, y, _ = separated(n=24, d=2, margin=0.03, seed=48)
    return Perceptron(shuffle=False, fit_intercept=False, trace=True).fit(X, y)


def by_hand() -> Perceptron:
    """The three points of the second lecture, in the given order."""
    return Perceptron(shuffle=False, trace=True).fit(*three_points())


def far_from_the_origin() -> Perceptron:
    """Rows that a bias of steps of one would take thousands of corrections to reach."""
    X, y, _ = separated(n=40, d=2, margin=0.5, seed=2)
    return Perceptron(bias_step="radius", trace=True, max_iter=2000).fit(X + 5.0, y)


def soft() -> LogisticRegression:
    """The logistic delta rule, row by row from w = 0."""
    X, y = overlapping(n=60, seed=0)
    with warnings.catch_warnings(action="ignore"):  # three passes are no optimum
        return LogisticRegression(
            C=np.inf, solver="sgd", eta0=0.1, schedule="constant", scale=False, shuffle=False,
            tol=1e-12, keep="last", max_iter=3, trace=True,
        ).fit(X, y)  # fmt: skip


def one_step() -> Perceptron:
    """The eight points of the fifth lecture: one batch step from (0, 1, −0.5)."""
    return Perceptron("batch", init=[0.0, 1.0, -0.5], trace=True).fit(*two_groups())


def kesler() -> Perceptron:
    """Three classes at once."""
    return Perceptron(trace=True, shuffle=False).fit(*three_classes(n=45, spread=0.8, seed=1))


PLAYERS: dict[str, Callable[[], Perceptron | LogisticRegression]] = {
    "squeezed": squeezed,
    "three-points": by_hand,
    "radius": far_from_the_origin,
    "soft": soft,
    "one-step": one_step,
    "kesler": kesler,
}


def build(folder: Path) -> None:
    """Write all films."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, run in PLAYERS.items():
        linsep.film(run().trace_, folder / f"{name}.html")
