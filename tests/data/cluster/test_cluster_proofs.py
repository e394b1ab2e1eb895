"""Proofs about rows on a cluster: sums over blocks, and a few rows brought here."""

import dask
import dask.array as da
import numpy as np
import pytest

import linsep


def separated(n=40_000, d=6, margin=0.05):
    rng = np.random.default_rng(3)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    X = rng.standard_normal((n, d))
    X += (np.sign(X @ u) * margin)[:, None] * u
    return X, np.where(X @ u > 0, "up", "down")


def test_a_separator_of_all_rows_is_proved_on_the_workers(client):
    X, y = separated()
    proof = linsep.separability(da.from_array(X, chunks=(9_000, 3)), da.from_array(y, chunks=7_000))
    assert proof.separable and proof.shape == X.shape
    assert proof.verify(X, y)
    assert 0.9 * proof.margin_upper <= proof.margin <= proof.margin_upper
    assert linsep.separability(X, y).fingerprint == proof.fingerprint


def test_rows_that_rule_out_every_plane_are_named_by_their_numbers(client):
    X, y = separated()
    y[31_234] = "down" if y[31_234] == "up" else "up"
    X[31_234] *= 3
    parts = [dask.delayed(X[i : i + 9_000]) for i in range(0, len(X), 9_000)]
    proof = linsep.separability(parts, y)
    assert proof.separable is False and 31_234 in proof.rows
    assert proof.verify(X, y)


def test_several_classes_are_separated_or_not_as_in_memory(client):
    X, _ = separated()
    W = np.random.default_rng(4).standard_normal((3, X.shape[1]))
    S = X @ W.T
    first, second = np.sort(S, axis=1)[:, :-3:-1].T
    some = first - second > 0.3
    X, y = X[some], S[some].argmax(axis=1)
    proof = linsep.separability(da.from_array(X, chunks=(9_000, 6)), y)
    assert proof.separable and proof.verify(X, y)


def test_the_bound_on_mistakes_holds_and_is_that_of_the_blocks(client):
    X, y = separated(margin=0.3)
    dX = da.from_array(X, chunks=(9_000, 6))
    bound = linsep.mistake_bound(dX, y)
    inside = linsep.mistake_bound(X, y)
    assert bound.radius == pytest.approx(inside.radius)
    assert inside.margin * 0.8 <= bound.margin <= inside.margin * (1 + 1e-9)
    assert linsep.Perceptron(max_iter=100).fit(X, y).mistakes_ <= bound.bound


@pytest.mark.parametrize("classes", [2, 3])
def test_the_gap_of_a_model_is_that_in_memory(client, classes):
    X, _ = separated()
    y = np.digitize(X[:, 0] + np.random.default_rng(0).standard_normal(len(X)), range(classes - 1))
    model = linsep.LogisticRegression(tol=1e-3).fit(X[:5_000], y[:5_000])
    here = linsep.gap(model, X, y)
    assert linsep.gap(model, da.from_array(X, chunks=(9_000, 6)), y) == here
