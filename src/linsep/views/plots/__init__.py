"""Pictures of linear models. They read, and never compute a fit.

Colours are those of Okabe and Ito and four more, which people with any kind of colour vision can
tell apart; classes also differ in their marks. Every function takes `ax=` and returns the figure;
each Display follows scikit-learn's convention, with `from_estimator`, `plot`, `ax_` and `figure_`.
"""

from linsep.views.plots.boundary import boundary, confidence, margin
from linsep.views.plots.comparison import compare
from linsep.views.plots.curves import bias_variance, loss, mistakes, rejection
from linsep.views.plots.diagrams import activation, gates, layer, unit
from linsep.views.plots.displays import (
    BoundaryDisplay,
    ConfidenceDisplay,
    LossDisplay,
    MarginDisplay,
    MistakesDisplay,
    WeightsDisplay,
    WeightSpaceDisplay,
)
from linsep.views.plots.likelihoods import densities, likelihood
from linsep.views.plots.networks import network
from linsep.views.plots.proof_steps import squeeze
from linsep.views.plots.solution_region import solution_region
from linsep.views.plots.surfaces import criteria, loss_surface, losses
from linsep.views.plots.weight_space import weight_space
from linsep.views.plots.weights import weights

__all__ = [
    "BoundaryDisplay",
    "ConfidenceDisplay",
    "LossDisplay",
    "MarginDisplay",
    "MistakesDisplay",
    "WeightSpaceDisplay",
    "WeightsDisplay",
    "activation",
    "bias_variance",
    "boundary",
    "compare",
    "confidence",
    "criteria",
    "densities",
    "gates",
    "layer",
    "likelihood",
    "loss",
    "loss_surface",
    "losses",
    "margin",
    "mistakes",
    "network",
    "rejection",
    "solution_region",
    "squeeze",
    "unit",
    "weight_space",
    "weights",
]
