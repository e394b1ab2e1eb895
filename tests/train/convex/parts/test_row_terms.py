"""Losses that kernels do not know: NumPy writes the same numbers to the same places."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.rows.rows import as_rows
from linsep.train.convex.designs.design import PACKED, TILE
from linsep.train.convex.losses import Hinge, Logistic, SmoothedHinge, SquaredHinge
from linsep.train.convex.parts import row_terms
from linsep.train.convex.parts.row_terms import FORETOLD, SUMS

LOSSES = [Logistic(1.5), Hinge(), SquaredHinge(0.5), SmoothedHinge(0.3)]


class Unknown:
    """A loss without its kind."""

    def __init__(self, loss):
        self.loss = loss

    def __getattr__(self, name):
        if name == "kind":
            raise AttributeError(name)
        return getattr(self.loss, name)


@pytest.fixture(params=[False, True], ids=["weights", "one weight"])
def rows(request):
    rng = np.random.default_rng(5)
    s, moved = rng.normal(scale=2.0, size=(2, 300))
    y = np.where(rng.uniform(size=300) < 0.4, 1, -1).astype(np.int8)
    U = np.array([0.7]) if request.param else rng.uniform(0.0, 2.0, 300) * (rng.random(300) < 0.9)
    return s, moved, y, U


def both(ask, loss, *shapes):
    for one in (loss, Unknown(loss)):
        out = [np.full(shape, 7.0) for shape in shapes]
        yield ask(one, *out), *out


def agree(ask, loss, *shapes):
    known, unknown = both(ask, loss, *shapes)
    for one, other in zip(known, unknown, strict=True):
        np.testing.assert_allclose(
            np.asarray(other, float), np.asarray(one, float), rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_terms_slopes_and_what_a_step_foretells_agree(loss, rows):
    s, moved, y, U = rows
    agree(lambda one, *out: row_terms.terms(one, s, y, U, *out), loss, (2, 300), 300, SUMS)
    agree(lambda one, *out: row_terms.foretold(one, s, moved, y, U, *out), loss, 300, FORETOLD)
    near = s + 1e-3 * moved
    agree(lambda one, *out: row_terms.foretold(one, s, near, y, U, *out), loss, 300, FORETOLD)
    t = np.array([0.0, 0.3, 1.0])
    agree(lambda one, *out: row_terms.along(one, s, moved, y, U, t, *out), loss, (3, 2))


@pytest.mark.parametrize("loss", LOSSES[:3], ids=repr)
def test_multipliers_within_their_bounds_and_dual_terms_agree(loss, rows):
    s, _, y, U = rows
    agree(lambda one, *out: row_terms.clipped(one, s, y, U, *out), loss, 300, 2)
    pull = np.empty(300)
    row_terms.clipped(loss, s, y, U, pull, np.empty(2))
    agree(lambda one: row_terms.dual_terms(one, pull, U, 0.7), loss)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("points", [1, 2])
def test_one_reading_of_rows_agrees(loss, layout, points, rows):
    _, _, y, U = rows
    rng = np.random.default_rng(1)
    X = layout((rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.6)).round(2))
    at, offset, size = 0.3 * rng.normal(size=(points, 6)), rng.normal(size=300), 6
    width = -(-size // TILE) * TILE
    parts = []
    for one in (loss, Unknown(loss)):
        out = np.empty(SUMS + FORETOLD + 2 * size + width * width)
        strips = np.empty((PACKED, width))
        row_terms.read(one, as_rows(X), y, U, offset, at, out, strips)
        H, last = np.empty((size, size)), SUMS + FORETOLD + 2 * size
        row_terms.margins.whole(out[last:], sp.issparse(X), H)
        parts.append(np.concatenate([out[:last], H.ravel()]))
    np.testing.assert_allclose(
        parts[1], parts[0], rtol=1e-5 if layout is np.float32 else 1e-11, atol=1e-10
    )
