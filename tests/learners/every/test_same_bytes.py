"""Same data and parameters, same bytes, whatever the threads, the blocks or the compiler."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import PassiveAggressive, Perceptron, VotedPerceptron
from linsep.data.blocks import blocks as chunks
from linsep.errors import NotConverged
from linsep.train import problem


def fitted(learner, X, y, **more):
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        learner.fit(X, y, **more)
    return learner.coef_.tobytes(), learner.intercept_.tobytes(), learner.mistakes_per_epoch_


def cloud(classes, n=3 * chunks.BLOCK + 100, d=6):
    """Real numbers, so that any change in the order of a sum would show; several blocks of rows."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, classes, n)
    return rng.standard_normal((n, d)) + 0.3 * codes[:, None], codes


LAYOUTS = [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)]


@pytest.mark.parametrize("layout", LAYOUTS, ids=["dense", "sparse", "single"])
@pytest.mark.parametrize(
    ("parameters", "classes"),
    [
        ({"rule": "batch", "step": "mean"}, 2),
        ({"rule": "batch", "schedule": "line-search"}, 2),
        ({"rule": "batch"}, 3),
        ({"rule": "batch", "multiclass": "ovr"}, 3),
        ({"rule": "online", "multiclass": "ovr"}, 10),
        ({"rule": "online", "multiclass": "ovr", "keep": "average"}, 10),
        ({"rule": "minibatch", "multiclass": "ovr"}, 3),
        ({"rule": "online", "keep": "pocket"}, 3),
    ],
    ids=str,
)
def test_the_number_of_threads_does_not_change_a_bit(parameters, classes, layout):
    X, codes = cloud(classes)
    rows = layout(X)
    ends = [fitted(Perceptron(max_iter=3, n_jobs=k, **parameters), rows, codes) for k in (1, 2, 3)]
    assert ends[0] == ends[1] == ends[2]


def test_threads_do_not_change_passive_aggressive_learning_either():
    X, codes = cloud(9)
    one, many = (
        fitted(PassiveAggressive(max_iter=2, multiclass="ovr", n_jobs=k), X, codes) for k in (1, 3)
    )
    assert one == many


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "learner",
    [Perceptron(max_iter=3), Perceptron("batch", max_iter=3), Perceptron("minibatch", max_iter=3),
     PassiveAggressive(max_iter=3), VotedPerceptron(2, decide="average")],
    ids=repr,
)  # fmt: skip
def test_the_same_fit_twice_gives_the_same_bytes(learner, classes):
    X, codes = cloud(classes)
    again = type(learner)(**learner.get_params())
    first = fitted(learner, X, codes)
    assert fitted(again, X.copy(), codes.copy()) == first
    assert fitted(learner, X, codes) == first


@pytest.mark.parametrize("layout", LAYOUTS, ids=["dense", "sparse", "single"])
def test_an_online_rule_in_the_given_order_does_not_feel_the_blocks(monkeypatch, layout):
    X, codes = cloud(3)
    rows = layout(X)
    learner = Perceptron(max_iter=2, shuffle=False, keep="average")
    whole = fitted(learner, rows, codes)
    for size in (1000, 77):
        monkeypatch.setattr(problem, "spans", lambda n, size=size: chunks.spans(n, size))
        assert fitted(learner, rows, codes) == whole


@pytest.mark.parametrize("classes", [2, 3])
def test_a_batch_of_whole_numbers_does_not_feel_the_blocks(monkeypatch, classes):
    X, codes = cloud(classes)
    X = X.round()
    learner = Perceptron("batch", max_iter=3)
    whole = fitted(learner, X, codes)
    for size in (1000, 77):
        monkeypatch.setattr(problem, "spans", lambda n, size=size: chunks.spans(n, size))
        assert fitted(learner, X, codes) == whole


def test_neither_the_order_of_parameters_nor_a_spare_generator_matters():
    X, codes = cloud(2)
    states = [7, np.int64(7)]
    ends = [fitted(Perceptron(max_iter=2, random_state=s), X, codes) for s in states]
    assert ends[0] == ends[1]
    drawn = [
        fitted(Perceptron(max_iter=2, random_state=np.random.RandomState(3)), X, codes)
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]
