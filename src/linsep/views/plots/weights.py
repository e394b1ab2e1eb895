"""The weights of a model, as images or bars."""

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure


def weights(model: Any, shape: tuple[int, int] | None = None, ax: Any = None) -> Figure:
    """Draw the weights of a model: as images where the features are pixels, else as bars.

    Parameters
    ----------
    model : fitted learner with `coef_` and `classes_`
    shape : rows and columns of the image that the features form, or None
    ax : matplotlib axes, optional
        Where to draw; only for models with one hyperplane. A new figure otherwise.

    Returns
    -------
    matplotlib.figure.Figure
    """
    planes = np.asarray(model.coef_)
    names = model.classes_[1:] if len(planes) == 1 else model.classes_
    if ax is not None:
        _one(ax, planes[0], names[0], shape, np.abs(planes).max())
        return ax.figure
    columns = min(5, len(planes))
    lines = math.ceil(len(planes) / columns)
    figure = Figure(figsize=(2.1 * columns, 2.3 * lines), layout="constrained")
    axes = np.atleast_1d(figure.subplots(lines, columns, squeeze=False)).ravel()
    drawn: Any = None
    for place, plane, name in zip(axes, planes, names, strict=False):
        drawn = _one(place, plane, name, shape, np.abs(planes).max())
    for place in axes[len(planes) :]:
        place.set_axis_off()
    if shape is not None:
        figure.colorbar(drawn, ax=list(axes), label="weight", shrink=0.8)
    return figure


def _one(ax: Any, plane: Any, name: Any, shape: tuple[int, int] | None, limit: float) -> Any:
    """One hyperplane; the scale is symmetric, so that white is no weight."""
    ax.set_title(str(name))
    if shape is None:
        ax.set(xlabel="feature", ylabel="weight")
        return ax.bar(np.arange(len(plane)), plane)
    ax.set_xticks([])
    ax.set_yticks([])
    limit = limit or 1.0
    return ax.imshow(plane.reshape(shape), cmap="RdBu_r", vmin=-limit, vmax=limit)
