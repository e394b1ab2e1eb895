"""Measure every problem again and write weak.txt anew: python -m linref.refresh (from tests/).

What it changes is printed, and is to be judged: a line that comes in, or a number that falls, may
be a defect of a solver.
"""

import math
import warnings

from linref import fits, weak
from linref.problems import compare, names, read

TOLS = {"default": None, "tight": fits.TIGHT}
USUAL = {
    ("tight", "weights"): "The gap reaches tol before the weights have the digits",
    (
        "tight",
        "objective",
    ): "The gap cannot be brought to tol in floats, and the search ends before "
    "the weights are as exact as they could be",
    (
        "default",
        "objective",
    ): "LinearSVC's default tol of 1e-4 asks for four digits of the objective",
    (
        "default",
        "weights",
    ): "A default fit ends with a little less than half its digits of the weights",
}


def measured():
    """(name, tol, quantity, layout) and the digits there, of all that is asked of linsep."""
    for name in names():
        problem = read(name)
        for layout in fits.LAYOUTS:
            for tol in TOLS if fits.makes_sense(problem, layout) else ():
                fit = fits.by_linsep(problem, TOLS[tol], layout)
                digits = compare(problem, fit.coef, fit.intercept, fit.gap)
                for quantity in ("objective", "weights"):
                    yield (name, tol, quantity, layout), getattr(digits, quantity)


def main():
    table = dict(weak.known())
    for place, have in measured():
        name, tol, quantity, layout = place
        wanted, known = weak.goal(name, tol, layout, quantity), table.get(place)
        least = math.floor(2 * have - 0.2) / 2 if have == have else math.inf
        if known and have >= wanted + 0.5 and not known.at_times:
            print("struck:", *place, f"{have:.1f}")
            del table[place]
        elif not have >= (known.least if known else wanted) and have == have:
            print("lowered:" if known else "new:", *place, f"{have:.1f}")
            row = [one.reason for key, one in table.items() if key[:3] == place[:3]]
            reason = row[0] if row else USUAL[tol, quantity]
            table[place] = weak.Weak(least, reason, bool(known and known.at_times))
    reasons = dict.fromkeys(one.reason for one in table.values())
    with weak.FILE.open("w", encoding="utf-8") as file:
        file.write("\n".join(section(table, reason) for reason in reasons))


def section(table, reason):
    """The lines of one reason."""
    rows = {}
    for (name, tol, quantity, layout), one in table.items():
        if one.reason == reason:
            often = " (at times)" if one.at_times else ""
            rows.setdefault((name, tol, quantity), []).append(f"{layout} {one.least:g}{often}")
    lines = [f"{name:30} {tol:8} {quantity:10} {', '.join(parts)}"
             for (name, tol, quantity), parts in rows.items()]  # fmt: skip
    return "\n".join([f"# {reason}", *lines, ""])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
