"""A cluster of two processes for all tests of this folder, and rows to fit on."""

import warnings

import numpy as np
import pytest

pytest.importorskip("distributed", reason="the extra dask is not installed")


@pytest.fixture(scope="session")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as made:
        yield made


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster) as made:
        yield made


@pytest.fixture(scope="session")
def table():
    """More rows than are brought to the client at once, and two noisy classes."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((70_000, 31)).astype(np.float32)
    X[:, 3] *= 40
    y = X @ rng.standard_normal(31) + 12 * rng.standard_normal(len(X)) > 0
    return X, np.where(y, "yes", "no")


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        warnings.filterwarnings("ignore", category=ResourceWarning)
        yield
