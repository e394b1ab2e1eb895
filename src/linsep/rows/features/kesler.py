"""Kesler's construct: several classes as one question of two."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._arguments import numbers_of, require_switch
from linsep.data.check.labels import encode
from linsep.errors import DataError

Array = npt.NDArray[Any]


def kesler_rows(X: Any, y: Any, *, fit_intercept: bool = True) -> tuple[Array, Array]:
    """Rows of two classes that one hyperplane through the origin separates exactly where K
    hyperplanes separate the classes of X.

    A row x of class c must have ⟨w_c, x̃⟩ > ⟨w_j, x̃⟩ for each rival j, with x̃ = (x, 1). That is
    ⟨α, γ⟩ > 0 for α, the K weight vectors one after the other, and γ with x̃ at the place of c, −x̃
    at that of j, and zeros elsewhere. As binary learners want two classes, the row returned has x̃
    at the place of the first of the two classes and −x̃ at that of the second, and its label is +1
    where the row belongs to the first, −1 where to the second: label · row is γ.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) labels of K classes
    fit_intercept : whether a constant 1 is appended to each row

    Returns
    -------
    rows : (n(K − 1), K(d + 1)) array, for each row of X its rivals in the order of the classes
    labels : (n(K − 1),) array of +1 and −1

    Examples
    --------
    >>> from linsep import Perceptron, kesler_rows
    >>> rows, labels = kesler_rows([[2.0], [5.0], [7.0]], ["a", "b", "c"])
    >>> rows[:2].tolist()
    [[2.0, 1.0, -2.0, -1.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0, -2.0, -1.0]]
    >>> labels.tolist()
    [1, 1, -1, 1, -1, -1]
    >>> Perceptron(fit_intercept=False).fit(rows, labels).status_.name
    'separated'
    """
    require_switch("fit_intercept", fit_intercept)
    X = numbers_of("X", X.toarray() if hasattr(X, "toarray") else X)
    y = np.asarray(y)
    if X.ndim != 2 or y.shape != (len(X),):
        raise DataError(f"X has shape {X.shape} and y {y.shape}; give rows and one label for each.")
    classes, codes = encode(y, len(X))
    K = len(classes)
    if K < 2:
        raise DataError(f"y has one class, {classes.tolist()!r}; Kesler's construct needs two.")
    x = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    rivals = np.array([[j for j in range(K) if j != c] for c in range(K)])[codes]
    row = np.repeat(np.arange(len(x)), K - 1)
    own, rival = codes[row], rivals.ravel()
    expanded = np.zeros((len(row), K, x.shape[1]))
    place = np.arange(len(row))
    expanded[place, np.minimum(own, rival)] = x[row]
    expanded[place, np.maximum(own, rival)] = -x[row]
    return expanded.reshape(len(row), -1), np.where(own < rival, 1, -1)
