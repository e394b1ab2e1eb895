"""The client of a fit stays small, however many rows the workers have."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    not os.environ.get("LINSEP_CLUSTER"), reason="starts clusters of its own: make cluster-tests"
)

FIT = """
import sys
from pathlib import Path

import dask
import numpy as np


def made(seed, n):
    return np.random.default_rng(seed).standard_normal((n, 4)).astype(np.float32)


def labels(rows):
    return np.where(rows[:, 0] + 3 * rows[:, 1] * rows[:, 2] > 0, "yes", "no")


def main(n):
    from distributed import Client, LocalCluster

    import linsep

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster),
    ):
        rows = [dask.delayed(made)(k, 1_000_000) for k in range(n // 1_000_000)]
        learner = linsep.LogisticRegression().fit(rows, [dask.delayed(labels)(one) for one in rows])
    status = Path("/proc/self/status").read_text()  # the client and the scheduler
    print(learner.status_.name, float(status.split("VmHWM:")[1].split()[0]) / 1024)


if __name__ == "__main__":
    main(int(sys.argv[1]))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads /proc")  # noqa: PTH110
def test_a_client_needs_less_than_500_mb_for_twenty_million_rows(tmp_path):
    script = tmp_path / "fit.py"
    script.write_text(FIT)
    run = subprocess.run(
        [sys.executable, script, "20000000"], capture_output=True, text=True, check=True
    )
    status, most = run.stdout.split()[-2:]
    assert status == "converged"
    assert float(most) < 500
