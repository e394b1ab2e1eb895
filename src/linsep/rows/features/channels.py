"""Channel features: edges, orientations and colours, summed over cells (Dollár et al., 2009)."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from linsep.data.check.arrays import check_rows
from linsep.errors import DataError, ParameterError
from linsep.rows.channel_map import ChannelMap
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
            fine = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if not fine or not 1 <= value <= 360:
                raise ParameterError(f"{name} is {value!r}; give a whole number from 1 to 360.")
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
        self.channels_ = self.map().channels
        return self

    def map(self) -> ChannelMap:
        """What it does with rows, by NumPy alone."""
        high, wide = two("cell", self.cell)
        shape = int(self.shape_[0]), int(self.shape_[1])
        return ChannelMap(shape, int(self.colours), (high, wide), int(self.orientations))

    def channels(self, X: Any) -> Array:
        """(n, channels, height, width): the channels themselves, before they are summed."""
        check_is_fitted(self)
        X = check_rows(X, self, reset=False)
        return self.map().images(X)

    def transform(self, X: Any) -> Array:
        """(n, channels · cells) sums, of X's type."""
        check_is_fitted(self)
        return self.map().apply(check_rows(X, self, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """Names such as edge30_0_1: edges at 30 degrees in cell 0 down and 1 across."""
        given = names_in(self, input_features)
        return np.array(self.map().names(list(given)), dtype=object)
