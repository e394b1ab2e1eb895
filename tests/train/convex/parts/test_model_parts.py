"""Quadratic models: their minima, linear systems and the losses that they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.train.convex.losses import Logistic, SquaredHinge
from linsep.train.convex.parts.conjugate_gradients import conjugate_gradients
from linsep.train.convex.parts.outputs import Softmax, outputs_of
from linsep.train.convex.parts.quadratic_model import (
    Penalised,
    by_columns,
    by_matrix,
    minimise,
)
from linsep.train.convex.penalties import Corners
from linsep.train.convex.problem import Problem


@pytest.mark.parametrize("left", [1e-4, 1e-20])
def test_conjugate_gradients_end_at_the_first_residual_that_is_small_enough(left):
    rng = np.random.default_rng(0)
    B, g = rng.normal(size=(40, 12)), rng.normal(size=12)
    H = B.T @ B + np.eye(12)
    d = H.diagonal()
    s, made = conjugate_gradients(lambda p: H @ p, lambda r: r / d, g, left, 100)

    def size(r):
        return float(r @ (r / d))

    assert size(g - H @ s) <= left * size(g) * (1 + 1e-6)
    short, fewer = conjugate_gradients(lambda p: H @ p, lambda r: r / d, g, left, made - 1)
    assert fewer == made - 1 and size(g - H @ short) > left * size(g)
    if left < 1e-10:
        assert s == pytest.approx(np.linalg.solve(H, g))


def rows_of(form=np.asarray, n=80, d=6):
    rng = np.random.default_rng(0)
    return form(np.where(rng.random((n, d)) < 0.6, rng.normal(size=(n, d)), 0.0)), rng


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("free", [True, False])
def test_the_minimum_of_a_model_meets_its_conditions_by_columns_and_by_matrix(form, free):
    X, rng = rows_of(form)
    y, U = np.where(rng.random(80) < 0.5, -1, 1), rng.uniform(0.5, 2.0, 80)
    problem = Problem.of(X, y, U, 1.0, Logistic(), free)
    w, corner, ridge = rng.normal(size=6) * [1, 0, 1, 0, 1, 0], np.full(6, 2.0), np.full(6, 0.5)
    model = Corners(corner, ridge, np.ones(6)).flat(1, 6)
    with Pool(1) as pool:
        outputs, design = outputs_of(problem, pool), problem.design
        seen = outputs.at(design.product(np.append(w, 0.3 * free)[None], pool))
        g, H = -design.back_product(seen.pull, pool), outputs.matrix(design, seen.curved)
        ways = [by_matrix(H, g, free), by_columns(design, g, seen.curved, problem, pool)]
        found = []
        for made, slopes, best in ways:
            d = minimise(made, Penalised(slopes, w, model), np.ones(6), 1e-10, np.inf)
            found.append(np.append(d, best(d)))
    assert found[0] == pytest.approx(found[1], abs=1e-6)
    d, b = found[0][:6], found[0][6]
    slope = g[0] + H[0, :, 0] @ np.append(d, b)
    if free:
        assert slope[6] == pytest.approx(0.0, abs=1e-7)
    at = w + d
    slope = slope[:6] + ridge * at
    on = at != 0.0
    assert 0 < on.sum() < 6
    assert slope[on] == pytest.approx(-corner[on] * np.sign(at[on]), abs=1e-6)
    assert (np.abs(slope[~on]) <= corner[~on] + 1e-6).all()


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Softmax(3)])
def test_outputs_are_losses_with_their_derivatives_and_bound_the_optimum(loss):
    X, rng = rows_of()
    K, U = getattr(loss, "classes", 1), rng.uniform(0.5, 2.0, 80)
    codes = np.append([0, 1, 2], rng.integers(0, 3, 77))
    y = codes if K > 1 else np.where(codes > 0, 1, -1)
    problem, W = Problem.of(X, y, U, 1.0, loss, True), 0.3 * rng.normal(size=(K, 7))
    with Pool(1) as pool:
        outputs = outputs_of(problem, pool)
        S, along = problem.design.product(W, pool), rng.normal(size=(K, 80))
        if K > 1:
            each = np.logaddexp.reduce(S, axis=0) - S[codes, np.arange(80)]
        else:
            z = y * S[0]
            hinges = np.maximum(0.0, 1.0 - z) ** 2
            each = np.logaddexp(0.0, -z) if isinstance(loss, Logistic) else hinges
        seen, t = outputs.at(S), 1e-5
        assert seen.loss == pytest.approx(U @ each)
        up, down = outputs.at(S + t * along), outputs.at(S - t * along)
        assert (up.loss - down.loss) / (2 * t) == pytest.approx(-np.vdot(seen.pull, along))
        model = outputs.foretold(seen.pull, seen.curved, along) - seen.pull
        assert (up.pull - down.pull) / (2 * t) == pytest.approx(model, abs=1e-3)
        assert outputs.energy(seen.curved, along) == pytest.approx(-np.vdot(model, along))
        pull = outputs.feasible(outputs.foretold(seen.pull, seen.curved, along))
        np.testing.assert_allclose(pull.sum(axis=1), 0.0, atol=1e-11)
        V = problem.design.back_product(pull, pool)[:, :6]
        dual = outputs.dual(pull, 1.0) - 0.5 * np.sum(V * V)
    assert dual <= seen.loss + 0.5 * np.sum(W[:, :6] ** 2)
