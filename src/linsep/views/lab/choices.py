"""What can be chosen in the lab: data, learners and their parameters, as the page shows them."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.views.lab.toys import TOYS

Array = npt.NDArray[Any]

POINTS = 2000  # at most, of any data
CLASSES = 6  # of points placed by hand
DIGITS = 3  # of points that a hand may move from here on
REACH = 1e6  # how large a coordinate may be
LIFTS = {"": "as it is", "product": "x₁·x₂", "squares": "x₁² + x₂²"}


class Learner(NamedTuple):
    """A learner by name: what the page says, its class, what is fixed, what can be chosen."""

    label: str
    family: str
    kind: str
    fixed: dict[str, Any]
    takes: tuple[str, ...]
    two: bool = False  # whether it takes two classes only
    curved: bool = False  # whether its boundary is no line


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


class Choice(NamedTuple):
    """A parameter that is one of some words."""

    label: str
    usual: str
    options: tuple[str, ...]


_ALL = ("max_iter", "shuffle", "random_state", "fit_intercept")
_RULE = ("eta0", "margin", "bias_step", *_ALL, "multiclass")
_LIKELIHOOD = ("C", "penalised", "fit_intercept")
_BOUNDS = {"positive": "positive", "negative": "negative", "-1..1": (-1.0, 1.0)}
_KERNEL = ("kernel", "degree", "gamma")

LEARNERS = {
    "online": Learner("online", "Perceptron", "Perceptron", {"rule": "online"}, _RULE),
    "batch": Learner("batch", "Perceptron", "Perceptron", {"rule": "batch"},
                     ("eta0", "max_iter", "fit_intercept", "multiclass")),
    "minibatch": Learner("minibatch", "Perceptron", "Perceptron", {"rule": "minibatch"},
                         ("eta0", "batch_size", *_ALL)),
    "averaged": Learner("averaged", "Perceptron", "Perceptron", {"keep": "average"}, _RULE),
    "pocket": Learner("pocket", "Perceptron", "Perceptron", {"keep": "pocket"}, _RULE),
    "voted": Learner("voted", "Perceptron", "VotedPerceptron", {}, _ALL, curved=True),
    "passive-aggressive": Learner("passive-aggressive", "Perceptron", "PassiveAggressive", {},
                                  ("C", "variant", *_ALL)),
    "delta": Learner("delta rule, batch", "Least squares", "LinearRegression",
                     {"solver": "batch"}, ("max_iter", "fit_intercept"), two=True),
    "delta-sgd": Learner("delta rule, row by row", "Least squares", "LinearRegression",
                         {"solver": "sgd"}, _ALL, two=True),
    "least-squares": Learner("exact", "Least squares", "LinearRegression", {"solver": "exact"},
                             ("fit_intercept",), two=True),
    "logistic": Learner("Newton", "Logistic", "LogisticRegression", {},
                        (*_LIKELIHOOD, "bounds")),
    "logistic-gradient": Learner("gradient", "Logistic", "LogisticRegression",
                                 {"solver": "gradient"}, ("max_iter", *_LIKELIHOOD)),
    "logistic-minibatch": Learner("minibatch", "Logistic", "LogisticRegression",
                                  {"solver": "minibatch"}, ("batch_size", "C", *_ALL)),
    "logistic-sgd": Learner("row by row", "Logistic", "LogisticRegression", {"solver": "sgd"},
                            ("C", *_ALL)),
    "svm": Learner("widest margin", "SVM", "LinearSVC", {},
                   ("C", "loss", "fit_intercept", "bounds")),
    "svm-sgd": Learner("row by row", "SVM", "LinearSVC", {"solver": "sgd"}, ("C", *_ALL)),
    "lda": Learner("LDA", "Discriminant", "LinearDiscriminantAnalysis", {}, ()),
    "fisher": Learner("Fisher", "Discriminant", "FisherDiscriminant", {}, ("bias",), two=True),
    "kernel-perceptron": Learner("kernel perceptron", "Curved", "KernelPerceptron", {},
                                 (*_KERNEL, *_ALL), curved=True),
    "kernel-svm": Learner("kernel SVM", "Curved", "KernelSVC", {}, ("C", *_KERNEL), curved=True),
    "network": Learner("two layers", "Curved", "ThresholdNetwork", {}, ("hidden", "random_state"),
                       two=True, curved=True),
}  # fmt: skip

PARAMETERS: dict[str, Number | Switch | Choice] = {
    "eta0": Number("step η", 1.0, 1e-6, 1e6, False),
    "C": Number("C", 1.0, 1e-6, 1e6, False),
    "penalised": Switch("penalty", True),
    "margin": Number("margin wanted", 0.0, 0.0, 1e6, False),
    "max_iter": Number("passes at most", 50, 1, 1000, True),
    "batch_size": Number("rows in a batch", 4, 1, POINTS, True),
    "hidden": Number("hidden units", 2, 1, 10, True),
    "degree": Number("degree", 3, 1, 9, True),
    "gamma": Number("γ of the kernel", 1.0, 1e-6, 1e6, False),
    "kernel": Choice("kernel", "rbf", ("rbf", "poly")),
    "loss": Choice("loss", "hinge", ("hinge", "squared_hinge")),
    "variant": Choice("variant", "PA-I", ("PA-I", "PA-II")),
    "bounds": Choice("weights", "free", ("free", *_BOUNDS)),
    "bias": Choice("intercept by", "margin", ("margin", "midpoint")),
    "bias_step": Choice("step of b", "unit", ("unit", "radius")),
    "multiclass": Choice("many classes", "kesler", ("kesler", "ovr")),
    "shuffle": Switch("shuffle rows", False),
    "random_state": Number("seed", 0, 0, 2**31 - 1, True),
    "fit_intercept": Switch("intercept", True),
}


def settings(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a learner of the menu, without `trace`."""
    learner = LEARNERS[name]
    given = {key: parameters[key] for key in learner.takes}
    if not given.pop("penalised", True):
        given["C"] = np.inf
    bounds = given.pop("bounds", "free")
    if bounds in _BOUNDS:
        given["bounds"] = _BOUNDS[bounds]
    return learner.fixed | given


def menu() -> dict[str, Any]:
    """All of it as plain values, for the page."""
    return {
        "toys": {name: {"label": toy.label, "hint": toy.hint, **_thumbnail(*toy.rows())}
                 for name, toy in TOYS.items()},
        "learners": {name: {"label": one.label, "family": one.family, "takes": one.takes}
                     for name, one in LEARNERS.items()},
        "parameters": {name: one._asdict() for name, one in PARAMETERS.items()},
        "lifts": LIFTS,
        "most": POINTS,
        "classes": CLASSES,
        "reach": REACH,
    }  # fmt: skip


def _thumbnail(X: Array, y: Array) -> dict[str, Any]:
    """The points that the page draws: all where they can be dragged, else their shadow."""
    codes = np.unique(y, return_inverse=True)[1]
    if X.shape[1] == 2:
        return {"points": _as_points(np.round(X, DIGITS), codes)}
    around = X - X.mean(axis=0)
    flat = around @ np.linalg.svd(around, full_matrices=False)[2][:2].T
    return {"shadow": _as_points(np.round(flat[::8], 1), codes[::8])}


def _as_points(X: Array, codes: Array) -> dict[str, Any]:
    """Rows as the page reads them: [x₁, x₂, x₁, …], and a figure for the class of each."""
    return {"at": X.ravel().tolist(), "of": "".join(map(str, codes))}
