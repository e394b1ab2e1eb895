"""The problem of Crammer and Singer's machine: one loss of all classes for each row.

    P(W, b) = ½Σ‖wₖ‖² + Σᵢ Uᵢ max zᵢ,   zᵢₖ = sᵢₖ − sᵢ,yᵢ + [k ≠ yᵢ],   sᵢₖ = ⟨wₖ, xᵢ⟩ + bₖ
    D(A)    = Σᵢ Aᵢ,yᵢ − ½Σ‖vₖ‖²,   vₖ = Σ Aᵢₖxᵢ,   Σₖ Aᵢₖ = 0,   Aᵢₖ ≤ 0 for k ≠ yᵢ,   Aᵢ,yᵢ ≤ Uᵢ

and Σᵢ Aᵢₖ = 0 where intercepts are free.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class JointProblem(NamedTuple):
    """What is minimised.

    Attributes
    ----------
    X : checked array or CSR matrix
    codes : class number of each row, int64
    caps : Uᵢ ≥ 0 of each row
    n_classes : K, three at least
    intercept : whether intercepts are free, or zero
    """

    X: Any
    codes: npt.NDArray[np.int64]
    caps: Floats
    n_classes: int
    intercept: bool = True

    @classmethod
    def of(
        cls, X: Any, codes: Array, weights: Array | None, C: float, n_classes: int, intercept: bool
    ) -> "JointProblem":
        """Rows of which each counts C times its weight."""
        caps = np.full(X.shape[0], float(C)) if weights is None else C * np.asarray(weights, float)
        codes = np.ascontiguousarray(codes, np.int64)
        return cls(X, codes, np.ascontiguousarray(caps), n_classes, bool(intercept))

    @property
    def used(self) -> "JointProblem":
        """The rows that count."""
        some = self.caps > 0.0
        if some.all():
            return self
        return self._replace(X=self.X[some], codes=self.codes[some], caps=self.caps[some])

    @property
    def own(self) -> tuple[Array, Array]:
        """Where the own classes of rows are in an array (n, K)."""
        return np.arange(len(self.codes)), self.codes

    def moves(self, leaving: Array) -> Floats:
        """A of what leaves each row for each class, (n, K); its own entry is not looked at."""
        A = -np.asarray(leaving, np.float64)
        A[self.own] = 0.0
        A[self.own] = -A.sum(axis=1)
        return A

    def leaving(self, A: Array) -> Floats:
        """What leaves each row for each class, made feasible: (n, K), nothing for its own."""
        leave = np.maximum(0.0, -A)
        leave[self.own] = 0.0
        sums = leave.sum(axis=1)
        leave *= np.divide(self.caps, sums, out=np.ones_like(sums), where=sums > self.caps)[:, None]
        return leave

    def spread(self, A: Floats) -> Floats:
        """Multipliers of the rows that count as those of all rows."""
        if len(A) == len(self.caps):
            return A
        whole = np.zeros((len(self.caps), self.n_classes))
        whole[self.caps > 0.0] = A
        return whole


def even(A: Floats, codes: Array) -> Floats:
    """Multipliers made smaller, so that Σᵢ Aᵢₖ = 0 for each class, as free intercepts ask.

    −Aᵢₖ flows from the class of row i to class k. What does not flow in a circle is a sum of paths
    from classes that give too much to classes that take too much, and these are taken away.

    >>> even(np.array([[1.0, -1.0], [-3.0, 3.0]]), np.array([0, 1]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    K = A.shape[1]
    leave = np.maximum(0.0, -A)
    flow = np.array([leave[codes == k].sum(axis=0) for k in range(K)])
    left, least = flow.copy(), 1e-15 * float(flow.sum())
    for _ in range(2 * K * K):
        excess = left.sum(axis=1) - left.sum(axis=0)
        giver = int(excess.argmax())
        if excess[giver] <= least:
            break
        path = _path(left, giver, excess < 0.0)
        if len(path) < 2:
            break
        steps = path[:-1], path[1:]
        left[steps] -= min(excess[giver], -excess[path[-1]], left[steps].min())
    part = np.divide(left, flow, out=np.zeros_like(flow), where=flow > 0.0)
    leave *= np.clip(part, 0.0, 1.0)[codes]
    balanced = -leave
    balanced[np.arange(len(codes)), codes] = leave.sum(axis=1)
    return balanced


def _path(flow: Floats, start: int, ends: Array) -> list[int]:
    """A shortest way along positive flow from `start` to one of the `ends`."""
    before, front = {start: start}, [start]
    for here in front:
        if ends[here]:
            path = [here]
            while path[-1] != start:
                path.append(before[path[-1]])
            return path[::-1]
        for there in np.flatnonzero(flow[here] > 0.0).tolist():
            if there not in before:
                before[there] = here
                front.append(there)
    return []
