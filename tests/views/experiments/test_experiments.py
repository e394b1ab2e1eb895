"""Every experiment's claims hold on what it has just measured, and its picture can be drawn."""

import functools
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from linsep import PairProducts
from linsep.errors import DataError, ParameterError
from linsep.views.cli.experiment import command
from linsep.views.digits import digits
from linsep.views.experiments import find, names, summary
from linsep.views.experiments.perceptrons import mnist_8_pairs
from linsep.views.findings import Claim, Findings, Table

NAMES = [
    "bias-variance",
    "fisher",
    "gates",
    "hog",
    "kesler",
    "lda-logistic",
    "local-minima",
    "margin",
    "mnist-01",
    "mnist-8-pairs",
    "online-vs-batch",
    "perceptron",
    "radial",
    "regression",
    "scaling",
    "step-size",
    "svm",
    "voted",
    "xor",
]


findings = functools.cache(find)  # each experiment runs once, and several tests read it


def rows_of(name, table=0):
    """The rows of a table, each by its headings; shares such as '4.19%' as numbers."""
    record = findings(name).record()["tables"][table]["rows"]
    return [{key: number(value) for key, value in row.items()} for row in record]


def number(value):
    if isinstance(value, str) and value.endswith("%"):
        return float(value[:-1])
    return value


def column(rows, heading):
    return [row[heading] for row in rows]


def test_the_experiments_are_these():
    assert names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_of_the_experiment_holds_and_its_picture_is_written(name, tmp_path):
    found = findings(name)
    assert len(found.claims) >= 3
    assert [claim.sentence for claim in found.claims if not claim.holds] == []
    assert all(len(row) == len(table.columns) for table in found.tables for row in table.rows)
    json.dumps(found.record())
    found.save(tmp_path / f"{name}.png")
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    figure = found.picture()
    assert all(ax.get_title() or not ax.axison or ax.get_label() == "<colorbar>"
               for ax in figure.axes)  # fmt: skip


def test_mnist_zeros_and_ones_take_the_changes_of_file_order(shared_data):
    found = find("mnist-01", shared_data("mnist"))
    assert found.hold, str(found)
    runs = [table["rows"] for table in found.record()["tables"][:2]]
    ours = [row for row in runs[0] if row["nb_changes"] is not None]
    assert column(ours, "nb_changes") == [42, 23, 17, 17, 13, 9, 3, 6, 14, 10, 6, 3, 0]
    assert ours[-1]["train_error"] == "0.00%"
    ends = [[row["test_error"] for row in run if row["test_error"]][-1] for run in runs]
    assert ends == ["0.09%", "0.05%"]  # as the page of the lecture says
    for run in runs:  # beside them the numbers that the lecture prints
        theirs = [row for row in run if row["lecture_nb_changes"] is not None]
        assert column(theirs, "lecture_nb_changes") == [64, 24, 10, 6, 5, 4, 3, 2, 0]
        assert theirs[0]["lecture_train_error"] == "0.23%"
        assert column(theirs, "lecture_test_error")[:4] == ["0.19%", "0.00%", "0.05%", "0.14%"]


def test_a_wider_margin_takes_fewer_corrections_and_none_exceeds_the_bound():
    rows = rows_of("margin")
    assert column(rows, "margin") == sorted(column(rows, "margin"))
    for heading in ("mean", "bound"):
        assert column(rows, heading) == sorted(column(rows, heading), reverse=True)
    assert all(row["most"] <= row["bound"] for row in rows)


def test_few_rows_carry_the_support_vector_machine_and_its_margin_is_the_wider():
    perceptron, machine = rows_of("svm")
    assert machine["rows that carry it"] <= machine["of"] / 20
    assert machine["margin"] > perceptron["margin"]


def test_noise_costs_the_widest_margin_less_than_a_perceptron():
    clean, *noisy = rows_of("svm", 1)
    assert clean["machine"] == clean["perceptron"] == 0.0
    assert len(noisy) == 4
    assert all(row["machine"] < row["perceptron"] for row in noisy)


