"""Random hostile problems: does a fit that says `converged` prove it, and is no better point known?

    python -m benchmarks hostile 1000          a thousand problems, from seed 0 on
    python -m benchmarks hostile 50 --seed 700 --limit 20

`problems` makes them, `reference` looks for better points in extended precision by code that shares
nothing with linsep, and `run` fits, compares and prints.
"""

from benchmarks.hostile.run import main

__all__ = ["main"]
