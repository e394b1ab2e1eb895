"""An exported model.py answers as the model does, in an interpreter with nothing installed."""

import json
import subprocess
import sys

import numpy as np
import pytest

import linsep

TABLE = "age,city,since,vip,paid,y\n" + "".join(
    f"{k % 7},{['Rome', 'Oslo', 'Bern'][k % 3]},2024-0{k % 9 + 1}-11,{k % 2 > 0},"
    f'"${k % 5},00{k % 4}",{"yes" if k % 5 > 2 else "no"}\n'
    for k in range(40)
)
KINDS = {"since": "parts", "age": "number+gap", "city": "text:2+fold"}


def alone(path, code):
    """What a bare interpreter prints: no site-packages, no environment."""
    script = f"import json, sys; sys.path.insert(0, {str(path.parent)!r}); import m; {code}"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_table_with_every_kind_of_column(tmp_path):
    model = linsep.LogisticRegression().fit(linsep.read(TABLE.encode(), "y", columns=KINDS))
    made = linsep.export(model, tmp_path / "m.py")
    assert (made.format, made.rows) == ("py", 40)
    row = {"age": None, "city": "ROME", "since": "2024-03-11", "vip": "true", "paid": "$1,000"}
    other = {"age": "3", "city": "Paris", "since": "", "vip": "False", "paid": "7"}
    code = f"print(json.dumps([m.predict({[row, other]!r}), m.predict_proba({[row]!r})]))"
    labels, chances = alone(tmp_path / "m.py", code)
    assert labels == model.predict([row, other]).tolist()
    np.testing.assert_allclose(chances, model.predict_proba([row]), rtol=1e-12)
    (tmp_path / "t.csv").write_text(TABLE)
    done = subprocess.run(
        [sys.executable, "-I", "-S", tmp_path / "m.py", tmp_path / "t.csv"], capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert (
        done.stdout.split() == model.predict(linsep.read(tmp_path / "t.csv", like=model)).tolist()
    )


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_files_of_any_layout_are_read_as_the_model_reads_them(tmp_path, sign):
    decimal = "," if sign == ";" else "."
    lines = [f"\ufeffid{sign}x {sign}t{sign}y"]
    for k in range(40):
        x = f"{(k * 7 % 11 - 5) / 8:.3f}".replace(".", decimal)
        lines.append(f"C{k}{sign}{x}{sign}{'pq'[k % 3 > 0]}{sign}{'no' if k % 11 > 5 else 'yes'}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    model = linsep.LogisticRegression().fit(linsep.read(path, "y", columns={"id": "drop"}))
    linsep.export(model, tmp_path / "m.py")
    program = [sys.executable, "-I", "-S", tmp_path / "m.py"]
    done = subprocess.run([*program, path], capture_output=True, text=True, check=True)
    assert done.stdout.split() == model.predict(linsep.read(path, like=model)).tolist()
    text = path.read_text(encoding="utf-8-sig").split("\n", 2)
    for content, told in (
        (f"id{sign}t\nC1{sign}p\n", "line 2: column 'x' is not there"),
        (f"{text[0]}\n{text[1]}\nC2{sign}hm{sign}p{sign}no\n", "line 3: column 'x' holds 'hm'"),
    ):
        done = subprocess.run(program, input=content, capture_output=True, text=True)
        assert done.returncode == 1 and done.stderr.strip() == told


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_of_numbers_one_by_one_and_in_an_array(tmp_path, classes):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(60, 3)) + 5
    y = (X[:, 0] > 5).astype(int) + (classes > 2) * (X[:, 1] > 5)
    model = linsep.Scaled(linsep.LinearSVC()).fit(X, y)
    linsep.export(model, tmp_path / "m.py")
    rows = X[:5].tolist()
    code = f"print(json.dumps([m.predict({rows!r}), m.decision_function({rows!r})]))"
    labels, scores = alone(tmp_path / "m.py", code)
    assert labels == model.predict(X[:5]).tolist()
    np.testing.assert_allclose(scores, model.decision_function(X[:5]), rtol=1e-9)
    space = {"__name__": "exported"}
    exec((tmp_path / "m.py").read_text(), space)
    assert space["predict"](X) == model.predict(X).tolist()


def test_a_regression(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = linsep.LinearRegression().fit(X, X @ [1.0, 2.0] + 3)
    linsep.export(model, tmp_path / "m.py")
    code = f"print(json.dumps(m.predict({X[:3].tolist()!r})))"
    assert alone(tmp_path / "m.py", code) == pytest.approx(model.predict(X[:3]), rel=1e-12)
