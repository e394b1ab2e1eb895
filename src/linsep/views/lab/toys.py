"""Data of the lab whose answer is known: a name, a line about it, and Python that makes it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data import toys

Array = npt.NDArray[Any]


class Toy(NamedTuple):
    """Data by name: what the page says, a function without arguments, and its Python lines."""

    label: str
    hint: str
    rows: Callable[[], tuple[Array, Array]]
    lines: list[str]


def _named(label: str, hint: str, make: Callable[..., Any], **given: Any) -> Toy:
    said = ", ".join(f"{key}={value!r}" for key, value in given.items())
    more = ", _" if make is toys.separated else ""
    lines = [f"from linsep.data.toys import {make.__name__}",
             f"X, y{more} = {make.__name__}({said})"]  # fmt: skip
    return Toy(label, hint, lambda: make(**given)[:2], lines)


def _listed(label: str, hint: str, points: list[list[float]]) -> Toy:
    X = np.array([point[:2] for point in points], float)
    y = np.array([int(point[2]) for point in points])
    lines = ["import numpy as np", f"X = np.array({X.tolist()})", f"y = np.array({y.tolist()})"]
    return Toy(label, hint, lambda: (X.copy(), y.copy()), lines)


def _iris() -> tuple[Array, Array]:
    from linsep.views.sources import open_data

    X, y = open_data("iris", None, None)
    return np.asarray(X, float)[:, 2:4], np.asarray(y)


def _digits() -> tuple[Array, Array]:
    from linsep.views.sources import open_data

    X, y = open_data("digits01", None, None)
    return np.asarray(X, float)[:200], np.asarray(y)[:200]


def _outlier() -> list[list[float]]:
    X, y = toys.overlapping(n=24, distance=6.0, seed=3)
    rows = [[*map(float, np.round(row, 2)), int(np.sign(label))]
            for row, label in zip(X, y, strict=True)]  # fmt: skip
    far = max(row[0] for row in rows) + 9
    return [*rows, [round(far, 2), 1.0, 1]]


def _line() -> list[list[float]]:
    steps = np.linspace(-2, 2, 12)
    return [[round(float(s), 3), round(float(0.8 * s + 0.05 * (-1) ** k), 3), (-1) ** k]
            for k, s in enumerate(steps)]  # fmt: skip


_DATA = "from linsep.views.sources import open_data"

TOYS = {
    "three-points": _named("3 points", "worked by hand in the lectures",
                           toys.three_points),
    "two-groups": _named("worked example", "two groups of four",
                         toys.two_groups),
    "and": _named("AND", "true only where both inputs are", toys.gates, name="AND"),
    "or": _named("OR", "true where one input is", toys.gates, name="OR"),
    "xor": _named("XOR", "no line separates it; a third feature does", toys.gates, name="XOR"),
    "separable": _named("wide gap", "60 rows that a line separates", toys.separated, n=60,
                        margin=0.08, seed=4),
    "gaussians": _named("Gaussians", "two clouds that overlap", toys.overlapping, n=60,
                        distance=3.0),
    "rings": _named("rings", "one class around the other; lift it", toys.rings, n=60),
    "three-classes": _named("3 classes", "three clouds: one weight vector each",
                            toys.three_classes, n=60),
    "narrow": _listed("narrow gap", "a small margin far from the origin: many mistakes",
                      [[2, 1.9, -1], [3, 2.9, -1], [4, 3.9, -1], [2, 2.1, 1], [3, 3.1, 1],
                       [4, 4.1, 1]]),
    "touching": _listed("touching", "both classes have a row in one place",
                        [[0, 0, -1], [0, 1, -1], [1, 1, -1], [1, 1, 1], [2, 1, 1], [2, 2, 1]]),
    "collinear": _listed("collinear", "nearly on one line, classes in turn", _line()),
    "outlier": _listed("outlier", "two clouds and one row far away", _outlier()),
    "iris": Toy("iris", "petals of three kinds of iris", _iris,
                [_DATA, "X, y = open_data('iris', None, None)", "X = X[:, 2:4]"]),
    "digits": Toy("digits", "200 images of 0 and 1, along two axes", _digits,
                  [_DATA, "X, y = open_data('digits01', None, None)", "X, y = X[:200], y[:200]"]),
}  # fmt: skip
