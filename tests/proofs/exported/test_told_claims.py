"""Certificates of offsets, weights of penalties and bounds are proved by the verifier alone."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linsep
from linsep import LinearRegression, LinearSVC, LogisticRegression
from linsep.errors import ParameterError
from linsep.proofs.exported.claims import document, gap_claims

VERIFIER = Path(__file__).parents[3] / "verify" / "linsep_verify.py"
LEARNERS = [
    LogisticRegression(tol=1e-9), LogisticRegression(l1_ratio=0.5),
    LogisticRegression(l1_ratio=1.0), LinearSVC(), LinearSVC(loss="squared_hinge"),
    LinearSVC(loss="squared_hinge", penalty="l1"),
]  # fmt: skip


def drawn(K):
    rng = np.random.default_rng(0)
    X, offset = rng.normal(size=(40, 3)).round(2), rng.normal(size=40 if K == 2 else (40, K))
    y = rng.integers(0, K, 40) if K > 2 else (X[:, 0] + rng.logistic(size=40) > 0).astype(int)
    return X, y, offset


def verified(tmp_path, claims, model, X, y):
    np.savetxt(
        tmp_path / "d.csv", np.column_stack([X, y]), delimiter=",", fmt=["%.2f"] * 3 + ["%d"]
    )
    text = document(claims, model.classes_, X.shape, {"target": 3})
    (tmp_path / "c.json").write_text(text)
    linsep.save(model, tmp_path / "m.linsep")
    files = [str(tmp_path / name) for name in ("d.csv", "c.json", "m.linsep")]
    return subprocess.run([sys.executable, VERIFIER, *files], capture_output=True, text=True)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("K", [2, 3])
def test_the_verifier_proves_what_was_told(learner, K, tmp_path):
    X, y, offset = drawn(K)
    learner.set_params(bounds=[(0, None), None, (-0.1, 0.1)], penalty_weights=[1, 0.5, 2])
    model = learner.fit(X, y, offset=offset)
    claims = gap_claims(model, X, y, offset=offset)
    done = verified(tmp_path, claims, model, X, y)
    assert done.returncode == 0 and done.stdout.startswith("PROVED"), done.stdout
    for claim in claims:
        primal, dual = (float.fromhex(claim[name]) for name in ("primal", "dual"))
        assert 0 <= primal - dual <= 1e-3 * primal
    claims[0]["objective"]["upper"][0][2] = (float(model.coef_[0, 2]) - 0.01).hex()
    lie = verified(tmp_path, claims, model, X, y)
    assert lie.returncode == 1 and "REFUTED" in lie.stdout


def test_what_nothing_holds_is_refused_in_words():
    X, y, _ = drawn(2)
    model = LogisticRegression(penalty_weights=[0, 1, 1]).fit(X, y)
    assert model.gap_ <= 1e-6
    with pytest.raises(ParameterError, match="neither penalty nor bounds"):
        gap_claims(model, X, y)
    held = LogisticRegression(penalty_weights=[0, 1, 1], bounds={0: (-9, 9)}).fit(X, y)
    assert json.dumps(gap_claims(held, X, y))
    with pytest.raises(ParameterError, match="of classes"):
        gap_claims(LinearRegression().fit(X, y), X, y)
