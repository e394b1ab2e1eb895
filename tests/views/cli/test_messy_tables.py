"""From a messy file to a model: what is found, what is said, and that every hint works."""

import json
import shlex

import numpy as np
import pytest
from commands import run

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
    assert "Column 'plan' holds texts that were not in the fit, in 1 rows" in done.stderr
    assert "does not use" not in done.stderr
    refused = run("predict", model, new, "--strict", "-q").exception
    assert isinstance(refused, DataError) and "'plan' hold texts" in str(refused)
    assert isinstance(run("predict", model, new, "--keep", "nope").exception, ParameterError)


def test_a_headerless_row_and_no_row_at_all_can_be_predicted(model, tmp_path):
    row = run("predict", model, "-", "-q", input="1/2/2023,Pro,1100,0\n")
    assert (row.exit_code, row.stdout) == (0, "no\n")
    none = tmp_path / "none.csv"
    none.write_text("since,plan,bill,calls\n")
    done = run("predict", model, none, "-q")
    assert (done.exit_code, done.stdout) == (0, "")


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
