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
    with tempfile.TemporaryDirectory() as cache:
        several, _ = _first_fit(cache, SEVERAL)
    return [
        {"workload": "first fit, cold cache", "linsep": cold, "peer": 5.0, "ratio": 5.0 / cold,
         "wanted": 1.0, "note": f"limit 5 s; {said} line said"},
        {"workload": "first fit, sparse, several classes, cold", "linsep": several, "peer": 5.0,
         "ratio": 5.0 / several, "wanted": 1.0, "note": "limit 5 s"},
        {"workload": "first fit, warm cache", "linsep": warm, "peer": 0.5, "ratio": 0.5 / warm,
         "wanted": 1.0, "note": "limit 0.5 s above import"},
    ]  # fmt: skip
