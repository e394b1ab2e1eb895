"""However a stream is cut, a solver meets the folds of one pass over all of its rows."""

import pickle

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linsep.data.blocks.blocks import BLOCK
from linsep.train.problem import Problem
from linsep.train.run.loop import Pass
from linsep.train.run.whole_folds import WholeFolds


class Fold:
    """A solver that only writes down which rows it met together."""

    def __init__(self):
        self.met = []

    def part_pass(self, problem, method, trace):
        first = np.ravel(problem.X[:, [0]].toarray() if sp.issparse(problem.X) else problem.X[:, 0])
        for start in range(0, problem.n_rows, method.batch_size):
            self.met.append(first[start : start + method.batch_size].tolist())
        return Pass(0, problem.n_rows, problem.n_rows, 1.0)


class Method:
    def __init__(self, batch_size):
        self.batch_size = batch_size


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
    st.integers(1, 50),
    st.booleans(),
    st.integers(BLOCK - 60, BLOCK),
)
def test_the_folds_do_not_depend_on_the_cuts(pieces, size, sparse, settled):
    n = sum(pieces)
    X = np.arange(1.0, n + 1)[:, None]
    solver, folds = Fold(), WholeFolds()
    folds.settled = settled  # a block of the stream ends among these rows, or not
    start, told = 0, 0
    for length in pieces:
        rows = X[start : start + length]
        part = Problem(sp.csr_array(rows) if sparse else rows, np.zeros(length, np.int32), None, 2)
        folds = pickle.loads(pickle.dumps(folds))
        solver, done = folds.part_pass(solver, part, Method(size), None)
        told += done.updates
        start += length
    expected, row, place = [], 0, settled
    while row < n:
        stop = min(row + size, n, row + BLOCK - place % BLOCK)  # a block ends its last fold
        expected.append(X[row:stop, 0].tolist())
        place, row = place + stop - row, stop
    assert solver.met == expected
    assert told == n
