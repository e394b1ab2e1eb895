"""Data frames with texts and categories on a cluster: encoded as in memory, to the last digit."""

import itertools

import dask
import numpy as np
import pytest

import linsep
from linsep.errors import DataError
from linsep.learners.cluster import fit
from linsep.model.files.store import to_bytes

pd = pytest.importorskip("pandas")


@pytest.fixture(autouse=True)
def on_workers(monkeypatch):
    monkeypatch.setattr(fit, "SMALL", 0)


def people(n=3_000):
    rng = np.random.default_rng(6)
    age = rng.integers(18, 80, n).astype(float)
    age[rng.random(n) < 0.05] = np.nan
    town = rng.choice(["Bath", "York", "Hull"], n)
    frame = pd.DataFrame(
        {
            "age": age,
            "town": pd.Categorical(town, categories=["York", "Bath", "Hull", "Leeds"]),
            "job": rng.choice(["cook", "smith"], n),
            "hours": rng.normal(35, 10, n),
        }
    )
    rich = (frame.hours + 20 * (town == "York") + rng.normal(0, 9, n) > 40).to_numpy()
    return frame, np.where(rich, "yes", "no")


@pytest.mark.parametrize("learner", [linsep.LogisticRegression, linsep.LinearDiscriminantAnalysis])
def test_a_frame_with_categories_gives_the_model_of_the_frame_in_memory(client, learner):
    import dask.dataframe as dd

    frame, y = people()
    dX = dd.from_pandas(frame, npartitions=3)
    with pytest.warns(UserWarning, match="missing numbers in 'age'"):
        here = learner().fit(frame, y)
    with pytest.warns(UserWarning, match="missing numbers in 'age'"):
        there = learner().fit(dX, y)
    assert to_bytes(there) == to_bytes(here)
    assert there.encoding_.feature_names == here.encoding_.feature_names
    later = there.predict(dX)
    assert hasattr(later, "__dask_graph__")
    assert (later.compute() == here.predict(frame)).all()
    assert np.array_equal(there.predict_proba(dX).compute(), here.predict_proba(frame))


def test_short_and_empty_partitions_are_judged_by_the_first_rows_of_all(client):
    frame, y = people(2_000)
    cuts = [0, 0, 3, 700, 2_000]
    parts = [frame[i:j] for i, j in itertools.pairwise(cuts)]
    with pytest.warns(UserWarning, match="missing numbers in 'age'"):
        there = linsep.LinearDiscriminantAnalysis().fit([dask.delayed(one) for one in parts], y)
        here = linsep.LinearDiscriminantAnalysis().fit(frame, y)
    assert to_bytes(there) == to_bytes(here)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda f: f.assign(town=f.town.cat.remove_categories("Leeds")), "categories of column"),
        (lambda f: f.rename(columns={"job": "work"}), "differs in the column 'job'"),
        (lambda f: f[f.columns[::-1]], "order of its columns"),
        (lambda f: f.assign(hours="many"), "column 'hours'.*'many'"),
    ],
)
def test_a_partition_that_differs_is_named_before_training(client, spoil, sentence):
    frame, y = people()
    parts = [dask.delayed(frame[:2_000]), dask.delayed(spoil(frame[2_000:]))]
    with pytest.raises(DataError, match=rf"partition 1 of X.*{sentence}"):
        linsep.LinearDiscriminantAnalysis().fit(parts, y)


def test_words_and_the_commonest_texts_are_counted_over_all_files(client, tmp_path):
    rng = np.random.default_rng(8)
    words = np.array(["red", "blue", "green", "grey", "pink", "white"])
    for k in range(3):
        some = words[rng.integers(0, 3 + k, (400, 3))]
        town = rng.choice(["Bath", "York", "Hull"], 400, p=np.roll([0.5, 0.3, 0.2], k))
        lines = [
            f"{' '.join(row)},{place},{row[0] == 'red'}"
            for row, place in zip(some, town, strict=True)
        ]
        (tmp_path / f"{k}.csv").write_text("note,town,y\n" + "\n".join(lines) + "\n")
    how = {"target": "y", "columns": {"note": "words:4", "town": "text:2"}}
    here, there = (
        linsep.LogisticRegression().fit(linsep.read(str(tmp_path / "*.csv"), **how, cluster=one))
        for one in (None, client)
    )
    assert to_bytes(here) == to_bytes(there)
    assert len(there.encoding_.feature_names) == 7


def test_a_file_with_another_type_in_a_column_is_named(client, tmp_path):
    pd.DataFrame({"x": [1.0, 2.0], "y": [0, 1]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"x": ["u", "v"], "y": [0, 1]}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet: column 'x' holds 'u'"):
        linsep.LinearDiscriminantAnalysis().fit(
            linsep.read(str(tmp_path / "*.parquet"), target="y", cluster=client)
        )
