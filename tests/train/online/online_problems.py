"""Small problems whose every number can be followed by hand."""

import numpy as np
import scipy.sparse as sp

from linsep.train.problem import Problem

ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [1.0, 3.0]])


def two_classes(codes=(1, 0, 1, 0), weights=None, sparse=False):
    X = sp.csr_matrix(ROWS) if sparse else ROWS
    weights = None if weights is None else np.array(weights, float)
    return Problem(X, np.array(codes, np.int32), weights, 2, 1)


def three_classes(sparse=False):
    X = sp.csr_matrix(ROWS) if sparse else ROWS
    return Problem(X, np.array([0, 1, 2, 1], np.int32), None, 3, 1)
