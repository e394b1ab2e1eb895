"""Newton's method on many short sparse rows: the optimum of other solvers, the same bytes."""

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep import LogisticRegression
from linsep.status import Status
from linsep.train.convex.choose import ROWS, logistic_solver, shape_of
from linsep.train.convex.drive import solve
from linsep.train.convex.losses import Logistic
from linsep.train.convex.solvers.dual_descent import DualDescent, posed


def short_rows(n=4000, levels=20, seed=0):
    """A time stamp, a number and a category in each row, as files have them."""
    rng = np.random.default_rng(seed)
    place = rng.integers(levels, size=n)
    stamp = 1.5e9 + 1e7 * rng.random(n)
    X = sp.hstack(
        [
            sp.csr_array(np.column_stack([stamp, rng.standard_normal(n)])),
            sp.csr_array((np.ones(n), (np.arange(n), place)), shape=(n, levels)),
        ],
        format="csr",
    )
    z = (stamp - 1.505e9) / 3e6 + 0.3 * place - 3
    X = sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-z)), 1, -1)


@pytest.mark.parametrize("free", [True, False])
def test_sparse_and_dense_rows_have_one_optimum(free):
    X, y = short_rows()
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    settings = {"fit_intercept": free, "tol": 1e-10}
    dense = solve(logistic_solver, X.toarray(), y, weights, 0.5, **settings)
    sparse = solve(logistic_solver, X, y, weights, 0.5, **settings)
    assert sparse.status is Status.converged
    assert sparse.primal == pytest.approx(dense.primal, rel=1e-9)


def test_it_agrees_with_descent_on_the_dual():
    X, y = short_rows()
    X = X[:, 1:]  # descent crawls along a time stamp
    other = solve(DualDescent, posed(X, y, None, 1.0, Logistic(), True), tol=1e-8)
    found = solve(logistic_solver, X, y, tol=1e-8)
    assert found.primal == pytest.approx(other.primal, rel=1e-7)
    assert found.w == pytest.approx(other.w, abs=1e-3)


def test_without_a_penalty_the_decrement_is_the_proof():
    X, y = short_rows()
    found = solve(logistic_solver, X[:, :2], y, C=np.inf, tol=1e-8)
    assert found.status is Status.converged


def test_threads_files_and_arrays_give_the_same_model(tmp_path):
    X, y = short_rows(n=ROWS)
    assert shape_of(X, "logistic").short_rows
    one, two = (LogisticRegression(n_jobs=k).fit(X, y) for k in (1, 2))
    assert one.solver_ == "newton"
    assert one.coef_.tobytes() == two.coef_.tobytes()
    with (tmp_path / "rows.svm").open("w") as file:
        for i in range(X.shape[0]):
            at = slice(X.indptr[i], X.indptr[i + 1])
            pairs = zip(X.indices[at] + 1, X.data[at].tolist(), strict=True)
            file.write(f"{y[i]} " + " ".join(f"{j}:{v!r}" for j, v in pairs) + "\n")
    file = LogisticRegression().fit(linsep.read(tmp_path / "rows.svm", memory=1 << 16))
    assert file.coef_.tobytes() == one.coef_.tobytes()
    assert file.intercept_.tobytes() == one.intercept_.tobytes()
