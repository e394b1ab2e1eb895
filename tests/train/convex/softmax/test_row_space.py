"""Many classes on few sparse rows: the optimum that other ways find, proved, on any threads."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LogisticRegression, gap
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.softmax.dual_descent import STIFF, best_place
from linsep.train.convex.softmax.row_space import _Losses, fit_rows, suits


def data(n=150, d=20_000, K=5, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.01, "csr", rng=rng)
    codes = (np.asarray(X @ rng.normal(size=(d, K))) + rng.normal(size=(n, K))).argmax(axis=1)
    return X, codes


def fitted(X, codes, **more):
    settings = {"n_classes": int(codes.max()) + 1, "fit_intercept": True, "tol": 1e-8}
    C, weights = more.pop("C", 1.0), more.pop("weights", None)
    return fit_rows(X, codes, weights, C, **{**settings, "max_iter": 500, **more})


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("K", [3, 30])
def test_weights_are_those_of_newtons_method_on_the_rows_written_out(free, C, K):
    X, codes = data(d=3000, K=K)
    codes = np.unique(codes, return_inverse=True)[1]
    found = fitted(X, codes, C=C, fit_intercept=free, tol=1e-10)
    dense = LogisticRegression(C=C, fit_intercept=free, tol=1e-10).fit(X.toarray(), codes)
    assert found.primal == pytest.approx(dense.objective_, rel=1e-8)
    assert found.w == pytest.approx(dense.coef_, abs=1e-4)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_the_gap_is_that_of_the_proof(tol):
    X, codes = data()
    learner = LogisticRegression(tol=tol).fit(X, codes)
    assert learner.solver_ == "quasi-newton"
    assert suits(X, 5)
    proved = gap(learner, X, codes)
    assert proved.relative <= 1.01 * learner.gap_ + 1e-9  # less what rounding may have added
    assert learner.gap_ <= tol
    assert learner.objective_ == pytest.approx(proved.primal, rel=1e-9)


def test_a_looser_gap_takes_fewer_steps():
    X, codes = data()
    assert fitted(X, codes, tol=1e-2).n_iter < fitted(X, codes, tol=1e-8).n_iter


def test_threads_change_no_byte():
    X, codes = data()
    one, two = (fitted(X, codes, n_jobs=n) for n in (1, 2))
    assert one.w.tobytes() == two.w.tobytes()
    assert one.b.tobytes() == two.b.tobytes()


def test_weight_k_is_k_copies():
    X, codes = data()
    k = np.random.default_rng(1).integers(0, 3, X.shape[0])
    weighted = fitted(X, codes, weights=k.astype(float), tol=1e-10)
    copies = fitted(sp.csr_matrix(X[np.repeat(np.arange(len(k)), k)]), np.repeat(codes, k),
                    tol=1e-10)  # fmt: skip
    assert weighted.w == pytest.approx(copies.w, abs=1e-5)


def test_a_warm_start_at_the_optimum_has_nothing_to_do():
    X, codes = data()
    learner = LogisticRegression(tol=1e-9, warm_start=True).fit(X, codes)
    before = learner.coef_.copy()
    learner.set_params(tol=1e-6).fit(X, codes)
    assert learner.n_iter_ <= 2
    assert learner.coef_ == pytest.approx(before, abs=1e-5)


def test_the_budget_is_kept_and_said():
    X, codes = data()
    with pytest.warns(UserWarning, match="gap"):
        learner = LogisticRegression(tol=1e-12, max_iter=3).fit(X, codes)
    assert learner.n_iter_ == 3
    assert learner.gap_ > 1e-12


def unit(X):
    """Rows of length one, short enough for descent on the dual."""
    return sp.csr_matrix(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))))


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("C", [0.1, 1.0, 3.9])
def test_descent_on_the_dual_ends_within_its_gap_of_the_optimum(tol, C):
    X, codes = data()
    X = unit(X)
    weights = np.random.default_rng(2).choice([0.0, 0.5, 1.0], X.shape[0])
    found = fitted(X, codes, weights=weights, C=C, fit_intercept=False, tol=tol)
    best = fitted(X, codes, weights=weights, C=C, fit_intercept=False, tol=1e-12)
    assert "passes" in found.message
    assert found.status is Status.converged
    assert found.gap <= tol * found.primal
    assert found.dual <= best.primal * (1 + 1e-12)
    assert best.primal <= found.primal * (1 + 1e-12)


@pytest.mark.parametrize("t", [0.01, 1.0, STIFF])
def test_a_visit_finds_the_best_place_for_its_row(t):
    rng = np.random.default_rng(3)
    for _ in range(200):
        s, old = 3.0 * rng.normal(size=7), rng.dirichlet(np.ones(7))
        p, logs = np.empty(7), np.empty(7)

        def credit(p, s=s, old=old):  # what the row adds to the dual: s is off by t(old − p)
            return s @ p + t * (old @ p) - 0.5 * t * p @ p - p @ np.log(p)

        best_place(s, old, t, p, logs)
        assert p.sum() == pytest.approx(1.0)
        assert credit(p) >= credit(old) - 1e-12
        other = rng.dirichlet(np.ones(7), 50)
        assert max(credit(q) for q in other) <= credit(p) + 0.02 * t


def test_passes_of_the_dual_stop_when_told_to_and_keep_their_budget():
    X, codes = data()
    X, seen = unit(X), []

    def stop(done):
        seen.append(done)
        return True

    asked = {"fit_intercept": False, "tol": 1e-6, "C": 3.9}
    stopped = fitted(X, codes, max_iter=2, listeners=[stop], **asked)
    assert (stopped.status, stopped.n_iter, len(seen)) == (Status.stopped, 1, 1)
    for most in (1, 2):
        found = fitted(X, codes, max_iter=most, **asked)
        assert found.n_iter <= most
        assert found.status is Status.budget


def test_descent_on_the_dual_gives_the_same_bytes_on_any_threads():
    X, codes = data()
    one, two = (fitted(unit(X), codes, n_jobs=n, fit_intercept=False, tol=1e-4) for n in (1, 2))
    assert one.w.tobytes() == two.w.tobytes()


@pytest.mark.parametrize("begin", [[-4.6, 3.9, 0.7], [-8.0, 8.0, 0.0]])
def test_the_best_intercepts_are_found_from_anywhere(begin):
    """Newton's steps of length 5 once went round in circles here, for ever."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 40).astype(np.int32)
    with Pool(1) as pool:
        losses = _Losses(codes, np.ones(40), 3, True, pool)
        losses.b = np.array(begin)
        _, R = losses.at(0.5 * rng.normal(size=(40, 3)))
    assert np.abs(R.sum(axis=0)).max() < 1e-11
