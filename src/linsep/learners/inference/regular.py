"""Whether weights can be told apart: enough rows, and no column that is a sum of others."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError

Array = npt.NDArray[Any]

SURE = 1e-6  # least eigenvalue of an information in units of its diagonal: far from singular


def with_ones(X: Array, intercept: bool) -> Array:
    return np.column_stack([np.ones(len(X)), X]) if intercept else X


def require_rows(n: int, weights: int) -> None:
    if n <= weights:
        raise DataError(
            f"there are {n} rows and {weights} weights; errors can be told of fewer weights than "
            "rows. Drop columns."
        )


def surely_regular(information: Array) -> bool:
    """Whether an information matrix is that of columns none of which is a sum of others."""
    size = np.sqrt(np.maximum(np.diag(information), 0.0))
    if not (np.isfinite(information).all() and (size > 0).all()):
        return False
    return bool(np.linalg.eigvalsh(information / size / size[:, None])[0] > SURE)


def require_rank(Z: Array, names: list[str]) -> None:
    scaled = Z / np.maximum(np.abs(Z).max(axis=0, initial=0.0), 1e-300)
    if np.linalg.matrix_rank(scaled) < Z.shape[1]:
        r = np.abs(np.diag(np.linalg.qr(scaled - 0.0, mode="r")))
        name = names[int(np.argmin(r))]
        raise DataError(
            f"the column {name!r} is a sum of others, so that no single weight can be told for it; "
            "drop it (of texts as features, drop one text)."
        )
