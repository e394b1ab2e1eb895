"""The two inequalities that prove the perceptron's convergence, along a real run."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from linsep.errors import ParameterError
from linsep.views.scene.palette import BLACK, BLUE, GREEN, ORANGE, axes_of
from linsep.views.scene.proof_steps import ProofSteps


def squeeze(
    run: Any, X: Any = None, y: Any = None, *, show: str = "norm", ax: Any = None
) -> Figure:
    """Draw how each correction brings the perceptron nearer to its end.

    'norm': ⟨w_k, w*⟩ grows at least as k times the margin, ‖w_k‖ at most as R√k, and the first
    cannot exceed the second: where the bounds meet, no run can go on. 'distance': ‖w_k − αu‖² falls
    by at least R² with each correction, and cannot fall below zero.

    Parameters
    ----------
    run : `Perceptron` fitted with trace=True on separable rows (online, unit steps, from zero)
    X, y : optional
        The rows of the fit, where the trace holds none or only a sample.
    show : {'norm', 'distance'}
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import linsep
    >>> from linsep.data.toys import three_points
    >>> learner = linsep.Perceptron(shuffle=False, trace=True).fit(*three_points())
    >>> figure = linsep.plot.squeeze(learner)
    """
    if not isinstance(show, str) or show not in ("norm", "distance"):
        raise ParameterError(f"show is {show!r}; choose one of 'norm', 'distance'.")
    steps = ProofSteps(run, X, y)
    figure, ax = axes_of(ax, (6.0, 4.2))
    k, R, gamma = steps.k, steps.radius, steps.margin
    if show == "distance":
        ax.plot(k, steps.distance[0] - k * R**2, color=GREEN, ls="--",
                label="at most: falls by R² each time")  # fmt: skip
        ax.plot(k, steps.distance, color=BLACK, marker="o", ms=3, label="‖w − αu‖², α = R²/γ")
        ax.axhline(0, color="#999999", lw=0.7)
        ax.set(xlabel="corrections k", ylabel="squared distance from αu",
               title=f"{k[-1]} corrections; the bound allows {steps.bound:,.1f}")  # fmt: skip
    else:
        ax.plot(k, R * np.sqrt(k), color=ORANGE, ls="--", label="R√k: ‖w‖ is at most this")
        ax.plot(k, np.sqrt(steps.square), color=ORANGE, marker="s", ms=3, lw=1.2, label="‖w‖")
        ax.plot(k, steps.along, color=BLUE, marker="o", ms=3, lw=1.2, label="⟨w, w*⟩")
        ax.plot(k, gamma * k, color=BLUE, ls="--", label="kγ: ⟨w, w*⟩ is at least this")
        meet = f"bounds meet at (R/γ)² = {(R / gamma) ** 2:,.1f}"
        ax.set(xlabel="corrections k", ylabel="length", title=f"{k[-1]} corrections; {meet}")
    ax.legend(frameon=False, fontsize=8)
    return figure
