"""`linsep certify` as a user runs it."""

import json

import pytest
from click.testing import CliRunner

from linsep.errors import DataError
from linsep.views.cli import group


def certify(*arguments):
    return CliRunner().invoke(group, ["certify", *map(str, arguments)])


@pytest.mark.parametrize(
    ("data", "start"),
    [("digits01", "Separable"), ("xor", "Not separable"), ("iris", "Not separable")],
)
def test_the_verdict_is_a_sentence_and_its_certificate_is_accepted(tmp_path, data, start):
    path = tmp_path / "proof.json"
    made = certify(data, "--out", path)
    assert made.exit_code == 0
    assert made.stdout.startswith(start)
    checked = certify(data, "--verify", path)
    assert checked.exit_code == 0
    assert "holds" in checked.stdout


def test_a_separable_set_comes_with_radius_margin_and_bound(tmp_path):
    report = json.loads(certify("digits01", "--out", tmp_path / "p.json", "--json").stdout)
    assert report["separable"] is True
    ratio = (report["radius"] / report["augmented_margin"]) ** 2
    assert report["bound"] == pytest.approx(ratio, rel=0.05)


def test_an_altered_certificate_or_another_data_set_is_refused(tmp_path):
    path = tmp_path / "xor.json"
    certify("xor", "--out", path)
    assert certify("iris", "--verify", path).exit_code == 1
    document = json.loads(path.read_text())
    document["multipliers"] = ["1/2", "1/6", "1/6", "1/6"]
    path.write_text(json.dumps(document))
    refused = certify("xor", "--verify", path)
    assert refused.exit_code == 1 or isinstance(refused.exception, DataError)


def test_a_csv_of_ones_own_is_read_by_its_target_column(tmp_path):
    table = tmp_path / "points.csv"
    table.write_text("kind,width,height\n" + "red,1,1\nred,0.5,3\nblue,2,2\n")
    made = certify(table, "--target", "kind", "--out", tmp_path / "p.json", "--json")
    report = json.loads(made.stdout)
    assert report["separable"] is True
    assert report["margin"] == pytest.approx(0.606339, abs=1e-6)


def test_the_witness_of_xor_is_all_four_rows_with_equal_multipliers(tmp_path):
    report = json.loads(certify("xor", "--out", tmp_path / "p.json", "--json").stdout)
    assert report["rows"] == [0, 1, 2, 3]
    assert report["multipliers"] == ["1/4"] * 4


def test_without_an_intercept_the_planes_go_through_the_origin(tmp_path):
    table, path = tmp_path / "points.csv", tmp_path / "p.json"
    table.write_text("kind,width,height\n" + "red,1,1\nred,2,1\nblue,2,2\n")
    assert certify(table, "--target", "kind").stdout.startswith("Separable")
    made = certify(table, "--target", "kind", "--no-intercept", "--out", path)
    assert made.exit_code == 0
    assert "2 of the 3 rows in 2 dimensions rule every plane through the origin out" in made.stdout
    checked = certify(table, "--target", "kind", "--verify", path, "--json")
    report = json.loads(checked.stdout)
    assert (report["holds"], report["fit_intercept"]) == (True, False)
    both = certify(table, "--target", "kind", "--no-intercept", "--verify", path)
    assert both.exit_code == 2
    assert "Leave it out" in both.stderr


def test_the_bound_without_an_intercept_has_no_constant_feature(tmp_path):
    table = tmp_path / "points.csv"
    table.write_text("kind,x\n" + "red,-3\nblue,4\n")
    made = certify(table, "--target", "kind", "--no-intercept")
    assert "at most 1 mistakes: R = 4, margin 3, both without an intercept." in made.stdout
    report = json.loads(certify(table, "--target", "kind", "--no-intercept", "--json").stdout)
    assert (report["fit_intercept"], report["margin"]) == (False, 3.0)


def test_rows_of_several_classes_come_with_the_rivals_they_are_compared_with(tmp_path):
    report = json.loads(certify("iris", "--json").stdout)
    assert len(report["rivals"]) == len(report["rows"]) == len(report["multipliers"])
    assert set(report["rivals"]) <= {0, 1, 2}
