"""Columns of numbers with gaps, summed and filled in compiled code."""

from linsep._compile import strict

FEW = 4  # columns that are better summed one by one than side by side


@strict
def add_up(X, total, count):  # type: ignore[no-untyped-def]
    """totalⱼ ← totalⱼ + Σ xᵢⱼ over rows in which it is there, in row order; countⱼ counts them"""
    n, d = X.shape
    if d < FEW:
        for j in range(d):
            s, met = total[j], 0
            for i in range(n):
                x = X[i, j]
                s += x if x == x else 0.0
                met += 1 if x == x else 0
            total[j] = s
            count[j] += met
        return
    for i in range(n):
        for j in range(d):
            x = X[i, j]
            there = x == x
            total[j] += x if there else 0.0
            count[j] += 1 if there else 0


@strict
def fill(X, means):  # type: ignore[no-untyped-def]
    """xᵢⱼ ← meansⱼ where it is not there"""
    n, d = X.shape
    for i in range(n):
        for j in range(d):
            if X[i, j] != X[i, j]:
                X[i, j] = means[j]
