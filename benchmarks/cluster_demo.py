"""`make cluster-demo`: a local cluster, a fit, a worker killed in the middle, the same bytes."""

import contextlib
import hashlib
import os
import signal
import time

import numpy as np

N, D = 200_000, 30


def block(seed: int, n: int) -> np.ndarray:
    """Rows that a worker makes for itself."""
    return np.random.default_rng(seed).standard_normal((n, D)).astype(np.float32)


def digest(learner) -> str:
    content = learner.coef_.tobytes() + learner.intercept_.tobytes()
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def main() -> None:
    import dask
    from distributed import Client, LocalCluster

    import linsep

    seeds = range(8)
    X = np.concatenate([block(seed, N // 8) for seed in seeds])
    u = np.random.default_rng(99).standard_normal(D)
    y = (X @ u + 4 * np.random.default_rng(98).standard_normal(N) > 0).astype(int)
    start = time.perf_counter()
    here = linsep.LogisticRegression().fit(X, y)
    print(f"In memory:            {digest(here)}  ({time.perf_counter() - start:.1f} s)")
    delayed = [dask.delayed(block)(seed, N // 8) for seed in seeds]
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster),
    ):
        start = time.perf_counter()
        there = linsep.LogisticRegression().fit(delayed, y)
        print(f"On two workers:       {digest(there)}  ({time.perf_counter() - start:.1f} s)")
        killed = []

        def kill(done) -> None:
            """Called after each pass over all rows."""
            if done.epoch == 1:
                pid = next(iter(cluster.workers.values())).pid
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

        start = time.perf_counter()
        after = linsep.LogisticRegression().fit(delayed, y, callback=kill)
        seconds = time.perf_counter() - start
        print(f"One killed in pass 2: {digest(after)}  ({seconds:.1f} s, SIGKILL to {killed})")
    same = digest(here) == digest(there) == digest(after) and bool(killed)
    print(f"Nothing changed: {same}. {after.status_.value} Gap at most {after.gap_:.1e}.")
    if not same:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
