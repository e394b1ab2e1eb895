"""Folds fitted side by side: the models of separate fits, proved by their gaps, on any threads."""

from threading import Event

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold

from linsep import LogisticRegression, gap
from linsep._compile import kernel, weighted_add
from linsep.parallel import Pool
from linsep.train.convex.path import fold_dual as fold_descent
from linsep.train.convex.path import fold_newton, fold_products
from linsep.train.convex.path.fold_sample import FoldSample, Rows
from linsep.train.convex.path.fold_steps import FoldSteps
from linsep.train.convex.path.fold_sums import FoldSums
from linsep.train.convex.path.folds import Folded, homes

CS = np.logspace(-3, 3, 5)


def dense(n=600, d=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, -1] = X[:, 0] > 1.8  # rare: one fold may keep few of these rows
    signs = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0.5, 1.0, -1.0)
    return X, signs


def sparse(n=800, d=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.1, "csr", rng=rng, data_rvs=rng.random)
    X = sp.csr_matrix(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))))
    w = rng.normal(size=d) * (rng.random(d) < 0.05)
    score = np.asarray(X @ w)
    return X, np.where(score + rng.normal(0, score.std(), n) > 0.1, 1.0, -1.0)


def folds_of(signs, count):
    return homes(list(StratifiedKFold(count, shuffle=True, random_state=0).split(signs, signs)),
                 len(signs))  # fmt: skip


def short(n=900, d=30):
    """Sparse rows, many for each feature."""
    rng = np.random.default_rng(1)
    X = sp.random(n, d, 0.1, "csr", rng=rng)
    score = np.asarray(X @ rng.normal(size=d))
    return sp.csr_matrix(X), np.where(score + rng.normal(0, 0.3, n) > 0.0, 1.0, -1.0)


CASES = [
    (fold_newton, dense),
    (fold_descent, sparse),
    (fold_products, dense),
    (fold_products, short),
]


@pytest.mark.parametrize(("way", "data"), CASES)
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("count", [2, 5, 9])
def test_every_fit_is_as_near_the_optimum_as_its_gap_says(way, data, free, count):
    X, signs = data()
    if way is not fold_products:
        assert way.suits(X, free) if way is fold_newton else way.suits(X)
    home = folds_of(signs, count)
    found = way.fit_folds(X, signs, home, CS, fit_intercept=free, tol=1e-4)
    assert (found.gap <= 1e-4).all()
    for f in (0, count - 1):
        for c, C in enumerate(CS):
            rows, y = X[home != f], signs[home != f]
            alone = LogisticRegression(C=C, tol=1e-9, fit_intercept=free).fit(rows, y)
            best = alone.objective_ * (1 - alone.gap_)
            alone.coef_, alone.intercept_ = found.W[f, c][None], found.b[f, c][None]
            proved = gap(alone, rows, y)
            off = proved.primal / best - 1  # the best is known to nine digits
            assert off <= 1.01 * found.gap[f, c] + 2e-9
            held = np.asarray(X[home == f] @ found.W[f, c]) + found.b[f, c]
            assert found.scores[home == f, c] == pytest.approx(held, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("way", "data"), CASES)
def test_threads_change_no_byte(way, data):
    X, signs = data()
    home = folds_of(signs, 5)
    one, two = (
        way.fit_folds(X, signs, home, CS, fit_intercept=True, tol=1e-5, n_jobs=n) for n in (1, 2)
    )
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True))


def test_threads_change_no_byte_where_steps_take_over(monkeypatch):
    monkeypatch.setattr(fold_descent, "_slow", lambda mets, aim: True)
    rng = np.random.default_rng(3)
    X = sp.random(400, 1500, 0.01, "csr", random_state=3)
    signs = np.where(X @ rng.normal(size=1500) > 0, 1.0, -1.0)
    one, two = (
        fold_descent.fit_folds(
            X, signs, np.arange(400) % 5, np.array([0.1, 10.0, 1000.0]),
            fit_intercept=True, tol=1e-3, n_jobs=n,
        )
        for n in (1, 2)
    )  # fmt: skip
    assert (one.gap <= 1e-3).all()
    for a, b in zip(one, two, strict=True):
        assert a.tobytes() == b.tobytes()


def test_steps_of_a_fold_leave_its_rows_out_and_begin_at_the_models_before():
    X, signs = sparse(400, 1500)
    home, Cs = np.arange(400) % 4, np.array([0.1, 1.0, 10.0])
    W, b, whole = np.zeros((4, 3, 1500)), np.zeros((4, 3)), np.zeros((0, 0))
    results = Folded(W, b, b.copy(), np.zeros((400, 3)), np.zeros((400, 3)), whole)
    steps = FoldSteps(X, signs, home, Cs, True, 1e-6, Event(), results)
    steps.begin(2, [])
    for c in range(3):
        alpha = steps.fit(2, c)
        assert not alpha[home == 2].any()
    kept = home != 2
    alone = LogisticRegression(C=10.0, tol=1e-8).fit(X[kept], signs[kept])
    np.testing.assert_allclose(results.W[2, 2], alone.coef_[0], atol=2e-3)
    np.testing.assert_allclose(
        results.scores[~kept, 2], X[~kept] @ results.W[2, 2] + results.b[2, 2], atol=1e-9
    )


