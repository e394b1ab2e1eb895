"""A fit on a file needs as much memory for many rows as for few."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linsep

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")

# The peak of a second fit above what the process holds after a first one, by the system's count.
GROWTH = """
import re, sys, warnings
from pathlib import Path
import linsep

def memory(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

warnings.simplefilter("ignore")
learner = getattr(linsep, sys.argv[1])()
learner.set_params(**{"max_iter": 3} if hasattr(learner, "max_iter") else {})
rows = dict(target=sys.argv[3], memory=0)
learner.fit(linsep.read(sys.argv[2], **rows))  # kernels are compiled or loaded here
Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from now on
before = memory("VmRSS")
learner.fit(linsep.read(sys.argv[2], **rows))
print(memory("VmHWM") - before, learner.coef_.tobytes().hex())
"""

WITHOUT_PANDAS = """
import sys, warnings
warnings.simplefilter("ignore")
from linsep import _face
_face.own_process = True
import linsep
linsep.Perceptron(max_iter=2).fit(linsep.read(sys.argv[1]))
print("pandas" in sys.modules, "scipy.stats" in sys.modules)
import pandas, scipy
frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [0.0, 5.0]})
print(*linsep.Perceptron().fit(frame, [0, 1]).feature_names_in_, scipy.stats.norm.cdf(0.0))
"""


def run(program, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split()


def write(path, times, width=20):
    rng = np.random.default_rng(0)
    rows = rng.integers(-9, 10, (1000, width))
    label = np.where(rows[:, 0] + rows[:, 1] + rng.integers(-9, 10, 1000) > 0, "yes", "no")
    pairs = zip(rows.tolist(), label, strict=True)
    body = "".join(",".join([*map(str, x), y]) + "\n" for x, y in pairs)
    with path.open("w") as file:
        file.write(",".join([*(f"f{j}" for j in range(width)), "y"]) + "\n")
        file.writelines(body for _ in range(times))
    return path


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read in /proc")
@pytest.mark.parametrize(
    "learner",
    [
        "Perceptron", "LogisticRegression", "LinearSVC", "LinearDiscriminantAnalysis",
        "FisherDiscriminant", "LinearRegression",
    ],
)  # fmt: skip
def test_four_times_the_rows_need_no_more_memory(tmp_path, learner):
    small, large = write(tmp_path / "small.csv", 300), write(tmp_path / "large.csv", 1200)
    target = "f0" if learner == "LinearRegression" else "y"
    few, _ = run(GROWTH, learner, small, target)
    many, weights = run(GROWTH, learner, large, target)
    assert float(many) - float(few) < 50  # the rows alone are 144 MB more
    model = getattr(linsep, learner)()
    model.set_params(**{"max_iter": 3} if hasattr(model, "max_iter") else {})
    model.fit(*linsep.read(large, target=target).load())
    assert model.coef_.tobytes().hex() == weights


def test_a_fit_by_the_command_leaves_pandas_alone_and_frames_still_work(tmp_path):
    pytest.importorskip("pandas")
    found = run(WITHOUT_PANDAS, write(tmp_path / "t.csv", 1))
    assert found == ["False", "False", "a", "b", "0.5"]
