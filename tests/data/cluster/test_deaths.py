"""Workers die, wait or run out of memory, and no byte changes."""

import contextlib
import os
import signal
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest
from cluster_models import content
from killing import Killer, learners, rows

import linsep
from linsep.data.cluster.connect import RETURN

pytestmark = pytest.mark.skipif(
    not os.environ.get("LINSEP_CLUSTER"), reason="starts clusters of its own: make cluster-tests"
)


@pytest.fixture(scope="module")
def doomed():
    """A cluster whose workers are there to be killed."""
    from distributed import LocalCluster

    with (
        dask.config.set(RETURN),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as made,
    ):
        yield made


@pytest.mark.parametrize("name", ["lda", "logistic"])
def test_killed_workers_do_not_change_a_byte(doomed, name):
    from distributed import Client

    X, y = rows()
    expected = content(learners()[name].fit(X, y))
    with Client(doomed), Killer(doomed, 0.3, 1) as killer:
        dX, dy = da.from_array(X, chunks=(20_000, 31)), da.from_array(y, chunks=30_000)
        there = content(learners()[name].fit(dX, dy))
        deadline = time.monotonic() + 20
        while killer.kills < 1 and time.monotonic() < deadline:
            there = content(learners()[name].fit(dX, dy))
    assert killer.kills >= 1
    assert there == expected


def test_a_straggler_is_waited_for(client):
    X, y = rows()

    @dask.delayed
    def late(part, k):
        time.sleep(1.5 if k == 2 else 0.0)
        return part

    parts = [late(X[i : i + 30_000], k) for k, i in enumerate(range(0, len(X), 30_000))]
    learner = linsep.LinearDiscriminantAnalysis().fit(parts, y)
    assert content(learner) == content(linsep.LinearDiscriminantAnalysis().fit(X, y))


class Pause:
    """A callback of fits: after the first pass a worker stands still until `ended` says so."""

    def __init__(self, cluster, ended):
        self.nanny, self.ended = next(iter(cluster.workers.values())), ended
        self.over = False
        self.thread = threading.Thread(target=self._run)

    def __call__(self, done):
        if done.epoch == 1:
            os.kill(self.nanny.pid, signal.SIGSTOP)
            self.thread.start()

    def _run(self):
        pid, address = self.nanny.pid, self.nanny.worker_address
        for look in range(600):
            if self.ended(look, address):
                self.over = True
                break
            time.sleep(0.1)
        with contextlib.suppress(ProcessLookupError):  # its nanny may have given it up too
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("given_up", [False, True], ids=["waited for", "given up"])
def test_a_worker_that_stands_still_does_not_change_a_byte(given_up):
    """It goes on after two seconds; or only once others had to do its work, too late."""
    from distributed import Client, LocalCluster

    X, y = rows()
    learner = linsep.LogisticRegression(tol=1e-10)
    expected = content(learner.fit(X, y))
    patience = "2s" if given_up else "5 minutes"
    with (
        dask.config.set({**RETURN, "distributed.scheduler.worker-ttl": patience}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster),
    ):
        known = cluster.scheduler.workers
        pause = Pause(
            cluster, lambda look, address: address not in known if given_up else look == 20
        )
        dX, dy = da.from_array(X, chunks=(20_000, 31)), da.from_array(y, chunks=30_000)
        learner.fit(dX, dy, callback=pause)
        pause.thread.join()
        assert pause.over
        assert content(learner) == expected
        assert content(learner.fit(dX, dy)) == expected


def test_rows_that_exceed_the_memory_of_a_worker_are_spilled():
    from distributed import Client, LocalCluster

    def made(block_info=None):
        (start, stop), _ = block_info[None]["array-location"]
        return np.random.default_rng(start).standard_normal((stop - start, 100))

    dX = da.map_blocks(made, chunks=((25_000,) * 8, (100,)), dtype=np.float64)  # 160 MB
    X = dX.compute(scheduler="sync")
    y = (X[:, 0] > 0).astype(int)
    options = {
        "distributed.worker.memory.target": 0.3,
        "distributed.worker.memory.spill": 0.4,
        "distributed.worker.memory.pause": False,  # its libraries alone come near the limit
        "distributed.worker.memory.terminate": False,
    }
    with (
        dask.config.set(options),
        LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="400MB", dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        kept = dX.persist()
        learner = linsep.LinearDiscriminantAnalysis().fit(kept, y)
        spilled = client.run(lambda dask_worker: dask_worker.data.spilled_total.memory)
        assert all(spilled.values())
    assert content(learner) == content(linsep.LinearDiscriminantAnalysis().fit(X, y))


def test_an_adaptive_cluster_starts_from_no_worker_and_gives_the_same_bytes():
    from distributed import Client, LocalCluster

    X, y = rows()
    expected = content(linsep.LogisticRegression().fit(X, y))
    with (
        dask.config.set(RETURN),
        LocalCluster(
            n_workers=0, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        cluster.adapt(minimum=0, maximum=2, interval="200ms", wait_count=2)
        dX, dy = da.from_array(X, chunks=(20_000, 31)), da.from_array(y, chunks=30_000)
        learner = linsep.LogisticRegression().fit(dX, dy)
        assert content(learner) == expected
        deadline = time.monotonic() + 60  # with nothing to do workers leave, and come again
        while client.nthreads() and time.monotonic() < deadline:
            time.sleep(0.2)
        assert not client.nthreads()
        assert content(linsep.LogisticRegression().fit(dX, dy)) == expected