def test_capacity_trades_bias_for_variance():
    rows = rows_of("bias-variance")
    assert column(rows, "variance") == sorted(column(rows, "variance"))
    assert rows[-1]["bias²"] < rows[0]["bias²"] / 10
    errors = column(rows, "error")
    assert min(errors) < min(errors[0], errors[-1])
    assert all(row["error"] == pytest.approx(row["bias²"] + row["variance"]) for row in rows)


def test_neighbours_in_the_squared_radius_vote_alike_at_every_angle_and_err_less():
    plane, radius = rows_of("radial")
    assert (plane["feature"], radius["feature"]) == ("(x₁, x₂)", "r²")
    assert radius["errors on new points"] < plane["errors on new points"]
    spread = "spread of the vote along r = 1.5"
    assert radius[spread] == 0.0 < plane[spread]


def test_a_support_vector_machine_reads_edges_better_than_pixels():
    rows = {row["new digits"]: row for row in rows_of("hog")}
    assert rows["moved by 0"]["HOG, SVM"] < rows["moved by 0"]["pixels, SVM"]
    assert rows["moved by 2"]["HOG, SVM"] < rows["moved by 2"]["pixels, SVM"] / 2
    light = ("a third as bright", "on a grey ground", "as a negative")
    assert {rows[how]["HOG, SVM"] for how in light} == {rows["moved by 0"]["HOG, SVM"]}


def test_channels_read_moved_digits_better_than_pixels_but_no_negatives():
    rows = {row["new digits"]: row for row in rows_of("hog")}
    for how in ("moved by 0", "moved by 1", "moved by 2", "moved by 3"):
        assert rows[how]["channels, SVM"] < rows[how]["pixels, SVM"], how
    assert rows["as a negative"]["channels, SVM"] > 90


def test_online_corrections_take_fewer_passes_than_batches():
    rules = {row["rule"]: row for row in rows_of("online-vs-batch")}
    assert rules["online"]["passes"] < rules["batch"]["passes"]
    (orders,) = rows_of("online-vs-batch", 1)
    assert orders["fewest"] < orders["most"] <= orders["bound"]


def test_an_outlier_at_the_end_spoils_the_last_separator_and_not_the_vote():
    rows = {row["decision"]: row for row in rows_of("voted", 2)}
    assert rows["last"]["before the outlier"] == rows["vote"]["before the outlier"]
    assert rows["last"]["after it"] > 20
    assert rows["vote"]["after it"] == rows["vote"]["before the outlier"] < 1


def test_batch_descent_gets_stuck_from_some_starts_and_not_from_others():
    batch = rows_of("local-minima")[0]
    assert (batch["data"], batch["steps"]) == ("xor", "batch")
    assert 0 < batch["solved"] < batch["of"]


def test_steps_of_single_rows_help_on_the_band_and_not_on_xor():
    solved = {(row["data"], row["steps"]): row["solved"] for row in rows_of("local-minima")}
    assert solved["band", "row by row"] > solved["band", "batch"] + 20
    assert solved["xor", "row by row"] < solved["xor", "batch"] - 50


def test_a_small_step_crawls_and_steps_that_are_too_large_raise_the_cost():
    rows = {row["η"]: row for row in rows_of("step-size")}
    needed = {eta: row["steps to within 1 kg² of the least"] for eta, row in rows.items()}
    assert needed[0.01] is None and needed[0.1] > needed[0.9]
    assert rows[2.05]["above it at the end"] > rows[0.01]["above it at the end"]


def test_one_vs_rest_leaves_regions_without_a_decision_and_kesler_none():
    rows = {row["way"]: row for row in rows_of("kesler")}
    assert rows["one-vs-rest"]["no class"] > 0 and rows["one-vs-rest"]["several classes"] > 0
    assert rows["Kesler"]["one class"] == 100.0


