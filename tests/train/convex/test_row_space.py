"""Few rows of many features, in coordinates of the space they span."""

import numpy as np
import pytest

from linsep import LinearSVC, LogisticRegression
from linsep.train.convex.basis import better_basis
from linsep.train.convex.row_space import RowSpace


def wide(n=40, d=3000, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) * np.geomspace(3, 0.03, d) + 2).astype(dtype)
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 2, 1, -1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("centre", [True, False])
def test_scores_and_lengths_are_those_of_the_rows(dtype, centre):
    X, _ = wide(dtype=dtype)
    space = RowSpace.of(X, centre)
    assert space.Z.shape == (40, 39 if centre else 40)  # less their mean, rows sum to zero
    u = np.random.default_rng(1).standard_normal((3, space.Z.shape[1]))
    w, b = space.outside(u, np.array([0.1, 0.2, 0.3]))
    assert np.allclose(X.astype(float) @ w.T + b, space.Z @ u.T + [0.1, 0.2, 0.3])
    assert np.allclose(np.linalg.norm(w, axis=1), np.linalg.norm(u, axis=1))
    back, at = space.inside(w, b)
    assert np.allclose(back, u) and np.allclose(at, [0.1, 0.2, 0.3])


def test_rows_that_others_span_take_no_coordinate():
    X, _ = wide()
    X[20:] = X[:20]
    assert RowSpace.of(X, centre=False).Z.shape == (40, 20)
    X[20:] += 3 * X[5]
    assert RowSpace.of(X, centre=True).Z.shape == (40, 20)


def test_a_row_near_the_span_of_others_is_left_to_an_orthogonal_factor():
    X, _ = wide()
    X[39] = X[0]
    X[39, 7] += 1e-6
    assert RowSpace.of(X, centre=False) is None
    basis = better_basis(X, 1.0, centre=False)
    u = np.random.default_rng(1).standard_normal(basis.Z.shape[1])
    w, b = basis.outside(u, 0.5)
    assert basis.Z.shape == (40, 40) and np.allclose(X @ w + b, basis.Z @ u + 0.5)


@pytest.mark.parametrize("factor", [0.0, 1e-160, 1e160])
def test_rows_whose_squares_leave_the_range_of_floats_have_no_products(factor):
    assert RowSpace.of(wide()[0] * factor, centre=True) is None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(tol=1e-8),
        LogisticRegression(tol=1e-8, fit_intercept=False, C=30.0),
        LinearSVC(tol=1e-8),
        LinearSVC(tol=1e-8, fit_intercept=False, C=0.01),
        LinearSVC(loss="squared_hinge", tol=1e-8),
    ],
    ids=repr,
)
def test_wide_rows_converge_to_one_optimum_in_any_order(learner, seed):
    X, y = wide(n=60, d=2500, seed=3)
    order = np.random.default_rng(seed).permutation(60)
    learner.fit(X[order], y[order])
    assert learner.status_.name == "converged" and learner.gap_ <= 1e-6  # rounding included
    w = learner.coef_[0]
    rest = w - np.linalg.lstsq(X.T, w, rcond=None)[0] @ X
    assert np.linalg.norm(rest) <= 1e-9 * np.linalg.norm(w)  # a combination of the rows


def test_several_classes_share_the_coordinates_and_go_on_from_weights():
    X, _ = wide(n=45)
    y = np.arange(45) % 3
    cold = LinearSVC(tol=1e-6).fit(X, y)
    warm = LinearSVC(tol=1e-6, warm_start=True, C=0.5).fit(X, y).set_params(C=1.0).fit(X, y)
    assert cold.status_.name == warm.status_.name == "converged"
    assert np.allclose(cold.coef_, warm.coef_, atol=1e-4)
