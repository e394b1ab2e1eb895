"""Separability with a proof, against what there is without one."""

import time
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.optimize import linprog

from benchmarks.sources import covtype, mnist
from benchmarks.stopwatch import race
from linsep import separability
from linsep.data import toys

LIMIT = 60.0  # seconds given to a peer; a ratio with "at least" means it was not done by then


def rows() -> list[dict[str, Any]]:
    """One line per problem and peer."""
    toy = _toy()
    X, y, name = mnist()
    two = y < 2
    lines = _decide(f"{name} 0/1", np.ascontiguousarray(X[two]), y[two])
    X, y, name = covtype()
    lines += _decide(f"{name} 2 against rest", X, y == 2)
    return [toy, *lines]


def _decide(name: str, X: Any, y: Any) -> list[dict[str, Any]]:
    separability(X, y, gap=np.inf)  # compiles
    # The peers decide and say nothing of margins: so do we. The default is timed beside.
    times = race(
        {
            "decide": lambda: separability(X, y, gap=np.inf),
            "default": lambda: separability(X, y),
        },
        5,
    )
    found, ours = times["decide"].result, times["decide"].best
    start = time.perf_counter()
    holds = found.verify(X, y)
    checking = time.perf_counter() - start
    note = f"{found.kind}, verified {holds} in {checking:.2f} s"
    note += f"; with the margin {times['default'].best:.2f} s"
    lines = [_line(f"{name}, scipy linprog", ours, *_linprog(X, y), note)]
    peer = _firthmodels(X, y)
    if peer is not None:
        lines.append(_line(f"{name}, firthmodels", ours, *peer, note))
    return lines


def _line(name: str, ours: float, peer: float, said: str, note: str) -> dict[str, Any]:
    return {
        "workload": name, "linsep": ours, "peer": peer, "ratio": peer / ours, "wanted": 20.0,
        "note": f"{note}; peer said: {said}",
    }  # fmt: skip


def _linprog(X: Any, y: Any) -> tuple[float, str]:
    """max t with Zw ≥ t, |w| ≤ 1 on the whole problem, as a user would write it."""
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
    Z = np.column_stack([X, np.ones(len(X))]).astype(np.float64) * signs[:, None]
    start = time.perf_counter()
    found = linprog(
        np.append(np.zeros(Z.shape[1]), -1.0), np.column_stack([-Z, np.ones(len(Z))]),
        np.zeros(len(Z)), bounds=[(-1, 1)] * Z.shape[1] + [(None, 1)], method="highs",
        options={"time_limit": LIMIT},
    )  # fmt: skip
    seconds = time.perf_counter() - start
    return seconds, f"status {found.status}" + (", stopped at the limit" if found.status else "")


def _firthmodels(X: Any, y: Any) -> tuple[float, str] | None:
    """`firthmodels.detect_separation`, in a process that can be ended at the limit.

    It refuses collinear columns, so these are left out for it beforehand, off the clock.
    """
    try:
        import firthmodels  # noqa: F401
    except ModuleNotFoundError:
        print("firthmodels is not installed: left out (pip install firthmodels)")
        return None
    from multiprocessing import get_context

    context = get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_detect, args=(_independent(X), y, queue))
    start = time.perf_counter()
    process.start()
    process.join(LIMIT)
    seconds = time.perf_counter() - start
    if process.is_alive():
        process.terminate()
        return seconds, "nothing by the limit"
    return seconds, queue.get() if not queue.empty() else "an error, no answer"


def _independent(X: Any) -> Any:
    """Columns that add something to the others and to a constant, zeros left zero."""
    A = np.asarray(X, np.float64) - np.mean(X, axis=0, dtype=np.float64)
    A /= np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    _, triangle, order = qr(np.linalg.qr(A, mode="r"), mode="economic", pivoting=True)
    size = np.abs(np.diag(triangle))
    kept = np.sort(order[: int((size > 1e-6 * size[0]).sum())])
    return np.ascontiguousarray(X[:, kept], np.float64)


def _detect(X: Any, y: Any, queue: Any) -> None:
    from firthmodels import detect_separation

    labels = (y == np.unique(y)[1]).astype(int)
    queue.put(str(detect_separation(np.asarray(X, np.float64), labels).separation))


def _toy() -> dict[str, Any]:
    X, y, _ = toys.separated(n=100, d=5, margin=0.1, seed=0)
    separability(X, y)
    best = min(_seconds(X, y) for _ in range(200))
    return {
        "workload": "toy, 100 rows in 5 dimensions", "linsep": best, "peer": 0.005,
        "ratio": 0.005 / best, "wanted": 1.0, "note": "limit 5 ms",
    }  # fmt: skip


def _seconds(X: Any, y: Any) -> float:
    start = time.perf_counter()
    separability(X, y)
    return time.perf_counter() - start
