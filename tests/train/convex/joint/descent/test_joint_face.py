"""Steps of all multipliers of Crammer and Singer's machine that are at no bound."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.rows.rows import CSR
from linsep.status import Status
from linsep.train.convex.joint.descent import face as joint_face
from linsep.train.convex.joint.descent.crammer_singer import Joint, solve
from linsep.train.convex.joint.descent.face import JointFace, Products


def alike(seed, n=600, d=60, K=5):
    """Classes that overlap, in columns that say nearly the same."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, K, n)
    X = rng.normal(size=(n, d)) + rng.normal(size=(K, d))[codes]
    return X @ rng.normal(size=(d, d)) * 0.05 + 0.5, codes


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_a_step_that_meets_no_bound_is_the_best_on_its_face(layout, free, monkeypatch):
    monkeypatch.setattr(joint_face, "PROGRESS", 0.0)
    X, codes = alike(0, n=12, d=100)
    joint = Joint(layout(X), codes, np.full(12, 1e3), 5, free)
    rng = np.random.default_rng(1)
    a = np.zeros((12, joint.W.shape[1] if isinstance(joint.rows, CSR) else 5))
    a[:, :5] = rng.dirichlet(np.ones(5), 12) * 1e3
    a[:, 3] = 0.0
    a *= 1e3 / a.sum(axis=1)[:, None]
    s = np.zeros_like(a)
    s[:, :5] = rng.normal(size=(12, 5)) * 0.1
    products = Products(joint.rows, np.arange(12), joint.W, Pool(1))
    lengths = joint.squares + joint.rho
    step = JointFace(products, a, s, joint.caps, lengths, joint.rho).step(1e-7, 500)
    assert not step.met
    np.testing.assert_allclose(step.a.sum(axis=1), 1e3)
    assert not step.a[:, 3].any()
    change = step.a - a
    left = s - products.scores(products.weights(change)) - joint.rho * change.sum(axis=0)
    left = left[:, [0, 1, 2, 4]]
    np.testing.assert_allclose(
        left, np.broadcast_to(left.mean(axis=1)[:, None], left.shape), atol=1e-6
    )


def test_a_step_on_a_face_raises_the_dual_by_its_gain_and_stays_within_bounds():
    X, codes = alike(2)
    joint = Joint(X, codes, np.ones(len(X)), 5, False)
    for number in range(1, 6):
        joint.go(0, number, 1e-9)

    def dual():
        W = joint.combination(joint.A)
        return joint.A[np.arange(len(X)), codes].sum() - 0.5 * np.sum(W**2)

    before = dual()
    joint.step_on_faces(1e-9, Pool(1))
    assert dual() > before
    leave = joint.A.copy()
    leave[np.arange(len(X)), codes] = 0.0
    assert leave.max() <= 0.0
    assert joint.A.max() <= joint.caps[0] * (1 + 1e-12)
    np.testing.assert_allclose(joint.A.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(joint.W, joint.combination(joint.A), atol=1e-9)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_columns_that_say_nearly_the_same_take_few_passes(layout, free):
    X, codes = alike(3)
    given = {"n_classes": 5, "fit_intercept": free, "tol": 1e-6, "max_iter": 40}
    solution = solve(layout(X), codes, C=10.0, **given)
    assert solution.status is Status.converged


def test_threads_change_no_byte_of_steps_on_faces():
    X, codes = alike(4, n=3000)
    one, two = (solve(X, codes, n_classes=5, fit_intercept=False, n_jobs=j) for j in (1, 2))
    assert one.w.tobytes() == two.w.tobytes()
