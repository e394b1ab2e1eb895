"""The first fit of a new process, beside scikit-learn's: python -m benchmarks.first_fits

Nothing is kept from an earlier process. Seconds of processor time: of the import of a learner, and
of its first fit of 569 × 30; the best of five processes.
"""

import subprocess
import sys

SCRIPT = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((569, 30))
y = X @ rng.standard_normal(30) + 0.1 * rng.standard_normal(569)
if sys.argv[2] != "LinearRegression":
    y = y > 0
begun = time.process_time()
learner = getattr(__import__(sys.argv[1], fromlist=["x"]), sys.argv[2])
there = time.process_time()
learner().fit(X, y)
print(there - begun, time.process_time() - there)
"""
PEERS = {
    "Perceptron": "sklearn.linear_model",
    "LinearRegression": "sklearn.linear_model",
    "LogisticRegression": "sklearn.linear_model",
    "LinearSVC": "sklearn.svm",
    "LinearDiscriminantAnalysis": "sklearn.discriminant_analysis",
}
LEARNERS = [*PEERS, "PassiveAggressive", "VotedPerceptron", "FisherDiscriminant"]


def seconds(module: str, name: str) -> str:
    """Of the import, and of the first fit."""
    times = []
    for _ in range(5):
        told = subprocess.run(
            [sys.executable, "-c", SCRIPT, module, name], check=True, capture_output=True, text=True
        ).stdout
        times.append([float(word) for word in told.split()])
    imported, fitted = map(min, zip(*times, strict=True))
    return f"import {imported:5.2f}, fit {fitted:6.3f}"


def main() -> None:
    for name in LEARNERS:
        print(f"{name:27} linsep: {seconds('linsep', name)}", end="", flush=True)
        print(f"   scikit-learn: {seconds(PEERS[name], name)}" if name in PEERS else "")


if __name__ == "__main__":
    main()
