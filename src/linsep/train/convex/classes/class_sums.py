"""Sums over rows of the softmax loss of K scores, block by block: nothing is kept of a row.

    F(u) = ½ Σ ridge u² + Σ cᵢ (log Σₖ e^{sᵢₖ} − sᵢ,yᵢ) = P / (C Σ c),   s = ux̃,   x̃ = (x, 1)
    ∂F/∂uₖ = ridge uₖ + Σ cᵢ (pᵢₖ − [yᵢ = k]) x̃ᵢ

Scores of some thousand rows by a matrix product, their probabilities in place, and their part of
the gradient by another product, while all of it is in the cache. Products of dense rows are those
of BLAS, in float64 or in the type of the rows; those of sparse rows go through the weights of all
classes at a visit.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import on_cluster, spans
from linsep.errors import DataError
from linsep.kernels import softmax as kernels
from linsep.parallel import Pool
from linsep.train.convex.classes.class_hessian import ClassHessian
from linsep.train.convex.coordinates import columns_of, prepare, spread
from linsep.train.convex.designs.design import Design

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Span = tuple[int, int]

COPIED = 1 << 22  # entries up to which dense rows are copied, and what is made of them is kept
AT_ONCE = 1 << 21  # scores, rows times classes, that are looked at together
UNPENALISED = 1e-4  # of the curvature, that stands for a penalty where there is none
MIXED, SHARED = 4.0, 1e-12  # what mixed probabilities cost, of the objective; a share of rounding
ROWS, FEWEST = 4096, 256  # rows looked at together, at most and at least


class Seen(NamedTuple):
    """What all rows say of a point.

    Attributes
    ----------
    loss : Σ cℓ
    slope : its gradient, (K, d + 1) or (K, d)
    doubt : Σ cᵢpᵢₖ(1 − pᵢₖ) of each class
    """

    loss: float
    slope: Floats
    doubt: Floats


class ClassProblem(NamedTuple):
    """What is minimised: F, with weights in the columns of the design.

    Attributes
    ----------
    design : the rows
    codes, c : class number and weight of each row; the weights sum to one
    ridge : of every column, the last zero where the intercept is free
    share : the part of all weight that each class has
    K, free : classes, and whether they have intercepts
    unit : P / F
    real : the type that rows were given in
    careful : whether columns were brought to one scale by a look at all rows
    """

    design: Design
    codes: npt.NDArray[np.int32]
    c: Floats
    ridge: Floats
    share: Floats
    K: int
    free: bool
    unit: float
    real: Any
    careful: bool = False

    @classmethod
    def of(cls, X: Any, codes: Array, weights: Array | None, C: float, K: int, free: bool) -> Self:
        """Rows of which each counts C times its weight; infinity stands for no penalty."""
        n, real = X.shape[0], X.dtype
        total = float(n if weights is None else weights.sum())
        c = np.full(n, 1.0 / n) if weights is None else np.asarray(weights, np.float64) / total
        if not hasattr(X, "nnz") and n * X.shape[1] <= COPIED:
            X = np.ascontiguousarray(X[0:n] if on_cluster(X) else X, np.float64)
        unit, codes = C * total if np.isfinite(C) else total, codes.astype(np.int32, copy=False)
        ridge = np.full(1, 1.0 / unit if np.isfinite(C) else 0.0)
        share = np.bincount(codes, c, minlength=K).astype(np.float64)
        problem = cls(Design(X), codes, c, ridge, share, K, free, unit, real)
        empty = np.flatnonzero(share == 0)
        if free and len(empty):
            raise DataError(
                f"class number {empty[0]} has no row of positive weight; every class needs "
                "one. Look at sample_weight, or drop the class."
            )
        with np.errstate(all="ignore"):
            return problem._seen_through(careful=False)

    def _seen_through(self, careful: bool) -> Self:
        """The problem in columns of moderate scale."""
        X, d, penalty = self.design.X, self.design.d, 1.0 / self.unit if self.penalised else 0.0
        if not self.design.sparse and (careful or on_cluster(X)):
            columns = prepare(X, spread(X, careful), self.free, penalty, careful)
        else:
            columns = columns_of(X, self.free)
        scale, ridge = columns.scale.astype(np.float64), np.zeros(d + self.free)
        ridge[:d] = (scale**2 if scale.size else 1.0) * penalty
        return self._replace(design=Design(X, columns), ridge=ridge, careful=careful)

    def rescaled(self) -> Self | None:
        """The problem with all columns brought to one scale; None where they are already."""
        return None if self.careful or self.design.sparse else self._seen_through(careful=True)

    @property
    def copied(self) -> bool:
        """Whether rows are dense, and few enough to keep what is made of them."""
        return not self.design.sparse and self.design.entries <= COPIED

    @property
    def penalised(self) -> bool:
        return bool(self.ridge.any())

    def begin(self, start: tuple[Array, Array] | None) -> Floats:
        """Weights to begin from: none, with the log-odds of the classes, or those given."""
        d = self.design.d
        u = np.zeros((self.K, d + self.free))
        if start is not None:
            W, b = self.design.columns.inside(np.asarray(start[0], np.float64), start[1])
            u[:, :d] = W
            u[:, d:] = np.reshape(b, (-1, 1))[:, : self.free]
        elif self.free:
            u[:, -1] = np.log(self.share)
        return u - u.mean(axis=0)

    def mixed(self, taken: Floats, size: float) -> float:
        """What it costs about, of an objective `size`, that classes take so much more weight than
        they have.

        Probabilities that are all mixed with the same q, p′ = (1 − ε)p + εq, are in balance for
        ε = maxₖ (1 − shareₖ/Tₖ).
        """
        over = max(0.0, float((taken / np.maximum(self.share + taken, 1e-300)).max()))
        return MIXED * over * size if over > SHARED else 0.0

    def outside(self, u: Floats) -> tuple[Floats, Floats]:
        """Weights and intercepts as those of the data."""
        d = self.design.d
        b = u[:, -1] if self.free else np.zeros(self.K)
        W, b = self.design.columns.outside(u[:, :d].copy(), b)
        return W, b - b.mean() if self.free else np.zeros(self.K)

    def of_rows(self, which: Array, weights: Floats) -> Self:
        """The problem of some rows, each counted so many times."""
        c, codes = self.c[which] * weights, self.codes[which]
        c /= c.sum()
        share = np.bincount(codes, c, minlength=self.K).astype(np.float64)
        return self._replace(design=self.design.some(which), codes=codes, c=c, share=share)

    def half(self, u: Floats) -> float:
        """½ Σ ridge u²"""
        return 0.5 * float(np.vdot(u * self.ridge, u))


class ClassSums:
    """The rows of a problem of several classes.

    Parameters
    ----------
    problem : whose losses are summed up
    pool : threads that share the spans
    real : the type of products with dense rows
    """

    def __init__(self, problem: ClassProblem, pool: Pool, real: Any = np.float64) -> None:
        self._problem, self._pool, self.real = problem, pool, np.dtype(real)
        self._design, self._K, self._d = problem.design, problem.K, problem.design.d
        if problem.copied and problem.design.X.dtype != self.real:
            self._design = Design(problem.design.X.astype(self.real), problem.design.columns)
        self._width = -(-problem.K // 4) * 4
        self._step = max(FEWEST, min(ROWS, AT_ONCE // problem.K) // FEWEST * FEWEST)
        self._keep = problem.copied
        self._hessians: dict[int, ClassHessian] = {}
        n, far = self._design.n, on_cluster(self._design.X)
        halves = [(0, n // 2), (n // 2, n)]  # sums of weights in all classes are dear to add up
        self._halves = self._design.spans if far or len(self._design.spans) < 2 else halves

    def __getstate__(self) -> dict[str, Any]:
        """What goes to the workers of a cluster."""
        return {**self.__dict__, "_pool": None, "_hessians": {}}

    def _chunks(self, span: Span) -> Iterator[tuple[int, Any, Array, Floats]]:
        """The first row, the rows, classes and weights of pieces of a span."""
        rows: Any = self._design.rows(span)
        codes, c = self._problem.codes, self._problem.c
        for first, last in spans(span[1] - span[0], self._step):
            x = rows.X[first:last].astype(self.real, copy=False)
            cut = slice(span[0] + first, span[0] + last)
            yield cut.start, x, codes[cut], c[cut]

    def _laid(self, u: Floats) -> tuple[Array, Array]:
        """Weights and intercepts as products take them."""
        b = u[:, self._d] if self._problem.free else np.zeros(self._K)
        return u[:, : self._d].astype(self.real), b.astype(self.real)[:, None]

    def _scores(self, x: Array, laid: tuple[Array, Array]) -> Array:
        S = laid[0] @ x.T
        S += laid[1]
        return S

    def _whole(self, t: Floats, level: Floats) -> Floats:
        """Σ Rₖᵢxᵢ, written one after the other, and the sums of R."""
        V = t.reshape(self._K, self._d)
        return np.concatenate([V, level[:, None]], axis=1)[:, : self._d + self._problem.free]

    def at(self, u: Floats) -> Seen:
        """One reading of the rows."""
        K, laid, size = self._K, self._laid(u), self._K * self._d

        def part(span: Span) -> Floats:
            V, sums, one = np.zeros((K, self._d)), np.zeros(1 + 2 * K), np.empty(1 + 2 * K)
            for _, x, codes, c in self._chunks(span):
                S = self._scores(x, laid)
                kernels.shares(S, codes, c, one)
                sums += one
                kernels.residuals(S, codes, c)
                V += S @ x
            return np.concatenate([V.ravel(), sums])

        t = self._design.sum(part, self._pool)
        sums = t[size:]
        slope = self._whole(t[:size], sums[1 : 1 + K] - self._problem.share)
        return Seen(float(sums[0]), slope, sums[1 + K :])

    def hessian(self, u: Floats) -> Floats:
        """Σ cᵢ (diag pᵢ − pᵢpᵢᵀ) ⊗ x̃ᵢx̃ᵢᵀ of dense rows"""
        free, laid = self._problem.free, self._laid(u)

        def part(span: Span) -> Floats:
            total: Any = None
            for first, x, codes, c in self._chunks(span):
                S = self._scores(x, laid)
                kernels.shares(S, codes, c, np.empty(1 + 2 * self._K))
                S *= c
                known = self._hessians.get(first)
                hessian = known or ClassHessian(x, self._K, free, Pool(1))
                if self._keep:
                    self._hessians[first] = hessian
                pairs = hessian.pairs(S)
                total = pairs if total is None else total + pairs
            return total  # type: ignore[no-any-return]

        pairs = self._design.sum(part, self._pool)
        return ClassHessian(np.empty((0, self._d)), self._K, free, self._pool).spread(pairs)

    def foretold(self, u: Floats, step: Floats) -> tuple[float, Floats]:
        """Σ c p̂ log p̂ of what a whole step foretells, and Σ c(p̂ − e_y)x̃."""
        size = self._K * self._d

        def part(span: Span) -> Floats:
            V, entropy, level = np.zeros((self._K, self._d)), 0.0, np.zeros(self._K)
            for _, x, P, codes, c, one in self._steps(span, u, step):
                entropy += one
                kernels.residuals(P, codes, c)
                V += P @ x
                level += P.sum(axis=1)
            return np.concatenate([V.ravel(), level, [entropy]])

        t = self._design.sum(part, self._pool)
        return float(t[-1]), self._whole(t[:size], t[size:-1])

    def _steps(self, span: Span, u: Floats, step: Floats) -> Iterator[tuple[Any, ...]]:
        """Rows, what a step foretells of them, classes, weights and entropy, piece by piece."""
        laid, change = self._laid(u), self._laid(step)
        for first, x, codes, c in self._chunks(span):
            P = self._scores(x, laid)
            kernels.shares(P, codes, c, np.empty(1 + 2 * self._K))
            yield first, x, P, codes, c, kernels.foretold(P, self._scores(x, change), c)

    def multipliers(self, u: Floats, step: Floats) -> Floats:
        """C c(e_y − p̂) of each row, (n, K)."""
        alpha = np.empty((self._design.n, self._K))
        for span in self._design.spans:
            for first, _, P, codes, c, _ in self._steps(span, u, step):
                kernels.residuals(P, codes, c)
                alpha[first : first + len(codes)] = -self._problem.unit * P.T
        return alpha

    def margins(self, u: Floats) -> tuple[float, float]:
        """Smallest and largest sᵢ,yᵢ − sᵢₖ over other classes k."""
        laid = self._laid(u)

        def of(x: Any, codes: Array) -> Floats:
            S = self._scores(x, laid)
            rows = np.arange(len(codes))
            own = S[codes, rows]
            S[codes, rows] = -np.inf
            low = (own - S.max(axis=0)).min(initial=np.inf)
            S[codes, rows] = np.inf
            return np.array([-low, (own - S.min(axis=0)).max(initial=-np.inf)])

        low, high = self._most(of)
        return -low, high

    def widest(self, Q: Floats) -> float:
        """The largest ‖Qₖᵀx̃‖² of any row and class; Q is (K, size, r)."""

        def of(x: Any, codes: Array) -> Floats:
            most = 0.0
            for part in Q:
                scores = x @ part[: self._d]
                scores += part[self._d :].sum(axis=0)
                most = max(most, float(np.square(scores).sum(axis=1).max(initial=0.0)))
            return np.array([most])

        return float(self._most(of)[0])

    def _most(self, of: Callable[[Any, Array], Floats]) -> Floats:
        """The largest of what rows of positive weight come to."""

        def part(span: Span) -> Floats:
            seen = []
            for _, x, codes, c in self._chunks(span):
                used = c > 0.0
                seen.append(of(x, codes) if used.all() else of(x[used], codes[used]))
            return np.max(seen, axis=0)

        return np.asarray(np.max(self._pool.map(part, self._design.spans), axis=0))

    def tilts(self, u: Floats) -> tuple[Floats, Floats]:
        """Σ qᵢₖx̃ᵢ of each class and Σᵢₖ qᵢₖxᵢⱼ² of dense rows, with qᵢₖ = cᵢpᵢₖ(1 − pᵢₖ)."""
        K, d, laid = self._K, self._d, self._laid(u)

        def part(span: Span) -> Floats:
            out = np.zeros((K + 1, d + 1))
            for _, x, codes, c in self._chunks(span):
                S = self._scores(x, laid)
                kernels.shares(S, codes, c, np.empty(1 + 2 * K))
                S *= c * (1 - S)
                out[:K, :d] += S @ x
                out[:K, d] += S.sum(axis=1)
                out[K, :d] += S.sum(axis=0) @ np.square(x)
            return out

        t = self._design.sum(part, self._pool)
        return t[:K], t[K, :d]

    def wide(self, W: Floats) -> Floats:
        """Weights (K, d) as sparse rows meet them: (d, K) filled up."""
        out = np.zeros((self._d, self._width))
        out[:, : self._K] = W.T
        return out

    def wide_scores(self, W: Floats) -> Floats:
        """XW of sparse rows, (K, n), for weights so laid out."""
        level = np.zeros(self._width)

        def part(span: Span) -> Floats:
            S = np.empty((self._K, span[1] - span[0]))
            kernels.wide_scores(self._design.rows(span), W, level, S)
            return S

        parts = self._pool.map(part, self._halves)
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def wide_sum(self, R: Floats) -> Floats:
        """XᵀR, laid out like that."""

        def part(span: Span) -> Floats:
            V = np.zeros((self._d, self._width))
            kernels.add_wide(self._design.rows(span), np.ascontiguousarray(R[:, slice(*span)]), V)
            return V

        total, *others = self._pool.map(part, self._halves)
        for other in others:
            total += other
        return total

    def shares_of(self, rows: Array, u: Floats) -> tuple[Array, Array]:
        """Some dense rows, and their probabilities (K, m)."""
        x = self.rows_of(rows)
        S = self._scores(x, self._laid(u))
        kernels.shares(
            S, self._problem.codes[rows], self._problem.c[rows], np.empty(1 + 2 * self._K)
        )
        return x, S

    def rows_of(self, rows: Array) -> Array:
        """Dense rows of these numbers."""
        some: Any = self._design.some(rows).rows((0, len(rows)))
        return np.asarray(some.X, self.real)
