"""Steps of all multipliers at no bound: their equations, their bounds, and what D gains."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LinearSVC
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.drive import Candidate
from linsep.train.convex.dual import face as face_steps
from linsep.train.convex.dual.coordinate_descent import FaceSchedule
from linsep.train.convex.dual.design import Design
from linsep.train.convex.dual.dual_losses import Hinge, SquaredHinge
from linsep.train.convex.dual.face import Face
from linsep.train.convex.dual.intercept import best_intercept
from linsep.train.convex.dual.kernels import ALPHA
from linsep.train.convex.dual.state import DualState
from linsep.train.convex.gap_trend import GapTrend


def rows(sparse, n=60, d=90):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d)) * rng.lognormal(0, 1, (n, 1)) * (rng.random((n, d)) < 0.4)
    signs = np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0, 1.0, -1.0)
    return (sp.csr_matrix(X) if sparse else X), X, signs


@pytest.mark.parametrize("free", [False, True], ids=["no intercept", "intercept"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("h", [0.0, 0.3])
def test_a_direction_solves_the_equations_of_its_face(sparse, free, h, monkeypatch):
    monkeypatch.setattr(face_steps, "BEYOND", 1.0)  # as if there were no bounds
    given, X, signs = rows(sparse)
    chosen = np.arange(0, 60, 2, dtype=np.uint32)
    y, alpha, n = signs[chosen], np.linspace(0.1, 0.9, 30), 30
    w = np.random.default_rng(0).standard_normal(90) / 50
    with Pool(1) as pool:
        design = Design(given, free, pool)
        mean = design.centre if sparse else design.rows.centre
        face = Face(design, chosen, y, alpha, np.ones(n), np.full(n, h), free, pool)
        delta, shift, products = face.direction(w, 0.2, 1e-12, 0.0, 500)
    Z = (X - (mean if len(mean) else 0.0))[chosen] * y[:, None]
    Q, r = Z @ Z.T + h * np.eye(n), 1 - Z @ w - 0.2 * y - h * alpha
    system = np.block([[Q, y[:, None]], [y[None], np.zeros((1, 1))]]) if free else Q
    exact = np.linalg.solve(system, np.append(r, 0.0) if free else r)
    assert np.allclose(delta, exact[:n], rtol=1e-5, atol=1e-7) and products <= 500
    assert shift == pytest.approx(exact[n] if free else 0.0, abs=1e-6)


@pytest.mark.parametrize("free", [False, True], ids=["no intercept", "intercept"])
def test_a_step_stays_within_the_bounds_and_keeps_the_sum(free):
    given, X, signs = rows(False)
    chosen = np.arange(60, dtype=np.uint32)
    alpha, caps = np.full(60, 0.01), np.full(60, 0.02)
    with Pool(1) as pool:
        design = Design(given, False, pool)
        face = Face(design, chosen, signs, alpha, caps, np.zeros(60), free, pool)
        w = (alpha * signs) @ X
        delta, _, _ = face.direction(w, 0.0, 1e-6, 0.0, 500)
        step = face.search(w, 50.0 * delta)
    assert step.met and step.gain > 0.0
    assert (step.alpha >= 0).all() and (step.alpha <= caps).all()
    if free:
        assert signs @ step.alpha == pytest.approx(signs @ alpha, abs=1e-12)
    v = (step.alpha * signs) @ X
    assert np.allclose(w + step.moved, v)
    before, after = alpha.sum() - 0.5 * w @ w, step.alpha.sum() - 0.5 * v @ v
    assert step.gain == pytest.approx(after - before)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=["hinge", "squared hinge"])
@pytest.mark.parametrize("free", [False, True], ids=["no intercept", "intercept"])
def test_steps_on_faces_raise_the_dual_and_count_their_visits(loss, free):
    given, X, signs = rows(True, 300, 400)
    with Pool(1) as pool:
        design = Design(given, free, pool)
        caps = np.full(300, 2.0)
        state = DualState(design, signs, caps, loss, free=free, lanes=1, seed=0, pool=pool)
        for _ in range(3):
            state.one_pass(1)
        before, made = state.evaluate().dual, state.visits
        assert state.step_on_faces(0, 10**9, 1e-6, 0.0) == (0.0, False)
        assert state.visits == made  # no face has settled, and no visits are allowed
        gain, _ = state.step_on_faces(100_000, 10**9, 1e-6, 0.0)
        after = state.evaluate()
        assert made < state.visits <= made + 110_000 and state.n_iter == -(-state.visits // 300)
    assert after.dual > before and after.dual <= after.primal
    if not free:  # otherwise multipliers are balanced before
        assert after.dual - before == pytest.approx(gain)
    alpha = state.points[:, ALPHA]
    mean = design.centre if len(design.centre) else 0.0
    assert np.allclose(state.w, (alpha * signs) @ (X - mean))


def clicks(n):
    """Rows of 24 features among 1.3 n, of very unequal frequency."""
    rng = np.random.default_rng(0)
    ids = (np.logspace(1, 5, 24) ** rng.random((n, 24))).astype(np.int64)
    d = int(1.3 * n)
    columns = (ids * 2654435761 + np.arange(24) * 40503) % d
    X = sp.csr_matrix((np.ones(24 * n), columns.ravel(), np.arange(0, 24 * n + 1, 24)), (n, d))
    X.sum_duplicates()
    scores = 0.35 * (X @ rng.standard_normal(d)) - 1.9
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-scores)), 1, -1)


def test_faces_that_change_all_the_time_are_left_to_descent():
    X, y = clicks(10_000)
    model = LinearSVC(loss="hinge", fit_intercept=False, max_iter=110).fit(X, y)
    assert model.status_ is Status.converged  # 135 passes with steps at every evaluation


def test_steps_on_faces_in_vain_wait_until_descent_has_made_twice_their_visits():
    faces = FaceSchedule()
    faces.evaluated(100, 5.0)
    assert faces.pace(200, 7.0) == 0.02 and faces.due(200)
    faces.stepped(50, 250, worth=False)
    assert faces.spent == 50 and not faces.due(349) and faces.due(350)
    faces.stepped(50, 400, worth=True)
    assert faces.spent == 100 and faces.due(400)


def test_more_rows_on_the_margin_than_features_are_no_face_of_the_hinge():
    given, _, signs = rows(False, 300, 4)
    with Pool(1) as pool:
        design = Design(given, True, pool)
        for loss, there in ((Hinge(), False), (SquaredHinge(), True)):
            caps = np.full(300, 1.0)
            state = DualState(design, signs, caps, loss, free=True, lanes=1, seed=0, pool=pool)
            state.points[:, ALPHA] = 0.5
            assert (state.face() is not None) is there


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=["hinge", "squared hinge"])
def test_the_best_intercept_has_the_smallest_loss(loss):
    rng = np.random.default_rng(1)
    points, scores = np.zeros((50, 8)), 3 * rng.standard_normal(50)
    points[:, 0] = np.where(rng.random(50) < 0.4, 1.0, -1.0)
    points[:, 1] = rng.random(50)

    def lost(b):
        return sum(
            loss.value(y * (s + b), U) for (y, U), s in zip(points[:, :2], scores, strict=True)
        )

    best = best_intercept(loss, points, scores, 0.0)
    assert all(lost(best) <= lost(best + away) + 1e-9 for away in (-1, -1e-2, -1e-4, 1e-4, 1e-2, 1))


def test_a_gap_that_has_fallen_slowly_of_late_takes_long():
    trend = GapTrend()
    lefts = [
        trend.passes_left(Candidate(n, 1.0, 1.0 - gap), 1e-4)
        for n, gap in ((10, 0.1), (20, 0.01), (40, 0.005), (80, 0.005))
    ]
    assert lefts[1] == pytest.approx(20.0) and lefts[2] > 80 and lefts[3] == np.inf
    assert trend.passes_left(Candidate(90, 1.0, 1.0 - 1e-5), 1e-4) == 0.0
