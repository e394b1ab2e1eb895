"""Reports count the cells that are missing, whatever kind of table the rows come in."""

import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import linsep
from linsep import LogisticRegression, read
from linsep.views.cli import group


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    a = rng.normal(size=60)
    table = pd.DataFrame({"a": a, "b": rng.normal(size=60), "c": rng.choice(["u", "v"], 60)})
    table.loc[[3, 5, 8], "a"] = np.nan
    table.loc[[1, 2], "c"] = None
    return table.assign(y=np.where(a + rng.normal(size=60) > 0, "p", "q"))


def test_missing_cells_are_on_the_page(frame, tmp_path):
    path, page = tmp_path / "rows.csv", tmp_path / "report.html"
    frame.to_csv(path, index=False)
    X = frame.drop(columns="y")
    with warnings.catch_warnings(action="ignore"):
        model = LogisticRegression().fit(X, frame["y"])
        linsep.report(model, X, frame["y"], page)
    assert "Missing cells: a 3, c 2." in page.read_text("utf-8")
    page.unlink()
    opened = read(path, target="y")
    linsep.report(LogisticRegression().fit(opened), opened, frame["y"], page, holdout=0)
    assert "Missing cells: a 3, c 2." in page.read_text("utf-8")
    page.unlink()
    done = CliRunner().invoke(group, ["fit", str(path), "--report", str(page)])
    assert done.exit_code == 0 and "Missing cells: a 3, c 2." in page.read_text("utf-8")
    linsep.report(LogisticRegression().fit(X[["b"]], frame["y"]), X[["b"]], frame["y"], page)
    assert "Missing cells" not in page.read_text("utf-8")
