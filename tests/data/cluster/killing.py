"""Kills workers by SIGKILL while something goes on; run as a program, 60 of them over all solvers.

python tests/data/cluster/killing.py [KILLS [SEED]]
"""

import contextlib
import logging
import os
import signal
import sys
import threading
import time

import numpy as np


class Killer:
    """A thread that kills one worker after the other, each `every` seconds at most once."""

    def __init__(self, cluster, every, most):
        self.cluster, self.every, self.most = cluster, every, most
        self.kills = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while self.kills < self.most and not self._stop.wait(self.every):
            nannies = list(self.cluster.workers.values())
            nanny = nannies[self.kills % len(nannies)]
            pid = getattr(nanny, "pid", None)
            known = self.cluster.scheduler.workers
            if pid is None or getattr(nanny, "worker_address", None) not in known:
                continue  # being started again: a nanny whose worker dies then gives up
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.kills += 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._stop.set()
        self._thread.join()


def learners():
    import linsep

    return {
        "lda": linsep.LinearDiscriminantAnalysis(),
        "fisher": linsep.FisherDiscriminant(),
        "regression": linsep.LinearRegression(),
        "logistic": linsep.LogisticRegression(),
        "hinge": linsep.LinearSVC(),
        "squared hinge": linsep.LinearSVC(loss="squared_hinge"),
        "softmax": linsep.LogisticRegression(tol=1e-3),
    }


def sparse_learners():
    """Solvers that sparse rows of many features meet."""
    import linsep

    return {
        "logistic, CG": linsep.LogisticRegression(),
        "sq. hinge, CG": linsep.LinearSVC(loss="squared_hinge"),
    }


def rows(n=70_000, d=31):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d)).astype(np.float32)
    return X, (X @ rng.standard_normal(d) + 3 * rng.standard_normal(n) > 0).astype(int)


def sparse_rows(n=70_000, columns=11, levels=100):
    """One-hot rows of 1,100 features."""
    import scipy.sparse as sp

    rng = np.random.default_rng(2)
    places = rng.integers(0, levels, (n, columns)) + levels * np.arange(columns)
    ends = np.arange(0, n * columns + 1, columns)
    entries = np.ones(n * columns), places.ravel().astype(np.int32), ends
    X = sp.csr_array(entries, shape=(n, levels * columns))
    return X, (X @ rng.standard_normal(X.shape[1]) + 2 * rng.standard_normal(n) > 0).astype(int)


def main(wanted, seed):
    import dask
    import dask.array as da
    from cluster_models import content
    from distributed import Client, LocalCluster

    from linsep.data.cluster.connect import RETURN

    began = time.perf_counter()

    X, y = rows()
    three = y + (np.abs(X[:, 0]) > 1)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    S, s = sparse_rows()
    expected = {
        name: content(one.fit(X, three if name == "softmax" else y))
        for name, one in learners().items()
    }
    expected |= {name: content(one.fit(S, s)) for name, one in sparse_learners().items()}
    kills = fits = 0
    with (
        dask.config.set(RETURN),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster),
    ):
        dX, dy = da.from_array(X, chunks=(9_000, 31)), da.from_array(y, chunks=9_000)
        dt = da.from_array(three, chunks=9_000)
        dS = [dask.delayed(S[i : i + 16_384]) for i in range(0, S.shape[0], 16_384)]
        rng = np.random.default_rng(seed)
        while kills < wanted:
            for name, learner in (learners() | sparse_learners()).items():
                rows_and_labels = (dS, s) if name in sparse_learners() else (dX, dy)
                if name == "softmax":
                    rows_and_labels = (dX, dt)
                with Killer(cluster, float(rng.uniform(0.05, 0.9)), 1) as killer:
                    start = time.perf_counter()
                    same = content(learner.fit(*rows_and_labels)) == expected[name]
                kills, fits = kills + killer.kills, fits + 1
                seconds = time.perf_counter() - start
                print(
                    f"{kills:3d} kills  {name:14s} {seconds:6.1f} s  same bytes: {same}", flush=True
                )
                if not same:
                    sys.exit(1)
                if kills >= wanted:
                    break
    minutes = (time.perf_counter() - began) / 60
    print(
        f"{kills} kills in {fits} fits, seed {seed}, {minutes:.1f} minutes: the bytes of every "
        "model are those of a fit in memory."
    )


if __name__ == "__main__":
    given = [int(one) for one in sys.argv[1:]]
    main(*given, *(60, 0)[len(given) :])
