"""L-BFGS for many classes: passes that keep nothing, the optimum, the same bytes."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as Theirs

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.classes import class_curvature, class_sums
from linsep.train.convex.classes.class_curvature import ClassCurvature
from linsep.train.convex.classes.class_sums import ClassProblem, ClassSums
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.solvers.lbfgs import LBFGS


def embeddings(n=1500, d=12, K=9, seed=0, units=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.arange(1, d + 1) ** -0.6 + 0.3
    y = (3 * X @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)
    return np.ascontiguousarray(units * X, np.float32), y


def fit(X, y, C=1.0, tol=1e-4, max_iter=300, fit_intercept=True, **options):
    problem = ClassProblem.of(X, y, None, C, int(y.max()) + 1, fit_intercept)
    return drive(LBFGS(problem, tol, **options), Goal(tol=tol, max_iter=max_iter))


def objective(W, b, X, y, C=1.0):
    S = X.astype(float) @ W.T + b
    S -= S.max(axis=1, keepdims=True)
    losses = np.log(np.exp(S).sum(axis=1)) - S[np.arange(len(y)), y]
    return 0.5 * float((W**2).sum()) + C * float(losses.sum())


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("free", [True, False])
def test_it_comes_as_near_as_asked(C, free):
    X, y = embeddings()
    ours = fit(X, y, C, fit_intercept=free)
    theirs = Theirs(C=C, tol=1e-8, max_iter=5000, fit_intercept=free).fit(X.astype(float), y)
    best = objective(theirs.coef_, theirs.intercept_, X, y, C)
    assert ours.status is Status.converged
    assert objective(ours.w, ours.b, X, y, C) <= best * (1 + 1e-4)
    assert ours.dual <= best * (1 + 1e-6)


@pytest.mark.parametrize("units", [255.0, 1e4])
def test_units_of_the_features_do_not_keep_it_from_converging(units):
    X, y = embeddings(units=units)
    X[:, 0] = 0.0
    X[:3, 0] = units  # a feature that a sample of the rows may miss
    assert fit(X, y, tol=1e-3).status is Status.converged


def test_row_orders_and_storage_in_pieces_give_the_same_objective(monkeypatch):
    X, y = embeddings(5000)
    values = []
    for order in range(3):
        places = np.random.default_rng(order).permutation(len(y))
        values.append(fit(X[places], y[places]).primal)
    monkeypatch.setattr(class_sums, "AT_ONCE", 1)
    monkeypatch.setattr(class_curvature, "ALL", 1)
    values.append(fit(X, y).primal)
    assert max(values) <= min(values) * (1 + 1e-4)


def test_threads_change_no_byte():
    X, y = embeddings(9000, 8, 6)
    one, two = (fit(X, y, n_jobs=jobs) for jobs in (1, 2))
    assert one.w.tobytes() == two.w.tobytes() and one.b.tobytes() == two.b.tobytes()


def test_a_warm_start_takes_fewer_passes():
    X, y = embeddings()
    first = fit(X, y)
    again = fit(X, y, 1.1, start=(first.w, first.b))
    assert again.n_iter < first.n_iter


@pytest.mark.parametrize("free", [True, False])
def test_a_guess_of_all_rows_inverts_the_block_of_each_class(free):
    X, y = embeddings(1500, 6, 3)
    with Pool(2) as pool:
        problem = ClassProblem.of(X, y, None, 1.0, 3, free)
        sums, u = ClassSums(problem, pool), np.full((3, 6 + free), 0.1) * [[1.0], [-2.0], [0.5]]
        guess = ClassCurvature(problem, sums, u, True, pool)
        H = sums.hessian(u).reshape(3, 6 + free, 3, 6 + free)
        G = np.random.default_rng(0).standard_normal((3, 6))
        found = guess(G)
    for k in range(3):
        block = H[k, :6, k, :6].copy()
        if free:  # what a free intercept takes up
            block -= np.outer(H[k, 6, k, :6], H[k, 6, k, :6]) / H[k, 6, k, 6]
        block += np.diag(problem.ridge[:6])
        np.testing.assert_allclose(found[k], np.linalg.solve(block, G[k]), rtol=2e-4)
