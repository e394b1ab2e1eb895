"""Predictions know the line they belong to, and with the bad rows they make up the whole file."""

import csv
import gzip
import json

import numpy as np
import pytest
from commands import run
from sklearn.datasets import dump_svmlight_file

import linsep

CELLS = ["1", "2", "x", "4", "5", "oops", "7", "8"]


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.linsep"
    rows = [{"a": float(k), "t": "p" if k % 2 else "q", "y": k > 3} for k in range(8)]
    learner = linsep.LogisticRegression().fit(linsep.read(rows, target="y"))
    linsep.save(learner, path)
    return path


def messy(first=""):
    """Blank lines, a cell over two lines, and two rows that cannot be read."""
    lines = [f"{first}a,t,key"]
    for k, cell in enumerate(CELLS):
        lines.append(f'{cell},"p\nq",k{k}' if k == 3 else f"{cell},p,k{k}")
        lines += [""] * (k == 4)
    return "\n".join(lines)


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_labels_and_bad_rows_make_up_the_file(model, tmp_path, end):
    path, bad = tmp_path / "new.csv", tmp_path / "bad.csv"
    path.write_text(messy() + end)
    done = run("predict", model, path, "--lines", "--keep", "key", "--bad-rows", bad, "-q")
    labels = list(csv.DictReader(done.stdout.splitlines()))
    left_out = list(csv.DictReader(bad.read_text().splitlines()))
    keys = {int(row["line"]): row["key"] for row in labels}
    keys |= {int(row["line"]): row["text"].split(",")[2] for row in left_out}
    begins = {line.rpartition(",")[2]: n for n, line in enumerate(messy().split("\n"), 1)}
    begins["k3"] -= 1  # where its row begins
    assert {key: line for line, key in keys.items()} == {f"k{k}": begins[f"k{k}"] for k in range(8)}
    assert [row["key"] for row in labels] == ["k0", "k1", "k3", "k4", "k6", "k7"]


def test_lines_of_every_format(model, tmp_path):
    packed = tmp_path / "new.csv.gz"
    packed.write_bytes(gzip.compress(b"a,t\n1,p\n\n5,q\n"))
    done = run("predict", model, packed, "--lines", "--json", "-q")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"line": 2, "label": False}, {"line": 4, "label": True},
    ]  # fmt: skip
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    linsep.save(linsep.Perceptron(max_iter=3, tol=1.0).fit(X, y), tmp_path / "p.linsep")
    dump_svmlight_file(X, y, str(tmp_path / "rows"))
    lines = ["# made", *(tmp_path / "rows").read_text().splitlines(), "0 1:what", "1 1:3"]
    (tmp_path / "rows.svm").write_text("\n".join(lines) + "\n")
    learner = linsep.Perceptron(max_iter=3, tol=1.0).fit(
        linsep.read(tmp_path / "rows.svm", bad_rows="skip", base=0)
    )
    linsep.save(learner, tmp_path / "s.linsep")
    done = run("predict", tmp_path / "s.linsep", tmp_path / "rows.svm", "--lines", "--bad-rows",
               "skip", "-q")  # fmt: skip
    first = [line.split(",")[0] for line in done.stdout.splitlines()]
    assert first == ["line", "2", "3", "4", "5", "6", "7", "9"]
    np.save(tmp_path / "rows.npy", X)
    done = run("predict", tmp_path / "p.linsep", tmp_path / "rows.npy", "--lines", "-q")
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == ["row", *"012345"]


def test_rows_of_several_files_name_theirs(model, tmp_path):
    for name in "ab":
        (tmp_path / f"part-{name}.csv").write_text("a,t\n1,p\n5,q\n")
    done = run("predict", model, f"{tmp_path}/part-*.csv", "--lines", "-q")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [(row["file"][-5], row["line"]) for row in rows] == [
        ("a", "2"), ("a", "3"), ("b", "2"), ("b", "3"),
    ]  # fmt: skip


def test_strict_refuses_columns_that_the_model_does_not_know_before_a_row_is_written(
    model, tmp_path
):
    path = tmp_path / "new.csv"
    path.write_text("a,t,more\n1,p,1\n")
    assert "does not know: 'more'" in run("predict", model, path, "-q").stderr
    refused = run("predict", model, path, "--strict", "-q", "--proba")
    assert "does not know: 'more'" in str(refused.exception) and refused.stdout == ""
    assert run("predict", model, path, "--keep", "nope", "-q").stdout == ""
    out = tmp_path / "labels.txt"
    run("predict", model, path, "--strict", "-q", "--out", out)
    assert not out.exists()
    kept = run("predict", model, path, "--strict", "--keep", "more", "-q")
    assert kept.stdout == "more,label\n1,False\n"


def test_a_text_column_without_repeats_is_never_encoded_without_a_word(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("who,x,y\n" + "".join(f"p{k},{k % 7},{k % 2}\n" for k in range(30)))
    done = run("fit", path, "--holdout", "0")
    assert "'who' has a different text in nearly every row, and 30 features" in done.stderr
    assert "--column 'who=drop' or --column 'who=words'" in done.stderr


@pytest.mark.parametrize("named", [False, True])
def test_a_model_of_arrays_takes_files_of_such_rows(tmp_path, named):
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    y = (X["a"] > X["b"]).to_numpy().astype(int)
    learner = linsep.LogisticRegression().fit(X if named else X.to_numpy(), y)
    model, path = tmp_path / "m.linsep", tmp_path / "rows.csv"
    linsep.save(learner, model)
    expected = "".join(f"{one}\n" for one in learner.predict(X if named else X.to_numpy()))
    X.to_csv(path, index=False, header=named)
    assert run("predict", model, path, "-q").stdout == expected
    X.assign(y=y).to_csv(path, index=False, header=named)
    assert run("predict", model, path, "-q").stdout == expected
    share = 1 - learner.score(X if named else X.to_numpy(), y)
    scored = run("score", model, path, "--json", "-q", *(["--target", "y"] if named else []))
    assert json.loads(scored.stdout)["error"] == pytest.approx(share)
    X.assign(a=np.nan).to_csv(path, index=False, header=named)
    assert "NaN" in str(run("predict", model, path, "-q").exception)
    if not named:
        np.save(tmp_path / "rows.npy", X.to_numpy())
        assert run("predict", model, tmp_path / "rows.npy", "-q").stdout == expected
        np.save(tmp_path / "rows.npy", np.column_stack([X.to_numpy(), y]))
        scored = run("score", model, tmp_path / "rows.npy", "--json", "-q")
        assert json.loads(scored.stdout)["error"] == pytest.approx(share)