@pytest.mark.parametrize("data", [dense, short])
def test_the_models_of_all_rows_come_with_those_of_the_folds(data):
    X, signs = data()
    found = fold_products.fit_folds(
        X, signs, folds_of(signs, 4), CS, fit_intercept=True, tol=1e-8, keep=False
    )
    assert found.W.size == 0
    for c, C in enumerate(CS):
        alone = LogisticRegression(C=C, tol=1e-10).fit(X, signs)
        assert found.whole[c, :-1] == pytest.approx(alone.coef_[0], rel=1e-3, abs=1e-4)
        assert found.whole[c, -1] == pytest.approx(alone.intercept_[0], rel=1e-3, abs=1e-4)


def test_folds_that_products_cannot_fit_are_left_to_others(monkeypatch):
    X, signs = dense()
    given = X, signs, folds_of(signs, 3), CS
    steps = []

    def lost(self, p):
        steps.append(p)
        return np.zeros_like(p.u), 0.0

    monkeypatch.setattr(fold_products.NewtonCG, "_step", lost)
    assert fold_products.fit_folds(*given, fit_intercept=True, tol=1e-6) is None
    assert steps


def test_an_interrupt_ends_all_fits_of_a_path(monkeypatch):
    X, signs = dense()
    fits = []

    def interrupted(run, f, c):
        fits.append((f, c))
        raise KeyboardInterrupt

    monkeypatch.setattr(fold_products._Run, "_fold", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fold_products.fit_folds(
            X, signs, folds_of(signs, 3), CS, fit_intercept=True, tol=1e-6, n_jobs=2
        )
    assert {c for _, c in fits} == {0}


def test_hessians_of_all_rows_serve_the_folds_where_these_are_alike(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 6))
    signs = np.where(X[:, 0] + rng.normal(size=3000) > 0, 1.0, -1.0)
    given = X, signs, folds_of(signs, 5), CS
    made = []
    hessians = Rows.hessians
    monkeypatch.setattr(
        Rows, "hessians", lambda self, U, *rest: made.append(len(U)) or hessians(self, U, *rest)
    )
    easy = fold_newton.fit_folds(*given, fit_intercept=True, tol=1e-4)
    assert (easy.gap <= 1e-4).all() and not sum(made)
    hard = fold_newton.fit_folds(*given, fit_intercept=True, tol=1e-11)
    assert (hard.gap <= 1e-11).all() and sum(made)


def test_rows_in_many_blocks_give_the_sums_of_one():
    X, signs = dense(n=9000)
    home = folds_of(signs, 3)
    found = fold_newton.fit_folds(X, signs, home, CS, fit_intercept=True, tol=1e-8)
    alone = LogisticRegression(C=CS[2], tol=1e-10).fit(X[home != 1], signs[home != 1])
    assert found.W[1, 2] == pytest.approx(alone.coef_[0], rel=1e-3, abs=1e-4)


def test_multipliers_are_those_of_the_weights():
    X, signs = sparse()
    home = folds_of(signs, 2)
    found = fold_descent.fit_folds(X, signs, home, CS, fit_intercept=False, tol=1e-6)
    alpha = np.where(home != 0, found.alpha[:, 1], 0.0)  # of two folds, each row is in one
    assert found.W[0, 1] == pytest.approx(np.asarray(X.T @ (alpha * signs)), abs=1e-12)


@pytest.mark.parametrize("free", [True, False])
def test_a_sample_proves_fits_near_their_optimum_at_large_C_too(free):
    X, signs = dense(n=20_000)
    X[:, -1] = X[:, 0] > 3.2  # a dozen rows, all of one class: their weight grows with C
    signs[X[:, -1] > 0] = 1.0
    home = folds_of(signs, 3)
    Cs = np.array([1e-3, 1.0, 1e5])
    one, two = (
        fold_newton.fit_folds(X, signs, home, Cs, fit_intercept=free, tol=1e-3, n_jobs=n)
        for n in (1, 2)
    )
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True))
    assert (one.gap <= 1e-3).all()
    for f in range(3):
        rows, y = X[home != f], signs[home != f]
        for c, C in enumerate(Cs):
            alone = LogisticRegression(C=C, tol=1e-7, fit_intercept=free).fit(rows, y)
            best = alone.objective_ * (1 - alone.gap_)
            alone.coef_, alone.intercept_ = one.W[f, c][None], one.b[f, c][None]
            primal = gap(alone, rows, y).primal
            assert primal / best - 1 <= 1.01 * one.gap[f, c] + 2e-7
            assert primal / best - 1 <= 1e-4  # though only 1e-3 is proved


