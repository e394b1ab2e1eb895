"""The minimum of a quadratic model with corners, one coordinate at a time.

    ⟨g, d⟩ + ½⟨d, Hd⟩ + Σ cornerⱼ|wⱼ + dⱼ| + ½ ridgeⱼ(wⱼ + dⱼ)²    over low ≤ w + d ≤ high

H is a matrix, or given by columns. After a sweep over all coordinates those with a weight are gone
over until they hardly move; where this is slow, as columns depend on each other, a linear system
gives the minimum over them while their signs and bounds hold.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import linalg as sl

from linsep.kernels import designs
from linsep.kernels import proximal as kernels
from linsep.parallel import Pool
from linsep.rows.rows import Dense, Rows, as_rows
from linsep.train.convex.designs.design import Design, combined, scores
from linsep.train.convex.penalties import Corners
from linsep.train.convex.problem import Problem

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FACES = 60  # linear systems in a row, at most
ROUNDS = 30  # of sweeps over all coordinates and those with a weight, at most
FAR, INNER = 0.1, 0.3  # of kernels/convex/proximal.cpp
DIRECT = 256  # columns up to which they are multiplied with each other for a linear system
PRODUCTS, ACCURATE = 60, 1e-1  # of conjugate gradients, at most; part of the slopes that is left
DEAR = 64  # columns for each round of sweeps that a factor of their matrix costs
FLAT = 1e-10  # least curvature, of a unit diagonal: columns may add up to a constant


# A matrix is made where it costs less than sweeps over columns; the unit is what a sweep over a
# matrix costs for each of its numbers.
SWEEPS, SWEPT = 60, 3.0  # that a minimum takes, about; a sweep over columns, for each entry
MULTIPLIED, MADE = 0.1, 15.0  # a dense matrix, for each product, and for each number
ALL, JOINT = 128, 1500  # columns, and weights of several classes, up to which one is made
WIDEST, REPEATED = 1024, 40  # columns of sparse rows, and pairs of entries for each entry


class Form(Protocol):
    """H, its diagonal `bends`, and where a model is.

    After as many slow rounds as `patience` up to `faces` linear systems cost no more than another.
    """

    @property
    def patience(self) -> int: ...

    @property
    def faces(self) -> int: ...

    @property
    def bends(self) -> Floats: ...

    def damp(self, damping: Floats) -> None:
        """Have the diagonal of H larger."""

    def cycle(self, *model: Any) -> None:
        """Sweeps, which change d."""

    def product(self, d: Floats) -> Floats:
        """Hd, where d is what the sweeps came to."""

    def solve(self, on: Array, right: Floats, ridge: Floats) -> Floats:
        """(H + ridge)⁻¹ right over some coordinates, about."""

    def bend(self, p: Floats) -> float:
        """⟨p, Hp⟩"""

    def moved(self, d: Floats) -> None:
        """d has come from elsewhere."""


class Penalised(NamedTuple):
    """A model: slopes g at w, and the penalty and bounds of the coordinates."""

    g: Floats
    w: Floats
    corners: Corners


def minimise(form: Form, model: Penalised, size: Floats, accuracy: float, unit: float) -> Floats:
    """The d that minimises a model, to slopes within `accuracy` times `size` or what is enough.

    Where the slopes met first are s, the part s/unit of them is left, or `FAR` where that is less.
    """
    g, w, (corner, ridge, _, low, high) = model
    d, worst = np.zeros(len(g)), np.zeros(2)
    slow = 0
    for _ in range(ROUNDS):
        form.cycle(g, w, corner, ridge, low, high, size, d, accuracy, unit, worst)
        first, last = worst.tolist()
        accuracy, unit = max(accuracy, first * min(FAR, first / unit)), np.inf
        if first <= accuracy:
            break
        slow += last > INNER * accuracy
        if slow > form.patience:
            slow = 0
            for _ in range(form.faces):
                if not _to_face(form, model, d):
                    break
    return d


def _to_face(form: Form, model: Penalised, d: Floats) -> bool:
    """To the minimum over the coordinates at no corner or bound, signs held; whether one met such.

    Weights that would change their sign end at zero, and those that would leave their bounds there,
    or where that does not lessen the model, all go as far as the first of them allows.
    """
    g, w, (corner, ridge, _, low, high) = model
    at = w + d
    slope = g + form.product(d) + ridge * at + corner * np.sign(at)
    on = np.flatnonzero(((at != 0.0) | (corner == 0.0)) & (at > low) & (at < high))
    x = np.zeros(len(g))
    if len(on):
        x[on] = form.solve(on, -slope[on], ridge[on])
    crossing = (at * (at + x) < 0.0) & (corner > 0.0)
    to = np.clip(np.where(crossing, 0.0, at + x), low, high)
    met = (crossing | (to != at + x)) & (x != 0.0)
    p = np.where(met, to - at, x)
    gain = float(slope @ p) + 0.5 * (form.bend(p) + float(ridge @ (p * p)))
    if not gain < 0.0:
        if not met.any():
            return False
        p = x * float(np.min(p[met] / x[met]))
    d[:] = np.where(at + p == 0.0, -w, d + p)
    form.moved(d)
    return bool(met.any())


def _solved(Q: Floats, right: Floats) -> Floats:
    """Q⁻¹ right of a matrix that may be singular; zeros where that is out of reach."""
    bends = Q.diagonal()
    scale = np.divide(1.0, np.sqrt(bends), out=np.zeros(len(Q)), where=bends > 0.0)
    Q *= scale * scale[:, None]
    Q.flat[:: len(Q) + 1] = 1.0 + FLAT
    factor, failed = sl.lapack.dpotrf(Q.T, lower=1, overwrite_a=1)
    if failed:
        return np.zeros(len(Q))
    return np.asarray(scale * sl.lapack.dpotrs(factor, scale * right, lower=1)[0])


class ByClasses:
    """H of the softmax of several classes by the columns of its rows, q = Up and U.

    Intercepts come to their best place after each round.
    """

    patience, faces = ROUNDS, 0  # no linear systems

    def __init__(self, columns: Rows, q: Floats, U: Floats, slopes: Floats | None) -> None:
        self._columns, self._q, self._slopes = columns, q, slopes
        self._inverse = np.divide(1.0, U, out=np.zeros(len(U)), where=U > 0.0)
        self._moved, self._mean, self.bias = np.zeros_like(q), np.zeros(len(U)), np.zeros(len(q))
        rest = q * (1.0 - q * self._inverse)
        bends = np.empty((len(q), columns[2].size - 1 if len(columns) > 1 else len(columns[0])))
        for k, D in enumerate(np.sqrt(rest)):
            designs.norms(times(columns, D), bends[k])
        self.bends = bends.ravel()
        h0 = np.diag(q.sum(axis=1)) - (q * self._inverse) @ q.T
        self._back = np.linalg.pinv(h0, rcond=1e-12, hermitian=True)

    def damp(self, damping: Floats) -> None:
        self.bends = self.bends + damping  # steps are shortened: the model stays as it is

    def cycle(self, *model: Any) -> None:
        self._settle()
        known = self._columns, self._q, self._inverse, self.bends, self._moved, self._mean
        kernels.cycle_classes(*known, *model)
        self._settle()

    def _settle(self) -> None:
        if self._slopes is None:
            return
        step = -self._back @ (self._slopes + (self._q * (self._moved - self._mean)).sum(axis=1))
        self.bias += step
        self._moved += step[:, None]
        self._mean += step @ (self._q * self._inverse)

    def product(self, d: Floats) -> Floats:
        raise NotImplementedError

    solve = bend = moved = product


def columns_of(X: Any) -> Rows:
    """The columns of dense or sparse rows, as rows."""
    if not sp.issparse(X):
        return Dense(np.ascontiguousarray(X.T, np.float64))
    turned = X.tocsc()
    parts = (turned.data.astype(np.float64, copy=False), turned.indices, turned.indptr)
    return as_rows(sp.csr_array(parts, turned.shape[::-1]))


def matrix_pays(part: Design, K: int) -> bool:
    """Whether the matrix of some columns costs less than sweeps over them."""
    n, m = part.n, part.d
    if K > 1:
        return K * m <= JOINT
    if m <= ALL:
        return True
    if not part.sparse:
        return SWEEPS * SWEPT * n >= m * (MULTIPLIED * n + MADE + SWEEPS)
    pairs = float(np.square(np.diff(part.X.indptr), dtype=np.float64).sum())
    few = pairs <= 2 * REPEATED * part.entries and 8.0 * m * m <= 1e7 + 4 * pairs
    return few and m <= WIDEST


def times(columns: Rows, root: Floats) -> Rows:
    """Columns with the entries of each row times a number."""
    if isinstance(columns, Dense):
        return Dense(columns.X * root)
    return columns._replace(data=columns.data * root[columns.indices])


def _some(columns: Rows, on: Array) -> Any:
    """Some columns as rows of a matrix."""
    if isinstance(columns, Dense):
        return columns.X[on]
    X, places, ends = columns[:3]
    shape = len(ends) - 1, columns[3]
    return sp.csr_array((X, places.view(np.int32), ends), shape=shape)[on]


class ByMatrix:
    """H as a matrix."""

    def __init__(self, H: Floats) -> None:
        self.H, self._product = H, np.zeros(len(H))
        self.patience, self.faces = len(H) // DEAR, FACES

    @property
    def bends(self) -> Floats:
        return self.H.diagonal()

    def damp(self, damping: Floats) -> None:
        self.H.flat[:: len(self.H) + 1] += damping

    def cycle(self, *model: Any) -> None:
        kernels.cycle_matrix(self.H, self._product, *model)

    def product(self, d: Floats) -> Floats:
        return self._product

    def solve(self, on: Array, right: Floats, ridge: Floats) -> Floats:
        Q = self.H[np.ix_(on, on)]
        Q.flat[:: len(on) + 1] += ridge
        return _solved(Q, right)

    def bend(self, p: Floats) -> float:
        return float(p @ (self.H @ p))

    def moved(self, d: Floats) -> None:
        self._product = self.H @ d


class ByColumns:
    """H = BᵀB − hhᵀ/h₀ + damping by the columns of B, with h and h₀ of an intercept."""

    patience, faces = 0, 1

    def __init__(self, columns: Rows, n: int, h: Floats, h0: float) -> None:
        self._columns, self._h, self._h0 = columns, h, h0
        self._moved, self.bends = np.zeros(n), np.empty(len(h))
        designs.norms(columns, self.bends)
        if h0 > 0.0:
            self.bends -= h * h / h0
        self._damping = np.zeros(len(h))

    def damp(self, damping: Floats) -> None:
        self._damping = damping
        self.bends += damping

    def cycle(self, g: Floats, w: Floats, *model: Any) -> None:
        kernels.cycle_columns(
            self._columns, self._h, self._h0, self._damping, self.bends, self._moved, g, w, *model
        )

    def product(self, d: Floats) -> Floats:
        return self._of(self._moved, d)

    def _carried(self, p: Floats) -> Floats:
        """Bp"""
        return combined(self._columns, p[None], len(self._moved))[0]

    def _of(self, moved: Floats, d: Floats) -> Floats:
        out = scores(self._columns, moved[None])[0] + self._damping * d
        if self._h0 > 0.0:
            out -= self._h * (float(self._h @ d) / self._h0)
        return np.asarray(out)

    def solve(self, on: Array, right: Floats, ridge: Floats) -> Floats:
        """By the matrix of few columns, or conjugate gradients, each column divided by its bend."""
        B, h, more = _some(self._columns, on), self._h[on], self._damping[on] + ridge
        part = h / self._h0 if self._h0 > 0.0 else 0.0 * h
        if len(on) <= DIRECT:
            Q = B @ B.T
            Q = np.asarray(Q.toarray() if sp.issparse(Q) else Q) - np.outer(h, part)
            Q.flat[:: len(on) + 1] += more
            return _solved(Q, right)
        whole = self.bends[on] + ridge
        inverse = np.divide(1.0, whole, out=np.zeros(len(on)), where=whole > 0.0)
        x, left, p = np.zeros(len(on)), right.copy(), inverse * right
        size, least = float(right @ p), ACCURATE * np.abs(right).max(initial=0.0)
        for _ in range(PRODUCTS):
            product = B @ (p @ B) + more * p - part * float(h @ p)
            bend = float(p @ product)
            if not bend > 1e-13 * float(p @ (whole * p)):
                break  # columns that depend on each other: nothing bends there
            x += size / bend * p
            left -= size / bend * product
            before, size = size, float(left @ (inverse * left))
            if np.abs(left).max() <= least:
                break
            p = inverse * left + size / before * p
        return x

    def bend(self, p: Floats) -> float:
        moved = self._carried(p)
        bend = float(moved @ moved) + float(self._damping @ (p * p))
        return bend - (float(self._h @ p) ** 2 / self._h0 if self._h0 > 0.0 else 0.0)

    def moved(self, d: Floats) -> None:
        self._moved = self._carried(d)


Made = tuple[Form, Floats, Callable[[Floats], Any]]
"""H and slopes with intercepts at their best, and these for weights that are changed."""


def by_matrix(H: Floats, g: Floats, free: bool) -> Made:
    """From the matrix of weights and intercepts, (K, m + 1, K, m + 1)."""
    K, m = len(g), g.shape[1] - 1
    whole = H[:, :m, :, :m].reshape(K * m, K * m).copy()
    slopes = np.ascontiguousarray(g[:, :m]).ravel()
    if not free:
        return ByMatrix(whole), slopes, lambda d: 0.0
    h, h0 = H[:, m, :, :m].reshape(K, K * m), H[:, m, :, m]
    if K > 1:
        inverse = np.linalg.pinv(h0, rcond=1e-12, hermitian=True)
    else:
        inverse = 1.0 / h0 if h0[0, 0] > 0.0 else 0.0 * h0
    share = inverse @ h
    whole -= h.T @ share
    return ByMatrix(whole), slopes - g[:, m] @ share, lambda d: -(inverse @ g[:, m] + share @ d)


def by_columns(part: Design, g: Floats, curved: Floats, problem: Problem, pool: Pool) -> Made:
    """From the columns of the rows."""
    m, free, columns = part.d, problem.intercept, columns_of(part.X)
    if len(g) > 1:
        U = np.broadcast_to(problem.weights, curved.shape[1:])
        classes: Any = ByClasses(columns, curved, U, g[:, m].copy() if free else None)
        return classes, g[:, :m].ravel(), lambda d: classes.bias
    v = part.back_product(curved, pool)[0]
    h, h0 = (v[:m].copy(), float(v[m])) if free else (np.zeros(m), 0.0)
    form: Any = ByColumns(times(columns, np.sqrt(curved[0])), part.n, h, h0)
    if not h0 > 0.0:
        return form, g[0, :m].copy(), lambda d: 0.0
    return form, g[0, :m] - g[0, m] / h0 * h, lambda d: -(g[0, m] + float(h @ d)) / h0
