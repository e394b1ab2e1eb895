"""Steps by single rows and folds against their formula, row by row."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.kernels import steps
from linsep.rows.rows import as_rows
from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge
from linsep.train.convex.steps.score_losses import Planes, Softmax
from linsep.train.convex.steps.standardise import Lens

N, D = 23, 5


def by_hand(Z, pull, c, order, size, eta, due, every, l1, l2, W, b):
    owed, kept = 0.0, np.zeros((len(Z), len(b)))
    for fold, start in enumerate(range(0, len(order), size)):
        rows = order[start : start + size]
        for i in rows:
            kept[i] = pull(Z[i] @ W.T + b, i)
        for i in rows:
            W = W + eta[fold] / size * c[i] * np.outer(kept[i], Z[i])
            b = b + eta[fold] / size * c[i] * kept[i]
        owed += due[fold]
        if (fold + 1) % every == 0:
            W = np.sign(W) * np.maximum(np.abs(W) - owed * l1, 0) / (1 + owed * l2)
            owed = 0.0
    return W, b, kept


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("kind", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("loss", "K"),
    [(Planes(Logistic()), 1), (Planes(Hinge()), 3), (Planes(SquaredHinge()), 1), (Softmax(3), 3)],
    ids=str,
)
def test_steps_are_those_of_the_formula(loss, K, layout, kind, size):
    rng = np.random.default_rng(size)
    X = (rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.6)).astype(kind)
    lens = Lens(2.0 ** rng.integers(-2, 3, D), rng.standard_normal(D), rng.random(D) + 0.5)
    lens = lens if layout is np.asarray else lens._replace(shift=np.zeros(D))
    codes, order, c = rng.integers(0, max(2, K), N), rng.permutation(N), rng.random(N)
    T = loss.signs(codes, K)
    W, b, pulls = rng.standard_normal((K, D)), rng.standard_normal(K), np.zeros((size, K))
    folds = -(-N // size)
    eta, due, penalty = rng.random(folds), 0.1 * rng.random(folds), (rng.random(D), rng.random(D))
    wanted = by_hand(
        lens.of(X.astype(np.float64)), lambda s, i: -loss.residual(s[None], codes[[i]])[0],
        c, order, size, eta, due, 2, *penalty, W, b,
    )  # fmt: skip
    rows, s, kept, clock = as_rows(layout(X)), np.zeros(K), np.zeros((N, K)), np.zeros(2)
    loss.steps(
        rows, tuple(lens.seen(rows)), (T, c, order), size, (eta, due, 2), penalty,
        (W, b, True), (s, pulls, kept, clock), np.empty(D),
    )  # fmt: skip
    for found, right in zip((W, b, kept), wanted, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-6 if kind is np.float32 else 1e-12)
    assert clock[0] == folds and (clock[1] == due[-1] if folds % 2 else clock[1] == 0)


def test_numbers_are_stepped_towards_and_what_does_not_fit_is_refused():
    X, y, none = np.arange(6.0).reshape(3, 2), np.array([[1.0], [2.0], [4.0]]), np.empty((0, 0))
    W, b, one, zero = np.zeros((1, 2)), np.zeros(1), np.ones(2), np.zeros(2)

    def go(order, W=W):
        steps.squares(
            as_rows(X), (one, zero, one), (y, np.empty(0), order), 3, (0.1 * one[:1], zero[:1], 1),
            (zero, zero), (W, b, False), (np.zeros(1), np.zeros((3, 1)), none, np.zeros(2)),
            np.empty(2),
        )  # fmt: skip

    go(np.arange(3))
    np.testing.assert_allclose(W[0], 0.1 * y[:, 0] @ X / 3)
    assert b[0] == 0.0
    for order, weights in ((np.array([0, 3, 1]), W), (np.arange(3), np.zeros((1, 3)))):
        with pytest.raises(ValueError):
            go(order, weights)