def in_order(n=20_000, d=6, seed=0):
    """Rows in order: a feature is common in the last tenth of them, and met a few times before."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, -1] = np.arange(n) >= 0.9 * n
    X[rng.choice(n // 2, 12, replace=False), -1] = 1.0
    score = X @ rng.normal(size=d)
    signs = np.where(score + rng.logistic(size=n) > 0.0, 1.0, -1.0)
    X[:, -1] /= X[:, -1].std()
    return X, signs, (np.arange(n) * 5 // n).astype(np.int32)


def looks_at(monkeypatch, *problem, **settings):
    """What `fit_folds` finds, and how many models each of its looks was at."""
    kept, looks = FoldSums.kept, []

    def counted(self, U, *more):
        looks.append(len(U))
        return kept(self, U, *more)

    monkeypatch.setattr(FoldSums, "kept", counted)
    return fold_newton.fit_folds(*problem, **settings), looks


def test_folds_that_are_unlike_are_fitted_side_by_side(monkeypatch):
    X, signs, home = in_order()
    Cs = np.logspace(-4, 4, 10)
    found, looks = looks_at(monkeypatch, X, signs, home, Cs, fit_intercept=True, tol=1e-3)
    assert (found.gap <= 1e-3).all()
    assert sum(looks) <= 5 * 5 * len(Cs)  # five for each model


def test_rows_that_a_fold_rests_on_are_in_the_sample():
    X, signs, home = in_order()
    with Pool(1) as pool:
        sample = FoldSample(X, signs, home, True, pool)
    few = np.count_nonzero(X[home != 4][:, -1])
    taken = sum(
        np.count_nonzero(part.X[: part.ends[4], -1]) for part in (sample.far, sample.others)
    )
    assert few == 12
    assert taken == few


def test_steps_that_lead_nowhere_end_the_looks(monkeypatch):
    X, signs, home = in_order()
    monkeypatch.setattr(
        fold_newton._Run, "_gradients", lambda run, which: -np.ones((len(which), 7))
    )
    found, looks = looks_at(
        monkeypatch, X, signs, home, np.array([1.0]), fit_intercept=True, tol=1e-9
    )
    assert found is None
    assert len(looks) <= 3 * (fold_newton.HALVINGS + 1)


def test_a_model_goes_on_from_that_of_another_C_where_it_is_better_off_there():
    X, signs, home = in_order()
    Cs = np.array([1e-4, 1e-3, 1e-2])
    with Pool(1) as pool:
        run = fold_newton._Run(X, signs, home, Cs, True, pool)
        assert (run.settle(1e-6) <= 1e-6).all()
        U, which = run.U.copy(), np.argwhere(np.ones((5, 3)))
        assert not run._lend(which)  # each is the best at its own C
        run.U[2, 1] *= 1e4
        f, c = np.array([2]), np.array([1])
        run.seen[f, c] = run.sums.kept(run.U[f, c], f, c, run.scores)
        assert run._lend(which)
    assert any((run.U[2, 1] == U[2, other]).all() for other in (0, 2))
    P = run._values() * Cs
    run.U[2, 1] = U[2, 1]
    run.seen[f, c] = run.sums.kept(run.U[f, c], f, c, run.scores)
    assert P[2, 1] < 2.0 * (run._values() * Cs)[2, 1]


def test_multipliers_held_back_leave_their_part_of_the_gradient():
    X, signs = dense(n=500, d=4)
    rows = Rows(X, signs, folds_of(signs, 2), np.arange(500), np.ones(500))
    rng = np.random.default_rng(0)
    u, t = rng.normal(size=5), 3 * rng.normal(size=5)
    with Pool(1) as pool:
        moved = rows.moved(u[None], t[None], np.array([2]), u[None], pool)[0]  # no fold: all rows
    X = np.column_stack([rows.X, np.ones(500)])
    p = 1 / (1 + np.exp(-X @ u))
    move = -p * (1 - p) * (X @ t)
    held = np.clip(move, -0.999 * p, 0.999 * (1 - p))
    assert (held != move).any()
    assert moved[:-1] == pytest.approx((held - move) @ X)
    assert moved[-1] == pytest.approx((held**2 / (p * (1 - p))).sum())
    kl = (p + held) * np.log1p(held / p) + (1 - p - held) * np.log1p(-held / (1 - p))
    assert kl.sum() <= moved[-1]


def test_far_off_columns_are_left_to_the_careful_way():
    X, _ = dense()
    assert not fold_newton.suits(X + 1e6, True)
    assert not fold_newton.suits(X * 1e-30, True)
    assert not fold_newton.suits(X[:20], True)


@kernel
def _add_all(data, indices, indptr, D, W):
    for i in range(D.shape[0]):
        weighted_add(data, indices, indptr[i], indptr[i + 1], W, 0, 8, D[i])


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_compiled_additions_in_lanes_are_those_of_python(real):
    rng = np.random.default_rng(0)
    X = sp.random(40, 30, 0.2, "csr", rng=rng, data_rvs=lambda n: rng.integers(-9, 9, n))
    D = rng.integers(-9, 9, (40, 8)).astype(real)  # whole numbers: no rounding
    given = (X.data.astype(real), X.indices.astype(np.uint32), X.indptr.astype(np.int64), D)
    fast, plain = np.zeros((30, 8), real), np.zeros((30, 8), real)
    _add_all(*given, fast)
    _add_all.py_func(*given, plain)
    assert (fast == plain).all()
    assert fast.any()
