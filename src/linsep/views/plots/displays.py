"""Pictures by scikit-learn's convention: `BoundaryDisplay.from_estimator(model, X, y, ax=ax)`."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

from linsep.views.plots.boundary import boundary, confidence, margin
from linsep.views.plots.curves import loss, mistakes
from linsep.views.plots.weight_space import weight_space
from linsep.views.plots.weights import weights


class Display:
    """A picture that can be drawn, here and again elsewhere.

    Attributes
    ----------
    ax_ : matplotlib axes it was drawn on last, or the first of several
    figure_ : the figure of it, which pyplot knows unless `ax` was given
    """

    _draw: ClassVar[Callable[..., Any]]

    def __init__(self, *given: Any, **options: Any) -> None:
        self._given, self._options = given, options

    @classmethod
    def from_estimator(cls, estimator: Any, *data: Any, ax: Any = None, **options: Any) -> Self:
        """Draw a fitted estimator, with its rows and labels where the picture shows them.

        Parameters
        ----------
        estimator : fitted learner of linsep or scikit-learn
        *data : X and y
        ax : matplotlib axes, optional
            A new figure of pyplot otherwise.
        **options : more parameters of the function of the same name
        """
        return cls(estimator, *data, **options).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw it, on these axes or in a new figure of pyplot."""
        draw = type(self)._draw
        if ax is None:
            import matplotlib.pyplot  # noqa: F401  (figures are pyplot's where it is in use)
        self.figure_ = draw(*self._given, ax=ax, **self._options)
        self.ax_ = self.figure_.axes[0] if ax is None else ax
        return self


class BoundaryDisplay(Display):
    """Regions, boundary and rows of two features; see `linsep.plot.boundary`.

    Examples
    --------
    >>> import linsep
    >>> from linsep.data.toys import two_groups
    >>> X, y = two_groups()
    >>> display = linsep.plot.BoundaryDisplay.from_estimator(linsep.Perceptron().fit(X, y), X, y)
    >>> display.ax_.get_xlabel()
    'x₁'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    _draw = staticmethod(boundary)


class MarginDisplay(Display):
    """The margin and the rows that hold it; see `linsep.plot.margin`."""

    _draw = staticmethod(margin)


class ConfidenceDisplay(Display):
    """Probabilities over the plane; see `linsep.plot.confidence`."""

    _draw = staticmethod(confidence)


class WeightsDisplay(Display):
    """Weights as bars or images; see `linsep.plot.weights`."""

    _draw = staticmethod(weights)


class LossDisplay(Display):
    """The loss after each pass; see `linsep.plot.loss`."""

    _draw = staticmethod(loss)


class MistakesDisplay(Display):
    """Corrections in each pass; see `linsep.plot.mistakes`."""

    _draw = staticmethod(mistakes)


class WeightSpaceDisplay(Display):
    """The space of weights, with solution region and path; see `linsep.plot.weight_space`."""

    _draw = staticmethod(weight_space)
