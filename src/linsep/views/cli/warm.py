"""`linsep warm`: compile the kernels before they are needed."""

from collections.abc import Iterator
from inspect import signature
from typing import Any

import click

from linsep.views.arguments import LEARNERS, as_json


@click.command("warm", short_help="Compile the kernels before they are needed.")
@click.argument("learners", nargs=-1, type=click.Choice(LEARNERS))
@as_json
def command(learners: tuple[str, ...], as_json: bool) -> None:
    """Compile the kernels of LEARNERS (default: all), so that no later fit has to wait for it."""
    import json
    import sys
    import time
    import warnings

    from linsep import __version__, _compile
    from linsep.errors import NotConverged

    if _compile.CACHE is None:
        click.echo("No folder can be written; set LINSEP_CACHE to keep compiled kernels.", err=True)
        raise SystemExit(1)
    start = time.perf_counter()
    fits = list(_fits(learners or tuple(LEARNERS)))
    bar = click.progressbar(fits, label="Compiling", file=sys.stderr)
    with warnings.catch_warnings(action="ignore", category=NotConverged), bar:
        for learner, X, y in bar:
            learner.fit(X, y)
    seconds = time.perf_counter() - start
    click.echo(f"Kernels are ready in {_compile.CACHE} ({seconds:.1f} s).", err=True)
    if as_json:
        record = {"command": "warm", "linsep": __version__, "cache": str(_compile.CACHE)}
        click.echo(json.dumps(record | {"fits": len(fits), "seconds": seconds}))


def _fits(names: tuple[str, ...]) -> Iterator[tuple[Any, Any, Any]]:
    """Small fits that use what most will: dense and sparse, both precisions, 2 or 3 classes."""
    import numpy as np
    import scipy.sparse as sp

    import linsep

    points = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [2.0, 1.0], [1.0, 2.0]])
    for dtype in (np.float64, np.float32):
        X = points.astype(dtype)
        for rows in (X, sp.csr_array(X)):
            for name in names:
                learner = getattr(linsep, name)
                few = {"max_iter": 1} if "max_iter" in signature(learner).parameters else {}
                yield learner(**few), rows, [0, 1, 0, 1, 0, 1]
                if name != "LinearRegression":
                    yield learner(**few), rows, [0, 1, 2, 0, 1, 2]
