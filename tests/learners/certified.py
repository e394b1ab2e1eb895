"""Regressions with certified answers: Longley (1967) and Wampler (1970), as in NIST's StRD."""

import numpy as np

_LONGLEY = """
60323  83.0 234289 2356 1590 107608 1947
61122  88.5 259426 2325 1456 108632 1948
60171  88.2 258054 3682 1616 109773 1949
61187  89.5 284599 3351 1650 110929 1950
63221  96.2 328975 2099 3099 112075 1951
63639  98.1 346999 1932 3594 113270 1952
64989  99.0 365385 1870 3547 115094 1953
63761 100.0 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955
67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957
66513 110.8 444546 4681 2637 121950 1958
68655 112.6 482704 3813 2552 123366 1959
69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961
70551 116.9 554894 4007 2827 130081 1962
"""


def longley():
    """X, y and the certified intercept and weights, to 15 digits."""
    table = np.array([row.split() for row in _LONGLEY.split("\n") if row], dtype=float)
    answer = [
        -3482258.63459582, 15.0618722713733, -0.358191792925910e-01, -2.02022980381683,
        -1.03322686717359, -0.511041056535807e-01, 1829.15146461355,
    ]  # fmt: skip
    return table[:, 1:], table[:, 0], answer


def wampler(number):
    """X, y and the answer of the fifth-degree polynomial number 1 to 5."""
    x = np.arange(21.0)
    X = np.stack([x**k for k in range(1, 6)], axis=1)
    if number == 2:
        weights = 0.1 ** np.arange(1, 6)
        return X, np.array([sum((0.1 * t) ** k for k in range(6)) for t in x]), [1.0, *weights]
    # a disturbance that is orthogonal to every polynomial of degree five
    half = [759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048]
    delta = np.array([*half, 2048, *half[::-1]], dtype=float)
    size = {1: 0, 3: 1, 4: 100, 5: 10_000}[number]
    return X, X.sum(axis=1) + 1 + size * delta, [1.0] * 6
