"""What happened pass by pass, and what happens degree by degree."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from linsep.data.check.labels import agree
from linsep.errors import DataError, ParameterError
from linsep.views.plots.inputs import fitted
from linsep.views.scene.palette import BLACK, BLUE, GREY, ORANGE, axes_of, colour_of, mark_of
from linsep.views.scene.run import open_run

STYLES = ("-", "--", "-.", ":")
MARKED = 40  # passes of a curve at most that has a mark on each


def loss(models: Any, ax: Any = None, *, of: str = "learner") -> Figure:
    """Draw the loss after each pass of a fitted learner, or of several by name.

    Parameters
    ----------
    models : learner with `loss_curve_` or `trace_`, or a dict of name: learner
    of : {'learner', 'hard'}
        The loss the learner goes down; or the mean square error of its hard outputs ±1, which
        needs a trace and two classes.
    ax : matplotlib axes, optional
    """
    if not isinstance(of, str) or of not in ("learner", "hard"):
        raise ParameterError(f"of is {of!r}; choose one of 'learner', 'hard'.")
    figure, ax = axes_of(ax)
    for k, (name, model) in enumerate(_named(models)):
        if of == "hard":
            _curve(ax, k, hard_errors(model), name, 0)
        else:
            _curve(ax, k, _losses(model), name)
    hard = "mean square error of hard outputs"
    ax.set(xlabel="pass over the data", ylabel=hard if of == "hard" else "loss")
    ax.legend(frameon=False)
    return figure


def hard_errors(model: Any, X: Any = None, y: Any = None) -> list[float]:
    """E[(t − y)²] of the hard outputs y = ±1 before a recorded run and after each of its passes.

    Parameters
    ----------
    model : learner fitted with trace=True, or its trace
    X, y : the rows of the fit, where the trace holds only a sample

    Examples
    --------
    >>> from linsep import Perceptron
    >>> from linsep.data.toys import three_points
    >>> learner = Perceptron(shuffle=False, trace=True).fit(*three_points())
    >>> [round(value, 3) for value in hard_errors(learner)]
    [1.333, 2.667, 2.667, 2.667, 2.667, 1.333, 2.667, 0.0, 0.0]
    """
    run = open_run(model, X, y, most=1 << 62)
    if not run.binary:
        raise DataError("The squared error of hard outputs ±1 is one of two classes.")
    corrections = run.events[: len(run.events) - bool(run.returned)]
    numbers = np.array([0, *(event["n"] for event in corrections)])
    errors = []
    for after in (0, *(one["after"] for one in run.trace.passes)):
        t = int(np.searchsorted(numbers, after, side="right")) - 1
        said = np.where(run.scores(t)[:, 0] >= 0, 1.0, -1.0)
        errors.append(float(np.mean((run.signs - said) ** 2)))
    return errors


def rejection(model: Any, X: Any, y: Any, *, cost: float = 0.2, ax: Any = None) -> Figure:
    """Draw what leaving rows undecided costs, against the probability asked for.

    Parameters
    ----------
    model : fitted classifier with `predict_proba`
    X, y : new rows and their labels
    cost : what a row without a decision costs, where a mistake costs 1
    ax : matplotlib axes, optional
    """
    if not isinstance(cost, (int, float, np.number)) or not 0 <= cost <= 1:
        raise DataError(f"cost is {cost!r}; a row without a decision costs from 0 to 1.")
    figure, ax = axes_of(ax)
    p = np.asarray(fitted(model, "predict_proba").predict_proba(X))
    sure, wrong = p.max(axis=1, initial=0.0), ~agree(y, np.asarray(model.predict(X)))
    at = np.linspace(1 / p.shape[1], 1.0, 201)
    left = np.array([(sure < one).mean() for one in at])
    mistakes = np.array([(wrong & (sure >= one)).mean() for one in at])
    ax.plot(at, 100 * left, color=GREY, ls=":", label="no decision")
    ax.plot(at, 100 * mistakes, color=ORANGE, ls="--", label="wrong decisions")
    total = mistakes + cost * left
    ax.plot(at, 100 * total, color=BLACK, lw=1.8, label=f"cost: wrong + {cost:g} · no decision")
    best = int(total.argmin())
    ax.plot(at[best], 100 * total[best], "*", color=BLUE, ms=13, label=f"least at {at[best]:.2f}")
    ax.set(xlabel="probability asked for (reject)", ylabel="% of the rows")
    ax.legend(frameon=False, fontsize=8)
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
        _curve(ax, k, fitted(model, "mistakes_per_epoch_").mistakes_per_epoch_, name)
    ax.set(xlabel="pass over the data", ylabel="corrections")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.legend(frameon=False)
    return figure


def bias_variance(parts: Mapping[Any, Any], ax: Any = None, *, label: str = "degree") -> Figure:
    """Draw squared bias, variance and their sum against a parameter, such as a degree.

    Parameters
    ----------
    found : dict of parameter: result of `linsep.bias_variance`
    ax : matplotlib axes, optional
    label : what the parameter is called
    """
    figure, ax = axes_of(ax)
    at = list(parts)
    for name, colour, mark in (
        ("bias", BLUE, "o"),
        ("variance", ORANGE, "s"),
        ("error", BLACK, ""),
    ):
        values = [getattr(one, name) for one in parts.values()]
        words = {"bias": "squared bias", "error": "their sum: the error"}.get(name, name)
        ax.plot(at, values, color=colour, marker=mark, ms=4.5, lw=1.8 if mark else 1.2, label=words)
    ax.set(xlabel=label, ylabel="mean squared error")
    ax.set_yscale("log")
    ax.legend(frameon=False)
    return figure


def _curve(ax: Any, k: int, values: Any, name: str, first: int = 1) -> None:
    """One number for each pass; where curves coincide, their dashes let each other be seen."""
    marks = mark_of(k) if len(values) <= MARKED else ""
    ax.plot(np.arange(first, len(values) + first), values, color=colour_of(k), marker=marks,
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
    if hasattr(model, "fit") and not hasattr(model, "n_features_in_"):
        fitted(model)
    raise DataError(
        f"{type(model).__name__} has neither loss_curve_ nor trace_; fit it with trace=True."
    )
