"""Walks over rows and the few classes that each has listed, for descent with many classes.

Pairs of a row and a class lie one after the other: those of row i from pointers[i] to
pointers[i + 1], with the class of each and its multiplier a ≥ 0, Σ a = Uᵢ. With z = s + [k ≠ y],

    W = Σᵢ (Uᵢe_y − aᵢ)xᵢᵀ,    row i lacks Uᵢ max zᵢ − ⟨aᵢ, zᵢ⟩ of the gap.
"""

import numpy as np

from linsep._compile import kernel


@kernel
def sweep_listed(X, codes, caps, squares, order, least, pointers, classes, a, W, z):  # type: ignore[no-untyped-def]
    """One pass: move the listed multipliers of each row to their best place.

    With all others fixed that is the projection of a + z/‖x‖² onto {a ≥ 0, Σ a = U}. Changes a and
    W; returns what the rows lack as they are met, of the classes that are listed. A row that lacks
    `least` at most is left as it is.
    """
    lacking, d = 0.0, X.shape[1]
    for i in order:
        start, m = pointers[i], pointers[i + 1] - pointers[i]
        x, y, cap = X[i], codes[i], caps[i]
        top, mean, largest, total = -1e300, 0.0, -1e300, 0.0
        inverse = np.divide(1.0, squares[i])
        for h in range(m):
            w = W[classes[start + h]]
            s = 0.0 if classes[start + h] == y else 1.0
            for j in range(d):
                s += w[j] * x[j]
            top = max(top, s)
            mean += a[start + h] * s
            z[h] = a[start + h] + s * inverse
            largest = max(largest, z[h])
            total += z[h]
        lack = cap * top - mean
        lacking += lack
        if lack <= least:
            continue
        beta, again = max((total - cap) / m, largest - cap), True
        while again:  # Michelot's rounds, as in `simplex`
            total, left = 0.0, 0
            for h in range(m):
                if z[h] > beta:
                    total += z[h]
                    left += 1
            best = (total - cap) / left if left > 0 else beta
            again = best > beta
            beta = max(beta, best)
        for h in range(m):
            after = max(0.0, z[h] - beta)
            change = after - a[start + h]
            if change != 0.0:
                a[start + h] = after
                w = W[classes[start + h]]
                for j in range(d):
                    w[j] -= change * x[j]
    return lacking


@kernel
def combine_pairs(X, pointers, classes, c, first, last, W):  # type: ignore[no-untyped-def]
    """W ← W + Σ cᵢₖ e_k xᵢᵀ over the pairs of some rows"""
    d = X.shape[1]
    for i in range(first, last):
        x = X[i]
        for h in range(pointers[i], pointers[i + 1]):
            if c[h] != 0.0:
                w = W[classes[h]]
                for j in range(d):
                    w[j] += c[h] * x[j]


@kernel
def lack_of_pairs(X, codes, caps, pointers, classes, a, W, first, last, sums):  # type: ignore[no-untyped-def]
    """Adds Σ U(max z − z_y) and what the rows lack, of the classes that are listed, to `sums`."""
    d = X.shape[1]
    for i in range(first, last):
        x, y, cap = X[i], codes[i], caps[i]
        own, top, mean = 0.0, -1e300, 0.0
        for h in range(pointers[i], pointers[i + 1]):
            w = W[classes[h]]
            s = 0.0
            for j in range(d):
                s += w[j] * x[j]
            if classes[h] == y:
                own = s
            else:
                s += 1.0
            top = max(top, s)
            mean += a[h] * s
        sums[0] += cap * (top - own)
        sums[1] += cap * top - mean


@kernel
def list_classes(  # type: ignore[no-untyped-def]
    S, first, codes, caps, pointers, classes, a, room, more, further, counts, listed, kept
):
    """The classes worth listing for each row, from the scores of all; S is used up.

    The own class, those with a > 0, and up to `more` of the others with z above ⟨a, z⟩/U (less
    `further`), largest first: each of them lets the dual rise. They go to `listed` and `kept` from
    room[i] on, as many as counts[i].
    """
    K = S.shape[1]
    for t in range(S.shape[0]):
        i = first + t
        s, y, cap = S[t], codes[i], caps[i]
        for k in range(K):
            s[k] += 1.0
        s[y] -= 1.0
        mean, at = 0.0, room[i]
        for h in range(pointers[i], pointers[i + 1]):
            mean += a[h] * s[classes[h]]
        for h in range(pointers[i], pointers[i + 1]):
            if a[h] > 0.0 or classes[h] == y:
                listed[at], kept[at] = classes[h], a[h]
                s[classes[h]] = -np.inf
                at += 1
        level = np.divide(mean, cap) - further if cap > 0.0 else np.inf
        for _ in range(more):
            best, highest = -1, level
            for k in range(K):
                if s[k] > highest:
                    best, highest = k, s[k]
            if best < 0:
                break
            listed[at], kept[at] = best, 0.0
            s[best] = -np.inf
            at += 1
        counts[i] = at - room[i]
