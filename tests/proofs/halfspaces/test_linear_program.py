"""One linear programme proposes a separator, or multipliers that exclude one."""

import numpy as np
import pytest

from linsep.proofs.halfspaces.linear_program import polish, propose


@pytest.mark.parametrize("seed", range(5))
def test_where_a_direction_exists_one_is_proposed(seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((200, 6))
    M *= np.sign(M @ rng.standard_normal(6))[:, None]
    proposal = propose(M)
    assert proposal.multipliers is None and (M @ proposal.direction).min() > 0
    deep = propose(M, depth=0.5).direction
    unit = M / np.linalg.norm(M, axis=1)[:, None]

    def depth(v):
        return (unit @ v).min() / np.linalg.norm(v)

    assert depth(deep) > 0


@pytest.mark.parametrize("shape", [(200, 6), (8, 20)], ids=["tall", "wide"])
def test_where_none_exists_multipliers_annihilate_the_rows(shape):
    rng = np.random.default_rng(1)
    M = rng.standard_normal(shape)
    M[-1] = -M[:-1].sum(axis=0)  # the rows themselves add up to zero
    proposal = propose(M)
    assert proposal.direction is None and proposal.multipliers.min() >= 0
    assert proposal.multipliers.sum() == pytest.approx(1.0)
    assert np.abs(M.T @ proposal.multipliers).max() < 1e-10


def test_a_row_of_zeros_is_a_relation_by_itself_and_no_number_proposes_nothing():
    assert propose(np.array([[1.0, 0.0], [0.0, 0.0]])).multipliers.tolist() == [0.0, 1.0]
    assert propose(np.array([[1.0, np.inf]])) == (None, None)


def test_polished_multipliers_cancel_as_well_as_floats_can():
    M = np.array([[1.0, 2.0], [-3.0, 1.0], [1.0, -5.0]])
    exact = np.linalg.solve(np.vstack([M.T, np.ones(3)]), [0.0, 0.0, 1.0])
    assert np.allclose(polish(M, exact + np.array([1e-4, -2e-4, 1e-4])), exact, atol=1e-14)
    assert polish(np.eye(2), np.array([0.5, 0.5])) is None
