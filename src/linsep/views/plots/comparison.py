"""Several learners on the same rows, side by side."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from linsep.errors import DataError
from linsep.views.plots.boundary import boundary
from linsep.views.plots.inputs import ask, plane_of
from linsep.views.scene.palette import BLACK, new_figure, require_axes

ACROSS = 4


def compare(models: Any, X: Any, y: Any, *, ax: Any = None) -> Figure:
    """Draw the regions of several fitted learners over the same rows of two features.

    Each has a picture of its own, on the same axes, with its name and how many rows it misplaces;
    rings are around those.

    Parameters
    ----------
    models : dict of name: fitted classifier, or a list of them
    X, y : rows and labels
    ax : array of matplotlib axes, optional
        At least as many as there are models; a new figure otherwise.

    Examples
    --------
    >>> import linsep
    >>> from linsep.data.toys import two_groups
    >>> X, y = two_groups()
    >>> learners = [linsep.Perceptron(), linsep.LinearSVC(), linsep.FisherDiscriminant()]
    >>> figure = linsep.plot.compare([one.fit(X, y) for one in learners], X, y)
    >>> [ax.get_title() for ax in figure.axes]
    ['Perceptron: 0 of 8 wrong', 'LinearSVC: 0 of 8 wrong', 'FisherDiscriminant: 0 of 8 wrong']
    """
    named = _named(models)
    figure, places = _places(ax, len(named))
    rows, labels, _ = plane_of(X, y)
    for place, (name, model) in zip(places, named, strict=False):
        boundary(model, X, y, ax=place)
        place.get_legend().remove()
        wrong = rows[ask(model.predict, rows, X) != labels]
        size, width = (120, 1.5) if len(rows) <= 100 else (34, 0.7)  # many rings hide what is below
        place.scatter(wrong[:, 0], wrong[:, 1], s=size, facecolors="none", edgecolors=BLACK,
                      linewidths=width, zorder=4)  # fmt: skip
        place.set_title(f"{name}: {len(wrong)} of {len(rows)} wrong", fontsize=9)
    if ax is None:
        handles, names = places[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=6, frameon=False)
    return figure


def _named(models: Any) -> list[tuple[str, Any]]:
    if isinstance(models, Mapping):
        named = [(str(name), model) for name, model in models.items()]
    elif isinstance(models, Sequence):
        named = [(type(model).__name__, model) for model in models]
    else:
        raise DataError(f"models is {models!r}; give a dict of name: learner, or a list of them.")
    if not named:
        raise DataError("models is empty; give the learners to compare.")
    return named


def _places(ax: Any, count: int) -> tuple[Figure, list[Any]]:
    if ax is not None:
        places = np.atleast_1d(ax).ravel().tolist()
        if len(places) < count:
            raise DataError(f"ax holds {len(places)} axes for {count} models.")
        places = [require_axes(place) for place in places]
        return places[0].figure, places
    across = min(ACROSS, count)
    lines = math.ceil(count / across)
    figure = new_figure((3.1 * across, 2.9 * lines + 0.4))
    places = (
        figure.subplots(lines, across, squeeze=False, sharex=True, sharey=True).ravel().tolist()
    )
    for place in places[count:]:
        place.set_axis_off()
    return figure, places
