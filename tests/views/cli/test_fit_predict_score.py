"""`linsep fit, predict, score, check, inspect` as a user runs them: real processes and pipes."""

import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import LINSEP, process, run

import linsep
from linsep.views.cli import Commands

DOCS = Path(__file__).parents[3] / "docs"


def test_a_fit_tells_error_baseline_confusion_proof_and_what_to_do_next(people, tmp_path):
    path = tmp_path / "m.linsep"
    done = run("fit", people, "--target", "income", "--out", path)
    assert done.exit_code == 0
    assert "LogisticRegression on 120 rows of 5 features" in done.stdout
    assert "always saying" in done.stdout
    assert "true \\ predicted" in done.stdout
    assert "Proof: the objective is at most" in done.stdout
    assert f"Model in {path}" in done.stderr
    assert f"linsep predict {path}" in done.stderr
    assert "linsep" not in done.stdout.replace("linsep fit", "")


def test_the_saved_model_is_the_learner_fitted_on_the_same_rows(people, model):
    learner = linsep.LogisticRegression().fit(linsep.read(people, target="income"))
    loaded = linsep.load(model)
    assert loaded.coef_.tobytes() == learner.coef_.tobytes()
    assert loaded.encoding_ == learner.encoding_


def test_predict_writes_one_label_per_row_and_nothing_else(people, model):
    code, out, error = process("predict", model, people)
    rows = linsep.read(people, like=linsep.load(model))
    wanted = [label for X, _ in rows for label in linsep.load(model).predict(X).tolist()]
    assert (code, error) == (0, "")
    assert out.decode().splitlines() == wanted


def test_predict_reads_a_pipe_without_the_column_of_labels(people, model):
    lines = [line.rpartition(",")[0] for line in people.read_text().splitlines()]
    _, out, _ = process("predict", model, "-", data="\n".join(lines).encode())
    assert out == process("predict", model, people)[1]


def test_scores_and_probabilities_come_as_csv_with_a_header(people, model, tmp_path):
    done = run("predict", model, people, "--scores", "--proba", "--out", tmp_path / "p.csv")
    assert (done.exit_code, done.stdout) == (0, "")
    head, *lines = (tmp_path / "p.csv").read_text().splitlines()
    assert head == "label,score[low],p[high],p[low]"
    for line in lines:
        label, score, high, low = line.split(",")
        assert (float(score) >= 0) == (label == "low") == (float(low) >= float(high))


def test_labels_with_commas_and_quotes_are_quoted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('x,y\n0,"a,b"\n1,"a,b"\n2,"c ""d"""\n3,"c ""d"""\n')
    run("fit", path, "--out", tmp_path / "m", "-q")
    out = run("predict", tmp_path / "m", path).stdout.splitlines()
    assert out == ['"a,b"', '"a,b"', '"c ""d"""', '"c ""d"""']


