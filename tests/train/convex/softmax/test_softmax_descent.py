"""L-BFGS for many classes: passes that keep nothing, the optimum, the same bytes."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as Theirs

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.coordinates import Blocks, Columns
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.softmax import curvature, passes
from linsep.train.convex.softmax.descent import SoftmaxDescent
from linsep.train.convex.softmax.passes import SoftmaxPasses


def embeddings(n=1500, d=12, K=9, seed=0, units=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.arange(1, d + 1) ** -0.6 + 0.3
    y = (3 * X @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)
    return np.ascontiguousarray(units * X, np.float32), y


def fit(X, y, C=1.0, tol=1e-4, max_iter=300, **options):
    solver = SoftmaxDescent(X, y, None, C, n_classes=int(y.max()) + 1, tol=tol, **options)
    return drive(solver, Goal(tol=tol, max_iter=max_iter))


def objective(W, b, X, y, C=1.0):
    S = X.astype(float) @ W.T + b
    S -= S.max(axis=1, keepdims=True)
    losses = np.log(np.exp(S).sum(axis=1)) - S[np.arange(len(y)), y]
    return 0.5 * float((W**2).sum()) + C * float(losses.sum())


@pytest.mark.parametrize("weighted", [False, True])
def test_a_pass_is_the_loss_and_its_derivatives(weighted):
    X, y = embeddings(700, 5, 4)
    X = X.astype(float)
    rng = np.random.default_rng(1)
    c = rng.random(700) / 350 if weighted else np.array([1 / 700])
    W, b = rng.standard_normal((4, 5)), rng.standard_normal(4)
    with Pool(2) as pool:
        blocks = Blocks(X, Columns(np.empty(0), np.empty(0)))
        passes = SoftmaxPasses(blocks, y, c, 4, pool, np.float64)
        seen = passes(W, b)
        diagonal, (out, doubt) = passes.diagonal(W, b), passes.balance(W, b)
    S = X @ W.T + b
    P = np.exp(S - S.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    each = np.broadcast_to(c, 700)[:, None]
    R = each * (P - np.eye(4)[y])
    assert seen.loss == pytest.approx(float(-(each[:, 0] * np.log(P[np.arange(700), y])).sum()))
    np.testing.assert_allclose(seen.W, R.T @ X, atol=1e-12)
    np.testing.assert_allclose(seen.b, R.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(seen.doubt, (each * P * (1 - P)).sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(diagonal, (each * P * (1 - P)).T @ X**2, atol=1e-12)
    np.testing.assert_allclose(out, seen.b, atol=1e-12)
    np.testing.assert_allclose(doubt, seen.doubt, atol=1e-12)


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
    monkeypatch.setattr(passes, "AT_ONCE", 1)
    monkeypatch.setattr(curvature, "ALL", 1)
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
