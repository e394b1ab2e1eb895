"""Fits that run in a process of their own, to be killed; used by test_checkpoint.py
and faults/kills.py."""

import os
import signal
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from linsep import (
    KernelPerceptron,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
)
from linsep.data.files import disk
from linsep.errors import NotConverged
from linsep.train.run.checkpoint import Checkpoint

LEARNERS = {
    "online": lambda: Perceptron(keep="average", max_iter=60, n_jobs=1),
    "pocket": lambda: Perceptron(keep="pocket", max_iter=40, multiclass="ovr", n_jobs=1),
    "minibatch": lambda: Perceptron("minibatch", max_iter=60, schedule="1/sqrt(t)", n_jobs=1),
    "batch": lambda: Perceptron("batch", max_iter=60, keep="pocket", n_jobs=1),
    "passive": lambda: PassiveAggressive(max_iter=60, tol=0.0, n_jobs=1),
    "voted": lambda: VotedPerceptron(12, decide="average", n_jobs=1),
    "kernel": lambda: KernelPerceptron("rbf", max_iter=12, keep="pocket", n_jobs=1),
}


SOLVERS = {
    "newton": lambda: LogisticRegression(tol=1e-12, n_jobs=1),
    "short": lambda: LogisticRegression(tol=1e-9, n_jobs=1),
    "sgd": lambda: LogisticRegression(solver="minibatch", tol=1e-9, max_iter=40, n_jobs=1),
    "free": lambda: LogisticRegression(C=np.inf, tol=1e-12, n_jobs=1),
    "free text": lambda: LogisticRegression(C=np.inf, max_iter=40, n_jobs=1),
    "gradient": lambda: LogisticRegression(solver="gradient", tol=1e-9, max_iter=60, n_jobs=1),
    "corner": lambda: LinearSVC(solver="sgd", tol=1e-9, max_iter=40, n_jobs=1),
    "sparse classes": lambda: LogisticRegression(l1_ratio=0.5, tol=1e-9, n_jobs=1),
    "tall": lambda: LinearSVC(tol=5e-8, n_jobs=1),
    "line": lambda: LinearRegression("sgd", tol=1e-14, max_iter=40, n_jobs=1),
    "descent": lambda: LinearRegression("batch", tol=1e-14, max_iter=40, n_jobs=1),
    "conjugate": lambda: LinearRegression(n_jobs=1),
    "dual": lambda: LinearSVC(solver="dual", tol=1e-5, n_jobs=1),
    "interior": lambda: LinearSVC(tol=1e-6, n_jobs=1),
    "newton-cg": lambda: LinearSVC(tol=1e-4, n_jobs=1),
    "sparse": lambda: LogisticRegression(solver="dual", tol=1e-6, n_jobs=1),
    "l1": lambda: LogisticRegression(l1_ratio=1.0, C=0.2, tol=1e-9, n_jobs=1),
    "wide": lambda: LogisticRegression(tol=1e-7, n_jobs=1),
    "softmax": lambda: LogisticRegression(tol=1e-7, n_jobs=1),
    "softmax digits": lambda: LogisticRegression(tol=1e-11, n_jobs=1),
    "free classes": lambda: LogisticRegression(C=np.inf, n_jobs=1),
    "many weights": lambda: LogisticRegression(tol=1e-6, n_jobs=1),
    "joint": lambda: LinearSVC(multiclass="crammer-singer", tol=1e-4, n_jobs=1),
}
"""Solvers that go on from the sums of their passes or from their state, and descents."""


@cache
def data(name):
    """Overlapping classes: no run ends before its passes are made."""
    rng = np.random.default_rng(1)
    few = {"kernel": 400, "dual": 500, "interior": 500, "joint": 200, "many weights": 500,
           "newton-cg": 4200}  # fmt: skip
    n = {**few, "sparse": 3000, "wide": 1000, "l1": 1000, "tall": 70_000, "short": 70_000}.get(
        name, 6000
    )
    several = ("pocket", "joint", "many weights", "sparse classes", "free classes")
    y = rng.integers(0, 3 if name in several or name.startswith("softmax") else 2, n)
    d = {"newton-cg": 520, "wide": 300, "l1": 250, "many weights": 290}.get(name, 20)
    X = rng.standard_normal((n, d)) + 0.1 * y[:, None]
    if name in ("free text", "conjugate"):
        X = sp.random(n, 2000 if name == "conjugate" else 3000, 0.005, "csr", random_state=1)
    if name in ("short", "sparse"):
        X = sp.csr_array(np.where(np.abs(X) > 0.8, X, 0.0))
    return X, y


def answer(learner):
    """The bytes of what was learned."""
    names = ("coef_", "intercept_", "dual_coef_", "survival_", "support_")
    parts = [np.asarray(getattr(learner, n)).tobytes() for n in names if hasattr(learner, n)]
    mistakes = getattr(learner, "mistakes_", None)
    return b"".join(parts) + repr((learner.n_iter_, mistakes, learner.status_)).encode()


class Deadly(disk.Disk):
    """A disk on which the n-th operation is the process's last."""

    def __init__(self, n):
        self.left = n

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        if not callable(found) or name.startswith("_"):
            return found
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return found


def fit(name, checkpoint, result):
    """Fit, and write the answer."""
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        learner = (LEARNERS | SOLVERS)[name]().fit(
            *data(name), checkpoint=Checkpoint(checkpoint, every=0)
        )
    write(result, answer(learner))


def write(path, content):
    """A file that is there whole, or not: a kill may fall here too."""
    Path(f"{path}.new").write_bytes(content)
    Path(f"{path}.new").replace(path)
