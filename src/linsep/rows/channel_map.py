"""What `Channels` makes of rows, once fitted: NumPy alone, so that a model file can carry it."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class ChannelMap(NamedTuple):
    """Sums of colours, magnitudes and orientations of gradients over the cells of an image."""

    shape: tuple[int, int]
    colours: int
    cell: tuple[int, int]
    orientations: int

    @property
    def name(self) -> str:
        """The transformer it is of."""
        return "Channels"

    @property
    def cells(self) -> tuple[int, int]:
        """How many cells an image has, down and across."""
        return self.shape[0] // self.cell[0], self.shape[1] // self.cell[1]

    @property
    def channels(self) -> list[str]:
        """The names of the channels."""
        turns = [f"edge{180 * k // self.orientations}" for k in range(self.orientations)]
        return [*(f"colour{c}" for c in range(self.colours)), "magnitude", *turns]

    def images(self, X: Any) -> Array:
        """(n, channels, height, width): the channels themselves, before they are summed."""
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        images = X.reshape(len(X), *self.shape, self.colours)
        down, across = np.zeros_like(images), np.zeros_like(images)
        if self.shape[0] > 2:
            down[:, 1:-1] = 0.5 * (images[:, 2:] - images[:, :-2])
        if self.shape[1] > 2:
            across[:, :, 1:-1] = 0.5 * (images[:, :, 2:] - images[:, :, :-2])
        size = np.hypot(down, across)
        strongest = size.argmax(axis=3)[..., None]
        size, down, across = (
            np.take_along_axis(part, strongest, axis=3)[..., 0] for part in (size, down, across)
        )
        angle = np.arctan2(down, across) % np.pi
        turn = np.minimum((angle / np.pi * self.orientations).astype(int), self.orientations - 1)
        edges = [np.where(turn == k, size, 0.0) for k in range(self.orientations)]
        return np.stack([*np.moveaxis(images, 3, 0), size, *edges], axis=1)

    def apply(self, X: Any) -> Array:
        """(n, channels · cells) sums, of X's type."""
        kind = getattr(X, "dtype", np.float64)
        channels = self.images(X)
        whole = np.zeros((*channels.shape[:2], self.shape[0] + 1, self.shape[1] + 1))
        whole[:, :, 1:, 1:] = channels.cumsum(axis=2).cumsum(axis=3)  # integral images
        top = self.cell[0] * np.arange(self.cells[0] + 1)
        left = self.cell[1] * np.arange(self.cells[1] + 1)
        corners = whole[:, :, top][:, :, :, left]
        sums = np.diff(np.diff(corners, axis=2), axis=3)
        return sums.reshape(len(channels), -1).astype(
            np.float32 if kind == np.float32 else np.float64
        )

    def width(self, d: int) -> int:
        """How many features an image becomes."""
        return (self.colours + 1 + self.orientations) * self.cells[0] * self.cells[1]

    def names(self, given: list[str]) -> list[str]:
        """Names such as edge30_0_1: edges at 30 degrees in cell 0 down and 1 across."""
        down, across = self.cells
        places = [(i, j) for i in range(down) for j in range(across)]
        return [f"{channel}_{i}_{j}" for channel in self.channels for i, j in places]
