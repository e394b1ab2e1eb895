"""A few hostile problems: `converged` is proved, and no better point is known.

`python -m benchmarks hostile` fits thousands. Plain sums left these without a proof.
"""

import pytest
from benchmarks.hostile.run import ending

PROVED = [15, 31, 32, 48, 65, 72, 86, 95]


@pytest.mark.parametrize("seed", PROVED)
def test_what_rounding_used_to_hide_is_proved(seed):
    one = ending(seed, limit=120.0)
    assert one.status == "converged" and one.gap <= one.tol
    assert not one.faults


@pytest.mark.parametrize("seed", [1, 5, 7, 17, 52, 68, 78, 96, 337])
def test_no_ending_says_more_than_is_so(seed):
    assert not ending(seed, limit=120.0).faults
