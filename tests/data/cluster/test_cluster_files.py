"""Files that workers read, and what is refused before training."""

import os
import subprocess
import sys

import numpy as np
import pytest

import linsep
from linsep.data.cluster import ranges
from linsep.errors import ClusterError, DataError, ParameterError
from linsep.learners.cluster import fit
from linsep.model.files.store import to_bytes


@pytest.fixture
def on_workers(monkeypatch):
    monkeypatch.setattr(fit, "SMALL", 0)
    monkeypatch.setattr(ranges, "RANGE", 1 << 15)


def write_tables(folder, n=9_000):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    for k in range(2):
        X = rng.standard_normal((n + 17 * k, 4)).round(3)
        X[rng.random(X.shape) < 0.02] = np.nan
        frame = pd.DataFrame(X, columns=list("abcd"))
        frame["town"] = rng.choice(['Bath, "old"', "new\nline", "York"][: 2 + k], len(X))
        frame["ok"] = np.where(np.nansum(X, axis=1) > 0, "yes", "no")
        frame.to_csv(folder / f"part-{k}.csv", index=False)
        frame.to_parquet(folder / f"part-{k}.parquet")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_model_of_files_read_by_workers_has_the_same_bytes(client, on_workers, tmp_path, suffix):
    write_tables(tmp_path)
    pattern = str(tmp_path / f"*.{suffix}")
    here = linsep.LinearDiscriminantAnalysis().fit(linsep.read(pattern, target="ok"))
    chunks = linsep.read(pattern, target="ok", cluster=client)
    there = linsep.LinearDiscriminantAnalysis().fit(chunks)
    assert to_bytes(here) == to_bytes(there)
    assert chunks.n_rows == 18_017
    assert any("town" in name for name in there.encoding_.feature_names)


def test_svmlight_files_are_counted_from_one_over_all_of_them(client, on_workers, tmp_path):
    rng = np.random.default_rng(0)
    for k in range(2):
        lines = []
        for _ in range(4_000):
            x = rng.standard_normal(3).round(3)
            lines.append(f"{1 if x.sum() > 0 else -1} 1:{x[0]} 2:{x[1]} {4 + k}:{x[2]}")
        (tmp_path / f"part-{k}.svm").write_text("\n".join(lines) + "\n")
    pattern = str(tmp_path / "*.svm")
    here = linsep.LinearDiscriminantAnalysis().fit(linsep.read(pattern))
    there = linsep.LinearDiscriminantAnalysis().fit(linsep.read(pattern, cluster=client))
    assert to_bytes(here) == to_bytes(there)


def test_a_bad_row_is_told_with_its_file_and_line(client, on_workers, tmp_path):
    lines = [f"{k}.5,{k % 2}" for k in range(20_000)]
    lines[15_000] = "odd,1"
    (tmp_path / "a.csv").write_text("x,y\n" + "\n".join(lines) + "\n")
    learner = linsep.LinearDiscriminantAnalysis()
    with pytest.raises(DataError, match=r"a\.csv, line 15002, column 'x'"):
        learner.fit(linsep.read(tmp_path / "a.csv", target="y", cluster=client))
    chunks = linsep.read(tmp_path / "a.csv", target="y", cluster=client, bad_rows="skip")
    learner.fit(chunks)
    assert (chunks.n_rows, chunks.skipped) == (19_999, 1)
    with pytest.raises(ParameterError, match="listed in no file"):
        learner.fit(
            linsep.read(tmp_path / "a.csv", target="y", cluster=client, bad_rows=tmp_path / "b")
        )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_that_differ_in_a_column_are_named(client, on_workers, tmp_path, suffix):
    pd = pytest.importorskip("pandas")
    frames = pd.DataFrame({"x": [1.0, 2.0], "y": [0, 1]}), pd.DataFrame({"z": [1.0], "y": [1]})
    for name, other in (("renamed", frames[1]), ("wider", frames[0].assign(z=1.0))):
        folder = tmp_path / name
        folder.mkdir()
        for file, frame in (("a", frames[0]), ("b", other)):
            how = {"csv": frame.to_csv, "parquet": frame.to_parquet}[suffix]
            how(folder / f"{file}.{suffix}", index=False)
        odd = "column 'x', which the former lacks" if name == "renamed" else "column 'z'"
        with pytest.raises(DataError, match=rf"b\.{suffix} and .* differ in the {odd}"):
            linsep.LinearDiscriminantAnalysis().fit(
                linsep.read(str(folder / f"*.{suffix}"), target="y", cluster=client)
            )


