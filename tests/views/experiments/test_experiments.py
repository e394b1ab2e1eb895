"""Every experiment's claims hold on what it has just measured, and its picture can be drawn."""

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


def test_the_experiments_are_these():
    assert names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_of_the_experiment_holds_and_its_picture_is_written(name, tmp_path):
    found = find(name)
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
    changes = [row[1] for row in found.tables[0].rows]
    assert changes == [42, 23, 17, 17, 13, 9, 3, 6, 14, 10, 6, 3, 0]
    assert found.tables[0].rows[-1][2] == "0.00%"
    ends = [table.rows[-1][3] for table in found.tables[:2]]
    assert ends == ["0.09%", "0.05%"]  # as the page of the lecture says


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
        "print(sorted({'numba', 'sklearn', 'scipy', 'matplotlib'} & set(sys.modules)))\n"
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
