"""Models without one plane, looked up at the places of a grid."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.views.scene.geometry import around

Array = npt.NDArray[Any]
Decide = Callable[[Array], Array]

FINE, COARSE = (120, 90), (60, 45)  # places across and up: of a run, and while a point is dragged
HALVINGS = 7  # of the way between two places, to find where the class changes
NEAR = 2  # cells from the boundary within which the distance to it is told


def grid_of(decide: Decide, score: Decide | None, X: Array, fine: bool) -> dict[str, Any]:
    """What a model says at the places of a grid around rows of two features.

    `decide` gives class numbers, `score` the scores of two classes where they change evenly. Where
    they jump, as votes do, the distance to the boundary takes their place.
    """
    across, up = FINE if fine else COARSE
    box = around(X, 1.0, across / up)
    low = np.array([box.left, box.low])
    cell = (np.array([box.right, box.high]) - low) / (across - 1, up - 1)
    cells = np.column_stack([np.tile(np.arange(across), up), np.repeat(np.arange(up), across)])
    codes = decide(low + cells * cell)
    grid = {"box": list(map(float, box)), "across": across, "codes": codes.astype(np.uint8)}
    if score is not None:
        grid["scores"] = np.ravel(score(low + cells * cell)).astype(np.float32)
    elif codes.max() <= 1:
        far = _distances(lambda at: decide(low + at * cell), codes.reshape(up, across))
        grid["scores"] = np.where(codes.reshape(far.shape) == 1, far, -far).ravel()
    return grid


def _distances(decide: Decide, codes: Array) -> Array:
    """How far each place is from where the class changes, in cells, up to `NEAR`."""
    ends = _boundary(decide, codes)
    far = np.full(codes.shape, float(NEAR), np.float32)
    for first, second in ends:
        left, low = np.maximum(0, np.floor(np.minimum(first, second)).astype(int) - NEAR)
        right, high = np.ceil(np.maximum(first, second)).astype(int) + NEAR + 1
        part = far[low:high, left:right]
        y, x = np.mgrid[low : low + part.shape[0], left : left + part.shape[1]]
        along = second - first
        share = ((x - first[0]) * along[0] + (y - first[1]) * along[1]) / max(along @ along, 1e-12)
        share = np.clip(share, 0, 1)
        away = np.hypot(x - first[0] - share * along[0], y - first[1] - share * along[1])
        np.minimum(part, away, out=part, casting="same_kind")
    return far


def _boundary(decide: Decide, codes: Array) -> Array:
    """(segments, 2, 2): where the class changes within each cell, by marching squares."""
    up, across = codes.shape
    level = _changes(decide, codes, np.array([1, 0]))  # on the way to the right
    upright = _changes(decide, codes, np.array([0, 1]))  # on the way up
    sides = np.stack(
        [level[: up - 1, : across - 1], upright[: up - 1, 1:across], level[1:up, : across - 1],
         upright[: up - 1, : across - 1]], axis=2,
    ).reshape(-1, 4, 2)  # fmt: skip
    there = np.isfinite(sides[:, :, 0])
    crossed = sides[np.arange(len(sides))[:, None], np.argsort(~there, axis=1, kind="stable")]
    count = there.sum(axis=1)
    return np.concatenate([crossed[count >= 2, :2], crossed[count == 4, 2:]])


def _changes(decide: Decide, codes: Array, way: Array) -> Array:
    """(up, across, 2): where the class changes between a place and the next one that way."""
    places = np.full((*codes.shape, 2), np.nan)
    after = codes[way[1] :, way[0] :]
    y, x = np.nonzero(codes[: after.shape[0], : after.shape[1]] != after)
    if not len(x):
        return places
    near, step = np.column_stack([x, y]).astype(float), way / 2
    for _ in range(HALVINGS):
        same = decide(near + step) == codes[y, x]
        near = near + np.where(same[:, None], step, 0)
        step = step / 2
    places[y, x] = near + step
    return places
