"""What can be chosen in the lab: data whose answer is known, learners that record their steps."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data import toys

Array = npt.NDArray[Any]

POINTS = 500  # at most, of any data
REACH = 1e6  # how large a coordinate may be


class Toy(NamedTuple):
    """Data by name: what the menu says, the function of `linsep.data.toys`, its arguments."""

    label: str
    make: Callable[..., tuple[Array, Array]]
    given: dict[str, Any]

    def rows(self) -> tuple[Array, Array]:
        """Points and labels."""
        return self.make(**self.given)


class Learner(NamedTuple):
    """A learner by name: what the menu says, its class, what is fixed, what can be chosen."""

    label: str
    kind: str
    fixed: dict[str, Any]
    takes: tuple[str, ...]


class Number(NamedTuple):
    """A parameter: what the page calls it, what it is at first, and its bounds."""

    label: str
    usual: float
    least: float
    most: float
    whole: bool


class Switch(NamedTuple):
    """A parameter that is on or off."""

    label: str
    usual: bool


TOYS = {
    "three-points": Toy("the lectures' three points", toys.three_points, {}),
    "two-groups": Toy("the lectures' worked example", toys.two_groups, {}),
    "and": Toy("AND", toys.gates, {"name": "AND"}),
    "or": Toy("OR", toys.gates, {"name": "OR"}),
    "xor": Toy("XOR", toys.gates, {"name": "XOR"}),
    "rings": Toy("rings", toys.rings, {"n": 60}),
    "gaussians": Toy("two Gaussians", toys.overlapping, {"n": 60, "distance": 3.0}),
}

_ALL = ("max_iter", "shuffle", "random_state", "fit_intercept")

LEARNERS = {
    "online": Learner("perceptron, online", "Perceptron", {"rule": "online"}, ("eta0", *_ALL)),
    "batch": Learner(
        "perceptron, batch", "Perceptron", {"rule": "batch"}, ("eta0", "max_iter", "fit_intercept")
    ),
    "minibatch": Learner(
        "perceptron, minibatch", "Perceptron", {"rule": "minibatch"}, ("eta0", "batch_size", *_ALL)
    ),
    "averaged": Learner(
        "perceptron, averaged", "Perceptron", {"keep": "average"}, ("eta0", *_ALL)
    ),
    "pocket": Learner("perceptron, pocket", "Perceptron", {"keep": "pocket"}, ("eta0", *_ALL)),
    "passive-aggressive": Learner("passive-aggressive", "PassiveAggressive", {}, ("C", *_ALL)),
    "logistic-sgd": Learner(
        "logistic, row by row", "LogisticRegression", {"solver": "sgd"}, ("C", *_ALL)
    ),
    "logistic-gradient": Learner(
        "logistic, gradient", "LogisticRegression", {"solver": "gradient"},
        ("C", "max_iter", "fit_intercept"),
    ),
    "svm-sgd": Learner(
        "support vectors, row by row", "LinearSVC", {"solver": "sgd"}, ("C", *_ALL)
    ),
}  # fmt: skip

PARAMETERS: dict[str, Number | Switch] = {
    "eta0": Number("step size η", 1.0, 1e-6, 1e6, False),
    "C": Number("C (less is more penalty)", 1.0, 1e-6, 1e6, False),
    "max_iter": Number("passes at most", 100, 1, 1000, True),
    "batch_size": Number("rows in a minibatch", 4, 1, POINTS, True),
    "random_state": Number("seed", 0, 0, 2**31 - 1, True),
    "shuffle": Switch("shuffle rows", False),
    "fit_intercept": Switch("intercept", True),
}


def menu() -> dict[str, Any]:
    """All of it as plain values, for the page."""
    return {
        "toys": {
            name: {"label": toy.label, "points": as_points(*toy.rows())}
            for name, toy in TOYS.items()
        },
        "learners": {
            name: {"label": one.label, "takes": list(one.takes)} for name, one in LEARNERS.items()
        },
        "parameters": {name: one._asdict() for name, one in PARAMETERS.items()},
        "most": POINTS,
        "reach": REACH,
    }


def as_points(X: Array, y: Array) -> list[list[float]]:
    """Rows as the page writes them: [x₁, x₂, label], the label −1 or 1."""
    return [[*row, int(label)] for row, label in zip(X.tolist(), np.sign(y), strict=True)]
