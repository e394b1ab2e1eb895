"""Results of tasks, waited for: handed in anew where workers died, given up where none is left."""

import itertools
import time
from collections.abc import Callable
from typing import Any

from linsep.errors import ClusterError, LinsepError

AGAIN = 20
"""How often tasks whose workers died are handed in anew, after Dask itself has given up."""
LOOK = 5.0
"""Seconds after which someone who waits looks whether there are workers at all."""
ALONE = 120.0
"""Seconds without any worker after which a fit does not wait for one any more."""
FANIN = 16
"""Results that are fetched as they are; more are put together by the workers first."""
FETCHED = 1 << 24
"""Rows whose numbers are fetched together, where they are taken one after the other."""

_numbers = itertools.count()


def together(*parts: Any) -> list[Any]:
    """Results of several tasks, to be fetched in one go."""
    return list(parts)


def mapped(
    client: Any, function: Callable[..., Any], futures: list[Any], *arguments: Any, name: str
) -> list[Any]:
    """function(future, *arguments) of each of some futures; their results, in order."""
    several = [[one] * len(futures) for one in arguments]
    keys = [key_of(name) for _ in futures]
    return fetched(client, client.map(function, futures, *several, key=keys, pure=False), name)


def fetched(client: Any, futures: list[Any], name: str) -> list[Any]:
    """The results of tasks, many of them put together first: each fetch costs a message."""
    if len(futures) <= FANIN:
        return settled(client, futures)
    groups = [futures[k : k + FANIN] for k in range(0, len(futures), FANIN)]
    key = f"{name}-results"
    made = [client.submit(together, *some, key=key_of(key), pure=False) for some in groups]
    return [result for k in range(0, len(made), FANIN)
            for group in settled(client, made[k : k + FANIN]) for result in group]  # fmt: skip


def done(client: Any, futures: list[Any]) -> None:
    """Wait until all of some futures are there, on their workers."""
    settled(client, futures, False)


def settled(client: Any, futures: list[Any], bring: bool = True) -> list[Any]:
    """Results of some futures, handed in again where workers died too often under them."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    for attempt in range(AGAIN):
        try:
            return _awaited(client, futures, bring)
        except KilledWorker:
            if attempt == AGAIN - 1:
                raise ClusterError(
                    f"workers died {AGAIN} times in a row under the same task; look at their "
                    "memory limit and their logs, or make partitions smaller."
                ) from None
            time.sleep(0.1 * attempt)
            for future in futures:
                if future.status == "error":
                    future.retry()
        except LinsepError:
            raise
        except (CommClosedError, TimeoutError) as problem:
            raise lost(client) from problem
        except Exception as problem:
            if "Cancelled" in type(problem).__name__:
                raise lost(client) from problem
            raise
    raise AssertionError


def _awaited(client: Any, futures: list[Any], bring: bool) -> list[Any]:
    """Results of futures, waited for as long as there are workers that may bring them."""
    from distributed.client import _wait  # `wait` asks the default client, which may be another

    alone_since = None
    while True:
        try:
            client.sync(_wait, futures, timeout=LOOK)
            _raise_failures(futures)
            return list(client.gather(futures)) if bring else []
        except TimeoutError:
            _raise_failures(futures)
        if client.nthreads():
            alone_since = None
            continue
        now = time.monotonic()
        alone_since = now if alone_since is None else alone_since
        if now - alone_since >= ALONE:
            raise ClusterError(
                f"the cluster has had no worker for {ALONE:.0f} seconds. Start workers and repeat "
                "the fit; with checkpoint= (on the command line --resume) it goes on from the last "
                "round and ends with the same bytes. A LocalCluster gives up workers that died and "
                "are not back in time: raise distributed.deploy.lost-worker-timeout (15 s)."
            )


def _raise_failures(futures: list[Any]) -> None:
    for future in futures:
        if future.status == "error":  # a task's own, which may be a TimeoutError too
            raise future.exception() from None


def lost(client: Any) -> ClusterError:
    """The sentence for a scheduler that does not answer any more."""
    address = getattr(getattr(client, "scheduler", None), "address", "the address given")
    return ClusterError(
        f"the scheduler at {address} is gone, and with it the rows on its workers. Start it again "
        "and repeat the fit; with checkpoint= (on the command line --resume) it goes on from the "
        "last round and ends with the same bytes."
    )


def key_of(name: str) -> str:
    """A key that no other task has; the dashboard shows its name."""
    return f"{name}-{next(_numbers)}-{time.monotonic_ns():x}"
