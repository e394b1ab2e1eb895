"""Which rows carry a boundary, and which of the Gram matrix are kept."""

import numpy as np

from linsep.learners.fitting.support import near_margin, supports
from linsep.train.convex.losses import Hinge
from linsep.train.convex.solvers.gram_descent import GramCache
from linsep.train.convex.steps.score_losses import Planes
from linsep.train.problem import Problem


def test_support_rows_are_those_with_multipliers_or_inside_the_margin():
    X = np.array([[2.0], [0.5], [-0.5], [-2.0]])
    problem = Problem(X, np.array([1, 1, 0, 0]), None, 2)
    rows, alpha = supports(problem, [np.array([0.0, 0.7, 0.7, 0.0])])
    assert rows.tolist() == [1, 2] and alpha.tolist() == [[0.7, -0.7]]
    near = near_margin(problem, Planes(Hinge()), np.array([[1.0]]), np.zeros(1))
    assert near.tolist() == [1, 2]


def test_rows_of_the_gram_matrix_are_kept_and_made_again():
    X = np.random.default_rng(0).standard_normal((30, 4))
    calls = []

    def kernel(A, B, rows, everyone, each=map):
        calls.append(list(rows))
        return A @ B.T

    gram = GramCache(kernel, X, cache=1e9)
    places = gram.hold(np.array([3, 5]))
    assert np.allclose(gram.kept[places], X[[3, 5]] @ X.T)
    gram.hold(np.array([5, 7]))
    assert calls == [[3, 5], [7]]  # row 5 was there
