"""Wide rows: the shortest least squares from the thin side, and large sparse ones with a proof."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LinearRegression
from linsep.data.blocks.blocks import spans
from linsep.errors import NotConverged
from linsep.learners import regression
from linsep.status import Status
from linsep.train.closed.least_squares import least_squares
from linsep.train.convex.designs import design
from linsep.train.convex.drive import Goal, drive, telling
from linsep.train.convex.steps import conjugate_gradients
from linsep.train.convex.steps.conjugate_gradients import ConjugateGradients, suits
from linsep.train.problem import Problem

RNG = np.random.default_rng(3)


def shortest(X, Y, weights=None, free=True, unit=1.0):
    """Least squares of least length in some units, by the pseudo-inverse."""
    c = np.ones(len(X)) if weights is None else weights
    m, level = (c @ X / c.sum(), c @ Y / c.sum()) if free else (0.0 * X[0], 0.0 * Y[0])
    root = np.sqrt(c)
    A = (X - m) * root[:, None] / unit
    w = (np.linalg.pinv(A) @ ((Y - level).T * root).T).T / unit
    return w, level - w @ m


def lengths(X, weights=None):
    """Of columns, means and all; one for empty ones."""
    found = np.linalg.norm(X if weights is None else X * np.sqrt(weights)[:, None], axis=0)
    return np.where(found > 0, found, 1.0)


def test_wide_rows_are_solved_from_the_thin_side():
    X, y = RNG.normal(size=(38, 7129)) * 100.0, RNG.normal(size=38)
    tracemalloc.start()
    learner = LinearRegression().fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 * X.nbytes  # a square of 7,129 columns has 188 times as much
    w, b = shortest(X, y)
    assert learner.coef_ == pytest.approx(w, rel=1e-9, abs=1e-9 * np.abs(w).max())
    assert learner.intercept_ == pytest.approx(b, rel=1e-9)
    assert (learner.status_, learner.rank_) == (Status.deficient, 37)


def test_columns_that_nothing_else_replaces_keep_their_weights():
    X = RNG.normal(size=(30, 6))
    X[:, 5] = 3.0 * X[:, 0]  # the first and the last share a weight; the others have their own
    X = X * np.array([1.0, 1e6, 1e-3, 1.0, 1e12, 1.0])
    w = np.array([2.0, 1e-6, 1e3, 0.0, 1e-12, 6.0])
    learner = LinearRegression().fit(X, X @ w + 1.0)
    assert learner.coef_ == pytest.approx(np.append([2.0], w[1:]), rel=1e-9, abs=1e-12)
    assert learner.rank_ == 5


def problem_of(X, weights=None):
    return Problem(sp.csr_array(X), np.zeros(X.shape[0], np.int32), weights, 1)


def by_gradients(X, Y, weights=None, free=True, **how):
    solver = ConjugateGradients(problem_of(X, weights), Y, free)
    most = max(how.get("max_iter", 1000), solver.most)
    status = drive(solver, Goal(0.0, most, telling(how.get("listeners", [])))).status
    return status, solver.line(), solver.losses


CASES = {
    "tall": lambda: RNG.normal(size=(200, 20)) * (RNG.random((200, 20)) < 0.3),
    "wide": lambda: RNG.normal(size=(20, 200)) * (RNG.random((20, 200)) < 0.3),
    "deficient": lambda: np.repeat(RNG.normal(size=(60, 5)), 2, axis=1),
    "huge": lambda: 1e200 * RNG.normal(size=(50, 8)),
    "tiny": lambda: 1e-200 * RNG.normal(size=(50, 8)),
    "uneven": lambda: RNG.normal(size=(50, 4)) * np.array([1.0, 1e-30, 1e30, 1.0]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_answer_is_that_of_the_triangular_factor(case, free, weighted):
    X = CASES[case]()
    Y = RNG.normal(size=(len(X), 2)) + 5.0
    weights = RNG.random(len(X)) + 0.1 if weighted else None
    status, line, losses = by_gradients(X, Y, weights, free)
    wanted = least_squares(problem_of(X, weights), Y, free)
    assert status is Status.converged
    if case in ("wide", "deficient"):
        w, _ = shortest(X, Y, weights, free, lengths(X, weights))
        assert np.abs(line.weights - w).max() < 1e-8 * np.abs(w).max()
        assert losses[-1] == pytest.approx(wanted.loss, rel=1e-8, abs=1e-15)
        return
    size = np.abs(wanted.weights).max(axis=0) + 1e-300
    assert np.abs((line.weights - wanted.weights) / size).max() < 1e-8
    at_zero = [one.at_centre - one.weights @ one.centre for one in (line, wanted)]
    assert at_zero[0] == pytest.approx(at_zero[1], rel=1e-8, abs=1e-8)
    assert losses[-1] == pytest.approx(wanted.loss, rel=1e-8, abs=1e-15)


def one_hot(n, levels, columns):
    codes = RNG.integers(levels, size=(n, columns)) + levels * np.arange(columns)
    X = np.zeros((n, levels * columns))
    X[np.arange(n)[:, None], codes] = 1.0
    return X * 3.0 ** RNG.integers(-2, 3, levels * columns)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("dependent", [0, 3, 45])
def test_weights_are_shortest_in_units_of_the_columns(free, dependent):
    X = np.hstack([one_hot(400, 8, 6), RNG.normal(size=(400, 45)) * 10.0 ** RNG.uniform(-1, 1, 45)])
    X = np.hstack([X, X[:, 48 : 48 + dependent] * RNG.uniform(0.5, 2.0, dependent)])
    y = RNG.normal(size=(400, 1)) + 5.0
    status, line, _ = by_gradients(X, y, None, free)
    w, _ = shortest(X, y, free=free, unit=lengths(X))
    assert status is Status.converged
    assert np.linalg.norm(line.weights - w) <= 1e-8 * np.linalg.norm(w)


def test_columns_of_very_different_length_need_few_passes():
    X = RNG.normal(size=(300, 40)) * 10.0 ** RNG.uniform(-4, 0, 40)
    status, _, losses = by_gradients(X, RNG.normal(size=(300, 1)))
    assert status is Status.converged
    assert len(losses) < 60


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_change_no_byte(dtype, monkeypatch):
    monkeypatch.setattr(regression, "suits", sp.issparse)
    monkeypatch.setattr(design, "ALONE", 0)
    monkeypatch.setattr(design, "sum_spans", lambda n, d, entries: spans(n, 37))
    X = sp.random_array((300, 90), density=0.1, format="csr", rng=RNG).astype(dtype)
    y = RNG.normal(size=300)
    one, two = (LinearRegression(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert (one.coef_ == two.coef_).all() and one.intercept_ == two.intercept_
    w, b = shortest(X.toarray().astype(float), y)
    assert one.predict(X) == pytest.approx(X @ w + b, abs=1e-4 if dtype == np.float32 else 1e-9)


def test_large_sparse_rows_are_never_written_out():
    X = sp.random_array((800, 100_000), density=1e-3, format="csr", rng=RNG)
    y = RNG.normal(size=800)
    assert suits(X)
    tracemalloc.start()
    learner = LinearRegression().fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6  # of 640e6 for all entries
    assert (learner.status_, learner.rank_) == (Status.deficient, 799)
    mean = np.asarray(X.mean(axis=0))
    r = y - learner.predict(X)
    slope = X.T @ r - mean * r.sum()
    assert np.abs(r).max() < 1e-9  # more columns than rows
    assert np.abs(slope).max() < 1e-9
    # The shortest weights are a combination of the rows about their mean.
    gram = (X @ X.T).toarray() - (X @ mean)[:, None] - (X @ mean)[None] + mean @ mean
    w = X.T @ (u := np.linalg.lstsq(gram, y - y.mean(), rcond=1e-12)[0]) - mean * u.sum()
    assert learner.coef_ == pytest.approx(w, abs=1e-9 * np.abs(w).max())


def test_callbacks_see_the_weights_of_each_pass(monkeypatch):
    monkeypatch.setattr(regression, "suits", sp.issparse)
    X, y = sp.csr_array(CASES["tall"]()), RNG.normal(size=200)
    learner = LinearRegression(trace=True)
    seen = []
    learner.fit(X, y, callback=lambda done: seen.append((done.loss, learner.coef_.copy())))
    losses = [loss for loss, _ in seen]
    assert np.diff(losses).max() <= 1e-14  # but for rounding, each pass lowers it
    assert losses == learner.loss_curve_
    assert learner.n_iter_ == len(seen)
    assert (seen[-1][1] == learner.coef_).all()
    with pytest.warns(NotConverged, match="callback"):
        stopped = LinearRegression().fit(X, y, callback=lambda done: done.epoch == 2)
    assert stopped.n_iter_ == 2


def test_what_is_not_proved_is_solved_by_the_triangular_factor_where_it_fits(monkeypatch):
    X, y = CASES["tall"](), RNG.normal(size=200)
    monkeypatch.setattr(regression, "suits", sp.issparse)
    monkeypatch.setattr(conjugate_gradients, "AGAIN", 0)
    exact = LinearRegression().fit(X, y)
    assert LinearRegression(max_iter=1).fit(sp.csr_array(X), y).coef_ == pytest.approx(exact.coef_)
    monkeypatch.setattr(regression, "has_room", lambda n, d: False)
    with pytest.warns(NotConverged, match="Raise max_iter"):
        rough = LinearRegression(max_iter=1).fit(sp.csr_array(X), y)
    assert rough.status_ is Status.unfinished


def test_a_long_run_ends_where_little_is_left_to_gain(monkeypatch):
    """A square of random entries, whose singular values go down to zero without a gap."""
    X, y = sp.random_array((400, 400), density=0.05, format="csr", rng=RNG), RNG.normal(size=400)
    losses = by_gradients(X, y[:, None])[2]
    monkeypatch.setattr(conjugate_gradients, "LONG", 200.0 * X.nnz)  # a hundred passes
    status, _, shorter = by_gradients(X, y[:, None])
    assert status is Status.converged and 100 < len(shorter) < len(losses)
    assert losses[-1] <= shorter[-1] <= losses[-1] + 1e-2 * y.var() / 2
