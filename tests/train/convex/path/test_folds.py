"""Folds fitted side by side: the models of separate fits, proved by their gaps, on any threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold

from linsep import LogisticRegression, gap
from linsep.train.convex.path import folds
from linsep.train.convex.path.folds import fit_folds, homes

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


@pytest.fixture(params=["together", "newton", "products"])
def way(request, monkeypatch):
    """Folds that share readings of the rows, and each for itself by either solver."""
    if request.param != "together":
        monkeypatch.setattr(folds, "FEW", 1 << 20)
    if request.param == "products":
        monkeypatch.setattr(folds, "NARROW", 0)
    return request.param


CASES = [dense, short, sparse]


@pytest.mark.parametrize("data", CASES)
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("count", [2, 5, 9])
def test_every_fit_is_as_near_the_optimum_as_its_gap_says(way, data, free, count):
    X, signs = data()
    home = folds_of(signs, count)
    found = fit_folds(X, signs, home, CS, fit_intercept=free, tol=1e-4)
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


@pytest.mark.parametrize("data", CASES)
def test_threads_change_no_byte(way, data):
    X, signs = data()
    home = folds_of(signs, 5)
    one, two = (
        fit_folds(X, signs, home, CS, fit_intercept=True, tol=1e-5, n_jobs=n) for n in (1, 2)
    )
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize("data", CASES)
def test_the_models_of_all_rows_come_with_those_of_the_folds(way, data):
    X, signs = data()
    found = fit_folds(X, signs, folds_of(signs, 4), CS, fit_intercept=True, tol=1e-8)
    for c, C in enumerate(CS):
        alone = LogisticRegression(C=C).fit(X, signs)
        alone.coef_, alone.intercept_ = found.whole[c, None, :-1], found.whole[c, -1:]
        assert gap(alone, X, signs).relative <= 1e-2  # a start for their fit


def test_folds_that_no_step_fits_are_left_to_others(monkeypatch):
    X, signs = sparse()
    given = X, signs, folds_of(signs, 3), CS
    steps = []

    def lost(self):
        steps.append(self)
        return False

    monkeypatch.setattr(folds.NewtonCG, "_step", lost)
    assert fit_folds(*given, fit_intercept=True, tol=1e-6) is None
    assert steps


def test_an_interrupt_ends_all_fits_of_a_path(monkeypatch):
    X, signs = sparse()
    fits = []

    def interrupted(run, f, c):
        fits.append((f, c))
        raise KeyboardInterrupt

    monkeypatch.setattr(folds._Run, "_fold", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit_folds(X, signs, folds_of(signs, 3), CS, fit_intercept=True, tol=1e-6, n_jobs=2)
    assert {c for _, c in fits} == {0}


def test_rows_in_many_blocks_give_the_sums_of_one():
    X, signs = dense(n=9000)
    home = folds_of(signs, 3)
    found = fit_folds(X, signs, home, CS, fit_intercept=True, tol=1e-8)
    alone = LogisticRegression(C=CS[2], tol=1e-10).fit(X[home != 1], signs[home != 1])
    assert found.W[1, 2] == pytest.approx(alone.coef_[0], rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("free", [True, False])
def test_a_sample_proves_fits_near_their_optimum_at_large_C_too(free):
    X, signs = dense(n=20_000)
    X[:, -1] = X[:, 0] > 3.2  # a dozen rows, all of one class: their weight grows with C
    signs[X[:, -1] > 0] = 1.0
    home = folds_of(signs, 3)
    Cs = np.array([1e-3, 1.0, 1e5])
    one, two = (
        fit_folds(X, signs, home, Cs, fit_intercept=free, tol=1e-3, n_jobs=n) for n in (1, 2)
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


def test_folds_too_unlike_the_others_are_fitted_by_themselves(monkeypatch):
    X, signs, home = in_order(2000)
    alone, fitted = [], folds._Run._alone
    monkeypatch.setattr(
        folds._Run, "_alone", lambda run, f, *rest: alone.append(f) or fitted(run, f, *rest)
    )
    given = X, signs, home, np.array([1e-3, 1e4])
    assert (fit_folds(*given, fit_intercept=True, tol=1e-3).gap <= 1e-3).all()
    few = len(alone)
    assert (fit_folds(*given, fit_intercept=True, tol=1e-9).gap <= 1e-9).all()
    assert few < 5 < len(alone)


def test_folds_that_do_not_get_there_are_left_to_others(monkeypatch):
    X, signs, home = in_order(2000)

    def lost(*given):
        raise folds._NotReachedError

    monkeypatch.setattr(folds._Run, "_alone", lost)
    given = X, signs, home, np.array([1e4])
    assert fit_folds(*given, fit_intercept=True, tol=1e-9) is None
