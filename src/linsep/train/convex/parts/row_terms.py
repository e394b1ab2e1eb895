"""What losses of the margin say of rows from their scores, by the kernels or in NumPy.

A loss with a `kind` is one that kernels know; for any other, its own methods are asked
(`linsep.train.convex.losses`). Both write the same numbers to the same places, as the files of the
kernels say: kernels/convex/losses.cpp, margins.cpp and proximal.cpp.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.kernels import losses, margins, proximal
from linsep.train.convex.designs.design import combined, gram, scores

Floats = npt.NDArray[np.float64]
Rule = Callable[..., Any]

SUMS, FORETOLD = 7, 3  # what `terms` and `foretold` add up: kernels/convex/margins.hpp


def instead_of(kernel: Rule) -> Callable[[Rule], Rule]:
    """The kernel for losses that it knows, and what stands here for others."""

    def choice(written: Rule) -> Rule:
        def asked(loss: Any, *given: Any) -> Any:
            return (kernel if hasattr(loss, "kind") else written)(loss, *given)

        return asked

    return choice


@instead_of(losses.terms)
def terms(loss: Any, s: Floats, y: Any, U: Floats, R: Floats, D: Floats, sums: Floats) -> None:
    """αy of rows with y = +1 and others; D; Σ Uℓ, Uℓ as meant, α and dual terms by class, αz."""
    z, up, meant = y * s, y > 0, getattr(loss, "meant", loss)
    a = -U * loss.slope(z)
    D[:] = U * loss.curvature(z)
    R[:] = a * up, a * up - a
    dual = U * meant.dual(-loss.slope(z))
    sums[:] = [
        np.sum(U * loss.value(z)), np.sum(U * meant.value(z)), a[up].sum(), a[~up].sum(),
        dual[up].sum(), dual[~up].sum(), a @ z,
    ]  # fmt: skip


def take_offsets(offset: Floats, R: Floats, sums: Floats) -> None:
    """Take Σ αyo from dual terms, of which it is a part, and from Σ αz."""
    if len(offset):
        sums[4:6] -= R @ offset
        sums[6] -= float((R @ offset).sum())


@instead_of(losses.foretold)
def foretold(
    loss: Any, s: Floats, moved: Floats, y: Any, U: Floats, alpha: Floats, sums: Floats
) -> None:
    """α − D(z′ − z); Σ of dual terms (−∞ where one is out of range), of αy and of α."""
    z, meant = y * s, getattr(loss, "meant", loss)
    share = -loss.slope(z) - loss.curvature(z) * y * (moved - s)
    beyond = (U > 0.0) & ((share < 0.0) | (share > loss.most()))
    alpha[:] = U * share
    terms = -np.inf if beyond.any() else np.sum(U * meant.dual(share))
    sums[:] = terms, alpha @ y, alpha.sum()


@instead_of(losses.along)
def along(
    loss: Any, s: Floats, moved: Floats, y: Any, U: Floats, t: Floats, slopes: Floats
) -> None:
    """First and second derivative of Σ Uℓ in t where scores are s + t(moved − s), for several t."""
    z, change = y * s, y * (moved - s)
    for k, part in enumerate(t):
        at = z + part * change
        slopes[k] = np.sum(U * loss.slope(at) * change), np.sum(U * loss.curvature(at) * change**2)


@instead_of(proximal.clipped)
def clipped(loss: Any, pull: Floats, y: Any, U: Floats, out: Floats, sums: Floats) -> None:
    """αy brought within 0 ≤ α ≤ U·most; Σ α of either class."""
    with np.errstate(invalid="ignore"):
        most = np.where(U > 0.0, U * loss.most(), 0.0)
    out[:] = y * np.clip(y * pull, 0.0, most)
    sums[:] = np.maximum(out, 0.0).sum(), np.maximum(-out, 0.0).sum()


@instead_of(proximal.dual_terms)
def dual_terms(loss: Any, pull: Floats, U: Floats, share: float) -> float:
    """Σ −Uℓ*(−share·α/U)"""
    a = np.divide(np.abs(pull), U, out=np.zeros_like(pull), where=U > 0.0)
    return float(np.sum(U * loss.dual(share * a)))


@instead_of(lambda loss, *given: margins.read(*given[:5], loss, *given[5:]))
def read(
    loss: Any, rows: Any, y: Any, U: Floats, offset: Floats, points: Floats, out: Floats,
    strips: Floats,
) -> None:  # fmt: skip
    """All that Newton's method asks of rows at a point, as `margins.whole` and others read it."""
    size, last = points.shape[1], SUMS + FORETOLD
    S = scores(rows, points)
    S = S + offset if len(offset) else S
    R, D = np.empty((2, S.shape[1])), np.empty(S.shape[1])
    out[:] = 0.0
    terms(loss, S[0], y, U, R, D, out[:SUMS])
    take_offsets(offset, R, out)
    if len(S) == 2:
        alpha = np.empty(len(D))
        foretold(loss, S[1], S[0], y, U, alpha, out[SUMS:last])
        out[SUMS] -= float((alpha * y) @ offset) if len(offset) else 0.0
    out[last : last + 2 * size] = combined(rows, R, size).ravel()
    if len(strips):
        width = strips.shape[1]
        H = out[last + 2 * size :].reshape(width, width)
        H[:size, :size] = np.tril(gram(rows, D, size))
