"""Fits of the whole family on small integers, told as bytes: run compiled and as plain Python.

As a program it prints them as JSON; with NUMBA_DISABLE_JIT=1 in the environment no kernel is
compiled and every line runs as it is written.
"""

import json
import sys
import warnings
from itertools import product

import numpy as np
import scipy.sparse as sp

from linsep import PassiveAggressive, Perceptron, VotedPerceptron
from linsep.errors import NotConverged


def learners(classes):
    several = ["kesler", "ovr"] if classes > 2 else ["kesler"]
    for multiclass, keep in product(several, ["last", "average", "pocket"]):
        for rule, bias in product(["online", "minibatch", "batch"], ["unit", "radius"]):
            yield Perceptron(rule, keep=keep, bias_step=bias, multiclass=multiclass, batch_size=5)
    for multiclass, variant in product(several, ["PA-I", "PA-II"]):
        yield PassiveAggressive(multiclass=multiclass, variant=variant)
    yield VotedPerceptron(3)
    yield VotedPerceptron(3, decide="average")


def answers():
    """A name for every fit, and its scores as bytes in hexadecimal."""
    rng = np.random.default_rng(0)
    found = {}
    for classes, dtype in [(2, np.float32), (2, np.float64), (3, np.float32), (9, np.float64)]:
        codes = np.concatenate([np.arange(classes), rng.integers(0, classes, 10)])
        X = rng.integers(-3, 4, (len(codes), 3)).astype(dtype)
        weights = rng.integers(0, 3, len(codes)) + (np.arange(len(codes)) < classes)
        for learner, layout in product(learners(classes), [np.asarray, sp.csr_array]):
            given = None if len(found) % 3 else weights
            # Ended by a callback, a fit asks no proof why; proofs have tests of their own.
            learner.fit(layout(X), codes, given, callback=lambda done: done.epoch == 3)
            name = f"{classes} {dtype.__name__} {layout.__name__} {given is None} {learner}"
            # Passive-aggressive steps are fractions, whose sums depend on their order.
            digits = 3 if isinstance(learner, PassiveAggressive) else 12
            scores = learner.decision_function(X).astype(float).round(digits) + 0.0
            found[name] = scores.tobytes().hex()
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore", NotConverged)
    json.dump(answers(), sys.stdout)
