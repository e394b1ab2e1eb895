"""A short part of the kills of `make faults`: one of each kind of run."""

import subprocess
import sys
from pathlib import Path

from faults import kills


def test_whatever_is_killed_is_there_whole_or_not_and_goes_on_to_the_same_bytes():
    kinds = len(kills.kinds())
    done = subprocess.run(
        [sys.executable, "-m", "faults.kills", str(kinds)], cwd=Path(__file__).parents[1],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("runs ended the same") == kinds
