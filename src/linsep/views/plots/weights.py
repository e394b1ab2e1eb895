"""The weights of a model, as images or bars."""

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from linsep.errors import DataError
from linsep.views.plots.inputs import fitted, names_of
from linsep.views.scene.palette import colour_of, new_figure

NAMED = 30  # features up to which each has its name on the axis
HATCHES = ("", "///", "...", "xxx", "++", "oo")


def weights(model: Any, shape: tuple[int, int] | None = None, ax: Any = None) -> Figure:
    """Draw the weights of a model: as images where the features are pixels, else as bars.

    Parameters
    ----------
    model : fitted learner with `coef_` and `classes_`
    shape : rows and columns of the image that the features form, or None
    ax : matplotlib axes, optional
        Where to draw; images of several hyperplanes need a figure of their own. A new figure
        otherwise.

    Returns
    -------
    matplotlib.figure.Figure
    """
    planes = np.atleast_2d(np.asarray(fitted(model, "coef_").coef_))
    classes = getattr(model, "classes_", None)
    names = ["weights"] if classes is None else classes[1:] if len(planes) == 1 else classes
    features = names_of(model, planes.shape[1])
    if shape is not None and math.prod(shape) != planes.shape[1]:
        raise DataError(f"shape is {shape}; the model has {planes.shape[1]} features.")
    if ax is not None:
        _onto(ax, planes, names, shape, features)
        return ax.figure
    columns = min(5, len(planes))
    lines = math.ceil(len(planes) / columns)
    figure = new_figure((max(4.2, 2.1 * columns), (2.3 if shape else 3.0) * lines))
    axes = np.atleast_1d(figure.subplots(lines, columns, squeeze=False)).ravel()
    drawn: Any = None
    for place, plane, name in zip(axes, planes, names, strict=False):
        drawn = _one(place, plane, name, shape, np.abs(planes).max(), features)
    for place in axes[len(planes) :]:
        place.set_axis_off()
    if shape is not None:
        figure.colorbar(drawn, ax=list(axes), label="weight", shrink=0.8)
    return figure


def _onto(ax: Any, planes: Any, names: Any, shape: Any, features: list[str]) -> None:
    """All planes on one place: bars beside each other."""
    if len(planes) == 1:
        _one(ax, planes[0], names[0], shape, np.abs(planes).max(), features)
        return
    if shape is not None or len(planes) > len(HATCHES):
        what = "images" if shape is not None else "bars"
        raise DataError(
            f"model has {len(planes)} hyperplanes, whose {what} do not fit on one ax; leave ax out."
        )
    wide = 0.8 / len(planes)
    at = np.arange(planes.shape[1])
    for k, (plane, name) in enumerate(zip(planes, names, strict=True)):
        ax.bar(at + (k - (len(planes) - 1) / 2) * wide, plane, wide, color=colour_of(k),
               hatch=HATCHES[k], edgecolor="white", label=f"class {name}")  # fmt: skip
    _name_features(ax, features)
    ax.legend(frameon=False, fontsize=8)


def _one(
    ax: Any, plane: Any, name: Any, shape: tuple[int, int] | None, limit: float, features: list[str]
) -> Any:
    """One hyperplane; the scale is symmetric, so that white is no weight."""
    ax.set_title(str(name).replace("$", r"\$"))
    if shape is None:
        bars = ax.bar(np.arange(len(plane)), plane)
        _name_features(ax, features)
        return bars
    ax.set_xticks([])
    ax.set_yticks([])
    limit = limit or 1.0
    return ax.imshow(plane.reshape(shape), cmap="RdBu_r", vmin=-limit, vmax=limit)


def _name_features(ax: Any, features: list[str]) -> None:
    ax.set(xlabel="feature", ylabel="weight")
    if len(features) <= NAMED:
        plain = [one.replace("$", r"\$") for one in features]
        turned = {"rotation": 90, "fontsize": 8} if max(map(len, plain)) > 3 else {}
        ax.set_xticks(np.arange(len(plain)), plain, **turned)
