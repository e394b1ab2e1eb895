"""Walks over rows for descent on the dual of Crammer and Singer's machine."""

from linsep._compile import kernel
from linsep.rows.rows import add_all, scores


@kernel
def sweep(rows, codes, caps, squares, order, rho, least, A, W, b, rest, s, step, gap):  # type: ignore[no-untyped-def]
    """One pass: move the multipliers of each row that does not rest to their best place.

    With the others fixed, row i minimises ½q‖Aᵢ − old‖² + ⟨sᵢ + 1 − e_y, Aᵢ⟩, q = ‖xᵢ‖² + ρ, so
    Aᵢₖ = min(capₖ, (β − Bₖ)/q) with the β at which Σₖ Aᵢₖ = 0. Changes A, W, b and `rest`, in
    whose columns are the passes to sit out and the last such number; returns how many moved. `gap`
    is what the rows lack as they are met, Uᵢξᵢ + ⟨sᵢ, Aᵢ⟩ − Aᵢ,yᵢ each; one that lacks `least` at
    most is left as it is.
    """
    moved = 0
    K = len(b)
    gap[0] = 0.0
    for i in order:
        if caps[i] <= 0.0:
            continue
        if rest[i, 0] > 0:
            rest[i, 0] -= 1
            continue
        y, q = codes[i], squares[i] + rho
        scores(rows, i, W, s)
        for k in range(K):
            s[k] += b[k] + 1.0
        s[y] -= 1.0
        own, lack, total = s[y], 0.0, 0.0
        top = own
        for k in range(K):
            top = s[k] if s[k] > top else top
        for k in range(K):
            lack += A[i, k] * s[k]
            s[k] -= q * A[i, k]  # Bₖ
            total += s[k]
        lack += caps[i] * (top - own)
        gap[0] += max(lack, 0.0)
        change = 0.0
        if lack > least:
            edge = q * caps[i]  # q·capₖ of the own class; for all others it is zero
            beta, again = total / K, True
            s[y] += edge
            while again:  # Michelot's rounds: leave out the classes that β finds at their cap
                total = left = 0.0
                for k in range(K):
                    above = 1.0 if s[k] > beta else 0.0
                    total += above * s[k]
                    left += above
                best = (total - edge) / left if left > 0.0 else beta
                again = best > beta
                beta = max(beta, best)
            s[y] -= edge
            inverse = 1.0 / q
            for k in range(K):
                step[k] = min(0.0, (beta - s[k]) * inverse)
            step[y] = min(caps[i], (beta - s[y]) * inverse)
            for k in range(K):
                a = step[k]
                step[k] = a - A[i, k]
                A[i, k] = a
                change = max(change, abs(step[k]))
                b[k] += rho * step[k]
        if change <= 1e-15 * caps[i]:
            rest[i, 1] = min(8, 2 * rest[i, 1] + 1)
            rest[i, 0] = rest[i, 1]
        else:
            rest[i, 0] = rest[i, 1] = 0
            moved += 1
        if change > 0.0:
            add_all(rows, i, step, W)  # wₖ ← wₖ + (new − old) xᵢ
    return moved


@kernel
def combine(rows, chosen, A, W):  # type: ignore[no-untyped-def]
    """W ← W + Σ Aⱼxᵢᵀ over the rows i = chosenⱼ; the rows of A are as wide as the weights."""
    for j in range(len(chosen)):
        add_all(rows, chosen[j], A[j], W)


@kernel
def score_chosen(rows, chosen, W, S):  # type: ignore[no-untyped-def]
    """Sⱼ ← the scores of row i = chosenⱼ"""
    for j in range(len(chosen)):
        scores(rows, chosen[j], W, S[j])


@kernel
def dimensions(A, codes, caps):  # type: ignore[no-untyped-def]
    """In how many directions multipliers that are at no bound may move."""
    total = 0
    for i in range(A.shape[0]):
        least = 1e-12 * caps[i]  # what is left by rounding does not count
        free = 1 if caps[i] - A[i, codes[i]] > least else 0
        for k in range(A.shape[1]):
            free += 1 if A[i, k] < -least else 0
        total += max(0, free - 1)
    return total


@kernel
def charges(rows, codes, caps, W, b, s):  # type: ignore[no-untyped-def]
    """Σ Uᵢ max(0, maxₖ(1 + sᵢₖ − sᵢ,yᵢ))"""
    total = 0.0
    for i in range(len(codes)):
        if caps[i] > 0.0:
            y = codes[i]
            scores(rows, i, W, s)
            worst, own = 0.0, s[y] + b[y]
            for k in range(len(b)):
                if k != y:
                    worst = max(worst, 1.0 + s[k] + b[k] - own)
            total += caps[i] * worst
    return total
