"""The two inequalities that prove the perceptron's convergence, along a real run."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from linsep.errors import DataError, ParameterError
from linsep.proofs.mistakes.mistake_bound import mistake_bound
from linsep.views.scene.palette import BLACK, BLUE, GREEN, ORANGE, axes_of
from linsep.views.scene.run import Run, open_run

Array = npt.NDArray[Any]


class Squeeze:
    """What the proofs follow, after each of the k = 0, 1, ... corrections of a run.

    Attributes
    ----------
    k : (m + 1,) number of corrections
    along : ⟨w_k, w*⟩, at least k times the margin
    square : ‖w_k‖², at most k R²
    distance : ‖w_k − αu‖², which falls by at least R² each time, with α = R²/margin
    radius, margin : R and the certified margin of w* = u
    """

    def __init__(self, run: Any, X: Any = None, y: Any = None) -> None:
        opened = open_run(run, X, y)
        self._check(opened)
        rows, signs = opened.rows.X, opened.signs
        free = bool(opened.trace.parameters.get("fit_intercept", True))
        bound = mistake_bound(rows, signs, fit_intercept=free)
        if bound.weights is None or not bound.margin > 0:
            raise DataError("No separator of these rows was found: the proof does not apply.")
        W, u = opened.W[:, 0], np.ravel(np.asarray(bound.weights, float))
        if free:
            W, u = np.column_stack([W, opened.b[:, 0]]), np.append(u, np.ravel(bound.bias))
            rows = np.column_stack([rows, np.ones(len(rows))])
        u = u / np.linalg.norm(u)
        self.radius = float(np.linalg.norm(rows, axis=1).max())
        self.margin = float((signs * (rows @ u)).min())
        self.bound = float(bound.bound)
        self.k = np.arange(len(W))
        self.along, self.square = W @ u, (W**2).sum(axis=1)
        alpha = self.radius**2 / self.margin
        self.distance = ((W - alpha * u) ** 2).sum(axis=1)

    @staticmethod
    def _check(opened: Run) -> None:
        plain = opened.trace.parameters
        odd = [
            name
            for name, wanted in (
                ("rule", "online"), ("eta0", 1.0), ("schedule", "constant"), ("margin", 0.0),
                ("bias_step", "unit"),
            )
            if plain.get(name, wanted) != wanted
        ]  # fmt: skip
        if opened.trace.learner != "Perceptron" or odd or opened.trace.start is not None:
            raise ParameterError(
                f"run is of {opened.trace.learner} with {', '.join(odd) or 'other weights'} at the "
                "start; the proof is about the online perceptron with unit steps from zero."
            )
        if not opened.binary or not opened.rows.whole or opened.trace.stride > 1:
            raise DataError("The proof needs two classes, all rows, and every correction of a run.")


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
    steps = Squeeze(run, X, y)
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
