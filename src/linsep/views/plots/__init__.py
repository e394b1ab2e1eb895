"""Pictures of linear models. They read, and never compute a fit.

Colours are those of Okabe and Ito and four more, which people with any kind of colour vision can
tell apart; classes also differ in their marks. Every function takes `ax=` and returns the figure.
"""

from linsep.views.plots.boundary import boundary, confidence, margin
from linsep.views.plots.comparison import compare
from linsep.views.plots.curves import bias_variance, loss, mistakes
from linsep.views.plots.networks import network
from linsep.views.plots.weight_space import weight_space
from linsep.views.plots.weights import weights

__all__ = [
    "bias_variance",
    "boundary",
    "compare",
    "confidence",
    "loss",
    "margin",
    "mistakes",
    "network",
    "weight_space",
    "weights",
]
