"""The steps of the proof that the perceptron ends, along a real run."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError, ParameterError
from linsep.proofs.mistakes.mistake_bound import mistake_bound
from linsep.views.scene.run import Run, open_run

Array = npt.NDArray[Any]


class ProofSteps:
    """What the proofs follow, after each of the k = 0, 1, ... corrections of a run.

    Attributes
    ----------
    k : (m + 1,) number of corrections
    along : ⟨w_k, w*⟩, at least k times the margin
    square : ‖w_k‖², at most k R²
    distance : ‖w_k − αu‖², which falls by at least R² each time, with α = R²/margin
    radius, margin : R and the certified margin of w* = u
    bound : (R/margin)², the most corrections of any run
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

    @property
    def hold(self) -> bool:
        """Whether both inequalities hold after each correction, but for rounding."""
        k, room = self.k, 1e-9 * self.radius * (1.0 + self.k)
        grows = self.along >= k * self.margin - room
        short = np.sqrt(self.square) <= self.radius * np.sqrt(k) + room
        return bool(np.all(grows & short))

    def __str__(self) -> str:
        m = int(self.k[-1])
        return (
            f"After {m} corrections: ⟨w, w*⟩ = {self.along[-1]:.6g} ≥ {m} γ = "
            f"{m * self.margin:.6g}, ‖w‖ = {np.sqrt(self.square[-1]):.6g} ≤ √{m} R = "
            f"{np.sqrt(m) * self.radius:.6g}; no run makes more than {self.bound:.6g}."
        )

    __repr__ = __str__


def proof_steps(run: Any, X: Any = None, y: Any = None) -> ProofSteps:
    """Both inequalities that prove Novikoff's bound, after each correction of a run.

    kγ ≤ ⟨w_k, w*⟩, since each correction adds at least the margin; ‖w_k‖ ≤ R√k, since each is made
    on a row that is wrong. Together k ≤ (R/γ)².

    Parameters
    ----------
    run : `Perceptron` fitted with trace=True on separable rows (online, unit steps, from zero)
    X, y : optional
        The rows of the fit, where the trace holds none or only a sample.

    Examples
    --------
    >>> import linsep
    >>> from linsep.data.toys import three_points
    >>> steps = proof_steps(linsep.Perceptron(shuffle=False, trace=True).fit(*three_points()))
    >>> len(steps.k), steps.hold
    (14, True)
    >>> print(steps)
    After 13 corrections: ⟨w, w*⟩ = 3.79734 ≥ 13 γ = 3.79734, ‖w‖ = 3.90512 ≤ √13 R = 11.5434; no run makes more than 120.
    """  # noqa: E501
    return ProofSteps(run, X, y)