def test_mnist_eights_gain_from_products_of_pixels(shared_data, monkeypatch):
    monkeypatch.setattr(mnist_8_pairs, "COUNTS", [0, 1000])
    monkeypatch.setattr(mnist_8_pairs, "PASSES", 1)
    found = find("mnist-8-pairs", shared_data("mnist"))
    before, after = (float(row[3].rstrip("%")) for row in found.tables[0].rows)
    assert before > 3.5
    assert after < 3.2


def test_only_a_block_of_products_exists_at_a_time(monkeypatch):
    sizes = []
    whole = PairProducts.transform

    def noted(self, X):
        sizes.append(len(X))
        return whole(self, X)

    monkeypatch.setattr(PairProducts, "transform", noted)
    monkeypatch.setattr(mnist_8_pairs, "COUNTS", [10])
    find("mnist-8-pairs")
    assert max(sizes) == mnist_8_pairs.BLOCK
    assert sum(sizes) > 10 * max(sizes)


def test_the_command_prints_tables_and_claims_and_says_where_the_picture_is(tmp_path):
    done = CliRunner().invoke(command, ["xor", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "(u, v, uv)" in done.stdout
    assert done.stdout.count("holds  ") == 5
    assert str(tmp_path / "xor.png") in done.stderr
    assert (tmp_path / "xor.png").exists()


def test_the_command_speaks_json(tmp_path):
    done = CliRunner().invoke(command, ["gates", "--json", "--out", str(tmp_path)])
    record = json.loads(done.stdout)
    assert record["experiment"] == "gates"
    assert all(claim["holds"] for claim in record["claims"])
    assert record["tables"][0]["rows"][0]["gate"] == "AND"
    page = (Path(__file__).parents[3] / "docs" / "json.md").read_text(encoding="utf-8")
    listed = page.split("## `experiment`")[1].split("\n## ")[0]
    assert {field for field in record if f"| `{field}` |" in listed} == set(record)


def test_the_command_lists_what_each_experiment_shows():
    lines = CliRunner().invoke(command, ["--list"]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    assert all(summary(name) in line for name, line in zip(NAMES, lines, strict=True))


def test_a_claim_that_fails_is_told_and_ends_with_one(monkeypatch, tmp_path):
    failed = Findings("t", "d", [Table("a", ["b"], [[1.0]])], [Claim("2 > 3.", False)], lambda f: 0)
    monkeypatch.setattr("linsep.views.experiments.find", lambda *_: failed)
    done = CliRunner().invoke(command, ["xor", "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert "FAILS  2 > 3." in done.stdout


def test_help_and_list_import_neither_the_compiler_nor_scikit_learn():
    script = (
        "import sys\n"
        "from linsep.views.cli import group\n"
        "group(['experiment', '--list'], standalone_mode=False)\n"
        "print(sorted({'sklearn', 'scipy', 'matplotlib'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_folders_without_mnist_and_unknown_experiments_are_named(tmp_path):
    with pytest.raises(DataError, match="holds no file train-images-idx3-ubyte"):
        digits(tmp_path)
    with pytest.raises(ParameterError, match=r"name is 'or'; the experiments are bias-variance"):
        find("or")


def test_the_shares_that_kesler_prints_are_counted():
    from linsep.views.experiments.units.kesler import _ahead, _shares

    X = np.array([[-1.0, -1.0], [1.0, 1.0]])
    tied = SimpleNamespace(coef_=np.ones((3, 2)), intercept_=np.zeros(3))
    assert _shares(tied, X, _ahead) == (1.0, 0.0, 0.0)  # nobody is ahead
    half = SimpleNamespace(coef_=np.zeros((3, 2)), intercept_=np.zeros(3))
    half.coef_[0, 0] = 1.0  # ahead where x₁ > 0; the two others tie elsewhere
    assert _shares(half, X, _ahead) == pytest.approx((0.5, 0.0, 0.5))
