"""Many classes on sparse rows: the optimum that other ways find, proved, on any threads."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LogisticRegression, Status, gap
from linsep.parallel import Pool
from linsep.train.convex.classes.class_sums import ClassProblem
from linsep.train.convex.classes.sparse_classes import FINE, SparseClasses
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.solvers.lbfgs import LBFGS
from linsep.train.run.state import copied


def data(n=150, d=20_000, K=5, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, max(0.01, 4 / d), "csr", rng=rng)
    codes = (np.asarray(X @ rng.normal(size=(d, K))) + rng.normal(size=(n, K))).argmax(axis=1)
    return X, codes


def fitted(X, codes, C=1.0, weights=None, tol=1e-8, max_iter=500, fit_intercept=True, **more):
    problem = ClassProblem.of(X, codes, weights, C, int(codes.max()) + 1, fit_intercept)
    return drive(LBFGS(problem, **more), Goal(tol, max_iter))


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize(("n", "d", "K"), [(60, 500, 3), (60, 500, 30), (200, 100, 7)])
def test_weights_are_those_of_newtons_method_on_the_rows_written_out(free, C, n, d, K):
    X, codes = data(n, d, K)
    codes = np.unique(codes, return_inverse=True)[1]
    found = fitted(X, codes, C=C, fit_intercept=free, tol=1e-10)
    dense = LogisticRegression(C=C, fit_intercept=free, tol=1e-10).fit(X.toarray(), codes)
    assert found.primal == pytest.approx(dense.objective_, rel=1e-8)
    far = np.linalg.norm(found.w - dense.coef_)  # P is strongly convex: ½‖W − W*‖² ≤ gap
    assert far <= np.sqrt(2 * found.gap) + np.sqrt(2 * dense.gap_ * dense.objective_)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_the_gap_is_that_of_the_proof(tol):
    X, codes = data()
    learner = LogisticRegression(tol=tol).fit(X, codes)
    assert learner.solver_ == "lbfgs"
    proved = gap(learner, X, codes)
    assert proved.relative <= 1.01 * learner.gap_ + 1e-9  # less what rounding may have added
    assert learner.gap_ <= tol
    assert learner.objective_ == pytest.approx(proved.primal, rel=1e-9)


def test_a_looser_gap_takes_fewer_steps():
    X, codes = data()
    assert fitted(X, codes, tol=1e-2).n_iter < fitted(X, codes, tol=1e-8).n_iter


@pytest.mark.parametrize("shape", [(150, 20_000), (600, 300)])
def test_threads_change_no_byte(shape):
    X, codes = data(*shape)
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


@pytest.mark.parametrize("shape", [(150, 20_000), (600, 300)])
def test_a_run_goes_on_from_its_state_with_the_same_bytes(shape):
    X, codes = data(*shape)
    whole, halves = [], []

    def solver():
        return LBFGS(problem_of(X, codes, K=5))

    first = solver()
    for candidate in first.candidates():
        whole.append(candidate)
        if len(whole) == 3:
            kept = copied(first.state())
        if len(whole) == 6:
            break
    second = solver()
    second.restore(kept)
    for candidate in second.candidates():
        halves.append(candidate)
        if len(halves) == 4:
            break
    assert halves == whole[2:]
    assert second.solution().w.tobytes() == first.solution().w.tobytes()


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


def problem_of(X, codes, C=1.0, K=3):
    return ClassProblem.of(X, codes, None, C, K, True)


@pytest.mark.parametrize("begin", [[-4.6, 3.9, 0.7], [-8.0, 8.0, 0.0]])
def test_the_best_intercepts_are_found_from_anywhere(begin):
    """Newton's steps of length 5 once went round in circles here, for ever."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 40)
    with Pool(1) as pool:
        model = SparseClasses(problem_of(sp.eye_array(40, format="csr"), codes), pool)
        _, R, _ = model._balanced(0.5 * rng.normal(size=(3, 40)), np.array(begin), FINE)
    assert np.abs(R.sum(axis=1)).max() <= FINE


@pytest.mark.parametrize("d", [200, 60])
def test_vectors_of_either_space_are_weights(d):
    X, codes = data(40, d, 3)
    A = np.random.default_rng(0).standard_normal((2, 3, 40))
    with Pool(2) as pool:
        model = SparseClasses(problem_of(sp.csr_array(X), codes), pool)
        assert model.rows is (d == 200)
        one, two = map(model._vector, A)
        W, V = ((X.T @ a.T).T for a in A)
        scores = model._scores(one + 2.0 * two)
    assert model.dot(one, two) == pytest.approx(float(np.vdot(W, V)), rel=1e-12)
    np.testing.assert_allclose(scores.T, X @ (W + 2 * V).T, atol=1e-12)


@pytest.mark.parametrize("K", [2, 4])
def test_without_a_penalty_the_optimum_is_that_of_rows_written_out(K):
    rng = np.random.default_rng(K)
    X = sp.random(600, 20, 0.3, "csr", rng=rng)
    codes = (X @ rng.normal(size=(20, K)) + rng.gumbel(size=(600, K))).argmax(axis=1)
    found = fitted(X, codes, C=np.inf, tol=1e-10)
    dense = LogisticRegression(C=np.inf).fit(X.toarray(), codes)
    assert found.status is Status.converged
    assert found.primal == pytest.approx(dense.objective_, rel=1e-12)