def test_a_file_without_rows_is_an_empty_partition(client, on_workers, tmp_path):
    for name, rows in (("a", "1,0\n2,1\n"), ("b", ""), ("c", "3,1\n0,0\n")):
        (tmp_path / f"{name}.csv").write_text("x,y\n" + rows)
    pattern = str(tmp_path / "*.csv")
    here = linsep.LinearDiscriminantAnalysis().fit(linsep.read(pattern, target="y"))
    chunks = linsep.read(pattern, target="y", cluster=client)
    assert to_bytes(linsep.LinearDiscriminantAnalysis().fit(chunks)) == to_bytes(here)
    assert chunks.n_rows == 4


def test_texts_that_a_model_does_not_know_are_counted_over_all_workers(
    client, on_workers, tmp_path
):
    write_tables(tmp_path)
    learner = linsep.LinearDiscriminantAnalysis()
    known = learner.fit(linsep.read(tmp_path / "part-0.csv", target="ok"))
    here, there = (
        linsep.read(str(tmp_path / "*.csv"), like=known, cluster=one) for one in (None, client)
    )
    models = [linsep.LinearDiscriminantAnalysis().fit(one) for one in (here, there)]
    assert to_bytes(models[0]) == to_bytes(models[1])
    assert here.drift == there.drift
    assert "'York'" in there.drift[0]


def test_an_address_without_a_scheduler_is_told_in_a_sentence(tmp_path, monkeypatch):
    from linsep.data.cluster import connect

    monkeypatch.setattr(connect, "WAIT", 1.0)
    (tmp_path / "a.csv").write_text("x,y\n1,0\n2,1\n")
    with pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"):
        linsep.LinearDiscriminantAnalysis().fit(
            linsep.read(tmp_path / "a.csv", cluster="tcp://127.0.0.1:9")
        )


def test_a_worker_with_another_version_is_named(client, monkeypatch):
    from linsep.data.cluster import connect

    monkeypatch.setattr(np, "__version__", "0.1")  # of this process alone
    with (
        pytest.raises(ClusterError, match=r"has numpy .* and this process 0\.1"),
        connect.client_of(client),
    ):
        pass


@pytest.mark.skipif(
    not os.environ.get("LINSEP_CLUSTER"), reason="starts a cluster of its own: make cluster-tests"
)
def test_a_model_fitted_by_the_command_on_a_cluster_goes_through_all_others(tmp_path):
    rng = np.random.default_rng(3)
    for k in range(2):
        lines = ["age,town,hours,income"]
        for age, town, hours in rng.integers(0, 60, (3_000, 3)).tolist():
            lines.append(f"{age},{'ABC'[town % 3]},{hours},{'yes' if age + hours > 61 else 'no'}")
        (tmp_path / f"people-{k}.csv").write_text("\n".join(lines) + "\n")

    def linsep_command(*arguments):
        command = [sys.executable, "-m", "linsep", *arguments]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return run.stdout

    how = "fit", "people-*.csv", "--target", "income", "--holdout", "0", "--quiet"
    linsep_command(*how, "--out", "near.linsep")
    linsep_command(*how, "--out", "far.linsep", "--cluster", "local", "--report", "far.html")
    assert (tmp_path / "far.linsep").read_bytes() == (tmp_path / "near.linsep").read_bytes()
    assert len(linsep_command("predict", "far.linsep", "people-0.csv").splitlines()) >= 3_000
    assert "income" in linsep_command("inspect", "far.linsep")
    linsep_command("export", "far.linsep", "far.sql")
    assert "SELECT" in (tmp_path / "far.sql").read_text().upper()
    assert (tmp_path / "far.html").stat().st_size > 10_000
