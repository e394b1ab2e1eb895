"""A fit whose process dies goes on from its checkpoint, and ends with the same bytes."""

import contextlib
import errno
from functools import partial

import killed
import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from disks import Failing
from linsep import LinearSVC, PassiveAggressive, Perceptron
from linsep.data.files import disk
from linsep.errors import ParameterError, StorageError
from linsep.train.run.checkpoint import Checkpoint, pack, unpack
from linsep.train.run.state import freeze, thaw

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")


class Death(BaseException):
    """Ends a fit as suddenly as a callback can."""


def dying(passes):
    def callback(done):
        if done.epoch == passes:
            raise Death

    return callback


@pytest.mark.parametrize("name", killed.LEARNERS)
def test_a_fit_that_ended_suddenly_goes_on_to_the_same_bytes(tmp_path, name):
    X, y = killed.data(name)
    whole = killed.answer(killed.LEARNERS[name]().fit(X, y))
    checkpoint = Checkpoint(tmp_path / "run.ckpt", every=0)
    for passes in (1, 3, 5):
        with pytest.raises(Death):
            killed.LEARNERS[name]().fit(X, y, checkpoint=checkpoint, callback=dying(passes))
    told = []
    learner = killed.LEARNERS[name]()
    learner.fit(X, y, checkpoint=checkpoint, callback=lambda done: told.append(done.epoch))
    assert killed.answer(learner) == whole
    assert told[0] == 5  # passes 1 to 4 were not made again


@pytest.mark.parametrize("name", killed.SOLVERS)
def test_a_solver_goes_on_from_the_last_pass_it_wrote_down(tmp_path, name):
    X, y = killed.data(name)
    told, make = [], killed.SOLVERS[name]
    whole = killed.answer(make().fit(X, y, callback=lambda done: told.append(done.epoch)))
    passes = told[-1]
    assert len(told) > 2
    checkpoint = Checkpoint(tmp_path / "run.ckpt", every=0)
    for last in sorted({told[1], told[2], told[len(told) // 2], passes}):
        with contextlib.suppress(Death):
            make().fit(X, y, checkpoint=checkpoint, callback=dying(last))
    told.clear()
    learner = make().fit(X, y, checkpoint=checkpoint, callback=lambda done: told.append(done.epoch))
    assert killed.answer(learner) == whole
    assert told in ([passes], [])  # all before were recalled
    assert not hasattr(learner, "_replay_log") and not hasattr(learner, "_savepoints")


@pytest.mark.parametrize("rows", ["dense", "sparse"])
def test_classes_side_by_side_go_on_each_from_where_it_stood(tmp_path, rows):
    """Threads finish their classes in any order; every class goes on from its own last candidate"""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 4, 300)
    X = rng.standard_normal((300, 30)) + 0.3 * y[:, None]
    X = X if rows == "dense" else sp.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))
    make = partial(LinearSVC, solver="auto" if rows == "dense" else "dual", n_jobs=2, tol=1e-5)
    whole, heard = killed.answer(make().fit(X, y)), []
    make().fit(X, y, callback=heard.append)
    for part in (0.1, 0.5, 0.9):
        left = [int(part * len(heard)) + 1]

        def dying_soon(done, left=left):
            left[0] -= 1
            if left[0] == 0:
                raise Death

        checkpoint = Checkpoint(tmp_path / f"{part}.ckpt", every=0)
        with pytest.raises(Death):
            make().fit(X, y, checkpoint=checkpoint, callback=dying_soon)
        assert killed.answer(make().fit(X, y, checkpoint=checkpoint)) == whole


@pytest.mark.parametrize("name", killed.LEARNERS)
def test_the_first_pass_is_written_down_however_long_the_wait_between_saves(tmp_path, name):
    X, y = killed.data(name)
    checkpoint = Checkpoint(tmp_path / "run.ckpt", every=1e9)
    with pytest.raises(Death):
        killed.LEARNERS[name]().fit(X, y, checkpoint=checkpoint, callback=dying(2))
    told = []
    learner = killed.LEARNERS[name]()
    learner.fit(X, y, checkpoint=checkpoint, callback=lambda done: told.append(done.epoch))
    assert told[0] == 2


