"""Kernels κ(x, x'): inner products in a space of features that is never written out.

Values are float64 whatever the rows are: powers and distances lose too many digits in float32.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import DataError, ParameterError

Array = npt.NDArray[Any]
Matrix = Any  # an array or a CSR matrix, one example per row
Each = Callable[[Callable[[int], None], Iterable[int]], Iterable[None]]  # `map`, perhaps by threads

NAMES = ("linear", "poly", "rbf")
PIECE = 1024  # rows of the second argument at once: what lies between fits the processor's cache
FAR = 0.01  # error in the exponent of 'rbf', about γ‖x‖² times the rounding, that is still fine
ASYMMETRY = 1e-5  # of the largest value; more is no rounding, not even in float32


class Kernel(NamedTuple):
    """κ with its parameters settled.

    - 'linear': ⟨x, x'⟩
    - 'poly': (γ⟨x, x'⟩ + c₀)^degree
    - 'rbf': exp(−γ‖x − x'‖²)
    - a function of two matrices of rows, A and B, that returns the (len(A), len(B)) matrix of
      κ(a, b), as scikit-learn's SVC takes it. It sees rows in the layout and type of X.

    Examples
    --------
    >>> A = np.array([[1.0, 0.0], [1.0, 2.0]])
    >>> Kernel("poly", degree=2, gamma=1.0, coef0=1.0)(A, A)
    array([[ 4.,  4.],
           [ 4., 36.]])
    """

    form: str | Callable[[Matrix, Matrix], Any]
    degree: int = 3
    gamma: float = 1.0
    coef0: float = 0.0

    @property
    def name(self) -> str:
        """What to call it in a sentence."""
        if isinstance(self.form, str):
            return repr(self.form)
        return str(getattr(self.form, "__name__", repr(self.form)))

    def __call__(
        self,
        A: Matrix,
        B: Matrix,
        left: Sequence[int] | Array | None = None,
        right: Sequence[int] | Array | None = None,
        second: str = "row",
        each: Each = map,
    ) -> Array:
        """κ of every row of A with every row of B.

        Parameters
        ----------
        A, B : rows
        left, right : their numbers, for the words of an error; counted from 0 when None
        second : what a row of B is called there
        each : how to go through pieces of B; a function is asked once, for all of B

        Raises
        ------
        DataError
            When a value is NaN or infinite, or a function returns something else than one
            number for each pair.
        """
        if isinstance(self.form, str):
            K = np.empty((A.shape[0], B.shape[0]))
            A = A if A.dtype == np.float64 else A.astype(np.float64)

            def fill(start: int) -> None:
                part = B[start : start + PIECE]
                part = part if part.dtype == np.float64 else part.astype(np.float64)
                self._fill(A, part, K[:, start : start + PIECE])

            list(each(fill, range(0, B.shape[0], PIECE)))
        else:
            K = self._ask(self.form, A, B)
        with np.errstate(over="ignore", invalid="ignore"):
            total = K.sum()
        if not np.isfinite(total):
            self._require_finite(K, left, right, second)
        return K

    def rounding(self, A: Matrix, terms: int) -> Array:
        """sᵢ for each row: a sum of so many βⱼκ(aᵢ, aⱼ) is right to sᵢ Σ |βⱼ|sⱼ.

        A user's function is taken at its word.
        """
        squares = _squares(A.astype(np.float64, copy=False))
        size = np.sqrt(squares) if self.form == "linear" else np.ones(len(squares))
        if self.form == "poly":
            size = (abs(self.gamma) * squares + abs(self.coef0)) ** (self.degree / 2)
        own = terms + (A.shape[1] + 4) * max(1, self.degree if self.form == "poly" else 1)
        return np.asarray(size * np.sqrt(own * 2.0**-53))

    def shared(self, each: Each) -> Each:
        """How to go through blocks that call this kernel: a user's function by one thread only."""
        return each if isinstance(self.form, str) else map

    def square(self, A: Matrix, left: Sequence[int] | Array | None = None) -> Array:
        """κ of every row of A with every other; a function is held to κ(x, x') = κ(x', x)."""
        K = self(A, A, left, left)
        if not isinstance(self.form, str):
            self.require_symmetric(K, K, left, left)
        return K

    def _fill(self, A: Matrix, B: Matrix, K: Array) -> None:
        """K ← κ(A, B) for one of the named kernels."""
        with np.errstate(over="ignore", invalid="ignore"):  # looked for in the result
            K[...] = _products(A, B)
            if self.form == "poly":
                K *= self.gamma
                K += self.coef0
                _raise(K, self.degree)
            elif self.form == "rbf":
                K *= -2.0
                K += _squares(A)[:, None]
                K += _squares(B)  # ‖x − x'‖² = ‖x‖² − 2⟨x, x'⟩ + ‖x'‖²
                np.maximum(K, 0.0, out=K)
                K *= -self.gamma
                np.exp(K, out=K)

    def _ask(self, function: Callable[[Matrix, Matrix], Any], A: Matrix, B: Matrix) -> Array:
        """What the user's function says."""
        if sp.issparse(A) != sp.issparse(B):
            A, B = sp.csr_array(A), sp.csr_array(B)
        values = function(A, B)
        K = np.asarray(values.toarray() if sp.issparse(values) else values)
        if K.shape != (A.shape[0], B.shape[0]):
            raise DataError(
                f"kernel {self.name} returned shape {K.shape} for {A.shape[0]} rows and "
                f"{B.shape[0]} rows; it must return one number for each pair, shape "
                f"{(A.shape[0], B.shape[0])}."
            )
        if K.dtype.kind not in "fiub":
            raise DataError(
                f"kernel {self.name} returned values of type {K.dtype}; "
                "it must return real numbers."
            )
        return K.astype(np.float64)

    def _require_finite(
        self,
        K: Array,
        left: Sequence[int] | Array | None,
        right: Sequence[int] | Array | None,
        second: str,
    ) -> None:
        bad = ~np.isfinite(K)
        if not bad.any():  # each value is finite, only their sum is not
            return
        i, j = np.unravel_index(int(bad.argmax()), K.shape)
        kind = "NaN" if np.isnan(K[i, j]) else "infinity"
        advice = "It must return finite numbers."
        if isinstance(self.form, str):
            advice = "Divide X by abs(X).max(), or lower gamma or degree."
        raise DataError(
            f"kernel {self.name} gives {kind} for row {_number(left, i)} and {second} "
            f"{_number(right, j)}. {advice}"
        )

    def require_symmetric(
        self,
        K: Array,
        other: Array,
        left: Sequence[int] | Array | None = None,
        right: Sequence[int] | Array | None = None,
    ) -> None:
        """Raise a DataError unless K = κ(A, B) is the transpose of `other` = κ(B, A)."""
        gap = np.abs(K - other.T)
        if not gap.size or gap.max() <= ASYMMETRY * np.abs(K).max():
            return
        i, j = np.unravel_index(int(gap.argmax()), K.shape)
        a, b = _number(left, i), _number(right, j)
        raise DataError(
            f"kernel {self.name} is not symmetric: κ(row {a}, row {b}) is {K[i, j]:g} but "
            f"κ(row {b}, row {a}) is {other[j, i]:g}. Return the same number for both orders."
        )


def kernel_of(kernel: Any, degree: Any, gamma: Any, coef0: Any, X: Matrix) -> Kernel:
    """The kernel a user asked for, with gamma settled by the rows X.

    'scale' is 1 / (number of features × variance of all entries), 'auto' 1 / number of features.

    >>> kernel_of("rbf", 3, "scale", 0.0, np.array([[0.0, 2.0], [2.0, 0.0]])).gamma
    0.5
    """
    check_kernel(kernel, degree, gamma, coef0)
    if gamma == "scale":
        spread = _variance(X)
        gamma = 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0
    elif gamma == "auto":
        gamma = 1.0 / X.shape[1]
    if kernel == "rbf":
        _require_near(X, float(gamma))
    return Kernel(kernel, int(degree), float(gamma), float(coef0))


def _require_near(X: Matrix, gamma: float) -> None:
    """Refuse rows so far from the origin that rounding swallows their distances."""
    with np.errstate(over="ignore"):
        farthest = float(_squares(X.astype(np.float64, copy=False)).max(initial=0.0))
    if gamma * farthest * np.finfo(np.float64).eps > FAR:
        raise DataError(
            f"kernel 'rbf' with gamma {gamma:g} looks at distances that rounding swallows: a row "
            f"of X has length {np.sqrt(farthest):g}. Subtract the mean of each column from X (from "
            "new rows too; linsep.Scaled does both)."
        )


def check_kernel(kernel: Any, degree: Any, gamma: Any, coef0: Any) -> None:
    """Refuse parameters that name no kernel."""
    if not callable(kernel) and not (isinstance(kernel, str) and kernel in NAMES):
        raise ParameterError(
            f"kernel is {kernel!r}; choose one of {', '.join(map(repr, NAMES))}, or give a "
            "function of two matrices of rows that returns the value for each pair."
        )
    if not _is_number(degree) or degree < 1 or degree != int(degree):
        raise ParameterError(f"degree is {degree!r}; give a whole number > 0.")
    named = isinstance(gamma, str) and gamma in ("scale", "auto")
    if not named and (not _is_number(gamma) or gamma <= 0):
        raise ParameterError(f"gamma is {gamma!r}; give 'scale', 'auto' or a finite number > 0.")
    if not _is_number(coef0):
        raise ParameterError(f"coef0 is {coef0!r}; give a finite number.")


def _is_number(value: Any) -> bool:
    kinds = (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(value)


def _variance(X: Matrix) -> float:
    """The variance of all entries."""
    if not sp.issparse(X):
        return float(X.var(dtype=np.float64))
    values = X.data.astype(np.float64)
    n = float(X.shape[0]) * X.shape[1]
    mean = values.sum() / n
    # Σ(x − m)² over stored entries, and m² for each of the others
    return float((((values - mean) ** 2).sum() + (n - values.size) * mean**2) / n)


def _products(A: Matrix, B: Matrix) -> Array:
    """⟨a, b⟩ for every pair."""
    if not sp.issparse(B):
        return np.asarray(A @ B.T)
    # The few rows are turned over, the many are read as they lie.
    K = B @ A.T
    return np.asarray(K.toarray() if sp.issparse(K) else K).T


def _squares(A: Matrix) -> Array:
    """‖a‖² for every row."""
    if sp.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)


def _raise(K: Array, degree: int) -> None:
    """K ← K^degree by repeated squaring; whole numbers stay exact while they fit."""
    base = K.copy()
    for bit in f"{degree:b}"[1:]:
        K *= K
        if bit == "1":
            K *= base


def _number(names: Sequence[int] | Array | None, i: Any) -> int:
    return int(i if names is None else names[int(i)])
