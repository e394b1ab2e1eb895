"""What the convex solvers share: coordinates, bases, curvature, memory, sampling, penalties."""

import math

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.train.closed.frame import frame_of
from linsep.train.convex.basis import better_basis
from linsep.train.convex.coordinates import Blocks, prepare, spread
from linsep.train.convex.curvature import Curvature, asked_for, at_rounding, decrease_left
from linsep.train.convex.designs.design import Design
from linsep.train.convex.penalties import Elastic, highest
from linsep.train.convex.sampling import drawn, pick
from linsep.train.convex.solution import Solution
from linsep.train.convex.solvers.lbfgs import Memory
from linsep.train.convex.steps.standardise import View, lens_of, raw_lens
from linsep.train.problem import Problem


def rows(n=300, d=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_columns_carry_weights_there_and_back_with_the_same_scores():
    X = rows() * [1e-9, 1.0, 1e9, 1.0, 1.0] + [0.0, 1e4, 0.0, 0.0, 0.0]
    columns = prepare(X, spread(X), True, 1e-3)
    assert columns.scale.size and columns.shift[1] != 0
    w, b = rows(1)[0] / [1e-9, 1.0, 1e9, 1.0, 1.0], 0.5
    u, a = columns.inside(w, b)
    assert np.allclose(columns.outside(u, a)[0], w) and columns.outside(u, a)[1] == pytest.approx(b)
    Z = Blocks(X, columns).rows(slice(0, 300))
    assert np.allclose(Z @ u + a, X @ w + b, atol=1e-6) and np.abs(Z).max() < 1e3
    assert not prepare(rows(), spread(rows()), True, 1e-3).scale.size  # tame: no copy


def test_spread_is_mean_and_deviation_even_of_extreme_columns():
    X = rows() * [1e-200, 1.0, 1e200, 1.0, 0.0] + [0, 0, 0, 7, 3]
    mean, deviation = spread(X)
    assert np.allclose(mean, X.mean(axis=0)) and deviation[4] == 0.0
    assert np.allclose(deviation[[1, 3]], X[:, [1, 3]].std(axis=0))
    assert deviation[2] == pytest.approx(1e200 * (X[:, 2] / 1e200).std())


@pytest.mark.parametrize(("shape", "C"), [((8, 40), 1.0), ((60, 4), math.inf)])
def test_a_better_basis_keeps_scores_and_where_penalised_lengths(shape, C):
    X = rows(*shape) * 3 + 1
    basis = better_basis(X, C, centre=True)
    u, b = rows(1, basis.Z.shape[1])[0], 0.7
    w, c = basis.outside(u, b)
    assert np.allclose(X @ w + c, basis.Z @ u + b)
    assert np.allclose(basis.inside(w, c)[0], u)
    if C == 1.0:
        assert np.linalg.norm(w) == pytest.approx(np.linalg.norm(u))
    assert better_basis(rows(), 1.0, True) is None


def test_curvature_solves_and_knows_what_it_leaves_out():
    A = rows(20, 4)
    H, g = A.T @ A, rows(1, 4)[0]
    curved = Curvature(H)
    assert np.allclose(H @ curved.solve(g), g) and not curved.singular
    Q = curved.whiten()
    assert np.allclose(Q @ Q.T, np.linalg.inv(H))
    flat = Curvature(np.outer([1.0, 2.0], [1.0, 2.0]))
    assert flat.singular and flat.overlooks(np.array([2.0, -1.0]))
    assert not flat.overlooks(np.array([1.0, 2.0]))


def test_newtons_decrement_bounds_what_is_left_of_a_logistic_loss():
    # F(t) = log(1 + e^t) − t/4 has its least value at σ(t) = 1/4
    least = math.log(4 / 3) + math.log(3) / 4
    for t in (-0.9, -1.0, -1.05):
        s = 1 / (1 + math.exp(-t))
        slope, curvature = s - 0.25, s * (1 - s)
        left = decrease_left(slope**2 / curvature, 1 / curvature)
        assert left >= math.log1p(math.exp(t)) - t / 4 - least >= 0
    assert asked_for(1e-3, math.inf) < 1e-9 and at_rounding(1e-17, 1e-17, 1.0, 0.0)
    assert not at_rounding(1e-3, 1.0, 1.0, 0.5)


def test_the_memory_is_exact_along_remembered_steps():
    H = np.diag([1.0, 10.0, 100.0])
    memory = Memory(5)
    for s in np.eye(3):
        memory.add(s, H @ s)
    g = np.array([3.0, 20.0, 500.0])
    assert np.allclose(memory.apply(g, lambda v: v), np.linalg.solve(H, g))
    memory.add(np.ones(3), np.zeros(3))  # no curvature to be seen: not remembered
    assert len(memory.pairs) == 3


def test_chosen_rows_stand_for_all():
    X = rows(40_000, 4)
    X[7] = 50.0  # far away: never left out
    chosen, chance = pick(Design(X), np.ones(1), 4000, Pool(1))
    assert 7 in chosen and 3000 < len(chosen) < 5000
    assert (1 / chance).sum() == pytest.approx(40_000, rel=0.05)
    assert drawn(np.array([1.0, 0.0, 1.0]), 3).tolist() == [True, False, True]
    assert drawn(np.full(10_000, 0.3), 1).sum() == pytest.approx(3000, rel=0.1)


@pytest.mark.parametrize("ratio", [0.0, 0.4, 1.0])
def test_the_conjugate_of_a_penalty_is_the_largest_of_its_differences(ratio):
    penalty, V = Elastic(ratio, 1 - ratio), np.array([0.3, -0.9, 0.05])
    W = rows(20_000, 3) * 2
    values = W @ V - np.array([penalty.value(w) for w in W])
    room = penalty.room(2 * V)
    assert penalty.conjugate(V) >= values.max() - 1e-12
    assert room == (1.0 if ratio < 1 else pytest.approx(1 / 1.8))
    s, best = highest(lambda s: s * 0.7, penalty, V)
    assert best == pytest.approx(0.7 * s - penalty.conjugate(s * V)) and best >= 0


def test_columns_are_seen_with_mean_zero_and_mean_square_one():
    X = rows() * [1e-6, 1.0, 1e6, 3.0, 0.0] + [0, 5, 0, 0, 2]
    problem = Problem(X, np.zeros(300, np.int32), None, 1)
    frame = frame_of(problem)
    Z = lens_of(problem, frame, centre=True).of(X)
    assert np.allclose(Z.mean(axis=0)[:4], 0, atol=1e-9)
    assert np.allclose((Z**2).mean(axis=0)[:4], 1) and not Z[:, 4].any()
    X = rows() * [3.0, 1.0, 1.0, 1.0, 1.0]
    plain = Problem(X, np.zeros(300, np.int32), None, 1)
    view = View(plain, frame_of(plain), raw_lens(5), free=False)
    largest = np.linalg.eigvalsh(X.T @ X / 300)[-1]
    assert view.steepness() == pytest.approx(largest, rel=0.05)
    v = rows(1, 6)[0]
    assert np.allclose(view.curve(v)[:-1], X.T @ (X @ v[:-1] + v[-1]) / 300)


def test_a_solution_compares_its_gap_with_its_objective():
    solution = Solution(np.zeros(2), 0.0, None, 4.0, 3.0, 1.0, 7)
    assert solution.relative_gap == 0.25
    assert Solution(np.zeros(2), 0.0, None, 0.0, 0.0, 0.0, 1).relative_gap == 0.0


def test_a_matrix_that_overflows_leads_nowhere():
    with np.errstate(all="ignore"):
        H = Curvature(np.array([[np.inf, np.inf, 0.0], [np.inf, np.inf, 0.0], [0.0, 0.0, 1.0]]))
        assert H.singular and np.isnan(H.solve(np.ones(3))).all()
