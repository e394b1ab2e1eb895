"""A line for each cell."""

import math

from benchmarks.grid.judge import Verdict

HEADING = (
    f"{'set':<24}{'learner':<15}{'linsep ms':>11}{'peer ms':>11}{'ratio':>8}{'orders':>8}"
    "  best peer; how linsep ended"
)


def line(verdict: Verdict) -> str:
    """One cell in words."""
    v = verdict
    start = f"{v.name:<24}{v.learner:<15}{_ms(v.seconds)}"
    if v.peers:
        start += f"{_ms(v.peers[v.rival])}{v.ratio:>8.2f}"
    else:
        start += f"{'-':>11}{'-':>8}"
    spread = f"{v.spread:>8.2f}" if v.spread == v.spread else f"{'-':>8}"
    ending = f"{v.rival or 'no peer came near'}; {v.status} {v.solver} {v.away:.0e} away"
    failed = f"  FAILED: {v.failure}" if v.failure else ""
    return f"{start}{spread}  {ending}{'  <1' if v.ratio < 1 else ''}{failed}"


def _ms(seconds: float) -> str:
    return f"{'-':>11}" if math.isnan(seconds) else f"{1e3 * seconds:>11.2f}"
