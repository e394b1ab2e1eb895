"""The average follows the weights from another thread, and no byte tells."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import PassiveAggressive, Perceptron, Status
from linsep.rows.rows import as_rows
from linsep.train.online import averaging
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
@pytest.mark.parametrize("room", [1, averaging.ROOM])
def test_a_thread_and_the_length_of_its_logs_change_no_byte(
    text, monkeypatch, learner, multiclass, room
):
    alone = fitted(text, learner, multiclass=multiclass, n_jobs=1)
    monkeypatch.setattr(averaging, "ROOM", room)  # never fewer than 16 corrections
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


def test_a_log_handed_over_twice_counts_once():
    rows = as_rows(sp.csr_matrix(np.eye(2)))
    kept = averaging.LogQueue(np.zeros((2, 4)), 2, apart=True)
    log = kept.log(rows)
    log.rows[0], log.shares[0], log.made[0] = 1, [3.0, -3.0], 1
    kept._hand_over()
    kept._hand_over()
    assert kept.join()[:, :2].tolist() == [[0.0, 0.0], [3.0, -3.0]]
    kept.close()


def test_a_recording_is_the_same_with_short_logs(text, monkeypatch):
    whole = fitted(text, trace=True, max_iter=2).trace_
    monkeypatch.setattr(averaging, "ROOM", 1)
    short = fitted(text, trace=True, max_iter=2).trace_
    assert [update["n"] for update in short.updates] == [update["n"] for update in whole.updates]
