"""Densities over a sample, and the likelihood over their parameters."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from linsep.errors import DataError
from linsep.likelihood import Bernoulli, Distribution, Exponential, Gaussian
from linsep.views.scene.palette import BLACK, BLUE, COLOURS, GREY, axes_of

GRID = 121


def likelihood(x: Any, start: Any, *, ax: Any = None) -> Figure:
    """Draw the log-likelihood of a sample over the parameters, and the descent to its maximum.

    Two parameters (Gaussian) are drawn as contours, one as a curve.

    Parameters
    ----------
    x : the sample
    start : distribution of `linsep.likelihood` to descend from
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import linsep
    >>> from linsep.likelihood import Gaussian
    >>> figure = linsep.plot.likelihood([1.0, 2.0, 3.0, 6.0], Gaussian(0.0, 1.0))
    """
    if not isinstance(start, Distribution):
        raise DataError(f"start is {start!r}; give a distribution such as likelihood.Gaussian().")
    figure, ax = axes_of(ax, (5.6, 4.2))
    best: Any = type(start).most_likely(x)
    kind: Any = type(start)
    _, path = start.descend(x)
    way = np.array([one._parameters() for one in path])
    name = type(start).__name__
    if isinstance(start, Gaussian):
        low, high = _around(np.vstack([way, [best._parameters()]]))
        low[1] = max(low[1], 0.3 * min(best.deviation, way[:, 1].min()))
        mu, sigma = (np.linspace(low[k], high[k], GRID) for k in (0, 1))
        values = [[Gaussian(m, s).log_likelihood(x) for m in mu] for s in sigma]
        top = best.log_likelihood(x)
        levels = top - np.abs(start.log_likelihood(x) - top) * np.linspace(1.5, 0.0, 14) ** 2
        drawn = ax.contourf(mu, sigma, values, levels=np.unique(levels), cmap="Greys_r",
                            extend="min")  # fmt: skip
        figure.colorbar(drawn, ax=ax, label="log-likelihood l(μ, σ)")
        ax.plot(way[:, 0], way[:, 1], "-o", color=COLOURS[0], ms=3.5, label="descent")
        ax.plot(best.mean, best.deviation, "*", color=BLUE, ms=14, mec="white", zorder=4,
                label="mean, √variance (1/N)")  # fmt: skip
        ax.set(xlabel="μ", ylabel="σ")
    else:
        low, high = _around(np.vstack([way, [best._parameters()]]))
        least, most = (0.005, 0.995) if isinstance(start, Bernoulli) else (0.02 * high[0], np.inf)
        theta = np.linspace(max(low[0], least), min(high[0], most), 4 * GRID)
        ax.plot(theta, [kind(one).log_likelihood(x) for one in theta], color=GREY)
        ax.plot(way[:, 0], [one.log_likelihood(x) for one in path], "-o", color=COLOURS[0], ms=4,
                label="descent")  # fmt: skip
        ax.plot(*best._parameters(), best.log_likelihood(x), "*", color=BLUE, ms=14, mec="white",
                zorder=4, label="closed form")  # fmt: skip
        ax.set(xlabel="p" if isinstance(start, Bernoulli) else "λ", ylabel="log-likelihood")
    ax.set_title(f"{name}: {len(path) - 1} steps")
    ax.legend(frameon=True, fontsize=8)
    return figure


def densities(x: Any, which: dict[str, Any], ax: Any = None) -> Figure:
    """Draw a sample as strokes and densities over it, each with its log-likelihood.

    Parameters
    ----------
    x : the sample
    which : dict of name: distribution of `linsep.likelihood`
    ax : matplotlib axes, optional
    """
    figure, ax = axes_of(ax, (5.6, 4.0))
    sample = np.asarray(x, float).ravel()
    room = 0.3 * np.ptp(sample)
    left = 0.0 if any(isinstance(one, Exponential) for one in which.values()) else -np.inf
    at = np.linspace(max(left, sample.min() - room), sample.max() + room, 4 * GRID)
    for k, (name, one) in enumerate(which.items()):
        ax.plot(at, one.density(at), color=COLOURS[k % 6], ls=("-", "--", "-.", ":")[k % 4],
                label=f"{name}: l = {one.log_likelihood(sample):.1f}")  # fmt: skip
        ax.plot(sample, one.density(sample), "o", ms=3, color=COLOURS[k % 6])
    ax.plot(sample, np.zeros_like(sample), "|", color=BLACK, ms=12)
    ax.set(xlabel="x", ylabel="density f(x)")
    ax.legend(frameon=False, fontsize=8)
    return figure


def _around(points: Any) -> tuple[Any, Any]:
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.25 * np.maximum(high - low, 0.1 * np.abs(high) + 1e-9)
    return low - room, high + room
