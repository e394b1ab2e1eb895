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
