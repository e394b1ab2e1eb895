"""Threshold logic: what one unit can compute, the proof when it cannot, and two layers that can.

>>> from linsep import logic
>>> print(logic.realize(logic.parse("x1 & x2 & x4")))
x1 + x2 + x4 >= 3
>>> logic.realize(logic.parse("x1 ^ x2")).verify()
True
>>> logic.network(logic.parse("x1 ^ x2")).truth_table().tolist()
[0, 1, 1, 0]
"""

from linsep.logic.expressions import Expression, ExpressionError, parse
from linsep.logic.impossible import Impossible
from linsep.logic.networks import XOR, Network, network
from linsep.logic.realization import realize
from linsep.logic.units import (
    AND,
    NAND,
    NOR,
    NOT,
    OR,
    ThresholdUnit,
    at_least,
    conjunction,
)

__all__ = [
    "AND",
    "NAND",
    "NOR",
    "NOT",
    "OR",
    "XOR",
    "Expression",
    "ExpressionError",
    "Impossible",
    "Network",
    "ThresholdUnit",
    "at_least",
    "conjunction",
    "network",
    "parse",
    "realize",
]
