"""Better points, looked for in extended precision by Newton's method on smoothed objectives.

Nothing here is linsep's. A kink is rounded off over a width ε, which is drawn to zero:

    max(0, 1 − z)     ε log(1 + exp((1 − z)/ε))
    maxₖ sₖ           ε log Σ exp(sₖ/ε)
    |w|               √(w² + ε²)

and every point on the way is judged by the objective itself. Numbers are NumPy's `longdouble`: 64
bits of mantissa on x86, no more than 53 on some other machines.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Long = np.longdouble
WIDTHS = [Long(10) ** -k for k in range(0, 11)]
STEPS = 40


class Objective(NamedTuple):
    """l1 ‖W‖₁ + ½ l2 ‖W‖² + Σ cᵢ ℓ(sᵢ), with sᵢ = W xᵢ + b.

    Attributes
    ----------
    X : (n, d) rows
    codes : class of each row; 0 or 1 where there is one hyperplane
    c : weight of each row
    loss : 'logistic', 'hinge' or 'squared_hinge'
    l1, l2 : penalties
    free : whether there are intercepts
    planes : rows of W
    gram : G of ½ ⟨w, Gw⟩ in place of ½ ‖w‖², or None
    """

    X: Array
    codes: Array
    c: Array
    loss: str
    l1: float
    l2: float
    free: bool
    planes: int
    gram: Array | None = None

    def value(self, W: Array, b: Array) -> Any:
        """The objective, in extended precision."""
        W, b = np.asarray(W, Long), np.asarray(b, Long)
        S = self.X.astype(Long) @ W.T + b
        square = np.sum(W * W) if self.gram is None else np.sum(W.T * (self.gram @ W.T))
        return self.l1 * np.abs(W).sum() + self.l2 * square / 2 + self.c @ self.losses(S)

    def losses(self, S: Array, width: Any = 0) -> Array:
        """ℓ of each row, or what it is rounded off to."""
        if self.planes == 1:
            z = np.where(self.codes == 1, 1, -1) * S[:, 0]
            if self.loss == "logistic":
                return np.asarray(np.logaddexp(Long(0), -z))
            if self.loss == "squared_hinge":
                return np.asarray(np.maximum(0, 1 - z) ** 2)
            if width:
                return np.asarray(width * np.logaddexp(Long(0), (1 - z) / width))
            return np.asarray(np.maximum(0, 1 - z))
        own = np.arange(len(S)), self.codes
        T = S - S[own][:, None]
        if self.loss == "hinge":
            T = T + 1
            T[own] = 0
            if not width:
                return np.asarray(T.max(axis=1))
        width = width if self.loss == "hinge" else Long(1)
        top = T.max(axis=1)
        return np.asarray(top + width * np.log(np.exp((T - top[:, None]) / width).sum(axis=1)))

    def slopes(self, S: Array, width: Any) -> tuple[Array, Array]:
        """First and second derivatives of the losses by scores: (n, K) and (n, K, K)."""
        if self.planes == 1:
            y = np.where(self.codes == 1, Long(1), Long(-1))
            z = y * S[:, 0]
            if self.loss == "squared_hinge":
                inside = np.maximum(0, 1 - z)
                return (-2 * y * inside)[:, None], (2 * Long(1) * (inside > 0))[:, None, None]
            width, z = (Long(1), z) if self.loss == "logistic" else (width, z - 1)
            u = np.exp(-np.logaddexp(Long(0), z / width))
            bend = u * np.exp(-np.logaddexp(Long(0), -z / width)) / width
            return (-y * u)[:, None], bend[:, None, None]
        own = np.arange(len(S)), self.codes
        T = S + (self.loss == "hinge")
        T[own] = S[own]
        width = width if self.loss == "hinge" else Long(1)
        T = (T - T.max(axis=1, keepdims=True)) / width
        P = np.exp(T)
        P /= P.sum(axis=1, keepdims=True)
        H = (np.einsum("nk,kl->nkl", P, np.eye(P.shape[1])) - P[:, :, None] * P[:, None]) / width
        P[own] -= 1
        return P, H


def least(problem: Objective, start: tuple[Array, Array]) -> Any:
    """The least objective met on the way, from `start` and from zero."""
    size = np.abs(problem.X).max(axis=0).astype(Long)
    size[size == 0] = 1
    Z = np.column_stack([problem.X.astype(Long) / size, np.ones(len(problem.X), Long)])
    W, b = (np.asarray(part, Long) for part in start)
    best = problem.value(W, b)
    for theta in (np.column_stack([W * size, b]), np.zeros((problem.planes, Z.shape[1]), Long)):
        for width in WIDTHS:
            theta = _newton(problem, Z, size, theta, width)
            V = theta[:, :-1] / size
            found = [problem.value(V, theta[:, -1])]
            if problem.l1:
                small = np.abs(theta[:, :-1]) <= 30 * width
                found.append(problem.value(np.where(small, 0, V), theta[:, -1]))
            best = min([best, *(one for one in found if np.isfinite(one))])
            if problem.loss != "hinge" and not problem.l1:
                break
    return best


def _newton(problem: Objective, Z: Array, size: Array, theta: Array, width: Any) -> Array:
    """Newton's method with halved steps on the objective, rounded off."""
    K, d = theta.shape[0], theta.shape[1] - 1

    def smooth(theta: Array) -> Any:
        V = theta[:, :-1] / size
        square = np.sum(V * V) if problem.gram is None else np.sum(V.T * (problem.gram @ V.T))
        charged = problem.l2 * square / 2 + problem.c @ problem.losses(Z @ theta.T, width)
        return charged + problem.l1 * (np.hypot(theta[:, :-1], width) / size).sum()

    before = smooth(theta)
    for _ in range(STEPS):
        slopes, bends = problem.slopes(Z @ theta.T, width)
        G = (problem.c[:, None] * slopes).T @ Z
        weighed = problem.c[:, None, None] * bends
        H = np.einsum("nkl,ni,nj->kilj", weighed, Z, Z, optimize=True)
        U = theta[:, :-1]
        root = np.hypot(U, width)
        if problem.gram is None:
            G[:, :-1] += problem.l2 * U / size**2
            bend = np.diag(problem.l2 / size**2)
        else:
            bend = problem.l2 * problem.gram / (size * size[:, None])
            G[:, :-1] += U @ bend
        G[:, :-1] += problem.l1 * U / root / size
        for k in range(K):
            H[k, :d, k, :d] += bend + np.diag(problem.l1 * width**2 / root[k] ** 3 / size)
        if not problem.free:
            G[:, -1], H[:, -1], H[:, :, :, -1] = 0, 0, 0
            for k in range(K):
                H[k, -1, k, -1] = 1
        p = K * (d + 1)
        step = solved(H.reshape(p, p), G.ravel()).reshape(K, d + 1)
        length, downhill = Long(1), np.sum(step * G)
        while (
            length > 1e-9
            and not smooth(theta - length * step) <= before - length * downhill / 10**4
        ):
            length /= 2
        if length <= 1e-9:
            break
        theta = theta - length * step
        now = smooth(theta)
        if not before - now > Long(10) ** -15 * abs(before):
            break
        before = now
    return theta


def solved(H: Array, g: Array) -> Array:
    """H⁻¹g of a positive semidefinite H, by Cholesky's factor of H scaled to a unit diagonal."""
    diagonal = np.sqrt(np.maximum(np.diag(H), np.finfo(Long).tiny))
    A, x = H / diagonal / diagonal[:, None], g / diagonal
    A = A + Long(10) ** -17 * np.eye(len(A))
    p, L = len(A), np.zeros_like(A)
    for j in range(p):
        left = A[j:, j] - L[j:, :j] @ L[j, :j]
        L[j:, j] = left / np.sqrt(max(left[0], Long(10) ** -18))
    for j in range(p):
        x[j] = (x[j] - L[j, :j] @ x[:j]) / L[j, j]
    for j in reversed(range(p)):
        x[j] = (x[j] - L[j + 1 :, j] @ x[j + 1 :]) / L[j, j]
    return np.asarray(x / diagonal)
