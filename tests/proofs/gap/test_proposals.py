"""Multipliers read off the weights of a machine: those of the optimum, where that is what it is."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.data import toys
from linsep.proofs.gap.certificate import FittedProblem
from linsep.proofs.gap.proposals import hinge_multipliers, joint_multipliers
from proofs.gap.second_prover import HINGE
from proofs.gap.test_second_prover import optimum


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("seed", range(3))
def test_at_the_optimum_they_make_up_the_weights(seed, layout):
    X, y = toys.overlapping(n=80, d=4, distance=1.5, seed=seed)
    C = np.random.default_rng(seed).uniform(0.2, 3.0, 80)
    w, b = optimum(HINGE, X, y, C, True)
    asked = FittedProblem(layout(X), (y > 0).astype(int), C, w[None], np.array([b]), True)
    alpha = hinge_multipliers(asked, 0, y.astype(float))
    assert np.allclose((alpha * y) @ X, w, atol=1e-7) and abs(alpha @ y) < 1e-7
    assert alpha.min() >= 0 and (alpha <= C * (1 + 1e-12)).all()


def test_a_joint_machine_leaves_for_the_class_that_costs_most():
    X, codes = np.array([[1.0], [2.0], [-1.0]]), np.array([0, 1, 2])
    asked = FittedProblem(X, codes, 2.0, np.array([[0.0], [1.0], [3.0]]), np.zeros(3), True)
    assert joint_multipliers(asked).tolist() == [[0, 0, -2.0], [0, 0, -2.0], [-2.0, 0, 0]]
