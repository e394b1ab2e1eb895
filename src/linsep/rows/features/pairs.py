"""Products of pairs of features: what separates xor, and MNIST's eights from the rest."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from linsep._arguments import require_switch
from linsep.data.check.arrays import check_rows
from linsep.errors import DataError, OverflowedError, ParameterError
from linsep.kernels import features
from linsep.rows.features.naming import Names, NewColumns, names_in

Array = npt.NDArray[Any]
Pairs = npt.NDArray[np.uint32]

LISTED = 1 << 22  # numbers of pairs up to which all of them are shuffled, instead of drawn


class PairProducts(NewColumns):
    """Add the products of pairs of features to each row: Φ(u, v) = (u, v, uv).

    A hyperplane over (x, products) is a quadratic surface over x. Random pairs give a sample of
    the quadratic features where all of them, d(d − 1)/2, would be too many. Dense rows stay dense
    and sparse rows sparse; float32 stays float32.

    Parameters
    ----------
    pairs : 'all', int, or sequence of (i, j)
        Every pair i < j; that many different ones drawn at random; or exactly these, in this
        order, where i = j is a square. Fewer random pairs of the same seed are the first of more.
    include_input : bool
        Whether the features themselves come first.
    random_state : int, numpy Generator or RandomState, optional
        Where random pairs come from.

    Attributes
    ----------
    pairs_ : (p, 2) array
        The columns of each product.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from linsep import PairProducts, Perceptron
    >>> from linsep.data.toys import xor
    >>> X, y = xor()
    >>> lift = PairProducts().fit(X)
    >>> lift.get_feature_names_out(["u", "v"]).tolist()
    ['u', 'v', 'u v']
    >>> Perceptron().fit(lift.transform(X), y).score(lift.transform(X), y)
    1.0
    """

    pairs_: Pairs
    n_features_in_: int

    def __init__(
        self, pairs: Any = "all", *, include_input: bool = True, random_state: Any = 0
    ) -> None:
        self.pairs = pairs
        self.include_input = include_input
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Settle which pairs; the numbers in `X` are looked at, but do not matter."""
        X = check_rows(X, self)
        require_switch("include_input", self.include_input)
        self.pairs_ = _settle(self.pairs, X.shape[1], self.random_state)
        if not len(self.pairs_) and not self.include_input:
            raise DataError(
                f"X has {X.shape[1]} column, of which there are no pairs, and include_input is "
                "False: nothing would be left. Set include_input=True."
            )
        return self

    def transform(self, X: Any) -> Any:
        """Rows with their products: (n, d + p), or (n, p) without the input.

        A block of rows gives the same block of the result, so that large data can go through
        in blocks.
        """
        check_is_fitted(self)
        X = check_rows(X, self, reset=False)
        made = self._sparse(X) if sp.issparse(X) else self._dense(X)
        values = made.data if sp.issparse(made) else made
        if not np.isfinite(values).all():
            raise OverflowedError(
                f"products of the entries of X, up to {abs(X).max():g}, leave the range of "
                f"{X.dtype}. Divide X by a constant, or scale it first."
            )
        return made

    def _dense(self, X: Array) -> Array:
        first = X.shape[1] if self.include_input else 0
        made = np.empty((X.shape[0], first + len(self.pairs_)), X.dtype)
        if first:
            made[:, :first] = X
        features.pair_products(X, self.pairs_, made, first)
        return made

    def _sparse(self, X: Any) -> sp.csr_array:
        columns = X.tocsc()
        products = columns[:, self.pairs_[:, 0]].multiply(columns[:, self.pairs_[:, 1]])
        parts = [columns, products] if self.include_input else [products]
        made = sp.csr_array(sp.hstack(parts, format="csr"))
        made.eliminate_zeros()
        return made

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """The names of the columns of the result: 'a', 'b', ..., then 'a b' for a product."""
        names = names_in(self, input_features)
        products = [f"{names[i]} {names[j]}" for i, j in self.pairs_]
        return np.array([*(names if self.include_input else []), *products], dtype=object)


def _settle(pairs: Any, d: int, random_state: Any) -> Pairs:
    """The pairs asked for, as a (p, 2) array of columns."""
    if isinstance(pairs, str) and pairs == "all":
        return np.column_stack(np.triu_indices(d, 1)).astype(np.uint32)
    if isinstance(pairs, (int, np.integer)) and not isinstance(pairs, bool):
        return _draw(int(pairs), d, random_state)
    try:
        given = np.asarray(pairs)
        fine = given.dtype.kind in "iu" and given.ndim == 2 and given.shape[1] == 2
    except (TypeError, ValueError):
        fine = False
    if not fine:
        raise ParameterError(
            f"pairs is {pairs!r}; give 'all', a number of random pairs, or pairs of columns such "
            "as [(0, 1), (0, 2)]."
        )
    bad = (given < 0) | (given >= d)
    if bad.any():
        raise ParameterError(
            f"pairs names column {given[bad][0]}, but X has columns 0 to {d - 1}; "
            "count columns from 0."
        )
    return np.ascontiguousarray(given, np.uint32)


def _draw(count: int, d: int, random_state: Any) -> Pairs:
    """`count` different pairs i < j; a smaller count gives the first of them."""
    total = d * (d - 1) // 2
    if not 0 <= count <= total:
        raise ParameterError(
            f"pairs is {count}; {d} columns have {total} pairs, so give a number from 0 to {total}."
        )
    seed = random_state if not isinstance(random_state, np.random.RandomState) else (
        random_state.randint(2**31)
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    if total <= LISTED:
        numbers = rng.permutation(total)[:count]
    else:
        numbers = np.empty(0, np.int64)
        while len(numbers) < count:
            more = np.concatenate([numbers, rng.integers(0, total, 4096)])
            _, place = np.unique(more, return_index=True)
            numbers = more[np.sort(place)]
        numbers = numbers[:count]
    return np.column_stack(_pair(numbers)).astype(np.uint32)


def _pair(number: Array) -> tuple[Array, Array]:
    """Pair number n in the order (0,1), (0,2), (1,2), (0,3), ...: j is the largest j(j−1)/2 ≤ n.

    >>> np.column_stack(_pair(np.arange(4))).tolist()
    [[0, 1], [0, 2], [1, 2], [0, 3]]
    """
    j = ((1 + np.sqrt(8.0 * number + 1)) // 2).astype(np.int64)
    j -= j * (j - 1) // 2 > number  # the square root may have been rounded up
    j += j * (j + 1) // 2 <= number
    return number - j * (j - 1) // 2, j