@pytest.mark.parametrize("names", [("no", "yes"), ("aa", "bb"), ("ö", "x, y"), ("0", "1")])
def test_lines_of_labels_are_those_of_predict_however_long_labels_are(names, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    rows = zip(X.tolist(), (X[:, 0] > 0).tolist(), strict=True)
    path, made = tmp_path / "t.csv", tmp_path / "m"
    path.write_text("a,b,y\n" + "".join(f'{a},{b},"{names[k]}"\n' for (a, b), k in rows))
    known = linsep.Perceptron().fit(linsep.read(path, target="y"))
    linsep.save(known, made)
    expected = [str(one) for one in known.predict(linsep.read(path, like=known))]
    lines = list(csv.reader(io.StringIO(run("predict", made, path, "-q").output)))
    assert lines == [[one] for one in expected]
    told = [json.loads(line) for line in run("predict", made, path, "--json").output.splitlines()]
    assert [str(one["label"]) for one in told] == expected
    assert [one["row"] for one in told] == list(range(300))
    scores = known.decision_function(linsep.read(path, like=known)).tolist()
    lines = list(csv.reader(io.StringIO(run("predict", made, path, "--scores", "-q").output)))
    assert [(a, float(s)) for a, s in lines[1:]] == list(zip(expected, scores, strict=True))


def test_predict_does_not_look_at_labels(people, model, tmp_path):
    *head, last = people.read_text().splitlines()
    empty = tmp_path / "empty.csv"
    empty.write_text("\n".join([*head, last.rpartition(",")[0] + ","]) + "\n")
    assert run("predict", model, empty, "-q").output == run("predict", model, people, "-q").output


def test_a_model_can_go_through_pipes(people):
    code, made, error = process("fit", people, "--target", "income", "--out", "-")
    assert code == 0
    assert "LogisticRegression on 120 rows" in error
    code, out, _ = process("inspect", "-", data=made)
    assert code == 0
    assert out.decode().startswith("-: LogisticRegression")


def test_score_agrees_with_the_model_and_shows_the_baseline(people, model):
    done = run("score", model, people, "--json")
    record = json.loads(done.stdout)
    X, y = linsep.read(people, like=linsep.load(model)).load()
    loaded = linsep.load(model)
    assert record["error"] == pytest.approx(1 - loaded.score(X, y), abs=1e-12)
    matrix = np.array(record["confusion"])
    assert matrix.sum() == record["rows"] == 120
    assert record["error"] == pytest.approx(1 - np.trace(matrix) / 120)
    assert record["baseline_error"] == pytest.approx(1 - matrix.sum(axis=1).max() / 120)


def test_labels_the_model_does_not_know_count_as_wrong_and_are_named(people, model, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(people.read_text().replace(",low", ",poor"))
    done = run("score", model, other)
    assert "does not know the classes 'poor'" in done.stdout
    assert done.exit_code == 0
    other.write_text(other.read_text().replace(",high", ",rich"))
    done = run("score", model, other)
    assert "none of the labels is a class of the model" in str(done.exception)


def test_a_question_makes_the_labels_and_another_may_be_asked_in_score(people, tmp_path):
    path = tmp_path / "m"
    done = run("fit", people, "--target", "hours > 30", "--out", path, "--json")
    record = json.loads(done.stdout)
    assert record["train"]["classes"] == [False, True]
    other = tmp_path / "other.csv"
    other.write_text(people.read_text().replace(",hours,", ",hours,"))
    again = json.loads(run("score", path, other, "--target", "hours > 40", "--json").stdout)
    assert sum(map(sum, again["confusion"][1:])) < sum(map(sum, record["train"]["confusion"][1:]))


def test_a_regression_is_fitted_scored_and_predicted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,z,y\n" + "".join(f"{i},{i % 3},{0.5 * i + 0.25}\n" for i in range(30)))
    done = run("fit", path, "--learner", "LinearRegression", "--out", tmp_path / "m", "--json")
    record = json.loads(done.stdout)
    assert record["train"]["rmse"] < 1e-9
    assert record["train"]["r2"] == pytest.approx(1.0)
    assert "R² 1.0000" in run("score", tmp_path / "m", path).stdout
    numbers = [float(line) for line in run("predict", tmp_path / "m", path).stdout.split()]
    assert numbers == pytest.approx([0.5 * i + 0.25 for i in range(30)])


def test_the_embedded_set_is_used_when_no_data_are_given(tmp_path):
    done = run("fit", "--out", tmp_path / "m")
    assert "569 rows of 30 features" in done.stdout
    assert "breast cancer" in done.stderr
    assert run("score", tmp_path / "m", "cancer").exit_code == 0


def test_test_rows_classes_scale_and_parameters_are_heeded(tmp_path):
    done = run(
        "fit", "digits", "--classes", "3,8", "--test", "digits", "--learner", "Perceptron",
        "-p", "keep=average", "-p", "max_iter=7", "--scale", "min-max", "--out", tmp_path / "m",
        "--json",
    )  # fmt: skip
    record = json.loads(done.stdout)
    assert record["train"]["classes"] == record["test"]["classes"] == [3, 8]
    assert record["rows"] == 357
    shown = json.loads(run("inspect", tmp_path / "m", "--json").stdout)
    assert shown["parameters"]["keep"] == "average"
    assert shown["parameters"]["max_iter"] == 7
    assert shown["scaled"] == "min-max"


def test_a_trace_is_written_as_json_lines(tmp_path):
    done = run("fit", "xor", "--learner", "Perceptron", "-p", "max_iter=3",
               "--trace", tmp_path / "t.jsonl")  # fmt: skip
    assert done.exit_code == 0
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert lines[0]["learner"] == "Perceptron"
    assert {line.get("kind") for line in lines[1:]} == {"rows", "update", "pass", "end"}
    run("fit", "xor", "--learner", "KernelPerceptron", "--trace", tmp_path / "u")
    kinds = {json.loads(line).get("kind") for line in (tmp_path / "u").read_text().splitlines()}
    assert kinds == {None, "rows", "pass", "end"}  # a feature space has no weights to write down


def test_not_reaching_the_goal_is_five_under_strict(tmp_path):
    asked = ["fit", "xor", "--learner", "Perceptron", "-p", "max_iter=3"]
    assert process(*asked)[0] == 0
    code, out, _ = process(*asked, "--strict")
    assert code == 5
    assert b"no separator exists" in out


def test_an_interrupted_fit_exits_with_130_and_keeps_the_best_model(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20000, 30))
    np.savez(tmp_path / "d.npz", X=X, y=rng.integers(0, 2, 20000))
    run("fit", "xor", "--learner", "Perceptron", "-p", "max_iter=1")  # compiled before the clock
    child = subprocess.Popen(
        [*LINSEP, "fit", str(tmp_path / "d.npz"), "--learner", "Perceptron", "-p",
         "max_iter=100000000", "--out", str(tmp_path / "m")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while "pass 4" not in (child.stderr.readline() or "pass 4"):
        pass
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=60)
    assert child.returncode == 130
    assert f"is in {tmp_path / 'm'}" in error
    assert linsep.load(tmp_path / "m").status_ is linsep.Status.interrupted


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["fit", "nowhere.csv"], 3, "nowhere.csv"),
        (["fit", "xor", "--learner", "Perceptrn"], 2, "Perceptrn"),
        (["fit", "xor", "-p", "max_itr=3"], 2, "Did you mean max_iter?"),
        (["fit", "xor", "-p", "C"], 2, "name=value"),
        (["fit", "xor", "-p", "C=-1"], 2, "C is -1"),
        (["fit", "xor", "--classes", "1"], 2, "two or more"),
        (["fit", "xor", "--resume"], 2, "--out"),
        (["predict", "nowhere", "xor"], 4, "nowhere"),
        (["score", __file__, "xor"], 4, "not a sound linsep model file"),
        (["inspect", "/dev/null"], 4, "regular"),
        (["export", "nowhere", "m.sql"], 4, "nowhere"),
        (["fit", "xor", "--out", "/nowhere/m"], 1, "there is no folder"),
    ],
    ids=range(12),
)
def test_failures_have_their_exit_codes_and_say_why_on_stderr(arguments, code, said):
    found, out, error = process(*arguments)
    assert (found, out) == (code, b"")
    assert said in error
    assert "Traceback" not in error


