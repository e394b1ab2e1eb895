"""A short part of the allocations of `make faults`: two of each kind of run."""

import shutil
import sys

import pytest

from faults.allocations import with_failing_malloc


@pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc"), reason="glibc and a compiler"
)
def test_whatever_lacks_memory_says_so_and_works_when_there_is_some():
    assert with_failing_malloc("2") == 0
