"""What transformers that make new columns share: what they take, and names of columns."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from linsep.errors import DataError

Names = npt.NDArray[np.object_]


class NewColumns(TransformerMixin, BaseEstimator):
    """A transformer that takes dense and sparse rows, and keeps float32 as it is."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def names_in(transformer: Any, given: Any = None) -> Names:
    """The names of the columns that a fitted transformer reads.

    Those `given`, those of the data frame it was fitted on, or x0, x1, ...

    Raises
    ------
    DataError
        When the names given are not the ones, or not as many, as the transformer was fitted on.
    """
    check_is_fitted(transformer, "n_features_in_")
    known = getattr(transformer, "feature_names_in_", None)
    count = transformer.n_features_in_
    if given is None:
        return np.array([f"x{j}" for j in range(count)], object) if known is None else known
    names = np.asarray(given, dtype=object)
    if known is not None and (names.shape != known.shape or (names != known).any()):
        raise DataError(
            f"input_features is not equal to feature_names_in_, {known.tolist()!r}; "
            "leave input_features out."
        )
    if len(names) != count:
        raise DataError(
            f"input_features should have length equal to number of features ({count}), "
            f"got {len(names)}."
        )
    return names
