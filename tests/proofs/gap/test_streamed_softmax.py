"""The certificate that keeps no scores says what the one that keeps them says."""

import numpy as np
import pytest

from linsep import LogisticRegression
from linsep.proofs.gap import streamed_softmax as streamed
from linsep.proofs.gap.certificate import FittedProblem
from linsep.proofs.gap.joint_certificate import certify_softmax


def fitted(free, moved, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((900, 6)).astype(np.float32)
    y = (X @ rng.standard_normal((6, 5)) + rng.gumbel(size=(900, 5))).argmax(axis=1)
    model = LogisticRegression(tol=1e-6, fit_intercept=free).fit(X, y)
    b = model.intercept_ + moved * free * np.arange(5)
    return FittedProblem(X, y, 1.0, model.coef_.astype(float), b.astype(float), free, wanted=1e-6)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("moved", [0.0, 1e-3, 0.1])
def test_the_objective_is_the_same_and_the_bound_is_a_bound(free, moved):
    problem = fitted(free, moved)
    kept, gone = certify_softmax(problem), streamed.streamed_softmax(problem)
    best = certify_softmax(fitted(free, 0.0)).primal
    assert gone.primal == pytest.approx(kept.primal, rel=1e-13)
    assert gone.low <= best * (1 + 1e-12)
    assert gone.gap >= (gone.primal - best) / gone.primal - 1e-12
    assert gone.gap <= 5e-6 or moved > 0.0


def test_pieces_of_any_size_agree(monkeypatch):
    problem = fitted(True, 0.0)
    whole = streamed.streamed_softmax(problem)
    monkeypatch.setattr(streamed, "AT_ONCE", 1)
    pieces = streamed.streamed_softmax(problem)
    assert pieces.gap == pytest.approx(whole.gap, rel=1e-3)


def test_large_problems_come_here(monkeypatch):
    problem = fitted(True, 0.0)
    assert not streamed.too_many(problem)
    monkeypatch.setattr(streamed, "KEPT", 100)
    assert streamed.too_many(problem)
    assert certify_softmax(problem).gap <= 5e-6
