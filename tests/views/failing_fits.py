"""Small fits whose saves and checkpoints are made to fail; used by test_io_failures.py."""

import numpy as np

from linsep import LinearRegression, LogisticRegression, Perceptron

LEARNERS = {
    "online": lambda: Perceptron(max_iter=4, n_jobs=1),
    "newton": lambda: LogisticRegression(tol=1e-12, n_jobs=1),
    "descent": lambda: LinearRegression("batch", max_iter=4, n_jobs=1),
}


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    return X, (X[:, 0] + rng.standard_normal(300) > 0).astype(int)


def weights(learner):
    return learner.coef_.tobytes() + np.asarray(learner.intercept_).tobytes()
