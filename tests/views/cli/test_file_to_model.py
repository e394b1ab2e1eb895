"""From a file to a saved model: what `linsep fit` reads, and how often."""

import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import linsep
from linsep.data.sources.tables import Source
from linsep.views.cli import group


@pytest.mark.parametrize("name", ["t.svm", "t.csv"])
def test_a_fit_reads_its_file_once(name, tmp_path, monkeypatch):
    passes = []
    raw = Source.raw

    def counted(self, bad):
        passes.append(self.paths)
        return raw(self, bad)

    monkeypatch.setattr(Source, "raw", counted)
    path = tmp_path / name
    if name.endswith("svm"):
        path.write_text("".join(f"{k % 2} 1:{k} 2:{k * k % 7}\n" for k in range(60)))
    else:
        path.write_text("a,y\n" + "".join(f"{k},{k % 2}\n" for k in range(60)))
    asked = ["fit", str(path), "--learner", "Perceptron", "-p", "max_iter=2", "-q"]
    done = CliRunner().invoke(group, asked)
    assert done.exit_code == 0, done.output
    assert "Training rows" in done.output
    assert passes == [[path]]


LONE = """
import atexit, sys
from linsep.views.cli import main
loaded = lambda: sorted({"sklearn", "pandas"} & set(sys.modules))
atexit.register(lambda: print(loaded(), file=sys.stderr))
main()
"""


@pytest.mark.parametrize("learner", linsep._LEARNERS)
def test_a_process_of_its_own_saves_the_same_bytes_as_one_that_goes_on(learner, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3)).round(3)
    y = X[:, 0] + X[:, 1] > 0
    path = tmp_path / "t.csv"
    lines = [",".join(map(str, (*x, int(k)))) for x, k in zip(X.tolist(), y, strict=True)]
    path.write_text("a,b,c,y\n" + "\n".join(lines) + "\n")
    asked = ["fit", str(path), "--learner", learner, "--out"]
    lone, here = tmp_path / "lone", tmp_path / "here"
    subprocess.run([sys.executable, "-m", "linsep", *asked, str(lone)], check=True)
    beside = CliRunner().invoke(group, [*asked, str(here), "-q"])
    assert beside.exit_code == 0, beside.output
    assert lone.read_bytes() == here.read_bytes()


def test_a_learner_that_cannot_be_ends_the_reading_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "1.25,2.5,0\n-1.25,2.5,1\n" * 200_000)
    asked = ["fit", str(path), "--learner", "LinearSVC", "-p", "loss=none", "-q"]
    done = subprocess.run(
        [sys.executable, "-c", LONE, *asked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "loss is" in done.stderr
    assert not list((tmp_path / "temporary").glob("linsep-*"))


def test_a_command_inside_another_program_leaves_learners_whole(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,p\n2,q\n3,p\n")
    inside = f"""
from click.testing import CliRunner
from linsep.views.cli import group
assert CliRunner().invoke(group, ["fit", {str(path)!r}, "-q"]).exit_code == 0
import linsep
from sklearn.base import clone, is_classifier
assert is_classifier(clone(linsep.LogisticRegression()))
"""
    subprocess.run([sys.executable, "-c", inside], check=True)


@pytest.mark.parametrize("name", ["t.svm", "t.csv"])
def test_predicting_from_a_file_imports_neither_the_compiler_nor_scikit_learn(name, tmp_path):
    path, model = tmp_path / name, tmp_path / "model"
    if name.endswith("svm"):
        path.write_text("".join(f"{k % 2} 1:{k} 2:{k * k % 7}\n" for k in range(60)))
    else:
        path.write_text("a,b,y\n" + "".join(f"{k},{k * k % 7},{k % 2}\n" for k in range(60)))
    linsep.save(linsep.LogisticRegression(tol=0.1).fit(linsep.read(path)), model)
    program = LONE
    done = subprocess.run(
        [sys.executable, "-c", program, "predict", str(model), str(path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == "[]"
    assert len(done.stdout.splitlines()) == 60
