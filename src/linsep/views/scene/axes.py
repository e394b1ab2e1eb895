"""Two axes to draw rows and weights on, and what the picture leaves out."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.views.scene.run import Run

Array = npt.NDArray[Any]
Axes = tuple[Array, Array, str]


class Flat(NamedTuple):
    """Rows and planes in two dimensions.

    Attributes
    ----------
    points : (n, 2) the rows
    planes : (T, K, 3) with a plane where a·p + b·q + c = 0
    names : what the two axes are
    note : what is not seen
    exact : whether rows and planes are where they are drawn
    """

    points: Array
    planes: Array
    names: tuple[str, str]
    note: str
    exact: bool


class WeightView(NamedTuple):
    """The space of weights, or a slice of it, for one plane.

    Row i is placed rightly where sᵢ(Aᵢu + Bᵢv + Cᵢ) > 0.

    Attributes
    ----------
    path : (T, K, 2) where the weights are
    A, B : (n,)
    C : (T, n)
    names : what the two axes are
    note : which part of the space this is
    exact : whether it is all of it
    """

    path: Array
    A: Array
    B: Array
    C: Array
    names: tuple[str, str]
    note: str
    exact: bool


def flatten(run: Run, axes: Axes | None = None) -> Flat:
    """The rows as they are, or on `axes`: else of the last weights and of the largest spread."""
    X, d = run.rows.X, run.rows.X.shape[1]
    W, b = run.W, run.b[..., None]
    if d == 1:
        points = np.column_stack([X[:, 0], np.zeros(len(X))])
        planes = np.concatenate([W, np.zeros_like(W), b], axis=2)
        return Flat(points, planes, ("x", ""), "One feature: rows lie on a line.", True)
    if d == 2:
        return Flat(X, np.concatenate([W, b], axis=2), ("x₁", "x₂"), "", True)
    first, second, name = axes or axes_of(run)
    middle = X.mean(axis=0)
    rest = middle - (middle @ first) * first - (middle @ second) * second
    planes = np.stack([W @ first, W @ second, run.b + W @ rest], axis=2)
    note = (
        f"{d} features, seen along two axes: {name}, and at right angles to it the direction of "
        "the largest spread (PCA). The boundary is drawn where it cuts the plane of these axes "
        "through the mean of the rows, so that a row may look misplaced; halos tell the truth."
    )
    points = np.column_stack([X @ first, X @ second])
    return Flat(points, planes, ("along the last weights", "largest spread"), note, False)


def raised(run: Run) -> Flat:
    """Two features and a third made of them: rows where they are, planes with all their weights."""
    planes = np.concatenate([run.W, run.b[..., None]], axis=2)
    return Flat(run.rows.X[:, :2], planes, ("x₁", "x₂"), "", True)


def axes_of(run: Run) -> Axes:
    """The discriminant direction, and the direction of the largest spread across it."""
    X, W = run.rows.X, run.W[-1]
    around = X - X.mean(axis=0)
    if run.binary:
        first, name = W[0], "the last weights"
    else:
        first, name = np.linalg.svd(W - W.mean(axis=0))[2][0], "what tells the classes apart most"
    length = float(np.linalg.norm(first))
    if length == 0:
        first, length = np.linalg.svd(around, full_matrices=False)[2][0], 1.0
        name = "the direction of the largest spread"
    first = first / length
    across = around - np.outer(around @ first, first)
    second = np.linalg.svd(across, full_matrices=False)[2][0]
    second = second - (second @ first) * first
    length = float(np.linalg.norm(second))
    if length < 1e-9:  # the rows lie on one line: any direction across it
        second = np.eye(len(first))[np.abs(first).argmin()]
        second = second - (second @ first) * first
        length = float(np.linalg.norm(second))
    return first, second / length, name


def weight_view(run: Run, flat: Flat) -> WeightView:
    """The plane of weights where two numbers are all of them, else a slice through the present."""
    n, T, d = len(run.rows.X), len(run.W), run.rows.X.shape[1]
    none = np.zeros((T, 0))
    ab = flat.planes[:, :, :2]
    if not run.binary:
        note = "One path for each class: its weights along the axes of the other picture."
        names = ("w₁", "w₂") if d == 2 else ("w along the first axis", "w along the second axis")
        return WeightView(ab, np.zeros(0), np.zeros(0), none, names, note, False)
    A, B = flat.points[:, 0], flat.points[:, 1]
    if d == 1:
        path = flat.planes[:, :, [0, 2]]
        note = "All of the space of weights: one weight, one intercept."
        return WeightView(path, A, np.ones(n), np.zeros((T, n)), ("w", "b"), note, True)
    if d == 2 and run.through_origin:
        note = "All of the space of weights: two of them, and no intercept."
        return WeightView(ab, A, B, np.zeros((T, n)), ("w₁", "w₂"), note, True)
    if d == 2:
        note = (
            "A slice of the space of (w₁, w₂, b): the plane at the present b. Lines and region "
            "move as b does; earlier weights are seen from above."
        )
        return WeightView(ab, A, B, np.repeat(run.b, n, axis=1), ("w₁", "w₂"), note, False)
    scores = np.stack([run.scores(t)[:, 0] for t in range(T)])
    C = scores - ab[:, :, 0] * A - ab[:, :, 1] * B
    note = (
        f"A slice of the space of {d} weights and an intercept: the plane through the present "
        "weights, along the axes of the other picture."
    )
    names = ("w along the first axis", "w along the second axis")
    return WeightView(ab, A, B, C, names, note, False)
