"""Hyperplanes under training: weights in the layout of the rows, and intercepts."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import ParameterError
from linsep.rows.radius import squares
from linsep.rows.rows import CSR, aligned
from linsep.train.order import Order
from linsep.train.problem import Block, Problem
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]


class Planes(NamedTuple):
    """What kernels are given: weights, intercepts, and the square of the constant feature."""

    W: Array
    b: Array
    bias: float


class Hyperplanes(Stateful):
    """The current weights W and intercepts b.

    Parameters
    ----------
    problem : what is being learned
    n_planes : how many hyperplanes
    bias : square of the constant feature: 0 for no intercept, 1, or the squared radius
    """

    state_names = ("W", "b")

    def __init__(self, problem: Problem, n_planes: int, bias: float) -> None:
        self.sparse = isinstance(problem.rows, CSR)
        self.W = problem.rows.weights(n_planes, problem.n_features)
        self.b = aligned((n_planes,), float)
        self.bias = bias

    @property
    def given(self) -> Planes:
        """The hyperplanes as kernels take them."""
        return Planes(self.W, self.b, self.bias)

    def by_class(self, W: Array) -> Array:
        """Numbers in the layout of the weights as (K, d)."""
        return W[:, : len(self.b)].T if self.sparse else W

    def start_at(self, coef: Array, intercept: Array) -> None:
        """Begin from these (K, d) weights and (K,) intercepts instead of zero."""
        self.by_class(self.W)[...] = coef
        self.b[...] = intercept

    def fit_layout(self, problem: Problem) -> Callable[[Array], Array] | None:
        """Carry the weights over when later rows come in another layout or precision.

        Returns what carries other numbers of the old layout over, as float64; None where nothing
        changes.
        """
        planes = len(self.b)
        fresh = problem.rows.weights(planes, problem.n_features)
        sparse, dtype = isinstance(problem.rows, CSR), np.promote_types(self.W.dtype, fresh.dtype)
        if sparse == self.sparse and dtype == self.W.dtype:
            return None
        was_sparse, shape = self.sparse, fresh.shape

        def carried(old: Array) -> Array:
            new = np.zeros(shape)
            self.by_class(new)[...] = old[:, :planes].T if was_sparse else old
            return new

        old = self.by_class(self.W)
        self.sparse, self.W = sparse, fresh.astype(dtype, copy=False)
        self.by_class(self.W)[...] = old
        return carried


def growing_bias(
    planes: Hyperplanes, blocks: Iterator[tuple[Block, Order]]
) -> Iterator[tuple[Block, Order]]:
    """Blocks in the order given, cut before each row that is longer than all before it.

    The bias moves by the square of the longest row so far, this one included.
    """
    for block, order in blocks:
        here = squares(block.rows, len(order))
        lengths = np.maximum.accumulate(np.append(planes.bias, here))
        cuts = [0, *(np.flatnonzero(np.diff(lengths[1:])) + 1), len(order)]
        for start, stop in pairwise(cuts):
            planes.bias = float(lengths[start + 1])
            yield block, order[start:stop]


def initial_weights(init: Any, planes: int, d: int) -> tuple[Array, Array]:
    """`init` as (K, d) weights and (K,) intercepts.

    >>> initial_weights([1.0, 2.0, 0.5], 1, 2)
    (array([[1., 2.]]), array([0.5]))
    """
    pair = isinstance(init, tuple) and len(init) == 2
    try:
        w = np.atleast_2d(np.asarray(init[0] if pair else init, dtype=float))
        b = np.atleast_1d(np.asarray(init[1], dtype=float)) if pair else np.zeros(len(w))
    except (TypeError, ValueError):
        raise ParameterError(f"init is {init!r}; give weights as numbers.") from None
    if not pair and w.shape[1] == d + 1:
        w, b = w[:, :-1], w[:, -1]
    if not (np.isfinite(w).all() and np.isfinite(b).all()):
        raise ParameterError(f"init is {init!r}; weights must be finite.")
    if w.shape != (planes, d) or b.shape != (planes,):
        raise ParameterError(
            f"init has {w.shape[0]} rows of {w.shape[1]} weights and {b.size} intercepts; "
            f"X asks for {planes} of {d}, each with one intercept or none."
        )
    return w, b
