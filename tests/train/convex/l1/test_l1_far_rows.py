"""Rows that a step moves far, and the chords that replace their curvatures."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.train.convex.l1.design import design_of
from linsep.train.convex.l1.far_rows import far_rows
from linsep.train.convex.l1.model import Model
from linsep.train.convex.l1.prox_newton import ProxNewton
from linsep.train.convex.penalties import LASSO


def multiplier(z, c=1.0):
    return c / (1 + np.exp(z))


def asked(z, step, c=1.0):
    """The curvature by a chord of one row at margin z that is moved by `step`"""
    curved = np.array([multiplier(z, c) * multiplier(-z)])
    rows, bend = far_rows(
        (np.array([z]), 0.0), np.array([step]), curved, np.ones(1, np.int8), np.array([c]), 1
    )
    return float(curved[0]), (float(bend[0]) if len(rows) else None)


@pytest.mark.parametrize("c", [1.0, 7.0])
def test_where_a_loss_bends_less_the_chord_gives_the_multiplier_at_the_end(c):
    _, chord = asked(0.0, 9.0, c)
    assert multiplier(0.0, c) - chord * 9.0 == pytest.approx(multiplier(9.0, c), rel=1e-12)


@pytest.mark.parametrize(("z", "step"), [(8.0, -50.0), (-8.0, 50.0)], ids=["right", "wrong"])
def test_where_a_loss_bends_more_the_chord_ends_at_the_multiplier_proposed(z, step):
    curved, chord = asked(z, step)
    proposed = multiplier(z) - curved * step
    there = np.log((1 - proposed) / proposed)  # the margin that has this multiplier
    assert multiplier(z) - chord * (there - z) == pytest.approx(proposed, rel=1e-9)
    assert chord > curved


def test_rows_that_hardly_move_keep_their_models():
    assert asked(0.5, 0.9)[1] is None


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_bent_model_is_the_model_of_the_other_curvatures(layout):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.5)
    D, some = rng.random(50), np.array([3, 7, 31])
    with Pool(1) as pool:
        part = design_of(layout(X), pool).part(np.array([0, 2, 3, 5]))
        bent, made = Model(part, True, LASSO), Model(part, True, LASSO)
        bent.remake(D)
        bent.bend(some, np.array([0.0, 2.0, 5.0]))
        D[some] = [0.0, 2.0, 5.0]
        made.remake(D)
    np.testing.assert_array_equal(bent.curved, D)
    np.testing.assert_allclose(bent._H, made._H, atol=1e-12)
    np.testing.assert_allclose(bent._h, made._h, atol=1e-12)


def test_a_weight_that_newton_takes_too_far_does_not_hold_up_the_others():
    """Sixty rows at a margin of −6 alone have the last column: its curvature is next to none."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(20_000, 8)), np.linspace(-2, 2, 8)
    S = X @ w
    y = np.where(S + rng.logistic(size=len(S)) > 0, 1, -1).astype(np.int8)
    rare, some = np.zeros(len(S)), np.argsort(np.abs(S + 6.0))[:60]
    rare[some], y[some[5:]], y[some[:5]] = 1.0, 1, -1
    solver = ProxNewton(
        np.column_stack([X, rare]), y, None, 1.0, LASSO, start=(np.append(w, 0.0), 0.0)
    )
    with solver.pool:
        last = next(seen for seen in solver.candidates() if seen.within(1e-4))
    assert last.n_iter <= 3  # seven, where a line search shortens the step of all of them
