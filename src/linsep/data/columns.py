"""Sums of columns of numbers with gaps, in compiled code."""

from linsep._compile import exact


@exact
def add_up(X, total, count):  # type: ignore[no-untyped-def]
    """totalⱼ ← totalⱼ + Σ xᵢⱼ over rows in which it is there, in row order; countⱼ counts them"""
    n, d = X.shape
    for i in range(n):
        for j in range(d):
            x = X[i, j]
            there = x == x
            total[j] += x if there else 0.0
            count[j] += 1 if there else 0
