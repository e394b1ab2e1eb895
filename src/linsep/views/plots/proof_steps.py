"""The two inequalities that prove the perceptron's convergence, along a real run."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from linsep.errors import DataError, ParameterError
from linsep.proofs.mistakes.margin import mistake_bound
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
        found = open_run(run, X, y)
        self._check(found)
        rows, signs = found.rows.X, found.signs
        free = bool(found.trace.parameters.get("fit_intercept", True))
        bound = mistake_bound(rows, signs, fit_intercept=free)
        if bound.weights is None or not bound.margin > 0:
            raise DataError("No separator of these rows was found: the proof does not apply.")
        W, u = found.W[:, 0], np.ravel(np.asarray(bound.weights, float))
        if free:
            W, u = np.column_stack([W, found.b[:, 0]]), np.append(u, np.ravel(bound.bias))
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
    def _check(found: Run) -> None:
        plain = found.trace.parameters
        odd = [
            name
            for name, wanted in (
                ("rule", "online"), ("eta0", 1.0), ("schedule", "constant"), ("margin", 0.0),
                ("bias_step", "unit"),
            )
            if plain.get(name, wanted) != wanted
        ]  # fmt: skip
        if found.trace.learner != "Perceptron" or odd or found.trace.start is not None:
            raise ParameterError(
                f"run is of {found.trace.learner} with {', '.join(odd) or 'other weights'} at the "
                "start; the proof is about the online perceptron with unit steps from zero."
            )
        if not found.binary or not found.rows.whole or found.trace.stride > 1:
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
    if show not in ("norm", "distance"):
        raise ParameterError(f"show is {show!r}; choose one of 'norm', 'distance'.")
    found = Squeeze(run, X, y)
    figure, ax = axes_of(ax, (6.0, 4.2))
    k, R, gamma = found.k, found.radius, found.margin
    if show == "distance":
        ax.plot(k, found.distance[0] - k * R**2, color=GREEN, ls="--",
                label="at most: falls by R² each time")  # fmt: skip
        ax.plot(k, found.distance, color=BLACK, marker="o", ms=3, label="‖w − αu‖², α = R²/γ")
        ax.axhline(0, color="#999999", lw=0.7)
        ax.set(xlabel="corrections k", ylabel="squared distance from αu",
               title=f"{k[-1]} corrections; the bound allows {found.bound:,.1f}")  # fmt: skip
    else:
        ax.plot(k, R * np.sqrt(k), color=ORANGE, ls="--", label="R√k: ‖w‖ is at most this")
        ax.plot(k, np.sqrt(found.square), color=ORANGE, marker="s", ms=3, lw=1.2, label="‖w‖")
        ax.plot(k, found.along, color=BLUE, marker="o", ms=3, lw=1.2, label="⟨w, w*⟩")
        ax.plot(k, gamma * k, color=BLUE, ls="--", label="kγ: ⟨w, w*⟩ is at least this")
        meet = f"bounds meet at (R/γ)² = {(R / gamma) ** 2:,.1f}"
        ax.set(xlabel="corrections k", ylabel="length", title=f"{k[-1]} corrections; {meet}")
    ax.legend(frameon=False, fontsize=8)
    return figure
