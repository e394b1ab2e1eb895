"""The average of all weights is the same for threads, parts and interrupted runs, byte for byte."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from online_problems import two_classes

from linsep import PassiveAggressive, Perceptron, Status
from linsep.train.online.averaging import LazyAverage
from linsep.train.online.hyperplanes import Hyperplanes
from linsep.train.online.solver import SMALL

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")


@pytest.fixture(scope="module")
def text():
    """Sparse rows of five classes, enough of them for two threads, with many mistakes."""
    rng = np.random.default_rng(5)
    X = sp.random(3000, 400, 0.06, format="csr", random_state=6)
    assert X.nnz >= SMALL
    y = np.argmax(X @ rng.normal(size=(400, 5)) + rng.normal(size=(3000, 5)), axis=1)
    return X, y


def fitted(text, learner=Perceptron, **parameters):
    parameters = {"keep": "average", "max_iter": 4, **parameters}
    return learner(**parameters).fit(*text)


def model(learner):
    return learner.coef_.tobytes(), learner.intercept_.tobytes()


@pytest.mark.parametrize("learner", [Perceptron, PassiveAggressive])
@pytest.mark.parametrize("multiclass", ["kesler", "ovr"])
def test_threads_change_no_byte(text, learner, multiclass):
    alone = fitted(text, learner, multiclass=multiclass, n_jobs=1)
    together = fitted(text, learner, multiclass=multiclass, n_jobs=2)
    assert model(together) == model(alone)


def test_parts_and_the_whole_have_the_same_average(text):
    X, y = text
    whole = fitted(text, max_iter=1, shuffle=False, n_jobs=2)
    parts = Perceptron(keep="average")
    for start in range(0, 3000, 700):
        parts.partial_fit(X[start : start + 700], y[start : start + 700], classes=range(5))
    assert model(parts) == model(whole)


def test_a_learner_keeps_no_rows_of_its_last_part(text):
    X, y = text
    parts = Perceptron(keep="average").partial_fit(X, y, classes=range(5))
    assert len(pickle.dumps(parts)) < X.data.nbytes


def test_an_interrupt_leaves_the_average_of_the_passes_made(text):
    def stop(done):
        if done.epoch == 2:
            raise KeyboardInterrupt

    interrupted = fitted(text, n_jobs=2, callback=stop)
    assert interrupted.status_ is Status.interrupted
    assert model(interrupted) == model(fitted(text, n_jobs=2, max_iter=2))


def test_the_mean_of_the_weights_is_that_of_a_list_of_them():
    planes = Hyperplanes(two_classes(), 1, 1.0)
    average, seen = LazyAverage(planes), []
    for t, step in enumerate(([1.0, 0.0], [-2.0, 4.0], [0.5, 0.5])):
        average.move(t, np.array([step]), np.array([step[0]]))
        planes.W += step
        planes.b += step[0]
        seen.append([*planes.W[0], planes.b[0]])
    W, b = planes.W - average.sums / 3, planes.b - average.bias_sums / 3
    assert [*W[0], b[0]] == pytest.approx(np.mean(seen, axis=0), rel=1e-15)
