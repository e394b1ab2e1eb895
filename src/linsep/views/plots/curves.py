"""What happened pass by pass, and what happens degree by degree."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from linsep.errors import DataError
from linsep.views.scene.palette import (
    BLACK,
    BLUE,
    ORANGE,
    axes_of,
    colour_of,
    mark_of,
)

STYLES = ("-", "--", "-.", ":")


def loss(models: Any, ax: Any = None) -> Figure:
    """Draw the loss after each pass of a fitted learner, or of several by name.

    Parameters
    ----------
    models : learner with `loss_curve_` or `trace_`, or a dict of name: learner
    ax : matplotlib axes, optional
    """
    figure, ax = axes_of(ax)
    for k, (name, model) in enumerate(_named(models)):
        curve = _losses(model)
        _curve(ax, k, curve, name)
    ax.set(xlabel="pass over the data", ylabel="loss")
    ax.legend(frameon=False)
    return figure


def mistakes(models: Any, ax: Any = None) -> Figure:
    """Draw the corrections in each pass of a perceptron, or of several by name.

    Parameters
    ----------
    models : learner with `mistakes_per_epoch_`, or a dict of name: learner
    ax : matplotlib axes, optional
    """
    figure, ax = axes_of(ax)
    for k, (name, model) in enumerate(_named(models)):
        _curve(ax, k, model.mistakes_per_epoch_, name)
    ax.set(xlabel="pass over the data", ylabel="corrections")
    ax.set_yscale("symlog", linthresh=1)
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.set_ylim(bottom=-0.1)
    ax.legend(frameon=False)
    return figure


def bias_variance(found: Mapping[Any, Any], ax: Any = None, *, label: str = "degree") -> Figure:
    """Draw squared bias, variance and their sum against a parameter, such as a degree.

    Parameters
    ----------
    found : dict of parameter: result of `linsep.bias_variance`
    ax : matplotlib axes, optional
    label : what the parameter is called
    """
    figure, ax = axes_of(ax)
    at = list(found)
    for name, colour, mark in (
        ("bias", BLUE, "o"),
        ("variance", ORANGE, "s"),
        ("error", BLACK, ""),
    ):
        values = [getattr(one, name) for one in found.values()]
        words = {"bias": "squared bias", "error": "their sum: the error"}.get(name, name)
        ax.plot(at, values, color=colour, marker=mark, ms=4.5, lw=1.8 if mark else 1.2, label=words)
    ax.set(xlabel=label, ylabel="mean squared error")
    ax.set_yscale("log")
    ax.legend(frameon=False)
    return figure


def _curve(ax: Any, k: int, values: Any, name: str) -> None:
    """One number for each pass; where curves coincide, their dashes let each other be seen."""
    ax.plot(np.arange(1, len(values) + 1), values, color=colour_of(k), marker=mark_of(k),
            ms=6 - k % 3, ls=STYLES[k % 4], label=name)  # fmt: skip
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _named(models: Any) -> list[tuple[str, Any]]:
    if isinstance(models, Mapping):
        return list(models.items())
    return [(type(models).__name__, models)]


def _losses(model: Any) -> list[float]:
    if hasattr(model, "loss_curve_"):
        return list(model.loss_curve_)
    if hasattr(model, "trace_"):
        return [one["loss"] for one in model.trace_.passes]
    raise DataError(
        f"{type(model).__name__} has neither loss_curve_ nor trace_; fit it with trace=True."
    )
