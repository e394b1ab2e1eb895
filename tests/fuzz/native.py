"""The parser of svmlight lines, alone under sanitizers: a hundred thousand inputs a second.

native/lines.cpp has the loop and a plain second reader; native/nanobind stands for Python there.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from linsep.data.svmlight.decimals import POWERS

HERE = Path(__file__).parent / "native"
KERNELS = Path(__file__).parents[2] / "src" / "linsep" / "kernels"
COMPILER = os.environ.get("CXX") or shutil.which("g++")  # whose coverage lines.cpp asks for
FLAGS = ["-std=c++17", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
         "-fsanitize-coverage=trace-pc", f"-I{HERE}", f"-I{KERNELS / 'arrays'}",
         f"-I{KERNELS / 'reading'}"]  # fmt: skip


def run(seconds, seed, most=10**15):
    """Counts, and what was found: (words, input)."""
    with tempfile.TemporaryDirectory() as place:
        program, powers, found = (Path(place) / name for name in ("lines", "powers", "found"))
        subprocess.run([COMPILER, *FLAGS, HERE / "lines.cpp", "-o", program], check=True)
        POWERS.tofile(powers)
        command = [program, str(seconds), str(seed), str(most), powers, found]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            data = found.read_bytes() if found.exists() else b""
            counts = {"inputs": 0, "seconds": seconds, "kinds": 0, "slowest": 0.0, "grown_mb": 0}
            return counts, [(done.stderr[-2000:], data)]
        return json.loads(done.stdout), []
