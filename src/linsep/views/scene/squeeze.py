"""What proves Novikoff's bound, along a run: kγ ≤ ⟨w̃ₖ, w*⟩ ≤ ‖w̃ₖ‖ ≤ R√k."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.mistakes.mistake_bound import MistakeBound
from linsep.views.scene.run import Run

Array = npt.NDArray[Any]


class Squeeze(NamedTuple):
    """Both sides of the proof; the bias is the weight of a constant feature.

    Attributes
    ----------
    along : ⟨w̃ₖ, w*⟩ for each frame, w* of length one; NaN where a frame shows no correction
    length : ‖w̃ₖ‖, likewise
    radius, margin : R and γ, certified
    step : η, by which all lengths are multiplied
    """

    along: Array
    length: Array
    radius: float
    margin: float
    step: float


def squeeze_of(run: Run, bound: MistakeBound) -> Squeeze | None:
    """The two sides for each frame, or None where no separator or no correction is known."""
    steps = [abs(part) for event in run.trace.updates[:1] for part in event["step"] if part]
    if bound.weights is None or not bound.margin > 0 or not steps:
        return None
    constant = 1.0
    if run.trace.parameters.get("bias_step") == "radius":
        constant = float(np.linalg.norm(run.rows.X, axis=1).max())
    T, K, _ = run.W.shape
    bias = np.broadcast_to(np.asarray(bound.bias, float).reshape(-1, 1), (K, 1)) / constant
    separator = np.hstack([np.asarray(bound.weights, float).reshape(K, -1), bias]).ravel()
    separator /= np.linalg.norm(separator)
    weights = np.concatenate([run.W, run.b[..., None] / constant], axis=2).reshape(T, -1)
    along, length = weights @ separator, np.linalg.norm(weights, axis=1)
    if run.returned:
        along[-1] = length[-1] = np.nan
    return Squeeze(along, length, bound.radius, bound.margin, float(steps[0]))
