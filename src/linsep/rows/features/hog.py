"""Histograms of oriented gradients: edges instead of pixels (Dalal and Triggs, 2005)."""

import math
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from linsep.data.check.arrays import check_rows
from linsep.errors import DataError, LinsepError, ParameterError
from linsep.rows.features.naming import Names, NewColumns, names_in

Array = npt.NDArray[Any]


class HOG(NewColumns):
    """Describe an image by how much edge of each orientation there is in each of its cells.

    The image is cut into cells of `cell` pixels; in each, the gradients vote for one of
    `orientations` directions between 0° and 180°, with their magnitude. Votes are normalised over
    blocks of `block` cells. Small shifts and changes of light hardly move these numbers. Pixels
    that do not fill a cell, at the right and lower border, are left out. Uses scikit-image.

    Parameters
    ----------
    shape : (height, width), optional
        Of the images that the rows of X are, row by row. Square when None.
    cell : (int, int)
        Height and width of a cell, in pixels.
    orientations : int
        Number of directions.
    block : (int, int)
        Cells normalised together; blocks overlap.

    Attributes
    ----------
    shape_ : (height, width)
    cells_ : (down, across), how many cells an image has
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep import HOG
    >>> upright = np.tile([0.0, 0, 0, 0, 1, 1, 1, 1], (8, 1)).ravel()  # dark left, light right
    >>> edges = HOG().fit_transform([upright])
    >>> edges.shape, int(edges[0].argmax())
    ((1, 9), 0)
    """

    shape_: tuple[int, int]
    cells_: tuple[int, int]
    n_features_in_: int

    def __init__(
        self,
        shape: tuple[int, int] | None = None,
        *,
        cell: tuple[int, int] = (8, 8),
        orientations: int = 9,
        block: tuple[int, int] = (1, 1),
    ) -> None:
        self.shape = shape
        self.cell = cell
        self.orientations = orientations
        self.block = block

    def fit(self, X: Any, y: Any = None) -> Self:
        """Settle the shape of the images; the pixels of `X` are looked at, but do not matter."""
        _scikit_image()
        cell, block = two("cell", self.cell), two("block", self.block)
        bins = self.orientations
        if isinstance(bins, bool) or not isinstance(bins, Integral) or not 1 <= bins <= 360:
            raise ParameterError(f"orientations is {bins!r}; give a whole number from 1 to 360.")
        X = check_rows(X, self)
        self.shape_ = image_shape(self.shape, X.shape[1])
        self.cells_ = self.shape_[0] // cell[0], self.shape_[1] // cell[1]
        if min(self.cells_) < 1 or self.cells_[0] < block[0] or self.cells_[1] < block[1]:
            raise DataError(
                f"images of {self.shape_[0]} by {self.shape_[1]} pixels have {self.cells_[0]} by "
                f"{self.cells_[1]} cells of {cell[0]} by {cell[1]}; a block of {block[0]} by "
                f"{block[1]} cells was wanted. Give a smaller cell= or block=."
            )
        return self

    def transform(self, X: Any) -> Array:
        """(n, cells · orientations) numbers of X's type, for blocks of one cell."""
        check_is_fitted(self)
        X = check_rows(X, self, reset=False)
        X = X.toarray() if hasattr(X, "toarray") else X
        hog = _scikit_image()
        return np.stack(
            [
                hog(
                    image.reshape(self.shape_),
                    orientations=self.orientations,
                    pixels_per_cell=self.cell,
                    cells_per_block=self.block,
                    feature_vector=True,
                )
                for image in X
            ]
        ).astype(X.dtype, copy=False)

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """Names such as hog_0_1_40: cell 0 down and 1 across, edges at 40 degrees."""
        names_in(self, input_features)
        down, across = self.cells_
        high, wide = self.block
        names = [
            f"hog_{i + p}_{j + q}_{180 * k // self.orientations}"
            + (f"_block_{i}_{j}" if (high, wide) != (1, 1) else "")
            for i in range(down - high + 1)
            for j in range(across - wide + 1)
            for p in range(high)
            for q in range(wide)
            for k in range(self.orientations)
        ]
        return np.array(names, dtype=object)


def image_shape(given: Any, pixels: int) -> tuple[int, int]:
    """Height and width of images of so many pixels: as given, or a square."""
    if given is None:
        side = math.isqrt(pixels)
        if side * side != pixels:
            raise DataError(
                f"X has {pixels} columns, which is no square number of pixels; rows of "
                f"{side * side} or {(side + 1) ** 2} were expected. Give shape=(height, width)."
            )
        return side, side
    shape = two("shape", given)
    if shape[0] * shape[1] != pixels:
        raise DataError(
            f"X has {pixels} columns, but shape={shape} expects images of {shape[0]} by "
            f"{shape[1]} = {shape[0] * shape[1]} pixels, one image in each row."
        )
    return shape


def two(name: str, value: Any) -> tuple[int, int]:
    """Two whole numbers of at least one."""
    try:
        first, second = (int(v) for v in value)
        fine = (first, second) == tuple(value) and min(first, second) >= 1
    except (TypeError, ValueError):
        fine = False
    if not fine:
        raise ParameterError(f"{name} is {value!r}; give two whole numbers >= 1, such as (8, 8).")
    return first, second


def _scikit_image() -> Any:
    try:
        from skimage.feature import hog
    except ModuleNotFoundError:
        raise LinsepError("HOG needs scikit-image: pip install 'linsep[images]'") from None
    return hog
