"""`linsep warm`: compile the kernels before they are needed."""

import os
from inspect import signature
from typing import Any

import click

from linsep.views.arguments import LEARNERS, as_json

KINDS = [("f8", False), ("f8", True), ("f4", False), ("f4", True)]
"""Precision, and whether sparse: kernels of one kind have little in common with another's."""

# Rows, features and entries of a row.
FEW = (6, 2, 2)
ROWS = (FEW[0], 120, 400, 3_000, 6_000, 30_000, 66_000)
FEATURES = (FEW[1], 40, 200, 300, 600, 1_000, 2_400, 10_000)
ENTRIES = (FEW[2], 4, 20)  # where rows are sparse
LONG = {False: (66_000, 40, 40), True: (66_000, 40, 4)}
WIDE = {False: (120, 8_000, 8_000), True: (400, 10_000, 20)}
PASSES = 5  # enough for what pays only where more passes follow

_queue: Any = None  # where a process tells of each fit


@click.command("warm", short_help="Compile the kernels before they are needed.")
@click.argument("learners", nargs=-1, type=click.Choice(LEARNERS, case_sensitive=False))
@as_json
def command(learners: tuple[str, ...], as_json: bool) -> None:
    """Compile the kernels of LEARNERS (default: all), so that no later fit has to wait for it.

    These are the kernels that default parameters use on data of any size, dense and sparse, of
    float64 and float32, and those that read files. Other solvers and rules compile theirs when
    they are first used.
    """
    import json
    import sys
    import time

    from linsep import __version__, _compile

    if _compile.CACHE is None:
        click.echo("No folder can be written; set LINSEP_CACHE to keep compiled kernels.", err=True)
        raise SystemExit(1)
    start = time.perf_counter()
    names = learners or tuple(LEARNERS)
    # From both ends, so that what two kinds share is compiled by one of them before the other.
    jobs = [(names[::-1] if sparse else names, dtype, sparse) for dtype, sparse in KINDS]
    total = sum(len(_fits(names, sparse)) for _, sparse in KINDS)
    with click.progressbar(length=total, label="Compiling", file=sys.stderr) as bar:
        kept = _share_out(jobs, bar)
    if not kept:  # a process has said why
        click.echo(f"Not all kernels could be kept in {_compile.CACHE}.", err=True)
        raise SystemExit(1)
    seconds = time.perf_counter() - start
    click.echo(f"Kernels are ready in {_compile.CACHE} ({seconds:.1f} s).", err=True)
    if as_json:
        record = {"command": "warm", "linsep": __version__, "cache": str(_compile.CACHE)}
        click.echo(json.dumps(record | {"fits": total, "seconds": seconds}))


def _share_out(jobs: list[tuple[Any, ...]], bar: Any) -> bool:
    """Each job in a process of its own, as many at a time as there are processors.

    Returns whether all that was compiled is kept.
    """
    import multiprocessing
    import queue

    context = multiprocessing.get_context("spawn")
    messages = context.Queue()
    at_once = min(len(jobs), os.cpu_count() or 1)
    with context.Pool(at_once, _begin, (messages,), maxtasksperchild=1) as pool:
        results = pool.starmap_async(_compile_kind, jobs, chunksize=1)
        while not results.ready():
            try:
                messages.get(timeout=0.2)
            except queue.Empty:
                continue
            bar.update(1)
        kept = all(results.get())  # raises what went wrong in a process
    bar.update(bar.length - bar.pos)
    return kept


def _begin(queue: Any) -> None:
    global _queue
    import signal

    from linsep._compile.compiler import COMPILING

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits ends this one
    _queue = queue
    COMPILING.said = True  # the bar says it


def _compile_kind(names: tuple[str, ...], dtype: str, sparse: bool) -> bool:
    """Whether all that was compiled is kept."""
    import warnings

    import linsep
    from linsep import _kernel_cache
    from linsep.errors import NotConverged

    known: Any = None
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        for name, size, classes in _fits(names, sparse):
            if known is None or known[0] != size:
                known = (size, _rows(size, dtype, sparse))
            learner = getattr(linsep, name)
            given = {"max_iter": PASSES} if _passes(name) else {}
            learner(**given).fit(known[1], _labels(known[1], classes))
            _queue.put(1)
    return not _kernel_cache.unkept


def _fits(names: tuple[str, ...], sparse: bool) -> list[tuple[str, tuple[int, int, int], int]]:
    """Learner, size of the rows and number of classes of each fit, sizes together.

    Learners without passes know one way for rows of any number, and take long for wide ones.
    """
    fits = []
    for name in names:
        for classes in (2,) if name == "LinearRegression" else (2, 3):
            sizes = [FEW]
            if _passes(name) and name not in ("KernelPerceptron", "KernelSVC", "LinearRegression"):
                sizes += [LONG[sparse], WIDE[sparse]]
            if name in ("LinearSVC", "LogisticRegression"):
                sizes += sizes_met(name, sparse, classes)
            fits += [(name, size, classes) for size in dict.fromkeys(sizes)]
    return sorted(fits, key=lambda fit: fit[1])


def sizes_met(name: str, sparse: bool, classes: int) -> list[tuple[int, int, int]]:
    """For each line of the table of solvers that a learner can meet, the smallest rows that do.

    Where there are such, also the smallest for which dual descent has more than one lane.
    """
    from linsep.train.convex.choose import line_for, shape_of
    from linsep.train.convex.solvers.dual_descent import SMALL

    loss = "hinge" if name == "LinearSVC" else "logistic"
    several = 2 if loss == "hinge" else classes  # machines are fitted class by class
    smallest: dict[tuple[Any, bool], tuple[int, int, int]] = {}
    for n in ROWS:
        for d in FEATURES:
            for entries in [one for one in ENTRIES if one <= d] if sparse else [d]:
                line = line_for(shape_of(_outline(n, d, entries, sparse), loss, several))
                met = (line, n * entries >= SMALL)
                now = smallest.get(met)
                if now is None or n * entries < now[0] * now[2]:
                    smallest[met] = (n, d, entries)
    return list(smallest.values())


def _outline(n: int, d: int, entries: int, sparse: bool) -> Any:
    """Rows of a size, with nothing in them."""
    import numpy as np
    import scipy.sparse as sp

    if not sparse:
        return np.broadcast_to(np.float64(0.0), (n, d))
    columns = np.zeros(n * entries, np.int32)
    return sp.csr_array((columns, columns, np.arange(n + 1) * entries), shape=(n, d), copy=False)


def _passes(name: str) -> bool:
    import linsep

    return "max_iter" in signature(getattr(linsep, name)).parameters


def _rows(size: tuple[int, int, int], dtype: str, sparse: bool) -> Any:
    import numpy as np
    import scipy.sparse as sp

    n, d, entries = size
    rng = np.random.default_rng(0)
    if not sparse:
        return rng.normal(size=(n, d)).astype(dtype)
    columns = rng.integers(0, d, (n, entries)).ravel()
    values = rng.normal(size=n * entries).astype(dtype)
    return sp.csr_array((values, (np.repeat(np.arange(n), entries), columns)), shape=(n, d))


def _labels(X: Any, classes: int) -> Any:
    """Classes that planes tell apart but for some rows, and never all the same."""
    import numpy as np

    rng = np.random.default_rng(1)
    scores = np.asarray(X @ rng.normal(size=(X.shape[1], classes)))
    labels = (scores + rng.normal(size=scores.shape)).argmax(axis=1)
    labels[:classes] = np.arange(classes)
    return labels
