"""How long a new process takes to its first fit, with a warm and with a cold cache."""

import os
import subprocess
import sys
import tempfile
from typing import Any

SCRIPT = """
import time, numpy as np
from linsep import Perceptron
Perceptron
X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
{rows}
start = time.perf_counter()
Perceptron().fit(X, y)
print(time.perf_counter() - start)
"""
TWO = "y = [0, 1, 1]"
SEVERAL = "import scipy.sparse as sp; X = sp.csr_array(X); y = [0, 1, 2]"
PROVED = """
import scipy.sparse as sp, warnings
warnings.simplefilter("ignore")
X, y = sp.csr_array(np.random.default_rng(0).standard_normal((60, 5))), np.arange(60) % 4
"""
MANY = """
import scipy.sparse as sp
X = sp.random_array((1000, 20_000), density=0.01, format="csr", rng=np.random.default_rng(0))
y = np.arange(1000) % 20
"""
"""Weights of 3 MB, of which first digits are kept."""
COLD = {
    "sparse, several classes": SEVERAL,
    "sparse, several, many weights": MANY,
    "sparse, several, proved hopeless": PROVED,
}


def _first_fit(cache: str, kind: str = TWO) -> tuple[float, int]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(rows=kind)], env={**os.environ, "LINSEP_CACHE": cache},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout), len(done.stderr.splitlines())


def rows() -> list[dict[str, Any]]:
    """First fit above import: cold, then warm."""
    with tempfile.TemporaryDirectory() as cache:
        cold, said = _first_fit(cache)
        warm = min(_first_fit(cache)[0] for _ in range(3))
    lines = [
        {"workload": "first fit, cold cache", "linsep": cold, "peer": 5.0, "ratio": 5.0 / cold,
         "wanted": 1.0, "note": f"limit 5 s; {said} line said"},
        {"workload": "first fit, warm cache", "linsep": warm, "peer": 0.5, "ratio": 0.5 / warm,
         "wanted": 1.0, "note": "limit 0.5 s above import"},
    ]  # fmt: skip
    for name, kind in COLD.items():
        with tempfile.TemporaryDirectory() as cache:
            cold, _ = _first_fit(cache, kind)
        lines.append({"workload": f"cold, {name}", "linsep": cold, "peer": 5.0,
                      "ratio": 5.0 / cold, "wanted": 1.0, "note": "limit 5 s"})  # fmt: skip
    return lines
