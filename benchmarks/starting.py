"""How long a new process takes to its first fit: with kernels kept before, and compiling them."""

import os
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

SCRIPT = """
import time, sys, numpy as np
from linsep import Perceptron
Perceptron
X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
{rows}
start = time.perf_counter()
Perceptron().fit(X, y)
print(time.perf_counter() - start)
if "numba" in sys.modules:
    from linsep._compile.compiler import COMPILING
    print(COMPILING.seconds)
else:
    print(0.0)
"""
TWO = "y = [0, 1, 1]"
SEVERAL = "import scipy.sparse as sp; X = sp.csr_array(X); y = [0, 1, 2]"
HOPELESS = """
import scipy.sparse as sp, warnings
warnings.simplefilter("ignore")
X, y = sp.csr_array(np.random.default_rng(0).standard_normal((60, 5))), np.arange(60) % 4
"""
"""No separator exists: the fit ends with the proof of that, whose kernels are compiled too."""
MANY = """
import scipy.sparse as sp
X = sp.random_array((1000, 20_000), density=0.01, format="csr", rng=np.random.default_rng(0))
y = np.arange(1000) % 20
"""
"""Weights of 3 MB, of which first digits are kept."""
COLD = {
    "dense, two classes": TWO,
    "sparse, several": SEVERAL,
    "sparse, several, many weights": MANY,
    "sparse, several, and a proof": HOPELESS,
}


class First(NamedTuple):
    """A first fit above import: seconds, seconds of these that were compiling, lines said."""

    seconds: float
    compiling: float
    said: int


def _first_fit(cache: str, kind: str = TWO) -> First:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(rows=kind)], env={**os.environ, "LINSEP_CACHE": cache},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return First(*map(float, done.stdout.split()), len(done.stderr.splitlines()))


def _cold(kind: str) -> First:
    with tempfile.TemporaryDirectory() as cache:
        return _first_fit(cache, kind)


def rows() -> list[dict[str, Any]]:
    """A first fit that compiles, for several kinds of rows, and one that does not."""
    lines = []
    for name, kind in COLD.items():
        found = min((_cold(kind) for _ in range(2)), key=lambda one: one.compiling)
        note = f"limit 5 s; {found.said} line said; the whole fit {found.seconds:.1f} s"
        lines.append({"workload": f"compiling, {name}", "linsep": found.compiling, "peer": 5.0,
                      "ratio": 5.0 / found.compiling, "wanted": 1.0, "note": note})  # fmt: skip
    with tempfile.TemporaryDirectory() as cache:
        _first_fit(cache)
        warm = min(_first_fit(cache).seconds for _ in range(3))
    note = "limit 0.5 s above import"
    lines.append({"workload": "first fit, kernels kept", "linsep": warm, "peer": 0.5,
                  "ratio": 0.5 / warm, "wanted": 1.0, "note": note})  # fmt: skip
    return lines
