"""Planes with rows on them but none on the wrong side, or rows that exclude even those."""

import numpy as np
import pytest

from linsep.proofs.exact.integers import whole
from linsep.proofs.halfspaces.column_ranges import ranges
from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.proofs.halfspaces.witness import Witness
from linsep.proofs.separability.quotient import float_step
from linsep.proofs.separability.weak_separation import axis, weak_separator
from proofs.rational_lp import kind

# the rows at 1 are of both classes: whatever separates passes through them
TOUCHING = np.array([[0.0, 3.0], [1.0, 0.0], [1.0, 0.0], [2.0, -1.0]]), np.array([0, 0, 1, 1])
CROSSED = np.array([[0.0], [2.0], [1.0], [3.0], [-1.0]]), np.array([0, 0, 1, 1, 1])


def asked(X, codes):
    problem = Halfspaces.of(X, codes)
    return problem, ranges(X, codes, problem.n_classes)


def test_a_column_on_which_classes_meet_at_one_value_is_a_plane():
    problem, columns = asked(*TOUCHING)
    W, b = axis(problem, columns)
    z = problem.values(np.append(W[0], b[0]))
    assert z.min() == 0 and z.max() > 0
    assert axis(*asked(*CROSSED)) is None


@pytest.mark.parametrize("data", [TOUCHING, CROSSED], ids=["touching", "crossed"])
def test_a_face_is_a_leaning_plane_or_rows_that_span_all(data):
    problem, columns = asked(*data)
    Z = problem.take(problem.all(), np.arange(problem.n_features))
    pair = Witness(np.array([1, 2]), [1, 1])  # equal rows, or two that cross with a third
    if data is CROSSED:
        pair = Witness(np.array([0, 2, 4]), [2, 1, 1])
        assert not np.any(np.array(pair.multipliers) @ Z[pair.ids])
    proposed = weak_separator(problem, columns, pair)
    if kind(Z.astype(int).tolist()) == "quasi-separable":
        z = Z.astype(int) @ np.array(proposed.leaning)
        assert z.min() == 0 and z.max() > 0
    else:
        ids, multipliers = proposed.spanning
        assert min(multipliers) > 0 and not np.any(np.array(multipliers) @ Z[ids].astype(int))
        rank = np.linalg.matrix_rank(Z[ids]) + len(proposed.normals)
        assert rank == problem.dimension
        assert not np.any(Z @ np.array(proposed.normals, float).reshape(-1, problem.dimension).T)


def test_beside_the_forced_rows_floats_find_the_same_plane():
    X, codes = TOUCHING
    problem = Halfspaces.of(X, codes)
    columns, forced = np.arange(problem.dimension), np.array([1, 2])
    numbers = whole(problem.take(forced, np.arange(problem.n_features)))
    step = float_step(problem, columns, forced, numbers)
    z = problem.take(problem.all(), np.arange(2)) @ np.array(step.leaning, float)
    assert z[1] == z[2] == 0 and z[0] > 0 and z[3] > 0
