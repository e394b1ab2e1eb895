"""The oracle of margins in the plane: the distance of two convex hulls, by points and segments."""

import itertools

import numpy as np
from scipy.spatial import ConvexHull


def to_segment(p, a, b):
    """The distance of p from the segment ab."""
    along = b - a
    t = np.clip(np.dot(p - a, along) / max(np.dot(along, along), 1e-300), 0, 1)
    return float(np.linalg.norm(p - a - t * along))


def hull_distance(P, Q):
    """Between the hulls of points of the plane that a line separates."""
    P, Q = (R[ConvexHull(R).vertices] if len(R) > 3 else R for R in (P, Q))
    pairs = itertools.chain(
        ((p, a, b) for p in P for a, b in itertools.combinations_with_replacement(Q, 2)),
        ((q, a, b) for q in Q for a, b in itertools.combinations_with_replacement(P, 2)),
    )
    return min(to_segment(*pair) for pair in pairs)


def apart(seed, n=24, whole=False):
    """Two separable sets of points, and the largest margin there is: half of their distance."""
    rng = np.random.default_rng(seed)
    X, codes = rng.standard_normal((n, 2)) * (0.5 if n > 100 else 1.0), np.arange(n) % 2
    X[codes == 1] += [4.0, 3.0]
    if whole:
        X = np.rint(4 * X)
    return X, codes, hull_distance(X[codes == 0], X[codes == 1]) / 2
