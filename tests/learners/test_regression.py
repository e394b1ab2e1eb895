"""Linear regression: the exact minimum to its last digits, and descents that lead to it."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import check_estimator

from linsep import LinearRegression, Perceptron, Status
from linsep.data.toys import height_weight
from linsep.errors import DataError, NotConverged, OverflowedError, ParameterError

DESCENTS = ["batch", "minibatch", "sgd"]


def fit(learner, X, y, **more):
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y, **more)


def cloud(n=100, d=4, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    return X, X @ rng.standard_normal(d) + 2.0 + noise * rng.standard_normal(n)


def test_the_residuals_are_orthogonal_to_every_column():
    X, y = cloud(n=9000)
    rest = y - LinearRegression().fit(X, y).predict(X)
    assert np.abs(X.T @ rest).max() < 1e-9
    assert abs(rest.sum()) < 1e-9


@pytest.mark.parametrize("solver", DESCENTS)
def test_every_descent_leads_to_the_exact_solution(solver):
    X, y = height_weight()
    exact = LinearRegression().fit(X, y)
    learner = LinearRegression(solver, max_iter=2000, tol=1e-9).fit(X, y)
    assert learner.status_ is Status.converged
    np.testing.assert_allclose(learner.coef_, exact.coef_, rtol=1e-4)
    np.testing.assert_allclose(learner.intercept_, exact.intercept_, rtol=1e-4)
    assert learner.loss_curve_[-1] == pytest.approx(exact.loss_curve_[0], rel=1e-7)


@pytest.mark.parametrize("solver", DESCENTS)
def test_descents_do_not_mind_units_and_offsets(solver):
    X, y = cloud(d=3)
    X = X * [1e-8, 1.0, 1e8] + [1.0, 1e6, 0.0]
    exact = LinearRegression().fit(X, y)
    learner = fit(LinearRegression(solver, max_iter=2000), X, y)
    np.testing.assert_allclose(learner.predict(X), exact.predict(X), atol=2e-3)


def test_batch_descent_on_raw_features_is_the_rule_of_the_lecture():
    X, y = cloud(n=30, d=2)
    eta = 0.1
    w, b, losses = np.zeros(2), 0.0, []
    for _ in range(20):
        error = X @ w + b - y
        w, b = w - eta * X.T @ error / 30, b - eta * error.mean()
        losses.append(0.5 * np.square(X @ w + b - y).mean())
    learner = fit(LinearRegression("batch", eta0=eta, scale=False, max_iter=20, tol=0.0), X, y)
    np.testing.assert_allclose(learner.coef_, w, rtol=1e-12)
    np.testing.assert_allclose(learner.intercept_, b, rtol=1e-12)
    np.testing.assert_allclose(learner.loss_curve_, losses, rtol=1e-12)
    assert learner.status_ is Status.unfinished


@pytest.mark.parametrize(("solver", "size"), [("sgd", 1), ("minibatch", 7)])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_folds_in_file_order_are_the_rule_of_the_lecture(solver, size, layout):
    X, y = cloud(n=30, d=3)
    eta = 0.02
    w, b = np.zeros(3), 0.0
    for epoch in range(1, 4):
        for start in range(0, 30, size):
            rows = slice(start, start + size)
            error = y[rows] - X[rows] @ w - b
            w = w + eta / epoch * X[rows].T @ error / size
            b = b + eta / epoch * error.sum() / size
    learner = LinearRegression(
        solver, eta0=eta, schedule="1/t", scale=False, max_iter=3, tol=0.0, batch_size=size,
        shuffle=False,
    )  # fmt: skip
    fit(learner, layout(X), y)
    np.testing.assert_allclose(learner.coef_, w, rtol=1e-10)
    np.testing.assert_allclose(learner.intercept_, b, rtol=1e-10)


def test_the_loss_of_batch_descent_never_rises():
    X, y = cloud()
    curve = fit(LinearRegression("batch"), X, y).loss_curve_
    assert (np.diff(curve) <= 1e-15).all()


def test_it_ends_when_the_loss_hardly_changes():
    X, y = height_weight()
    rough, fine = (LinearRegression("batch", tol=t, eta0=0.1).fit(X, y) for t in (1e-3, 1e-6))
    curve = rough.loss_curve_
    assert curve[-2] - curve[-1] <= 1e-3 * y.var() / 2
    assert rough.n_iter_ < fine.n_iter_
    assert fine.loss_curve_[-1] < curve[-1]


def test_steps_too_short_to_change_the_loss_are_not_taken_for_convergence():
    X, y = height_weight()
    learner = fit(LinearRegression("batch", eta0=1e-12, max_iter=5), X, y)
    assert learner.status_ is Status.unfinished


def test_the_two_point_start_goes_through_the_first_two_rows():
    X, y = height_weight(2)
    learner = LinearRegression("batch", start="two-point").fit(X, y)
    assert learner.n_iter_ == 1
    np.testing.assert_allclose(learner.predict(X), y, rtol=1e-12)
    np.testing.assert_allclose(learner.coef_[0], (y[1] - y[0]) / (X[1, 0] - X[0, 0]), rtol=1e-12)


def test_two_points_that_agree_in_a_feature_do_not_divide_by_zero():
    X = np.array([[1.0, 5.0], [1.0, 7.0], [2.0, 6.0], [3.0, 3.0]])
    y = np.array([1.0, 2.0, 4.0, 3.0])
    for rows in (X, X[[0, 0, 2, 3]]):
        learner = fit(LinearRegression("batch", start="two-point", max_iter=3000), rows, y)
        np.testing.assert_allclose(
            learner.predict(rows), LinearRegression().fit(rows, y).predict(rows), atol=1e-3
        )


@pytest.mark.parametrize("solver", DESCENTS)
def test_steps_that_are_too_long_end_in_a_status_and_not_in_nan(solver):
    X, y = height_weight()
    learner = LinearRegression(solver, eta0=1e3, schedule="constant")
    with pytest.warns(NotConverged, match="steps are too long"):
        learner.fit(X, y)
    assert learner.status_ is Status.diverged
    assert np.isfinite(learner.coef_).all()
    assert np.isfinite(learner.predict(X)).all()


def test_raw_features_far_from_zero_are_said_not_to_have_converged():
    X, y = height_weight()
    assert fit(LinearRegression("batch", scale=False), X, y).status_ is Status.unfinished


@pytest.mark.parametrize("d", [4, 8], ids=["n > d", "n < d"])
def test_collinear_columns_get_the_shortest_weights(d):
    X, y = cloud(n=6 if d == 8 else 50, d=d)
    X[:, 3] = 2 * X[:, 0] - X[:, 1] / 2
    learner = LinearRegression().fit(X, y)
    about = X - X.mean(axis=0)
    expected = np.linalg.lstsq(about, y - y.mean(), rcond=1e-12)[0]
    np.testing.assert_allclose(learner.coef_, expected, rtol=1e-9, atol=1e-12)
    assert learner.status_ is Status.deficient
    assert learner.rank_ == np.linalg.matrix_rank(about)


def test_constant_columns_get_no_weight():
    X, y = cloud()
    wide = np.column_stack([X, np.full(len(X), 0.1), np.zeros(len(X))])
    learner = LinearRegression().fit(wide, y)
    assert learner.coef_[4:].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(learner.coef_[:4], LinearRegression().fit(X, y).coef_, rtol=1e-10)


def test_without_intercept_a_constant_column_takes_its_place():
    X, y = cloud()
    wide = np.column_stack([X, np.ones(len(X))])
    learner = LinearRegression(fit_intercept=False).fit(wide, y)
    free = LinearRegression().fit(X, y)
    assert learner.intercept_ == 0.0
    np.testing.assert_allclose(learner.coef_, [*free.coef_, free.intercept_], rtol=1e-10)


@pytest.mark.parametrize("solver", ["exact", "batch"])
@pytest.mark.parametrize(
    ("of_x", "of_y"), [(1e150, 1.0), (1e-150, 1.0), (1e300, 1e-3), (1.0, 1e300)]
)
def test_no_scale_is_too_large_or_too_small(solver, of_x, of_y):
    X, y = cloud()
    plain, scaled = (
        fit(LinearRegression(solver), X * a, y * b) for a, b in ((1.0, 1.0), (of_x, of_y))
    )
    np.testing.assert_allclose(
        scaled.predict(X * of_x) / of_y, plain.predict(X), rtol=1e-6, atol=1e-6
    )
    assert scaled.status_ is plain.status_


@pytest.mark.parametrize("offset", [1e9, 1e12, 1e15])
def test_an_offset_costs_only_the_digits_that_the_data_lose(offset):
    X, y = cloud()
    back = (X + offset) - offset
    far, near = LinearRegression().fit(X + offset, y), LinearRegression().fit(back, y)
    np.testing.assert_allclose(far.predict(X + offset), near.predict(back), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("solver", ["exact", "batch"])
def test_a_row_of_weight_three_is_three_rows(solver):
    X, y = cloud()
    times = np.random.default_rng(3).integers(0, 4, len(X))
    weighted = fit(LinearRegression(solver), X, y, sample_weight=times)
    repeated = fit(LinearRegression(solver), X.repeat(times, axis=0), y.repeat(times))
    tolerance = 1e-10 if solver == "exact" else 1e-4
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("solver", ["exact", *DESCENTS])
def test_threads_change_no_byte(solver):
    X, y = cloud(n=9000, d=6)
    one, two = (fit(LinearRegression(solver, max_iter=3, n_jobs=k), X, y) for k in (1, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert one.intercept_ == two.intercept_


@pytest.mark.parametrize("solver", ["exact", *DESCENTS])
def test_sparse_rows_lead_where_dense_rows_lead(solver):
    X, y = cloud(n=300, d=6)
    X *= np.random.default_rng(4).random(X.shape) < 0.5
    learner = fit(LinearRegression(solver), sp.csr_array(X), y)
    tolerance = 1e-12 if solver == "exact" else 1e-3
    np.testing.assert_allclose(
        learner.coef_, LinearRegression().fit(X, y).coef_, rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("solver", ["exact", *DESCENTS])
def test_several_targets_are_several_regressions(solver):
    X, y = cloud()
    Y = np.column_stack([y, 1e3 * y[::-1]])
    both = fit(LinearRegression(solver), X, Y)
    assert both.coef_.shape == (2, 4)
    assert both.predict(X).shape == Y.shape
    for t in range(2):
        alone = LinearRegression().fit(X, Y[:, t])
        tolerance = (1e-10 if solver == "exact" else 1e-2) * np.abs(alone.coef_).max()
        np.testing.assert_allclose(both.coef_[t], alone.coef_, atol=tolerance)


@pytest.mark.parametrize("solver", DESCENTS)
def test_the_same_call_gives_the_same_model_and_another_seed_another(solver):
    X, y = cloud()
    a, b, c = (fit(LinearRegression(solver, max_iter=2, random_state=s), X, y) for s in (0, 0, 1))
    assert a.coef_.tobytes() == b.coef_.tobytes()
    assert (a.coef_.tobytes() == c.coef_.tobytes()) == (solver == "batch")


def test_an_interrupt_leaves_the_best_weights_so_far():
    X, y = cloud()

    def interrupt(done):
        if done.epoch == 3:
            raise KeyboardInterrupt

    learner = fit(LinearRegression("batch", callback=interrupt), X, y)
    assert learner.status_ is Status.interrupted
    assert learner.n_iter_ == 3
    assert 0.5 * np.square(learner.predict(X) - y).mean() == pytest.approx(learner.loss_curve_[-1])


def test_a_listener_can_end_the_fit_and_see_the_model():
    X, y = cloud()
    learner = LinearRegression("sgd")
    seen = []

    def watch(done):
        seen.append(learner.score(X, y))
        return done.epoch == 2

    fit(learner, X, y, callback=watch)
    assert learner.status_ is Status.stopped
    assert len(seen) == 2


@pytest.mark.parametrize("solver", ["exact", "batch"])
def test_the_trace_holds_the_weights_after_each_pass(solver):
    X, y = cloud()
    learner = fit(LinearRegression(solver, trace=True), X, y)
    assert [p["loss"] for p in learner.trace_.passes] == learner.loss_curve_
    assert len(learner.trace_.updates) == learner.n_iter_
    np.testing.assert_array_equal(learner.trace_.updates[-1]["w"], [learner.coef_])
    assert learner.trace_.status is learner.status_


def test_float32_stays_float32():
    X, y = cloud()
    learner = LinearRegression().fit(X.astype(np.float32), y)
    assert learner.coef_.dtype == np.float32
    assert learner.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(learner.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-4)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((5, 2)), np.arange(5.0)),
        (np.full((5, 2), 0.1), np.arange(5.0)),
        (np.ones((1, 3)), [2.0]),
        (np.arange(6.0).reshape(2, 3), [1.0, 1.0]),
    ],
    ids=["zero", "constant", "one row", "constant target"],
)
@pytest.mark.parametrize("solver", ["exact", *DESCENTS])
def test_columns_without_spread_leave_the_mean(solver, X, y):
    learner = fit(LinearRegression(solver), X, y)
    np.testing.assert_allclose(learner.predict(X), np.mean(y), atol=0.05)
    assert learner.coef_.tolist() == pytest.approx([0.0] * X.shape[1], abs=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "magic"}, "solver is 'magic'"),
        ({"eta0": -1.0}, "eta0 is -1.0"),
        ({"schedule": "t"}, "schedule is 't'"),
        ({"start": "one-point"}, "start is 'one-point'"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"tol": -1}, "tol is -1"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        LinearRegression(**parameters).fit(*height_weight())


def test_targets_that_make_no_sense_are_refused():
    X, y = height_weight(5)
    with pytest.raises(DataError, match="X has 5 rows but y has 4"):
        LinearRegression().fit(X, y[:4])
    with pytest.raises(DataError, match="y contains NaN: y is nan at row 4"):
        LinearRegression().fit(X, np.append(y[:4], np.nan))
    with pytest.raises(DataError, match="y contains infinity: y is inf at row 4; give finite"):
        LinearRegression().fit(X, np.append(y[:4], np.inf))
    with pytest.raises(DataError, match="y is 'tall' at row 1; a regression predicts numbers"):
        LinearRegression().fit(X, ["1", "tall", "2", "3", "4"])
    with pytest.raises(DataError, match="y is None at row 0"):
        LinearRegression().fit(X, np.array([None, 1, 2, 3, 4], object))
    with pytest.raises(DataError, match="the target y is None"):
        LinearRegression().fit(X, None)


@pytest.mark.parametrize("solver", ["exact", "sgd"])
def test_a_regression_that_died_begins_again_and_ends_the_same(tmp_path, solver):
    X, y = cloud()
    whole = fit(LinearRegression(solver, max_iter=20), X, y).coef_.tobytes()

    def die(done):
        raise OSError("the machine went away")

    path = tmp_path / "run.ckpt"
    with pytest.raises(OSError, match="went away"):
        LinearRegression(solver, max_iter=20).fit(X, y, checkpoint=path, callback=die)
    again = fit(LinearRegression(solver, max_iter=20), X, y, checkpoint=path)
    assert again.coef_.tobytes() == whole
    other = tmp_path / "other.ckpt"
    fit(Perceptron(max_iter=2), X, y > 0, checkpoint=other)
    with pytest.raises(ParameterError, match="belongs to another fit"):
        LinearRegression(solver).fit(X, y, checkpoint=other)


def test_weights_beyond_the_range_of_floats_are_refused():
    X, y = cloud()
    with pytest.raises(OverflowedError, match="Multiply X"):
        LinearRegression().fit(X * 1e-312, y)


@pytest.mark.filterwarnings("ignore")
def test_it_keeps_the_contract_of_scikit_learn():
    results = check_estimator(LinearRegression(), on_fail=None)
    assert [r["check_name"] for r in results if r["status"] in ("failed", "xfail")] == []
