"""A client of Dask: the active one, one for an address, or a cluster of local processes."""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from linsep.data.cluster.waiting import lost
from linsep.errors import ClusterError
from linsep.parallel import threads

WAIT = 10.0
"""Seconds to wait for an answer from a scheduler."""


PATIENCE = 60.0
"""Seconds to wait for the first worker: one that is being started imports much."""
RETURN = {"distributed.deploy.lost-worker-timeout": "1 hour"}
"""Dask's local clusters give up a worker that died and is not back after 15 seconds; on a busy
machine its imports alone take longer, and a cluster would lose its workers one by one."""


@contextlib.contextmanager
def client_of(cluster: Any = None, security: Any = None) -> Iterator[Any]:
    """A client: the active one, or of `cluster`, an address or 'local'.

    One that was made here is closed at the end.

    Parameters
    ----------
    cluster : None, 'local', an address such as 'tcp://host:8786', or a client or cluster of Dask
    security : Dask's `Security`, for an address with TLS
    """
    distributed = _distributed()
    with contextlib.ExitStack() as stack:
        if cluster is None or cluster == "local":
            client = None if cluster == "local" else _active(distributed)
            if client is None:
                client = stack.enter_context(_local(distributed))
        elif isinstance(cluster, distributed.Client):
            client = cluster
        else:
            client = stack.enter_context(_at(distributed, cluster, security))
        try:
            _require_workers(client)
            yield client
        except OSError as problem:
            if client.status == "running":
                raise
            raise lost(client) from problem


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ClusterError(
            "rows on a cluster need Dask, which is not installed; run pip install 'linsep[dask]'."
        ) from None
    return distributed


def _active(distributed: Any) -> Any:
    try:
        return distributed.get_client(timeout=WAIT)
    except ValueError:
        return None


@contextlib.contextmanager
def _local(distributed: Any) -> Iterator[Any]:
    import dask

    made: Any = distributed.LocalCluster
    if sys.platform != "win32":  # processes of their own: a script needs no guard about its calls
        from distributed.deploy.subprocess import SubprocessCluster as made  # noqa: N813
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Port .* is already in use")
        cluster = made(
            n_workers=threads(None), threads_per_worker=1, dashboard_address="127.0.0.1:0"
        )
    with (
        dask.config.set(RETURN),
        cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextlib.contextmanager
def _at(distributed: Any, cluster: Any, security: Any) -> Iterator[Any]:
    try:
        client = distributed.Client(cluster, timeout=WAIT, security=security, set_as_default=False)
    except (OSError, TimeoutError) as problem:
        raise ClusterError(
            f"no scheduler answers at {cluster} ({_said(problem)}). Start one with `dask "
            "scheduler`, check host and port, or use --cluster local."
        ) from None
    except ValueError as problem:
        raise ClusterError(
            f"cluster is {cluster!r} ({problem}); give an address such as tcp://HOST:8786, or "
            "'local'."
        ) from None
    with client:
        yield client


def _said(problem: BaseException) -> str:
    text = str(problem).split("\n")[0]
    return text if len(text) < 200 else type(problem).__name__


def _require_workers(client: Any) -> None:
    """Refuse a cluster without workers, or with other versions of what decides the bytes."""
    # Adaptive clusters start workers for tasks alone. Without linsep a worker dies of one of ours.
    first = client.submit(int, pure=False)
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ClusterError(
            f"the scheduler at {client.scheduler.address} has no workers; start some with `dask "
            f"worker {client.scheduler.address}`."
        ) from None
    del first
    _require_scheduler(client)
    mine = versions()
    for address, theirs in client.run(versions, on_error="return").items():
        if isinstance(theirs, OSError):
            continue  # it died while it was asked
        if not isinstance(theirs, dict) or theirs.get("linsep") is None:
            raise ClusterError(
                f"the worker at {address} has no linsep; install linsep {mine['linsep']} there."
                + ("" if isinstance(theirs, dict) else f" ({theirs})")
            )
        for name, version in mine.items():
            if theirs[name] != version:
                raise ClusterError(
                    f"the worker at {address} has {name} {theirs[name]}, and this process "
                    f"{version}; results would differ. Install the same versions on both."
                )


def _require_scheduler(client: Any) -> None:
    """Refuse a scheduler that cannot read our tasks: it unpacks them on their way to workers."""
    try:
        client.run_on_scheduler(versions)
    except OSError:
        raise  # it died
    except Exception as problem:
        raise ClusterError(
            f"the scheduler at {client.scheduler.address} has no linsep, which handing out tasks "
            f"takes ({problem}); install linsep there and start it again."
        ) from None


def versions() -> dict[str, str | None]:
    """Versions of what decides the bytes of a result; called on the client and on each worker."""
    python = ".".join(map(str, sys.version_info[:2]))
    try:
        import linsep
    except ImportError:
        return {"python": python, "linsep": None}
    import scipy

    return {
        "python": python, "numpy": np.__version__, "scipy": scipy.__version__,
        "linsep": linsep.__version__,
    }  # fmt: skip
