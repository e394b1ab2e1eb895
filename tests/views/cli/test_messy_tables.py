"""From a messy file to a model: what is found, what is said, and that every hint works."""

import json
import shlex

import numpy as np
import pytest
from commands import process, run

import linsep
from linsep.errors import DataError, ParameterError
from linsep.views.arguments import in_options


@pytest.fixture
def churn(tmp_path):
    """Ids, dates, amounts, a leak, texts in two cases, a column again, and few positives."""
    rng = np.random.default_rng(3)
    lines = ["id,since,plan,bill,again,calls,cancelled,flat,gone"]
    for k in range(300):
        gone = k % 25 == 0
        bill = 1000 + 7 * k % 900
        lines.append(
            f"C{k},{k % 28 + 1}/{k % 12 + 1}/2023,{['Pro', 'pro', 'Free'][k % 3]},"
            f'"${bill:,}",{bill},{rng.integers(5) + 3 * gone},'
            f"{'2024-01-01' if gone else ''},1,{'yes' if gone else 'no'}"
        )
    path = tmp_path / "churn.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_check_names_every_trap_and_its_next_command_works(churn, tmp_path):
    done = run("check", churn, "--target", "gone", "--json")
    found = {(one["column"], one["what"]) for one in json.loads(done.stdout)["findings"]}
    assert found >= {
        ("id", "id"), ("since", "date"), ("plan", "case"), ("again", "duplicate"),
        ("cancelled", "leak"), ("flat", "constant"), ("gone", "imbalance"),
    }  # fmt: skip
    done = run("check", churn, "--target", "gone")
    command = done.stderr.strip().splitlines()[-1].partition("Next: linsep ")[2]
    fitted = run(*shlex.split(command), "--out", tmp_path / "m.linsep", "--json", "-q")
    assert fitted.exit_code == 0
    columns = set(linsep.load(tmp_path / "m.linsep").encoding_.table_columns)
    assert columns == {"since", "plan", "bill", "calls"}


