"""The only package that speaks to the compiler.

A kernel is a plain function marked `@kernel`. A row layout, a loss or a rule is a NamedTuple with
ordinary methods; a function marked `@by_type` is, inside kernels, the method of the same name of
its first argument. The *type* of that argument picks the code, so one kernel is written once, gets
its own machine code for each pair of types, and that code is kept on disk.

The other names are what kernels do that Python has no words for: bits, vectors, memory fetched
ahead. Outside kernels they are plain Python.
"""

from linsep._compile.bits import high_product, upper_half, whole
from linsep._compile.core import CACHE, by_type, inline, kernel, strict
from linsep._compile.lanes import weighted_add, weighted_sum
from linsep._compile.memory import fetch

__all__ = [
    "CACHE",
    "by_type",
    "fetch",
    "high_product",
    "inline",
    "kernel",
    "strict",
    "upper_half",
    "weighted_add",
    "weighted_sum",
    "whole",
]