def test_a_streaming_fit_resumes_too(tmp_path):
    X, y = killed.data("online")
    np.save(tmp_path / "t.npy", np.column_stack([X, y]))
    chunks = linsep.read(tmp_path / "t.npy", memory=0)
    whole = killed.answer(killed.LEARNERS["online"]().fit(chunks))
    checkpoint = Checkpoint(tmp_path / "run.ckpt", every=0)
    with pytest.raises(Death):
        killed.LEARNERS["online"]().fit(chunks, checkpoint=checkpoint, callback=dying(5))
    again = linsep.read(tmp_path / "t.npy", memory=0)
    assert killed.answer(killed.LEARNERS["online"]().fit(again, checkpoint=checkpoint)) == whole


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC, errno.EROFS])
def test_every_operation_of_a_save_may_fail_and_a_good_generation_is_left(
    tmp_path, monkeypatch, error
):
    checkpoint = Checkpoint(tmp_path / "run.ckpt")
    steps = 0
    while True:
        monkeypatch.setattr(disk, "DISK", disk.Disk())
        for generation in (1, 2):
            checkpoint.save(pack({"generation": generation}, []))
        monkeypatch.setattr(disk, "DISK", Failing(steps + 1, error))
        try:
            checkpoint.save(pack({"generation": 3}, []))
            break
        except StorageError:
            steps += 1
        assert checkpoint.load()[0]["generation"] in (2, 3)
    assert steps == 7
    assert checkpoint.load()[0]["generation"] == 3


def test_a_damaged_checkpoint_gives_way_to_the_one_before(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run.ckpt")
    old, new = (pack({"generation": k}, [np.arange(5.0)]) for k in (1, 2))
    for cut in range(len(new)):
        checkpoint.previous.write_bytes(old)
        checkpoint.path.write_bytes(new[:cut])
        assert checkpoint.load()[0]["generation"] == 1
    for place in range(len(new)):
        damaged = bytearray(new)
        damaged[place] ^= 1 << (place % 8)
        checkpoint.path.write_bytes(damaged)
        assert checkpoint.load()[0]["generation"] == 1
    checkpoint.previous.write_bytes(b"")
    checkpoint.path.write_bytes(new[:-1])
    assert checkpoint.load() is None


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    X, y = killed.data("kernel")
    checkpoint = Checkpoint(tmp_path / "run.ckpt", every=0)
    PassiveAggressive(max_iter=3).fit(X, y, checkpoint=checkpoint)
    PassiveAggressive(max_iter=9).fit(X, y, checkpoint=checkpoint)  # more passes are welcome
    with pytest.raises(ParameterError, match=r"another fit: its parameters is .*'C': 1.0"):
        PassiveAggressive(C=2.0, max_iter=3).fit(X, y, checkpoint=checkpoint)
    with pytest.raises(ParameterError, match="another fit: its data"):
        PassiveAggressive(max_iter=3).fit(X[::-1], y, checkpoint=checkpoint)
    with pytest.raises(ParameterError, match="another fit"):
        Perceptron(max_iter=3).fit(X, y, checkpoint=checkpoint)
    with pytest.raises(ParameterError, match="trace"):
        Perceptron(max_iter=3, trace=True).fit(X, y, checkpoint=checkpoint)


def test_more_passes_after_a_finished_fit_equal_one_longer_fit(tmp_path):
    X, y = killed.data("online")
    checkpoint = Checkpoint(tmp_path / "run.ckpt", every=0)
    Perceptron(max_iter=5).fit(X, y, checkpoint=checkpoint)
    longer = Perceptron(max_iter=12).fit(X, y, checkpoint=checkpoint)
    assert killed.answer(longer) == killed.answer(Perceptron(max_iter=12).fit(X, y))


def test_states_survive_being_written_down():
    arrays = []
    value = [1, 2.5, float("inf"), None, True, (np.arange(3), "x"), [np.float64(0.1)]]
    header, again = unpack(pack({"state": freeze(value, arrays)}, arrays))
    found = thaw(header["state"], None, again)
    assert repr(found) == repr([1, 2.5, float("inf"), None, True, (np.arange(3), "x"), [0.1]])
