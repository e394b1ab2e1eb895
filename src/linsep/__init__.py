"""Linear classification that is fast, exact where it can be, and proves its answers.

Public names load on first use, so that importing linsep costs nothing and does not bring in
scikit-learn.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Channels": "rows.features.channels",
    "FisherDiscriminant": "learners.discriminants.fisher",
    "HOG": "rows.features.hog",
    "KernelPerceptron": "learners.perceptrons.kernel_perceptron",
    "KernelSVC": "learners.kernel_svc",
    "Layer": "learners.compose.layer",
    "LinearDiscriminantAnalysis": "learners.discriminants.lda",
    "LinearRegression": "learners.regression",
    "LinearSVC": "learners.svm",
    "LogisticRegression": "learners.logistic",
    "NO_DECISION": "model.chances",
    "OrdinalRegression": "learners.ordinal",
    "PairProducts": "rows.features.pairs",
    "PassiveAggressive": "learners.perceptrons.passive_aggressive",
    "Perceptron": "learners.perceptrons.perceptron",
    "Radial": "rows.features.radial",
    "Scaled": "learners.compose.scaled",
    "Status": "status",
    "ThresholdNetwork": "learners.compose.threshold_network",
    "VotedPerceptron": "learners.perceptrons.voted",
    "bias_variance": "learners.model_selection.bias_variance",
    "data": "data",
    "errors": "errors",
    "exercise": "views.exercises",
    "export": "model.export.export",
    "fewest_mistakes": "proofs.mistakes.fewest",
    "film": "views.film",
    "formula": "data.sources.formula",
    "gap": "proofs.gap.duality_gap",
    "kesler_rows": "rows.features.kesler",
    "likelihood": "likelihood",
    "load": "model.files.store",
    "logic": "logic",
    "losses": "losses",
    "margin": "proofs.mistakes.margin",
    "mistake_bound": "proofs.mistakes.mistake_bound",
    "ordered_steps": "data.encoding.ordered_steps",
    "path": "learners.model_selection.path",
    "plot": "views.plots",
    "proof_steps": "views.scene.proof_steps",
    "read": "data.sources.read",
    "report": "views.report",
    "save": "model.files.store",
    "separability": "proofs.separability.linear_separability",
    "sigmoid": "losses",
}
_MODULES = {"data", "errors", "likelihood", "logic", "losses", "plot"}

_AROUND = {"Layer", "Scaled", "ThresholdNetwork"}  # these hold learners or units
_LEARNERS = tuple(
    sorted(
        name
        for name, home in _HOME.items()
        if home.startswith("learners.") and name[0].isupper() and name not in _AROUND
    )
)
"""What a model file may name, and what the command line offers."""

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'linsep' has no attribute {name!r}")
    module = import_module(f"linsep.{_HOME[name]}")
    value = module if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOME, *(name for name in globals() if name.startswith("__"))])
