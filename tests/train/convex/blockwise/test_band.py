"""The rows about the corner of the hinge speak for all, where none of the others crosses it."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.blockwise import near_kink as band
from linsep.train.convex.blockwise.kink_descent import Objective
from linsep.train.convex.blockwise.primal_newton import PrimalNewton
from linsep.train.convex.blockwise.smoothed_hinge import SparseTallRows, TallRows
from linsep.train.convex.blockwise.sparse_sums import SparseRows
from linsep.train.convex.coordinates import Blocks, Columns
from linsep.train.convex.drive import solve

N, D = 20_000, 3
U = np.array([2.0, -1.0, 0.5, 0.25])


def rows_of(layout, pool):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    signs = np.where(X[:, 0] + rng.standard_normal(N) > 0, 1, -1).astype(np.int8)
    c = rng.integers(0, 3, N) / N
    plain = Columns(np.empty(0), np.empty(0))
    if layout == "dense":
        return TallRows(Blocks(X, plain), signs, c, pool)
    return SparseTallRows(SparseRows(sp.csr_array(X), plain, signs, c, pool))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_band_has_the_sums_of_all_rows_about_the_point_it_was_taken_at(layout, monkeypatch):
    monkeypatch.setattr(band, "ROOM", 12 * (D + 4) * 4000)
    h = 0.02
    with Pool(1) as pool:
        rows = rows_of(layout, pool)
        near = band.band_of(rows, U, h, rows.at(U, h), D)
        assert len(near.inside.signs) <= 4000
        for u in (U, U + 1e-3, U - [0, 0.01, 0, 0]):
            for width in (h, h / 2):
                for mine, all_rows in zip(near.at(u, width), rows.at(u, width), strict=True):
                    np.testing.assert_allclose(mine, all_rows, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_band_has_the_rows_that_cross_the_corner_on_the_way_to_where_another_led(
    layout, monkeypatch
):
    monkeypatch.setattr(band, "ROOM", 12 * (D + 4) * 2500)
    h, there = 0.02, U + np.array([0.2, 0.1, 0.0, 0.0])
    with Pool(1) as pool:
        rows = rows_of(layout, pool)
        sums, known = rows.at(U, h), rows.at(there, h)
        astray = band.band_of(rows, U, h, sums, D).at(there, h)
        led = band.band_of(rows, U, h, sums, D, [there]).at(there, h)
    assert abs(astray.loss.sum() / known.loss.sum() - 1) > 1e-4
    for mine, all_rows in zip(led, known, strict=True):
        np.testing.assert_allclose(mine, all_rows, rtol=1e-9, atol=1e-14)


def test_rows_of_a_sample_stand_for_those_outside_the_band(monkeypatch):
    monkeypatch.setattr(band, "ROOM", 12 * (D + 4) * 2500)
    h, there = 0.02, U + np.array([0.5, 0.3, 0.0, 0.0])
    with Pool(1) as pool:
        rows = rows_of("dense", pool)
        every = rows.joined([rows.piece(k, np.arange(N) % 4 == 0) for k in rows.parts])
        every.c = 4 * every.c
        sample = Objective(every, np.full(D + 1, 1e-3), True)
        sums, known = rows.at(U, h), rows.at(there, h).loss.sum()
        alone = band.band_of(rows, U, h, sums, D)
        helped = band.band_of(rows, U, h, sums, D, (), sample)
        assert len(helped.inside.signs) <= 2 * 2500
        for mine, all_rows in zip(helped.at(U, h), sums, strict=True):
            if np.shape(mine) in [(2, D), (2,)]:
                np.testing.assert_allclose(mine, all_rows, rtol=2e-3)
        astray = abs(alone.at(there, h).loss.sum() - known)
        assert abs(helped.at(there, h).loss.sum() - known) < 0.5 * astray
        wide = band.band_of(rows, U, 1.0, rows.at(U, 1.0), D, (), sample)
        assert wide is not None  # though its corner has more rows than memory


def test_a_corner_wider_than_memory_has_no_band(monkeypatch):
    monkeypatch.setattr(band, "ROOM", 12 * (D + 4) * 100)
    with Pool(1) as pool:
        rows = rows_of("dense", pool)
        assert band.band_of(rows, U, 1.0, rows.at(U, 1.0), D) is None


def test_rows_that_can_be_parted_need_few_looks():
    rng = np.random.default_rng(0)
    X = np.tile(rng.standard_normal((2000, 10)), (40, 1))
    signs = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    found = solve(PrimalNewton, X, signs, C=10.0, max_iter=1000)
    assert found.status is Status.converged
    assert found.n_iter < 40  # 300 and more without bands
    one = solve(PrimalNewton, X, signs, C=10.0, max_iter=1000, n_jobs=1)
    assert one.w.tobytes() == found.w.tobytes()
