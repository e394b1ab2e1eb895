"""Each class against the rest: the machines of two classes, side by side."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.errors import OverflowedError
from linsep.status import Status
from linsep.train.convex.choose import LOSSES
from linsep.train.convex.drive import Goal, drive, solve
from linsep.train.convex.one_vs_rest import one_vs_rest
from linsep.train.convex.solvers.dual_descent import DualDescent, posed


def text_like(n=4000, d=3000, per_row=75, seed=0):
    """Sparse rows of unit length with a few crowded features, large enough for lanes."""
    rng = np.random.default_rng(seed)
    columns = (d * rng.random((n, per_row)) ** 4).astype(np.int32)
    values = rng.random((n, per_row)) + 0.1
    X = sp.csr_array((values.ravel(), columns.ravel(), np.arange(0, n * per_row + 1, per_row)))
    X.resize((n, d))
    X.sum_duplicates()
    X = sp.csr_array(sp.diags_array(1.0 / np.sqrt((X * X).sum(axis=1))) @ X)
    u = rng.standard_normal(d)
    score = X @ u
    y = np.where(score + 0.5 * score.std() * rng.standard_normal(n) > np.median(score), 1.0, -1.0)
    X.indices = X.indices.astype(np.int32)
    return X, y


def each_class(X, codes, n_classes, loss="hinge", tol=1e-4, n_jobs=None):
    return one_vs_rest(
        X, codes, n_classes, lambda machine, k, goal: drive(machine.dual(), goal), Goal(tol),
        weights=None, C=1.0, loss=loss, fit_intercept=True, max_iter=1000, n_jobs=n_jobs,
    )  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
def test_each_class_against_the_rest_is_a_two_class_problem(loss):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 90)
    X = rng.standard_normal((90, 4)) + 1.5 * np.eye(4)[codes]
    solutions = each_class(X, codes, 3, loss=loss, tol=1e-6, n_jobs=2)
    for k, one in enumerate(solutions):
        kind = LOSSES[loss]
        problem = posed(X, np.where(codes == k, 1.0, -1.0), None, 1.0, kind, True)
        alone = solve(DualDescent, problem, tol=1e-6)
        assert one.w.tobytes() == alone.w.tobytes()
        assert one.status is Status.converged


def test_classes_side_by_side_give_the_same_bytes_for_any_number_of_threads():
    X, _ = text_like(n=3600, seed=7)
    codes = np.random.default_rng(0).integers(0, 3, X.shape[0])
    one, two = (each_class(X, codes, 3, tol=1e-2, n_jobs=n) for n in (1, 2))
    assert [a.w.tobytes() for a in one] == [b.w.tobytes() for b in two]


def test_an_error_in_one_class_is_passed_on():
    X = 1e200 * np.arange(4.0)[:, None]
    with pytest.raises(OverflowedError):
        each_class(X, np.array([0, 1, 2, 0]), 3)
