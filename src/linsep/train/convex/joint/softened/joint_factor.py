"""A factor of the matrix of all weights of several classes, from the rows and classes that count.

    H = Σᵢ cᵢ (diag pᵢ − pᵢpᵢᵀ) ⊗ xᵢxᵢᵀ + 1 ⊗ R

Few classes of a row have a probability worth the name: block (k, l) is a product of the rows that
have both, so that H costs what these pairs cost, not what all pairs of classes would. One vector
more for all classes is the same model, and gradients add up to zero over the classes: the last
class is left out, and 1 ⊗ R becomes (1 − 11ᵀ/K) ⊗ R. Where pairs would cost more than the factor,
slight classes are left out, and at last rows are drawn: then it is a preconditioner only.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._scipy import linalg as sl
from linsep.data.blocks.blocks import spans
from linsep.parallel import Pool
from linsep.train.convex.sampling import draw

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

SLIGHT = (1e-9, 1e-6, 1e-4, 1e-3, 1e-2)  # probabilities of a class that may be left out
BUDGET = 0.2  # pairs times d² for each (Kd)³, up to which they cost no more than the factor
FEW = 1024  # pairs that cost next to nothing
TILE = 512  # rows and columns of a tile of the factor
ROUNDED = 1e-13  # of the diagonal: what rounding may have taken off


class JointFactor:
    """About H⁻¹G for G, (K, d), whose rows add up to zero.

    Parameters
    ----------
    X : dense rows
    P : probabilities, (K, n)
    curved : cᵢ
    used : numbers of the rows that count
    ridge : R, (d,), positive
    diagonal : of Σ cᵢ (diag pᵢ − pᵢpᵢᵀ) ⊗ xᵢxᵢᵀ, (K, d); columns without any have R alone
    pool : threads; they change no byte

    Attributes
    ----------
    pairs, size : rows times pairs of classes that it was made of, and its order
    whole : whether nothing was left out

    Examples
    --------
    >>> X, P, one = np.array([[3.0]]), np.array([[0.5], [0.5]]), np.ones(1)
    >>> H = np.array([[3.25, -2.25], [-2.25, 3.25]])
    >>> inverse = JointFactor(X, P, one, np.arange(1), one, np.full((2, 1), 2.25), Pool(1))
    >>> (H @ inverse(np.array([[1.0], [-1.0]]))).round(9).ravel()
    array([ 1., -1.])
    """

    def __init__(
        self,
        X: Array,
        P: Floats,
        curved: Floats,
        used: Array,
        ridge: Floats,
        diagonal: Floats,
        pool: Pool,
    ) -> None:
        K = len(P)
        self._ridge, self._columns = ridge, np.flatnonzero(diagonal.sum(axis=0) > 0.0)
        m = len(self._columns)
        some, c, least = chosen(P, curved, used, max(FEW, int(BUDGET * (K - 1) ** 3 * m)))
        self.whole = least == SLIGHT[0]
        x = X[some].astype(np.float64, copy=False)
        x = x if m == X.shape[1] else x[:, self._columns]
        p = np.where(P[:, some] > least, P[:, some], 0.0)
        p /= np.maximum(p.sum(axis=0), 1e-300)
        H, self.pairs = blocks(x, p, c, pool)
        self.size, R = len(H), ridge[self._columns]
        for k in range(K - 1):
            at = np.arange(k * m, (k + 1) * m)
            for h in range(k):
                H[at, at - (k - h) * m] -= R / K
            H[at, at] = np.maximum(H[at, at], diagonal[k, self._columns]) + (1.0 - 1.0 / K) * R
        self._scale = 1.0 / np.sqrt(H.diagonal())
        scale_lower(H, self._scale)
        factored(H, pool)
        self._factor = H if self.whole else H.astype(np.float32)
        self._trsv = sl.get_blas_funcs("trsv", (self._factor,))

    def __call__(self, G: Floats) -> Floats:
        step = G / self._ridge
        if not self.size:
            return step
        g = (G[:-1, self._columns].ravel() * self._scale).astype(self._factor.dtype)
        half = self._trsv(self._factor.T, g, lower=0, trans=1)
        v = np.zeros((len(G), len(self._columns)))
        v[:-1] = (self._trsv(self._factor.T, half, lower=0) * self._scale).reshape(len(G) - 1, -1)
        step[:, self._columns] = v - v.mean(axis=0)
        return step


def chosen(P: Floats, curved: Floats, used: Array, most: int) -> tuple[Array, Floats, float]:
    """Rows with no more than about so many pairs of classes; cᵢ, over the chance of a row that was
    drawn; and the probability of classes that are left out."""
    p, pairs = P[:, used], 0
    for least in SLIGHT:
        counts = (p > least).sum(axis=0)
        pairs = int((counts * (counts + 1) // 2)[counts > 1].sum())
        if pairs <= most:
            return used, curved[used], least
    weights = curved[used] * (1.0 - np.einsum("ki,ki->i", p, p))
    wanted = len(used) * most / pairs
    chance = np.minimum(1.0, weights * (wanted / float(weights.sum())))
    for _ in range(2):
        chance = np.minimum(1.0, chance * (wanted / float(chance.sum())))
    rows = draw(chance, 0)
    return used[rows], curved[used[rows]] / chance[rows], SLIGHT[-1]


def blocks(x: Floats, p: Floats, c: Floats, pool: Pool) -> tuple[Floats, int]:
    """The lower blocks of Σ cᵢ (diag pᵢ − pᵢpᵢᵀ) ⊗ xᵢxᵢᵀ without its last class, and the pairs of
    classes of rows that they were made of."""
    K, m = len(p), x.shape[1]
    H = np.zeros(((K - 1) * m, (K - 1) * m))

    def one(pair: tuple[int, int]) -> int:
        k, h = pair
        some = p[k] > 0.0
        some &= p[h] > 0.0 if k != h else p[k] < 1.0
        rows = np.flatnonzero(some)
        a = x[rows]
        if k == h:
            a *= np.sqrt(c[rows] * p[k, rows] * (1.0 - p[k, rows]))[:, None]
            b = a
        else:
            b = a * (-c[rows] * p[k, rows] * p[h, rows])[:, None]
        H[k * m : (k + 1) * m, h * m : (h + 1) * m] = b.T @ a
        return len(rows)

    counts = pool.map(one, [(k, h) for k in range(K - 1) for h in range(k + 1)])
    return H, sum(counts)


def scale_lower(H: Floats, scale: Floats) -> None:
    """H ← its lower half, scaled to a unit diagonal"""
    for first, last in spans(len(H), TILE):
        H[first:last, :last] *= scale[:last]
        H[first:last, :last] *= scale[first:last, None]
    H.flat[:: len(H) + 1] = 1.0 + ROUNDED


def factored(A: Floats, pool: Pool) -> Floats:
    """A ← L with LLᵀ = A in its lower half, tile by tile; A has a diagonal of about one.

    >>> factored(np.array([[1.0, 0.0], [0.6, 1.0]]), Pool(1))
    array([[1. , 0. ],
           [0.6, 0.8]])
    """
    tiles = spans(len(A), TILE)
    for k, (first, last) in enumerate(tiles):
        own = A[first:last, first:last]
        own[:] = _root(own)
        inverse = np.linalg.inv(own).T

        def panel(
            span: tuple[int, int], at: slice = slice(first, last), inv: Any = inverse
        ) -> None:
            A[slice(*span), at] = A[slice(*span), at] @ inv

        def rest(pair: tuple[int, int], at: slice = slice(first, last)) -> None:
            i, j = slice(*tiles[pair[0]]), slice(*tiles[pair[1]])
            A[i, j] -= A[i, at] @ A[j, at].T

        pool.map(panel, tiles[k + 1 :])
        later = range(k + 1, len(tiles))
        pool.map(rest, [(i, j) for i in later for j in range(k + 1, i + 1)])
    return A


def _root(A: Floats) -> Floats:
    """The factor of a tile; where rounding has made it indefinite, of a little more."""
    A, more = np.tril(A) + np.tril(A, -1).T, 0.0
    while True:
        try:
            return np.asarray(np.linalg.cholesky(A + more * np.eye(len(A))), np.float64)
        except np.linalg.LinAlgError:
            more = max(1e-10, 100.0 * more)
            if not more < 1e10:
                raise
