"""The perceptron family on a cluster: iterative parameter mixing, or the serial rule on request."""

import dask.array as da
import numpy as np
import pytest
from cluster_models import content

import linsep
from linsep import Status
from linsep.errors import ClusterError, ParameterError
from linsep.learners.cluster import fit


@pytest.fixture
def never_gathered(monkeypatch):
    monkeypatch.setattr(fit, "SMALL", 0)


def separated(n, d=20, margin=0.5):
    """Unit rows with the constant feature, a separator of unit length, and its margin."""
    rng = np.random.default_rng(5)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    X = rng.standard_normal((n, d)).astype(np.float32)
    z = X @ u
    X += (np.sign(z) * margin)[:, None] * u
    y = (X @ u > 0).astype(int)
    gamma = float(np.min(np.where(y == 1, 1, -1) * (X @ u)))
    radius2 = float((X.astype(float) ** 2).sum(axis=1).max()) + 1.0
    return X, y, radius2 / gamma**2


def test_mixing_finds_a_separator_within_the_bound_of_mcdonald_hall_and_mann(
    client, never_gathered
):
    X, y, bound = separated(100_000)
    dX, dy = da.from_array(X, chunks=(30_000, 20)), da.from_array(y, chunks=45_000)
    learner = linsep.Perceptron(max_iter=200).fit(dX, dy)
    assert learner.status_ is Status.mixed
    assert "another algorithm than the serial" in learner.status_.value
    assert (learner.predict(X) == y).all()
    assert 0 < learner.mixed_ <= bound


def test_mixing_does_not_depend_on_partitions(client, never_gathered):
    X, y, _ = separated(80_000)
    models = [
        content(linsep.Perceptron(max_iter=20, tol=1e-3).fit(da.from_array(X, chunks=(c, 20)), y))
        for c in (80_000, 11_111)
    ]
    assert models[0] == models[1]


@pytest.mark.parametrize("learner", [linsep.Perceptron, linsep.PassiveAggressive])
def test_one_shard_is_trained_as_by_the_serial_rule(client, never_gathered, learner):
    X, y, _ = separated(30_000)
    mixed = learner(max_iter=50).fit(da.from_array(X, chunks=(9_000, 20)), y)
    serial = learner(max_iter=50).fit(X, y)
    assert content(mixed) == content(serial)
    assert mixed.n_iter_ == serial.n_iter_


def test_in_order_gives_the_bytes_of_the_serial_run(client, table):
    X, y = table
    dX = da.from_array(X, chunks=(20_000, 31))
    learner = linsep.Perceptron(max_iter=3, keep="average")
    with pytest.warns(linsep.errors.NotConverged):
        expected = content(learner.fit(X, y))
    with pytest.warns(linsep.errors.NotConverged):
        assert content(learner.fit(dX, y, in_order=True)) == expected


def test_learners_made_of_rows_refuse_with_a_sentence(client, table):
    X, y = table
    dX = da.from_array(X, chunks=(20_000, 31))
    for learner in (linsep.VotedPerceptron(), linsep.KernelPerceptron(), linsep.KernelSVC()):
        with pytest.raises(ClusterError, match="keeps rows"):
            learner.fit(dX, y)
    with pytest.raises(ParameterError, match="in_order=True"):
        linsep.Perceptron(keep="average").fit(dX, y)
