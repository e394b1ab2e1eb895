"""Sums of columns with gaps are added in row order; gaps are filled in place."""

import numpy as np
import pytest

from linsep import read
from linsep.data.encoding.column_sums import add_up, fill


def table(d, gaps):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(300, d)) * 10.0 ** rng.integers(-8, 8, (300, d))
    X[rng.random(X.shape) < gaps] = np.nan
    return X


@pytest.mark.parametrize("d", [1, 3, 4, 9])
@pytest.mark.parametrize("gaps", [0.0, 0.3, 1.0])
def test_a_sum_is_that_of_its_column_in_row_order(d, gaps):
    X = table(d, gaps)
    total, count = np.full(d, 0.5), np.ones(d, np.int64)
    add_up(X, total, count)
    for j in range(d):
        s = 0.5
        for x in X[:, j].tolist():
            s += x if x == x else 0.0
        assert total[j] == s
        assert count[j] == 1 + np.count_nonzero(~np.isnan(X[:, j]))


def test_gaps_become_means_and_nothing_else_changes():
    X = table(5, 0.3)
    expected = np.where(np.isnan(X), np.arange(5.0), X)
    fill(X, np.arange(5.0))
    assert X.tobytes() == expected.tobytes()


@pytest.mark.parametrize("memory", [1 << 30, 0])
def test_gaps_of_a_file_are_filled_in_memory_and_on_disk(tmp_path, memory):
    X = table(3, 0.2)
    lines = [",".join("" if v != v else repr(v) for v in x) for x in X.tolist()]
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,y\n" + "".join(f"{x},{k % 2}\n" for k, x in enumerate(lines)))
    chunks = read(path, memory=memory)
    found = chunks.gather()
    assert found.on_disk == (memory == 0)
    means = [column.mean for column in chunks.encoding.columns]
    np.testing.assert_allclose(means, np.nanmean(X, axis=0))
    assert np.asarray(found.X).tobytes() == np.where(np.isnan(X), means, X).tobytes()
    assert "a " in chunks.notes[1]