def test_bad_rows_fail_are_skipped_or_listed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "1,a\n2,b\n" * 10 + "oops,a\n3,b\n" + "1,a\n2,b\n" * 10)
    code, _, error = process("fit", path)
    assert code == 3
    assert "line 22" in error
    assert "oops" in error
    done = run("fit", path, "--bad-rows", "skip", "--json")
    assert json.loads(done.stdout)["skipped"] == 1
    assert "line 22" in done.stderr
    run("fit", path, "--bad-rows", tmp_path / "bad.csv")
    assert "oops" in (tmp_path / "bad.csv").read_text()
    checked = run("check", path, "--json")
    assert checked.exit_code == 3
    assert "line 22" in json.loads(checked.stdout)["bad_rows"][0]


def test_check_shows_columns_kinds_gaps_and_classes(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"size,color,kind\n1,red,a\n,blue,b\n3,,a\n5,red,b\n"))
    done = run("check", path)
    assert done.exit_code == 0
    assert re.search(r"size +number +1 +1 +mean 3", done.stdout)
    assert re.search(r"color +text +2 +1 +blue, red", done.stdout)
    assert "2 classes: a (2), b (2)" in done.stdout
    record = json.loads(run("check", path, "--column", "color=drop", "--json").stdout)
    assert [column["name"] for column in record["columns"]] == ["size"]


