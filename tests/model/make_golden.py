"""Write the golden files of a format. Run once per format, never again: `python make_golden.py 1`.

A later linsep must read the files as they are, so they are not to be made anew by newer code.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import linsep
from linsep.data.encoding.encoding import Column, Encoding
from linsep.model.files.document import FORMAT

HERE = Path(__file__).parent / "golden"


def models():
    rng = np.random.default_rng(0)
    X = rng.integers(-8, 9, (24, 3)) / 4.0
    two = np.where(X @ [2.0, -1.0, 1.0] + 0.25 > 0, "yes", "no")
    three = np.argmax(X, axis=1) + 2**60
    yield "perceptron", linsep.Perceptron().fit(X, two)
    yield "kesler", linsep.Perceptron(max_iter=30).fit(X, three)
    yield "voted", linsep.VotedPerceptron(max_iter=2).fit(X, two)
    yield "kernel", linsep.KernelPerceptron("poly", degree=2, gamma=1, coef0=1).fit(X, three)
    yield "passive", linsep.PassiveAggressive().fit(X.astype(np.float32), two == "yes")
    yield "logistic", linsep.LogisticRegression().fit(X, [t.encode() for t in two])
    yield "svm", linsep.LinearSVC().fit(X, three)
    yield "discriminant", linsep.LinearDiscriminantAnalysis().fit(X + 1e6, two)
    yield "fisher", linsep.FisherDiscriminant().fit(X, two)
    yield "scaled", linsep.Scaled(linsep.Perceptron(max_iter=30)).fit(X * 100 + 7, two)
    yield "regression", linsep.LinearRegression().fit(X, X @ [1.0, 2.0, 3.0] + 4)
    encoded = linsep.LogisticRegression(C=np.inf).fit(X, (np.arange(24) % 3 == 0))
    encoded.encoding_ = Encoding.of([Column("age", mean=1.5), Column("city", "hash", bins=2)])
    yield "encoded", encoded


def main(version):
    assert version == FORMAT
    record = {}
    rows = np.random.default_rng(1).integers(-8, 9, (6, 3)) / 4.0
    for name, learner in models():
        file = f"{version}-{name}.linsep"
        linsep.save(learner, HERE / file)
        found = learner.predict(rows).tolist()
        number = name == "regression"
        record[file] = {
            "rows": rows.tolist(),
            "predict": found if number else [str(label) for label in found],
            "scores": None if number else learner.decision_function(rows).tolist(),
        }
    (HERE / f"{version}.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"):
        main(int(sys.argv[1]))
