"""Channel features: edges, orientations and colours, summed over cells (Dollár et al., 2009)."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from linsep.data.check.arrays import check_rows
from linsep.errors import DataError, ParameterError
from linsep.rows.features.hog import image_shape, two
from linsep.rows.features.naming import Names, NewColumns, names_in

Array = npt.NDArray[Any]


class Channels(NewColumns):
    """Describe an image by sums of several channels over its cells.

    The channels are the colours themselves, the magnitude of the gradient (of the colour in which
    it is largest), and that magnitude shared out among `orientations` directions between 0° and
    180°. Each is summed over cells of `cell` pixels through its integral image, so that the sum of
    any rectangle costs four numbers. With gradients alone they are HOG without normalisation.

    Parameters
    ----------
    shape : (height, width), optional
        Of the images that the rows of X are, row by row; a pixel has all its colours one after the
        other. Square when None.
    colours : int
        Numbers per pixel: 1 for grey, 3 for red, green and blue.
    cell : (int, int)
        Height and width of a cell, in pixels.
    orientations : int
        Number of directions.

    Attributes
    ----------
    shape_ : (height, width)
    cells_ : (down, across)
    channels_ : list of str, their names
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep import Channels
    >>> upright = np.tile([0.0, 0, 0, 0, 1, 1, 1, 1], (8, 1)).ravel()  # dark left, light right
    >>> channels = Channels(orientations=2).fit([upright])
    >>> channels.get_feature_names_out().tolist()
    ['colour0_0_0', 'magnitude_0_0', 'edge0_0_0', 'edge90_0_0']
    >>> channels.transform([upright]).tolist()
    [[32.0, 8.0, 8.0, 0.0]]
    """

    shape_: tuple[int, int]
    cells_: tuple[int, int]
    channels_: list[str]
    n_features_in_: int

    def __init__(
        self,
        shape: tuple[int, int] | None = None,
        *,
        colours: int = 1,
        cell: tuple[int, int] = (8, 8),
        orientations: int = 6,
    ) -> None:
        self.shape = shape
        self.colours = colours
        self.cell = cell
        self.orientations = orientations

    def fit(self, X: Any, y: Any = None) -> Self:
        """Settle the shape of the images; the pixels of `X` are looked at, but do not matter."""
        cell = two("cell", self.cell)
        for name in ("colours", "orientations"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
                raise ParameterError(f"{name} is {value!r}; give a whole number >= 1.")
        X = check_rows(X, self)
        if X.shape[1] % self.colours:
            raise DataError(
                f"X has {X.shape[1]} columns, which are no pixels of {self.colours} colours."
            )
        self.shape_ = image_shape(self.shape, X.shape[1] // self.colours)
        self.cells_ = self.shape_[0] // cell[0], self.shape_[1] // cell[1]
        if min(self.cells_) < 1:
            raise DataError(
                f"images of {self.shape_[0]} by {self.shape_[1]} pixels hold no cell of {cell[0]} "
                f"by {cell[1]}. Give a smaller cell=."
            )
        turns = [f"edge{180 * k // self.orientations}" for k in range(self.orientations)]
        self.channels_ = [*(f"colour{c}" for c in range(self.colours)), "magnitude", *turns]
        return self

    def channels(self, X: Any) -> Array:
        """(n, channels, height, width): the channels themselves, before they are summed."""
        check_is_fitted(self)
        X = check_rows(X, self, reset=False)
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        images = X.reshape(len(X), *self.shape_, self.colours)
        down, across = np.zeros_like(images), np.zeros_like(images)
        if self.shape_[0] > 2:
            down[:, 1:-1] = 0.5 * (images[:, 2:] - images[:, :-2])
        if self.shape_[1] > 2:
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

    def transform(self, X: Any) -> Array:
        """(n, channels · cells) sums, of X's type."""
        kind = getattr(X, "dtype", np.float64)
        channels = self.channels(X)
        whole = np.zeros((*channels.shape[:2], self.shape_[0] + 1, self.shape_[1] + 1))
        whole[:, :, 1:, 1:] = channels.cumsum(axis=2).cumsum(axis=3)  # integral images
        high, wide = self.cell
        top = high * np.arange(self.cells_[0] + 1)
        left = wide * np.arange(self.cells_[1] + 1)
        corners = whole[:, :, top][:, :, :, left]
        sums = np.diff(np.diff(corners, axis=2), axis=3)
        return sums.reshape(len(channels), -1).astype(
            np.float32 if kind == np.float32 else np.float64
        )

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """Names such as edge30_0_1: edges at 30 degrees in cell 0 down and 1 across."""
        names_in(self, input_features)
        names = [
            f"{channel}_{i}_{j}"
            for channel in self.channels_
            for i in range(self.cells_[0])
            for j in range(self.cells_[1])
        ]
        return np.array(names, dtype=object)
