"""Models without one plane, looked up at the places of a grid."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.views.scene.geometry import around

Array = npt.NDArray[Any]
Decide = Callable[[Array], Array]

FINE, COARSE = (120, 90), (48, 36)  # places across and up: of a run, and while a point is dragged
HALVINGS = {True: 7, False: 4}  # of the way between two places, to find where the class changes
NEAR = 2  # cells from the boundary within which the distance to it is told


def grid_of(decide: Decide, score: Decide | None, X: Array, fine: bool) -> dict[str, Any]:
    """What a model says at the places of a grid around rows of two features.

    `decide` gives class numbers, `score` the scores of two classes where they change evenly; zero
    or more means the second. Where they jump, as votes do, the distance to the boundary takes
    their place.
    """
    across, up = FINE if fine else COARSE
    box = around(X, 1.0, across / up)
    low = np.array([box.left, box.low])
    cell = (np.array([box.right, box.high]) - low) / (across - 1, up - 1)
    cells = np.column_stack([np.tile(np.arange(across), up), np.repeat(np.arange(up), across)])
    grid: dict[str, Any] = {"box": list(map(float, box)), "across": across}
    if score is not None:
        scores = np.ravel(score(low + cells * cell))
        return grid | {"codes": (scores >= 0).astype(np.uint8), "scores": scores.astype(np.float32)}
    codes = decide(low + cells * cell)
    grid["codes"] = codes.astype(np.uint8)
    if codes.max() <= 1:
        table = codes.reshape(up, across)
        far = _distances(
            _boundary(lambda at: decide(low + at * cell), table, HALVINGS[fine]), table
        )
        grid["scores"] = np.where(table == 1, far, -far).ravel()
    return grid


def _distances(ends: Array, codes: Array) -> Array:
    """How far each place is from the segments of a boundary, in cells, up to `NEAR`."""
    far = np.full(codes.shape, float(NEAR), np.float32)
    first, along = ends[:, 0], ends[:, 1] - ends[:, 0]
    corner = np.floor(ends.min(axis=1)).astype(int) - NEAR  # segments are within a cell
    window = np.mgrid[0 : 2 * NEAR + 2, 0 : 2 * NEAR + 2].reshape(2, -1).T
    places = corner[:, None, ::-1] + window  # (segments, places of the window, (y, x))
    away = places[:, :, ::-1] - first[:, None]
    share = (away * along[:, None]).sum(axis=2) / np.maximum((along**2).sum(axis=1), 1e-12)[:, None]
    away -= np.clip(share, 0, 1)[:, :, None] * along[:, None]
    y, x = places[:, :, 0], places[:, :, 1]
    there = (y >= 0) & (y < codes.shape[0]) & (x >= 0) & (x < codes.shape[1])
    lengths = np.hypot(away[:, :, 0], away[:, :, 1]).astype(np.float32)
    np.minimum.at(far, (y[there], x[there]), lengths[there])
    return far


def _boundary(decide: Decide, codes: Array, halvings: int) -> Array:
    """(segments, 2, 2): where the class changes within each cell, by marching squares."""
    up, across = codes.shape
    level, upright = _changes(decide, codes, halvings)
    sides = np.stack(
        [level[: up - 1, : across - 1], upright[: up - 1, 1:across], level[1:up, : across - 1],
         upright[: up - 1, : across - 1]], axis=2,
    ).reshape(-1, 4, 2)  # fmt: skip
    there = np.isfinite(sides[:, :, 0])
    crossed = sides[np.arange(len(sides))[:, None], np.argsort(~there, axis=1, kind="stable")]
    count = there.sum(axis=1)
    return np.concatenate([crossed[count >= 2, :2], crossed[count == 4, 2:]])


def _changes(decide: Decide, codes: Array, halvings: int) -> tuple[Array, Array]:
    """(up, across, 2) each: where the class changes on the way to the right, and on the way up."""
    right, above = np.nonzero(codes[:, :-1] != codes[:, 1:]), np.nonzero(codes[:-1] != codes[1:])
    y, x = (np.concatenate(both) for both in zip(right, above, strict=True))
    near = np.column_stack([x, y]).astype(float)
    step = np.repeat([[0.5, 0.0], [0.0, 0.5]], [len(right[0]), len(above[0])], axis=0)
    for _ in range(halvings if len(x) else 0):
        same = decide(near + step) == codes[y, x]
        near = near + np.where(same[:, None], step, 0)
        step = step / 2
    level, upright = np.full((2, *codes.shape, 2), np.nan)
    level[right], upright[above] = np.split(near + step, [len(right[0])])
    return level, upright
