"""The linear probe: a peer is stopped where it is near enough, or when its time is over."""

import numpy as np
import pytest
from benchmarks import linear_probe
from benchmarks.grid.made import clusters

from linsep import LogisticRegression

C = 0.1


@pytest.fixture(scope="module")
def rows():
    return clusters(600, 8, 5, 0, 0.5)


@pytest.fixture(scope="module")
def best(rows):
    model = LogisticRegression(C=C, tol=1e-6).fit(*rows)
    return linear_probe._objective((model.coef_, model.intercept_), *rows, C)


def test_a_peer_ends_within_a_thousandth(rows, best):
    peer = linear_probe._raced("scikit-learn", *rows, C, best, 60.0)
    assert -1e-4 < peer["away"] <= linear_probe.NEAR
    assert 0 < peer["steps"] < 100


def test_a_peer_ends_when_its_time_is_over(rows, best):
    peer = linear_probe._raced("scikit-learn", *rows, C, best, 0.0)
    assert peer["steps"] == 1
    assert peer["away"] > linear_probe.NEAR


def test_classes_of_the_probe_cannot_all_be_told_apart():
    X, y = clusters(4_000, 96, 50, 0, linear_probe.APART)
    model = LogisticRegression(C=0.01, tol=1e-2).fit(X[:3_000], y[:3_000])
    assert 2 / 50 < np.mean(model.predict(X[3_000:]) == y[3_000:]) < 0.95
