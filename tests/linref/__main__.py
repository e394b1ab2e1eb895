"""`make linref`: how many digits of each certified answer are right, linsep and peers side by side.

Each cell is objective/weights/gap: digits of the least objective, digits of the worst weight, and
digits that the answerer proves itself (a gap of 1e-9 is nine). "·" is a problem that the peer does
not have, or where it has no such number; "!" one that it gave an error for. With NAMES only
problems whose name begins with one of them; with --layouts linsep alone, in every layout.
"""

import sys

import numpy as np

from linref import fits
from linref.problems import compare, names, read


def cell(digits, width):
    if digits is None:
        return "·".rjust(width)
    if isinstance(digits, Exception):
        return "!".rjust(width)
    parts = ["·" if np.isnan(v) else f"{v:.0f}" for v in digits[:3]]
    while len(parts) > 1 and parts[-1] == "·":
        parts.pop()
    return "/".join(parts).rjust(width)


def answered(name, by, tol):
    try:
        return fits.digits(name, by, tol)
    except Exception as error:  # a peer may refuse a problem: that is its answer
        return error


def least(column):
    """The worst of a column: one line to remember."""
    numbers = [d[:2] for d in column if d is not None and not isinstance(d, Exception)]
    if not numbers:
        return None
    worst = [
        min((v for v in part if not np.isnan(v)), default=np.nan)
        for part in zip(*numbers, strict=True)
    ]
    return (*worst, np.nan)


def side_by_side(chosen):
    columns = [(by, tol) for by in fits.FITTERS for tol in (None, fits.TIGHT)]
    width = max(map(len, chosen)) + 1
    print(" " * width + "".join(f"{by:>20}" for by in fits.FITTERS))
    print(" " * width + f"{'default':>10}{'tight':>10}" * len(fits.FITTERS))
    found = []
    for name in chosen:
        found.append([answered(name, by, tol) for by, tol in columns])
        print(name.ljust(width) + "".join(cell(d, 10) for d in found[-1]), flush=True)
    worst = [least(column) for column in zip(*found, strict=True)]
    print("the least".ljust(width) + "".join(cell(d, 10) for d in worst))
    solved = [
        sum(d is not None and not isinstance(d, Exception) for d in c)
        for c in zip(*found, strict=True)
    ]
    print("problems answered".ljust(width) + "".join(f"{k:>10}" for k in solved))


def every_layout(chosen):
    width = max(map(len, chosen)) + 1
    print(" " * width + "".join(f"{layout:>20}" for layout in fits.LAYOUTS))
    print(" " * width + f"{'default':>10}{'tight':>10}" * len(fits.LAYOUTS))
    for name in chosen:
        problem, row = read(name), []
        for layout in fits.LAYOUTS:
            for tol in (None, fits.TIGHT):
                fit = fits.makes_sense(problem, layout) and fits.by_linsep(problem, tol, layout)
                row.append(compare(problem, fit.coef, fit.intercept, fit.gap) if fit else None)
        print(name.ljust(width) + "".join(cell(d, 10) for d in row), flush=True)


if __name__ == "__main__":
    starts = tuple(a for a in sys.argv[1:] if not a.startswith("-")) or ("",)
    chosen = [name for name in names() if name.startswith(starts)]
    if not chosen:
        sys.exit(f"No problem begins with {' or '.join(starts)}; there are {', '.join(names())}.")
    (every_layout if "--layouts" in sys.argv else side_by_side)(chosen)
