"""What is learnt from some rows of a table is what a file of these rows alone would teach."""

import numpy as np
import pytest

import linsep
from linsep.data.sources.raw_table import Slices, splittable

HEAD = "when,amount,plan,city,note,y"
COLUMNS = {"when": "parts:ymd", "plan": "text+fold", "city": "text:3", "note": "hash:8"}


def lines_of(rng, n):
    for k in range(n):
        amount = "" if rng.random() < 0.2 else f"${rng.integers(1, 9000):,}"
        plan = ["Pro", "pro", "Free", f"rare {k}"][rng.choice(4, p=[0.4, 0.3, 0.27, 0.03])]
        city = f"c{int(rng.exponential(2))}"
        when = (
            "" if rng.random() < 0.1 else f"2024-{rng.integers(1, 13):02}-{rng.integers(1, 29):02}"
        )
        yield f'{when},"{amount}",{plan},{city},n{rng.integers(20)},{"abc"[rng.integers(3)]}'


def as_dense(X):
    return X.toarray() if hasattr(X, "toarray") else X


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("classes", [None, ["a", "b"]])
def test_held_out_rows_teach_nothing(tmp_path, seed, classes):
    rng = np.random.default_rng(seed)
    lines = list(lines_of(rng, 120))
    whole = tmp_path / "whole.csv"
    whole.write_text("\n".join([HEAD, *lines]) + "\n")
    chunks = linsep.read(whole, target="y", columns=COLUMNS, classes=classes)
    X, y = chunks.load()
    notes = chunks.notes
    table = splittable(chunks, X)
    assert chunks.notes == notes  # what was found in the file is still known

    kept = [line for line in lines if classes is None or line[-1] in classes]
    test = np.sort(rng.choice(len(kept), 30, replace=False))
    train = np.setdiff1d(np.arange(len(kept)), test)
    seen, new = table.split(train, test)

    files = []
    for name, rows in (("train", train), ("test", test)):
        files.append(tmp_path / f"{name}.csv")
        files[-1].write_text("\n".join([HEAD, *(kept[i] for i in rows)]) + "\n")
    alone = linsep.read(files[0], target="y", columns=COLUMNS)
    expected = alone.load()[0]
    np.testing.assert_array_equal(as_dense(seen), as_dense(expected))
    by_it = linsep.read(files[1], like=alone.encoding).load()[0]
    np.testing.assert_array_equal(as_dense(new), as_dense(by_it))
    assert len(y) == len(kept)


def test_numbers_without_gaps_are_taken_as_they_are(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{k},{k % 2}\n" for k in range(50)))
    chunks = linsep.read(path)
    X, _ = chunks.load()
    assert splittable(chunks, X) == Slices(X)
