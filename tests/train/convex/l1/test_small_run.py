"""Proximal Newton steps in one compiled call."""

import numpy as np
import pytest

from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.l1 import small
from linsep.train.convex.l1.prox_newton import ProxNewton
from linsep.train.convex.l1.small import SmallProxNewton
from linsep.train.convex.l1.small_run import CLOSED, MORE
from linsep.train.convex.penalties import LASSO


def problem(n, d, seed=0, scales=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1))
    y = np.where(X[:, : max(1, d // 3)].sum(axis=1) + rng.standard_normal(n) > 0.3, 1.0, -1.0)
    return X * scales, y


def objective(X, y, w, b):
    return float(np.logaddexp(0.0, -y * (X @ w + b)).sum() + np.abs(w).sum())


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("n, d", [(60, 1), (200, 10), (80, 100), (5000, 5)])
@pytest.mark.parametrize("uneven", [False, True])
def test_it_ends_where_working_sets_end(n, d, free, uneven):
    scales = 10.0 ** np.linspace(-2, 3, d) if uneven else 1.0
    X, y = problem(n, d, seed=d, scales=scales)
    answer = small.solve_at_once(X, y, np.ones(n), free, 1.0, 1e-7, 200)
    other = drive(ProxNewton(X, y, None, 1.0, LASSO, fit_intercept=free), Goal(1e-9, 1000))
    assert answer is not None and answer.gap <= 1e-7 * answer.primal
    assert objective(X, y, answer.w, answer.b) == pytest.approx(answer.primal, rel=1e-10)
    assert answer.primal == pytest.approx(other.primal, rel=1.1e-7)
    assert answer.dual <= other.primal * (1 + 1e-12)


def test_its_multipliers_are_a_point_of_the_dual():
    X, y = problem(300, 20)
    answer = small.solve_at_once(X, y, np.ones(300), True, 1.0, 1e-6, 200)
    a = answer.alpha
    assert (a >= 0).all() and (a <= 1).all() and abs(a @ y) <= 1e-9
    assert np.abs(X.T @ (a * y)).max() <= 1.0
    inside = a[(a > 0) & (a < 1)]
    entropy = -(inside * np.log(inside) + (1 - inside) * np.log1p(-inside)).sum()
    assert entropy == pytest.approx(answer.dual, rel=1e-12)


def test_one_step_at_a_time_has_the_bytes_of_all_at_once():
    X, y = problem(300, 20)
    whole = small.begin(X, y, np.ones(300), True, 1.0, None)
    assert whole.go(1e-6, 100) == CLOSED
    parts, ending = small.begin(X, y, np.ones(300), True, 1.0, None), MORE
    while ending == MORE:
        ending = parts.go(1e-6, 1)
    assert ending == CLOSED and parts.steps == whole.steps
    assert parts.best.tobytes() == whole.best.tobytes()
    assert parts.alpha.tobytes() == whole.alpha.tobytes()


def test_it_goes_on_from_a_state():
    X, y = problem(300, 20)
    given = (X, y, None, 1.0, LASSO)
    whole = drive(SmallProxNewton(*given, watched=True), Goal(1e-6, 100))
    first = SmallProxNewton(*given, watched=True)
    first.tol = 1e-6
    seen = next(first.candidates())
    again = SmallProxNewton(*given, watched=True)
    again.restore(first.state())
    later = again.candidates()
    again.tol = 1e-6
    assert next(later) == seen
    for candidate in later:
        if candidate.within(1e-6):
            break
    assert again.solution().w.tobytes() == whole.w.tobytes()


def test_rows_of_no_weight_count_for_nothing():
    X, y = problem(300, 8)
    weights = np.ones(300)
    weights[200:] = 0.0
    one = small.solve_at_once(X, y, weights, True, 1.0, 1e-7, 100)
    two = small.solve_at_once(X[:200], y[:200], np.ones(200), True, 1.0, 1e-7, 100)
    np.testing.assert_allclose(one.w, two.w, rtol=1e-9, atol=1e-12)


def test_extreme_columns_wide_rows_and_other_penalties_do_not_suit():
    X, _ = problem(50, 4)
    assert small.suits(X, 0.0)
    assert not small.suits(X, 0.5)
    assert not small.suits(X * [1e12, 1, 1, 1], 0.0)
    assert not small.suits(np.ones((10, small.WIDEST + 1)), 0.0)


def test_a_gap_that_a_step_foretells_is_closed_without_making_it():
    X, y = problem(300, 20)
    best = small.solve_at_once(X, y, np.ones(300), True, 1.0, 1e-7, 100)
    run = small.begin(X, y, np.ones(300), True, 1.0, (best.w * 1.002, best.b))
    assert run.go(1e-4, 10) == CLOSED and run.steps == 0
    assert run.best[:-1].tobytes() == (best.w * 1.002).tobytes()
    assert best.primal <= run.primal <= run.dual + 1e-4 * run.primal


@pytest.mark.parametrize("seed", range(5))
def test_many_rows_begin_where_one_in_eight_of_them_end(seed):
    X, y = problem(20_000, 6, seed)
    caps = np.ones(len(y))
    b, w = (u := small.begin(X, y, caps, True, 1.0, None).u)[-1], u[:-1]
    best = small.solve_at_once(X, y, caps, True, 1.0, 1e-7, 100)
    # seven parameters cost n rows about 7/2 of the sum of losses for each time that they are fewer
    assert objective(X, y, w, b) <= best.primal + 3 * small.SAMPLE * 7 / 2
