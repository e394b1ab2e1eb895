"""TLS, closed ports, and a scheduler that dies: a clear error, and the same bytes afterwards."""

import contextlib
import json
import os
import subprocess
import sys
import time

import dask
import dask.array as da
import pytest
from cluster_models import content

import linsep
from linsep.data.cluster import connect
from linsep.data.cluster.connect import client_of
from linsep.errors import ClusterError
from linsep.parallel import threads
from linsep.train.run.checkpoint import Checkpoint

pytestmark = pytest.mark.skipif(
    not os.environ.get("LINSEP_CLUSTER"), reason="starts clusters of its own: make cluster-tests"
)


def started(tmp_path, without=None):
    """A scheduler and a worker in processes of their own: address and process of the first.

    `without` says which of the two finds no linsep.
    """
    about = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    where = ["--scheduler-file", str(about), "--no-dashboard"]
    (tmp_path / "linsep.py").write_text("raise ImportError('not here')")
    poor = os.environ | {"PYTHONPATH": str(tmp_path)}
    made = {}
    for name, options in (("scheduler", ["--port", "0"]), ("worker", ["--nthreads", "1"])):
        there = poor if name == without else None
        made[name] = subprocess.Popen([*command, name, *options, *where], env=there, **quiet)
    while not about.exists() or not about.read_text().strip().endswith("}"):
        time.sleep(0.1)
    try:
        yield json.loads(about.read_text())["address"], made["scheduler"]
    finally:
        for process in made.values():
            process.kill()
            process.wait()


@pytest.fixture
def doomed(tmp_path):
    with contextlib.contextmanager(started)(tmp_path) as made:
        yield made


@pytest.mark.parametrize("who", ["worker", "scheduler"])
def test_a_worker_or_scheduler_without_linsep_is_named(tmp_path, who):
    with (
        contextlib.contextmanager(started)(tmp_path, who) as (address, _),
        pytest.raises(ClusterError, match=rf"the {who} at .* has no linsep.* install linsep"),
        client_of(address),
    ):
        pass


def test_a_worker_without_linsep_lives_until_it_is_asked(tmp_path, monkeypatch):
    """A task that it could not read would end it, and nobody would say why."""
    asked = connect._require_scheduler

    def late(client):
        time.sleep(2)
        asked(client)

    monkeypatch.setattr(connect, "_require_scheduler", late)
    with (
        contextlib.contextmanager(started)(tmp_path, "worker") as (address, _),
        pytest.raises(ClusterError, match=r"the worker at .* has no linsep"),
        client_of(address),
    ):
        pass


def test_a_fit_whose_scheduler_died_goes_on_from_its_checkpoint(table, tmp_path, cluster, doomed):
    from distributed import Client

    X, y = table
    dX, dy = da.from_array(X, chunks=(20_000, 31)), da.from_array(y, chunks=20_000)
    expected = content(linsep.LogisticRegression(tol=1e-10).fit(X, y))
    address, scheduler = doomed
    seen = []

    def kill(done):
        seen.append(done.epoch)
        if done.epoch == 2:
            scheduler.kill()

    fast = {"distributed.comm.timeouts.connect": "1s", "distributed.comm.retry.count": 0}
    checkpoint = Checkpoint(tmp_path / "run.checkpoint", every=0)
    client = Client(address)
    with dask.config.set(fast), pytest.raises(ClusterError, match=r"the scheduler at .* is gone"):
        linsep.LogisticRegression(tol=1e-10).fit(dX, dy, callback=kill, checkpoint=checkpoint)
    with contextlib.suppress(OSError, TimeoutError):
        client.close(timeout=1)
    assert seen == [1, 2]
    with Client(cluster):
        again = linsep.LogisticRegression(tol=1e-10)
        again.fit(dX, dy, callback=lambda done: seen.append(done.epoch), checkpoint=checkpoint)
    assert seen[2] == 3  # passes 1 and 2 were not made again
    assert content(again) == expected


def test_whatever_asks_a_scheduler_that_is_gone_ends_in_the_same_sentence(doomed):
    address, scheduler = doomed
    fast = {"distributed.comm.timeouts.connect": "1s", "distributed.comm.retry.count": 0}
    with (
        dask.config.set(fast),
        pytest.raises(ClusterError, match=r"the scheduler at .* is gone"),
        client_of(address) as client,
    ):
        scheduler.kill()
        while client.status == "running":
            time.sleep(0.1)
        client.nthreads()


def test_an_error_of_a_file_is_not_taken_for_a_lost_scheduler(client):
    with pytest.raises(OSError, match="disk full"), client_of(client):
        raise OSError("disk full")


def test_a_cluster_with_tls_gives_the_same_bytes(table):
    pytest.importorskip("cryptography")
    from distributed import Client, LocalCluster

    X, y = table
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, security=True, dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        Client(cluster),
    ):  # fmt: skip
        assert cluster.scheduler_address.startswith("tls://")
        learner = linsep.LinearDiscriminantAnalysis().fit(da.from_array(X, chunks=(40_000, 31)), y)
    assert content(learner) == content(linsep.LinearDiscriminantAnalysis().fit(X, y))


def listening():
    """Where this process and those it has started listen: port and address."""
    import psutil

    here = psutil.Process()
    return {
        place.laddr
        for process in (here, *here.children(recursive=True))
        for place in process.net_connections("inet")
        if place.status == psutil.CONN_LISTEN
    }


def test_a_local_cluster_listens_on_this_machine_alone():
    before = listening()
    with client_of("local") as client:
        workers = threads(None)
        client.wait_for_workers(workers)
        places = listening() - before
    assert len(places) > workers  # the scheduler, its dashboard, and the workers
    assert {place.ip for place in places} <= {"127.0.0.1", "::1"}
