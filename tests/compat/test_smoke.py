"""What must work with every supported version of Python, NumPy and scikit-learn.

Small, and broad: each test leans on another part of what others may change. See `environments`.
"""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import linsep

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 6))
y = (X @ [1.0, -2.0, 0.5, 0.0, 0.0, 1.0] + rng.normal(size=200) > 0).astype(int)
SEPARABLE = (X @ np.ones(6) > 0).astype(int)
MANY = np.digitize(X[:, 0] + X[:, 1], [-1.5, -0.8, -0.3, 0.0, 0.3, 0.8, 1.5])


@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
@pytest.mark.parametrize("name", linsep._LEARNERS)
def test_every_learner_fits_and_predicts(name):
    learner = clone(getattr(linsep, name)()).fit(X, SEPARABLE)
    assert learner.predict(X).shape == SEPARABLE.shape
    assert learner.score(X, SEPARABLE) > (0.5 if name == "LinearRegression" else 0.9)


@pytest.mark.parametrize("rows", [X, X.astype("f4"), sp.csr_array(X), sp.csr_matrix(X)])
def test_a_perceptron_separates_rows_of_every_layout(rows):
    model = linsep.Perceptron(max_iter=10_000).fit(rows, SEPARABLE)
    assert model.status_.name == "separated"
    assert model.score(rows, SEPARABLE) == 1.0


@pytest.mark.parametrize("labels", [y, MANY], ids=["two", "many"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_logistic_regression_is_scikit_learns(labels, layout):
    ours = linsep.LogisticRegression(tol=1e-8).fit(layout(X), labels)
    theirs = TheirLogisticRegression(tol=1e-10, max_iter=10_000).fit(X, labels)
    assert ours.gap_ <= 1e-8
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_verdicts_are_proved_both_ways():
    assert linsep.separability(X, SEPARABLE).separable
    assert not linsep.separability(X, y).separable


def test_learners_are_scikit_learns_to_handle():
    pipeline = make_pipeline(StandardScaler(), linsep.LinearSVC())
    search = GridSearchCV(pipeline, {"linearsvc__C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.75


def test_a_model_is_saved_and_loaded_with_the_same_answers(tmp_path):
    model = linsep.LogisticRegression().fit(X, MANY)
    linsep.save(model, tmp_path / "model")
    assert (linsep.load(tmp_path / "model").predict(X) == model.predict(X)).all()


def command(*arguments):
    loaded = "import sys, atexit\nfrom linsep.views.cli import main\n"
    loaded += "names = {'sklearn'}\n"
    loaded += "atexit.register(lambda: print(sorted(names & set(sys.modules)), file=sys.stderr))\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{loaded}main()", *map(str, arguments)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines(), done.stderr.splitlines()[-1]


def test_the_command_fits_and_predicts_and_imports_no_more_than_it_needs(tmp_path):
    lines = [",".join(map(repr, (*x, int(k)))) for x, k in zip(X.tolist(), y, strict=True)]
    (tmp_path / "t.csv").write_text("a,b,c,d,e,f,y\n" + "\n".join(lines) + "\n")
    command("fit", tmp_path / "t.csv", "--out", tmp_path / "model", "-q")
    labels, loaded = command("predict", tmp_path / "model", tmp_path / "t.csv")
    assert loaded == "[]"
    assert (np.array(labels, int) == y).mean() > 0.75
    assert command("--help")[1] == "[]"