def test_inspect_accounts_for_every_byte(model):
    record = json.loads(run("inspect", model, "--json").stdout)
    ends = [0, *(one["end"] for one in record["bytes"])]
    assert [one["start"] for one in record["bytes"]] == ends[:-1]
    assert ends[-1] == model.stat().st_size
    text = run("inspect", model, "--weights").stdout
    assert "city=Lima, Peru" in text
    assert "Holds no training rows." in text


def test_a_checkpoint_is_kept_beside_the_model_and_removed_at_the_end(tmp_path):
    asked = ["fit", "digits01", "--learner", "Perceptron", "--out", tmp_path / "m", "-q"]
    run(*asked)
    plain = (tmp_path / "m").read_bytes()
    done = run(*asked, "--resume")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "m").read_bytes() == plain
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("command", ["predict", "inspect", "score"])
def test_using_a_model_imports_neither_the_compiler_nor_scikit_learn(people, model, command):
    arguments = [command, str(model)] + ([] if command == "inspect" else [str(people)])
    script = (
        "import sys\n"
        "from linsep.views.cli import group\n"
        f"group({arguments!r}, standalone_mode=False)\n"
        "print(sorted({'sklearn', 'pandas', 'scipy'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_leaves_ends_predict_quietly(people, model):
    child = subprocess.Popen(
        [*LINSEP, "predict", str(model), str(people)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    child.wait()


@pytest.mark.parametrize("name", Commands().list_commands(None))
def test_every_option_is_in_the_documents(name):
    text = (DOCS / "command-line.md").read_text()
    part = text.split(f"## `linsep {name}", 1)[1].split("\n## ", 1)[0]
    for parameter in Commands().get_command(None, name).params:
        for option in parameter.opts if parameter.param_type_name == "option" else []:
            assert f"`{option}" in part, option


@pytest.mark.parametrize("name", Commands().list_commands(None))
def test_every_option_of_the_documents_is_there(name):
    text = (DOCS / "command-line.md").read_text()
    part = text.split(f"## `linsep {name}", 1)[1].split("\n## ", 1)[0]
    first = [row.split(" | ")[0] for row in part.splitlines() if row.startswith("| `-")]
    known = {
        o for p in Commands().get_command(None, name).params for o in p.opts + p.secondary_opts
    }
    assert set(re.findall(r"`(-[\w-]+)", " ".join(first))) <= known


def test_completion_is_offered_for_the_shells_the_documents_name():
    shells = re.findall(r"_LINSEP_COMPLETE=(\w+)_source", (DOCS / "command-line.md").read_text())
    assert shells == ["bash", "zsh", "fish"]
    for shell in shells:
        done = subprocess.run(
            [sys.executable, "-c", "import sys; sys.argv[0] = 'linsep'\n"
             "from linsep.views.cli import main; main()"],
            env={**os.environ, "_LINSEP_COMPLETE": f"{shell}_source"}, capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        assert "linsep" in done.stdout


def test_a_fit_that_met_trouble_says_why(people):
    done = run("fit", people, "--target", "income", "-p", "max_iter=1", "-p", "tol=1e-12", "--json")
    assert json.loads(done.stdout)["diagnosis"].startswith("Stopped after 1 of at most 1 passes")
    told = run("fit", people, "--target", "income", "-p", "max_iter=1", "-p", "tol=1e-12").stdout
    assert "Why: Stopped after 1 of at most 1 passes" in told
