"""Distances from points: features that do not change when the plane is turned about them."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from linsep._arguments import require_switch
from linsep.data.blocks.blocks import spans
from linsep.data.check.arrays import check_rows
from linsep.errors import DataError, OverflowedError, ParameterError
from linsep.rows.feature_maps import RadialMap
from linsep.rows.features.naming import Names, NewColumns, names_in

Array = npt.NDArray[Any]


class Radial(NewColumns):
    """Describe each row by its distance ‖x − c‖ from the centre, or from given points.

    The distance does not change when the data are turned about c: a disc inside a ring, which no
    line separates, is separated by one threshold on the radius. Sparse rows are not densified.

    Parameters
    ----------
    centres : 'mean', or array of shape (d,) or (k, d)
        The mean of the training rows, or these points.
    squared : bool
        Give ‖x − c‖² instead: linear combinations of these over x are spheres.
    include_input : bool
        Whether the features themselves come first.

    Attributes
    ----------
    centres_ : (k, d) array
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from linsep import Perceptron, Radial
    >>> from linsep.data.toys import rings
    >>> X, y = rings()
    >>> radius = Radial([0.0, 0.0]).fit_transform(X)
    >>> radius.shape
    (200, 1)
    >>> Perceptron().fit(radius, y).score(radius, y)
    1.0
    """

    centres_: Array
    n_features_in_: int

    def __init__(
        self, centres: Any = "mean", *, squared: bool = False, include_input: bool = False
    ) -> None:
        self.centres = centres
        self.squared = squared
        self.include_input = include_input

    def fit(self, X: Any, y: Any = None) -> Self:
        """Settle the centres."""
        X = check_rows(X, self)
        require_switch("include_input", self.include_input)
        require_switch("squared", self.squared)
        if isinstance(self.centres, str) and self.centres == "mean":
            with np.errstate(over="ignore"):
                self.centres_ = np.asarray(X.mean(axis=0, dtype=np.float64)).reshape(1, -1)
            if not np.isfinite(self.centres_).all():
                raise OverflowedError(
                    f"the mean of X, with entries up to {abs(X).max():g}, leaves the range of "
                    "float64. Divide X by a constant."
                )
            return self
        try:
            centres = np.atleast_2d(np.asarray(self.centres, dtype=np.float64))
        except (TypeError, ValueError):
            centres = np.empty((0, 0, 0))
        if centres.ndim != 2 or not centres.size or not np.isfinite(centres).all():
            raise ParameterError(
                f"centres is {self.centres!r}; give 'mean' or finite points, one row each."
            )
        if centres.shape[1] != X.shape[1]:
            raise DataError(
                f"centres have {centres.shape[1]} coordinates, but X has {X.shape[1]} columns; "
                "give one coordinate for each column."
            )
        self.centres_ = centres
        return self

    def transform(self, X: Any) -> Any:
        """Distances, a column for each centre, after the features themselves where asked for."""
        check_is_fitted(self)
        X = check_rows(X, self, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            lift = RadialMap(self.centres_, self.squared, self.include_input)
            parts = [lift.squares(X[i:j]) for i, j in spans(X.shape[0])]
            values = np.concatenate(parts)
        if not np.isfinite(values).all():
            raise OverflowedError(
                f"squared distances of X, with entries up to {abs(X).max():g}, leave the range "
                "of float64. Divide X and the centres by a constant."
            )
        values = (values if self.squared else np.sqrt(values)).astype(X.dtype)
        if not self.include_input:
            return values
        if sp.issparse(X):
            return sp.csr_array(sp.hstack([X, sp.csr_array(values)], format="csr"))
        return np.hstack([X, values])

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """The names of the columns of the result: radial0, radial1, ... for the distances."""
        names = names_in(self, input_features)
        radial = [f"radial{k}" for k in range(len(self.centres_))]
        return np.array([*(names if self.include_input else []), *radial], dtype=object)
