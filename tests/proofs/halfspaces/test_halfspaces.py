"""Constraints that are never written out have the values of those that are."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.proofs.halfspaces.halfspaces import Halfspaces


def kesler(X, codes, K, constant):
    """Every constraint as a row: two classes by sign, many by blocks."""
    Z = np.column_stack([X, np.full(len(X), constant)])
    if K == 2:
        return Z * np.where(codes == 1, 1, -1)[:, None]
    rows = []
    for z, y in zip(Z, codes, strict=True):
        for k in range(K):
            row = np.zeros((K, len(z)))
            row[y] += z
            row[k] -= z
            rows.append(row.ravel())
    return np.array(rows)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("K", [2, 3])
def test_values_rows_and_combinations_are_those_of_the_constraints(K, intercept, layout):
    rng = np.random.default_rng(K)
    X, codes = rng.integers(-3, 4, (20, 4)).astype(float), np.arange(20) % K
    problem = Halfspaces.of(layout(X), codes, intercept)
    Z = kesler(X, codes, K, float(intercept))
    ids = problem.all()
    assert len(ids) == problem.count == 20 * (K - 1)
    v = rng.standard_normal(problem.dimension)
    values = problem.values(v)
    assert np.allclose(values[ids], Z[ids] @ v)
    assert np.isinf(values[np.setdiff1d(np.arange(len(Z)), ids)]).all()
    assert problem.take(ids, np.arange(4)).tolist() == Z[ids].tolist()
    some = ids[::3]
    alpha = rng.random(len(some))
    total = (alpha @ Z[some]).reshape(problem.blocks, -1)[:, :-1]
    assert np.allclose(problem.combine(some, alpha), total)
    assert all(problem.codes[problem.rows_of(ids)] != problem.rivals_of(ids)) if K > 2 else True


def test_columns_that_are_zero_in_some_rows_are_left_out_and_come_back():
    X = np.array([[1.0, 0.0, 2.0], [3.0, 0.0, 0.0], [0.0, 5.0, 0.0]])
    problem = Halfspaces.of(X, np.array([0, 1, 1]))
    columns = problem.columns_of(np.array([0, 1]))
    assert columns.tolist() == [0, 2]
    assert problem.spread(np.array([7.0, 8.0, 9.0]), columns).tolist() == [7.0, 0.0, 8.0, 9.0]
    assert problem.penalty(2).tolist() == [1.0, 1.0, 0.0]


def test_columns_of_any_size_meet_as_equals_and_whole_weights_keep_their_proportions():
    X = np.array([[1e300, 1e-300], [-1e300, 1e-300], [1e300, -1e-300]])
    problem = Halfspaces.of(X, np.array([0, 1, 1]))
    assert (
        problem.extreme_scale and np.abs(problem.features(problem.all(), np.arange(2))).max() <= 1
    )
    tame = Halfspaces.of(np.eye(2), np.array([0, 1]))
    f, top = tame.as_floats([3, -6, 12])
    assert np.ldexp(f, top).tolist() == [3.0, -6.0, 12.0]


def test_some_constraints_are_of_every_class():
    problem = Halfspaces.of(np.arange(300.0)[:, None], np.repeat([0, 1, 2], [280, 10, 10]))
    some = problem.some(30)
    assert set(problem.codes[problem.rows_of(some)]) == {0, 1, 2} and len(some) < 150
    assert problem.sides(np.array([1, 2])) == [[(0, 1), (1, -1)], [(0, 1), (2, -1)]]
