"""What falls short of the certified digits today, from `weak.txt`: nothing else may."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from linref.problems import attainable

FILE = Path(__file__).with_name("weak.txt")
GOALS = {  # digits of (objective, weights)
    "default": (6, 3),  # a gap of 1e-6 promises half as many digits of the weights
    "tight": (12, 12),
    "float32": (6, 6),  # a float32 has seven
}


def goal(name, tol, layout, quantity):
    """Digits that are asked for: fewer only where floats near the answer hold fewer."""
    single = layout == "float32"
    wanted = GOALS["float32" if single and tol == "tight" else tol]
    if quantity == "weights":
        return wanted[1]
    return min(wanted[0], attainable(name, single))


class Weak(NamedTuple):
    least: float  # digits that it has all the same
    reason: str
    at_times: bool = False  # and at other times the digits are there


@cache
def known():
    """{(problem, tol, quantity, layout): how it falls short}."""
    table, reason = {}, ""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            reason = line[1:].strip()
        elif line.strip():
            name, tol, quantity, rest = line.split(None, 3)
            for part in rest.split(","):
                often = part.removesuffix(" (at times)")
                layout, digits = often.rsplit(None, 1)
                known = Weak(float(digits), reason, at_times=often != part)
                table[name, tol, quantity, layout.strip()] = known
    return table
