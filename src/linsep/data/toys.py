"""The lectures' examples and small clouds: data whose answer is known beforehand.

Every function returns `(X, y)`, or `(X, y, u)` where `u` is a known separator. Two-class labels are
-1 and +1. The same arguments give the same numbers.

References
----------
F. Fleuret, *Linear classifiers, perceptron*; J. L. Crowley, *Perceptrons, regression and gradient
descent*; J. Vitay, *Linear classification*; M. Gales, *Single layer perceptron*.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from linsep.errors import ParameterError

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]

_GATES: dict[str, tuple[int, Callable[..., bool]]] = {
    "AND": (2, lambda a, b: a and b),
    "OR": (2, lambda a, b: a or b),
    "NOT": (1, lambda a: not a),
    "NAND": (2, lambda a, b: not (a and b)),
    "NOR": (2, lambda a, b: not (a or b)),
    "XOR": (2, lambda a, b: a != b),
    "XNOR": (2, lambda a, b: a == b),
}


def three_points() -> tuple[Rows, Labels]:
    """Give the three points for which the lecture asks for a separating line.

    The run is ours: from the weights zero, in this order and with unit steps, the corrections in
    each pass are 2 2 3 2 1 2 1 0, and the final weights are (3, -2.5, 0) on (1, x₁, x₂).

    Examples
    --------
    >>> X, y = three_points()
    >>> float((y * (X @ [-2.5, 0.0] + 3)).min())
    0.5
    """
    return np.array([[1.0, 1.0], [0.5, 3.0], [2.0, 2.0]]), np.array([1, 1, -1])


def two_groups() -> tuple[Rows, Labels]:
    """Give the eight points of the worked gradient-descent example, class 1 (+1) first.

    From w̃[0] = (0, 1, -0.5) on (x₁, x₂, 1), one batch step of unit size reaches
    w̃[1] = (1.45, -0.6, -0.5), which separates them.

    Examples
    --------
    >>> X, y = two_groups()
    >>> (y * (X @ [1.45, -0.6] - 0.5)).round(4).tolist()
    [0.95, 0.35, 0.01, 0.275, 0.5, 1.1, 0.7375, 0.305]
    """
    first = [[1.0, 0.0], [1.0, 1.0], [0.6, 0.6], [0.7, 0.4]]
    second = [[0.0, 0.0], [0.0, 1.0], [0.25, 1.0], [0.3, 0.4]]
    return np.array(first + second), np.repeat([1, -1], 4)


def gates(name: str = "AND") -> tuple[Rows, Labels]:
    """Give the truth table of a logic gate: rows of 0 and 1, label +1 where the gate says true.

    Parameters
    ----------
    name : {"AND", "OR", "NOT", "NAND", "NOR", "XOR", "XNOR"}
        The gate, in any case. Rows count upwards with the first input most significant.

    Examples
    --------
    >>> X, y = gates("nand")
    >>> y.tolist()
    [1, 1, 1, -1]
    """
    if not isinstance(name, str) or name.upper() not in _GATES:
        raise ParameterError(f"name is {name!r}, not a gate; choose one of {', '.join(_GATES)}.")
    inputs, gate = _GATES[name.upper()]
    X = np.array([[row >> i & 1 for i in reversed(range(inputs))] for row in range(2**inputs)])
    y = np.array([1 if gate(*row) else -1 for row in X.tolist()])
    return X.astype(np.float64), y


def xor() -> tuple[Rows, Labels]:
    """Give exclusive or, the smallest table that no line separates.

    Examples
    --------
    >>> X, y = xor()
    >>> (y @ np.column_stack([X, np.ones(4)])).tolist()
    [0.0, 0.0, 0.0]

    Equal weights on the four rows cancel: that is a proof that no line separates them.
    """
    return gates("XOR")


def separated(
    n: int = 200, d: int = 2, margin: float = 0.1, seed: int = 0
) -> tuple[Rows, Labels, Rows]:
    """Draw a cloud that the unit vector `u` separates through the origin by at least `margin`.

    Every row has yᵢ⟨u, xᵢ⟩ ≥ margin as computed in floating point, and ‖xᵢ‖ near √d; both classes
    occur when n ≥ 2.

    Parameters
    ----------
    n, d : int
        Number of rows and of columns.
    margin : float
        The least distance of a row from the plane.
    seed : int
        Same seed, same cloud.

    Examples
    --------
    >>> X, y, u = separated(n=50, d=3, margin=0.2, seed=1)
    >>> bool((y * (X @ u)).min() >= 0.2), round(float(np.linalg.norm(u)), 12)
    (True, 1.0)
    """
    _at_least(n=n, d=d)
    if not 0 <= margin < np.inf:
        raise ParameterError(f"margin is {margin!r}; a distance, zero or more, was wanted.")
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    X = rng.standard_normal((n, d))
    along = X @ u
    y = np.where(along >= 0, 1, -1)
    if n > 1 and abs(y.sum()) == n:
        y[0] = -y[0]
    # The part along u moves out of the band (-margin, margin), a hair further for rounding.
    outward = np.abs(along) + margin * (1 + 1e-9)
    X += np.outer(y * outward - along, u)
    short = y * (X @ u) < margin
    X[short] += np.outer(y[short] * 1e-9 * (1 + margin), u)
    return X, y.astype(np.int64), u


def overlapping(
    n: int = 200, d: int = 2, distance: float = 2.0, seed: int = 0
) -> tuple[Rows, Labels]:
    """Draw two unit Gaussians whose means lie `distance` apart along the first axis.

    The best possible classifier is x₁ ≥ 0 and errs with probability Φ(-distance/2).

    Examples
    --------
    >>> X, y = overlapping(n=50_000, distance=2.0)
    >>> round(float(np.mean(y * X[:, 0] <= 0)), 2)  # Φ(-1) = 0.159
    0.16
    """
    _at_least(n=n, d=d)
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    X = rng.standard_normal((n, d))
    X[:, 0] += y * (distance / 2)
    return X, y.astype(np.int64)


def rings(n: int = 200, noise: float = 0.1, seed: int = 0) -> tuple[Rows, Labels]:
    """Draw a disc (+1) inside a ring (-1): no line separates them, the radius does.

    Examples
    --------
    >>> X, y = rings(noise=0.0)
    >>> np.linalg.norm(X, axis=1).round(6)[:4].tolist(), y[:4].tolist()
    ([1.0, 2.0, 1.0, 2.0], [1, -1, 1, -1])
    """
    _at_least(n=n)
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = np.where(y > 0, 1.0, 2.0) + noise * rng.standard_normal(n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y.astype(np.int64)


def three_classes(n: int = 150, spread: float = 0.5, seed: int = 0) -> tuple[Rows, Labels]:
    """Draw three Gaussian clouds, labelled 0, 1, 2, around the corners of a triangle of side 4.

    With `spread` below about 0.4 a linear machine usually separates them; with one plane for each
    class against the rest, parts of the plane belong to no class.

    Examples
    --------
    >>> X, y = three_classes(n=9, spread=0.0)
    >>> np.unique(X.round(3), axis=0).tolist()
    [[-2.0, -1.155], [0.0, 2.309], [2.0, -1.155]]
    """
    _at_least(n=n)
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    height = 2 / np.sqrt(3)
    corners = np.array([[-2.0, -height], [2.0, -height], [0.0, 2 * height]])
    return corners[y] + spread * rng.standard_normal((n, 2)), y.astype(np.int64)


def height_weight(n: int = 100, seed: int = 0) -> tuple[Rows, Rows]:
    """Draw heights (cm, one column) and weights (kg) for the lecture's regression line.

    The line is weight = 0.9·height - 85, with normal deviations of 8 kg.

    Examples
    --------
    >>> X, y = height_weight(10_000)
    >>> slope, at_zero = np.polyfit(X[:, 0], y, 1)
    >>> round(float(slope), 1)
    0.9
    """
    _at_least(n=n)
    rng = np.random.default_rng(seed)
    height = 170 + 10 * rng.standard_normal(n)
    return height[:, None], 0.9 * height - 85 + 8 * rng.standard_normal(n)


def age_height_weight(n: int = 100, seed: int = 0) -> tuple[Rows, Rows]:
    """Draw ages (years) and heights (cm) as two columns, and weights (kg): the lecture's plane.

    The plane is weight = 0.2·age + 0.9·height - 93, with normal deviations of 8 kg.

    Examples
    --------
    >>> X, y = age_height_weight(10_000)
    >>> (np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y)[0][:2]).round(1).tolist()
    [0.2, 0.9]
    """
    _at_least(n=n)
    rng = np.random.default_rng(seed)
    age, height = rng.uniform(20, 70, n), 170 + 10 * rng.standard_normal(n)
    weight = 0.2 * age + 0.9 * height - 93 + 8 * rng.standard_normal(n)
    return np.column_stack([age, height]), weight


def _at_least(**numbers: int) -> None:
    for name, value in numbers.items():
        if value < 1:
            raise ParameterError(f"{name} is {value!r}; at least 1 was wanted.")