def test_check_groups_bad_cells_and_its_hint_mends_them(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{'unknown' if k % 9 == 0 else 37 * k % 61},{k % 2}" for k in range(60)]
    path.write_text("x,y\n" + "\n".join(rows) + "\n")
    done = run("check", path)
    assert done.exit_code == 3
    assert "7 rows (lines 2, 11, 20, 29, 38, …): column 'x': 'unknown'" in done.stderr
    command = done.stderr.strip().splitlines()[-1].partition("Then: linsep ")[2]
    assert "--read missing=unknown" in command
    assert run(*shlex.split(command), "-q").exit_code == 0


def test_thousands_are_asked_about_and_the_answer_goes_through_to_predict(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.linsep"
    values = [37 * k % 61 * 97 for k in range(60)]
    rows = [f"{v:,};{k % 5};{'pq'[v > 999]}".replace(",", ".") for k, v in enumerate(values)]
    path.write_text("x;k;y\n" + "\n".join(rows) + "\n")
    for command in ("check", "fit"):
        told = in_options(str(run(command, path).exception))
        assert "column 'x' holds 3.589 beside 0: a decimal point, or a thousand and more?" in told
        assert told.endswith("Pass --read decimal=. or --read thousands=. to tell.")
    checked = run("check", path, "--read", "thousands=.")
    assert "--read thousands=." in checked.stderr
    assert run("fit", path, "--read", "thousands=.", "--scale", "mean", "--out", model,
               "-q").exit_code == 0  # fmt: skip
    assert linsep.load(model).encoding_.decimal == ","
    assert "accuracy" in run("score", model, path).stdout


def test_a_table_of_too_many_texts_is_checked_all_the_same(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("t,x,y\n" + "".join(f"text {k},{k % 7},{k % 2}\n" for k in range(1200)))
    done = run("check", path)
    assert done.exit_code == 0 and "--column t=drop" in done.stderr


@pytest.fixture
def model(churn, tmp_path):
    path = tmp_path / "m.linsep"
    columns = [word for name in ("id", "cancelled", "again", "flat") for word in
               ("--column", f"{name}=drop")]  # fmt: skip
    run("fit", churn, "--target", "gone", *columns, "--out", path, "-q", "--holdout", "0")
    return path


def test_predict_keeps_columns_takes_a_threshold_and_tells_of_drift(model, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text('id,since,plan,bill,calls\nC9,1/2/2023,Gold,"$1,100",9\nA7,2/2/2023,Pro,5,0\n')
    done = run("predict", model, new, "--keep", "id", "--threshold", "0.0", "-q")
    assert done.stdout.splitlines() == ["id,label", "C9,yes", "A7,yes"]
    assert "Column 'plan' holds texts that were not in the fit, in 1 row: 'Gold' (1)" in done.stderr
    assert "does not know" not in done.stderr
    refused = run("predict", model, new, "--strict", "-q").exception
    assert isinstance(refused, DataError) and "'plan' holds texts" in str(refused)
    assert isinstance(run("predict", model, new, "--keep", "nope").exception, ParameterError)


def test_a_headerless_row_and_no_row_at_all_can_be_predicted(model, tmp_path):
    row = run("predict", model, "-", "-q", input="1/2/2023,Pro,1100,0\n")
    assert (row.exit_code, row.stdout) == (0, "no\n")
    none = tmp_path / "none.csv"
    none.write_text("since,plan,bill,calls\n")
    done = run("predict", model, none, "-q")
    assert (done.exit_code, done.stdout) == (0, "")
    code, out, error = process("predict", model, "-", "--proba", data=b"")
    assert (code, out, error) == (0, b"label,p[no],p[yes]\n", "standard input is empty\n")


def test_rows_of_the_fit_are_never_drift(model, churn):
    done = run("predict", model, churn, "--strict", "-q")
    assert done.exit_code == 0 and len(done.stdout.split()) == 300
    whole = churn.read_text().splitlines()[1]
    assert (
        run("predict", model, "-", "-q", input=whole + "\n").stdout == done.stdout.split()[0] + "\n"
    )


def test_check_tells_ids_placeholders_and_near_leaks(tmp_path):
    rng = np.random.default_rng(0)
    rows, numbers = [], rng.permutation(400)
    for k in range(400):
        gone = k % 4 == 0
        age = 999 if k % 50 == 0 else 20 + k % 60
        answer = "-99" if k % 40 == 0 else ["yes", "no", "maybe"][k % 3]
        late = 10 * gone + rng.normal() + (20 if k == 5 else 0)
        rows.append(f"{50 * numbers[k]},u{k}@x-mail.com,{age},{answer},{late:.2f},{int(gone)}")
    rows.append("7,short row")
    path = tmp_path / "t.csv"
    path.write_text("user_id,mail,age,answer,late,gone\n" + "\n".join(rows) + "\n")
    done = run("check", path, "--json")
    noted = {
        (one["column"], one["what"]): one["option"] for one in json.loads(done.stdout)["findings"]
    }
    assert noted["user_id", "id"] == "--column user_id=drop"
    assert noted["mail", "id"] == "--column mail=drop"
    assert noted["age", "placeholder"] == "--read missing=999"
    assert noted["answer", "placeholder"] == "--read missing=-99"
    assert noted["late", "nearly a leak"] == "--column late=drop"
    assert ("late", "placeholder") not in noted
    command = done.stderr.strip().splitlines()[-1].partition("Then: linsep ")[2]
    assert command.endswith("--bad-rows skip")
    more = ["--read", "missing=999", "--read", "missing=-99", "--json", "-q"]
    fitted = run(*shlex.split(command), *more)
    assert fitted.exit_code == 0 and json.loads(fitted.stdout)["rows"] == 400


def test_findings_that_many_columns_share_are_told_in_one_line(tmp_path):
    names = [f"g{k}" for k in range(12)]
    rows = [",".join("" if (i + j) % 9 == 0 else str(i * (j + 3) % 17) for j in range(12))
            for i in range(60)]  # fmt: skip
    path = tmp_path / "t.csv"
    text = [",".join([*names, "y"]), *(f"{row},{'ab'[i % 2]}" for i, row in enumerate(rows))]
    path.write_text("\n".join(text) + "\n")
    done = run("check", path)
    assert "and 8 columns more: 'g4', 'g5'" in done.stdout
    assert "and in 2 columns more." in done.stdout
    assert len(json.loads(run("check", path, "--json").stdout)["findings"]) >= 12


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("linear", "Did you mean LinearDiscriminantAnalysis or LinearRegression or LinearSVC?"),
        ("LogistcRegression", "Did you mean LogisticRegression?"),
        ("forest", "'forest' is no learner. There are FisherDiscriminant"),
    ],
)
def test_a_learner_that_is_not_there_is_told_with_names_near_it(name, told):
    done = run("fit", "iris", "--learner", name)
    assert done.exit_code == 2 and told in " ".join(done.stderr.split())


def test_the_beginning_of_a_learner_and_a_name_near_the_target_are_enough(churn):
    done = run("fit", "iris", "--learner", "percep", "-p", "max_iter=3", "--json", "-q")
    assert json.loads(done.stdout)["learner"] == "Perceptron"
    assert "Did you mean 'gone'?" in str(run("fit", churn, "--target", "Gonne").exception)


def test_rows_that_show_nothing_are_said_to(tmp_path):
    rng = np.random.default_rng(3)
    path = tmp_path / "noise.csv"
    np.savetxt(path, np.c_[rng.normal(size=(80, 5)), np.arange(80) % 2], delimiter=",")
    done = run("fit", path, "--cv", "5", "-q")
    after = done.stdout.partition("Cross-validation")[2]
    assert "do not show that it is better than chance" in after


def test_an_error_of_predict_names_no_option_it_lacks(model, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("since,plan,bill,calls\n1/2/2023,Pro,many,0\n")
    told = in_options(str(run("predict", model, new).exception))
    assert "as the model knows it" in told and "--column" not in told


@pytest.mark.parametrize("option", ["--out", "--bad-rows"])
def test_the_file_to_be_read_is_not_written_over(churn, model, option):
    before = churn.read_bytes()
    assert run("predict", model, churn, option, churn).exit_code == 2
    assert run("fit", churn, "--target", "gone", option, churn).exit_code == 2
    assert churn.read_bytes() == before


def test_ends_of_lines_in_cells_do_not_break_the_tables_of_check_and_inspect(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.linsep"
    rows = [
        f'{k % 7},"{"ab"[k % 2]}\nline {k % 3}","{"no" if k % 2 else "ye"}\ns"' for k in range(40)
    ]
    path.write_text('x,"two\nlines",y\n' + "\n".join(rows) + "\n")
    table = run("check", path).stdout
    assert "two\\nlines" in table
    assert "a\\nline 0, a\\nline 1" in table
    assert "2 classes: no\\ns (20), ye\\ns (20)" in table
    assert run("fit", path, "--out", model, "-q").exit_code == 0
    shown = run("inspect", model).stdout
    assert "Weights towards ye\\ns" in shown
    assert "two\\nlines=a\\nline 0" in shown
    starts = ("line ", "lines", "s ")
    assert not [line for line in (table + shown).splitlines() if line.startswith(starts)]


@pytest.mark.parametrize(
    ("usual", "codes"),
    [
        (range(1, 11), ["-9", "-8", "-7"]),
        (range(0, 500, 7), ["999"]),
        (range(0, 60), ["997", "998", "999"]),
        (range(1, 800, 3), ["-1"]),
        (range(0, 40), ["-99"]),
    ],
)
def test_check_names_codes_that_look_like_missing_values(tmp_path, usual, codes):
    path = tmp_path / "t.csv"
    pool = [*map(str, usual)]
    cells = [codes[k // 5 % len(codes)] if k % 5 == 0 else pool[k % len(pool)] for k in range(300)]
    rows = [f"{cell},{k % 3},{'pq'[k % 2]}" for k, cell in enumerate(cells)]
    path.write_text("x,z,y\n" + "\n".join(rows) + "\n")
    found = json.loads(run("check", path, "--json").stdout)["findings"]
    named = [one for one in found if one["what"] == "placeholder"]
    assert [one["column"] for one in named] == ["x"]
    assert named[0]["option"] == f"--read missing={','.join(sorted(codes, key=float))}"


@pytest.mark.parametrize("pool", [[-9, -8, -7, -6, -5, -4, -3, 0, 4], [-1, 0, 1], [*range(0, 100)]])
def test_numbers_below_zero_among_others_are_no_codes(tmp_path, pool):
    path = tmp_path / "t.csv"
    rows = [f"{pool[k * 7 % len(pool)]},{'pq'[k % 2]}" for k in range(300)]
    path.write_text("x,y\n" + "\n".join(rows) + "\n")
    found = json.loads(run("check", path, "--json").stdout)["findings"]
    assert "placeholder" not in {one["what"] for one in found}


def test_check_proposes_no_column_of_many_numbers_as_classes(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{k % 3},{'pq'[k % 2]},{37 * k % 95}" for k in range(400)]
    path.write_text("x,kind,age\n" + "\n".join(rows) + "\n")
    done = run("check", path)
    assert "target age: numbers to predict" in done.stdout
    command, _, other = done.stderr.strip().partition("Next: linsep ")[2].partition(", or ")
    assert other == "with another column as --target"
    assert run(*shlex.split(command), "-q").exit_code == 0
    assert "95 classes" in run("check", path, "--target", "age").stdout


def test_a_column_that_begins_constant_is_checked_without_a_word_of_numpy(tmp_path):
    path = tmp_path / "bank.csv"
    rows = [
        f'{k * 7 % 71};"{["admin.", "retired", "unknown"][k % 3]}";{-1 if k < 20_500 else k % 871};'
        f'{k * 31 % 997};"{["no", "yes"][k % 11 == 0]}"'
        for k in range(21_000)
    ]
    path.write_text('"age";"job";"pdays";"balance";"y"\n' + "\n".join(rows) + "\n")
    assert run("check", path, "--target", "y").exit_code == 0  # warnings are errors here
