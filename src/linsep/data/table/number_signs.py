"""Whether a point or a comma is the decimal sign of a table, and where its cells leave that open.

1.5 and 0,125 and 52.514,60 are clear: read with the other sign they are no number. 1.234 is not,
for it may be a thousand and more. Beside 999 in the same column it is hardly a decimal number: one
with three places throughout would be 999.000, and one without zeros at the end would be 1.23 in
one cell of ten.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from linsep.data.table.cells import CURRENCIES, amount, number
from linsep.errors import ParameterError

MANY = 20  # different cells from which on it is no chance that all have three digits at the end
OTHER = {".": ",", ",": "."}
GROUPS = ".,'’\u00a0\u202f "
"""Signs that may stand between groups of three digits."""

_WORDS = {".": "point", ",": "comma"}
_AROUND = f"+-()% {CURRENCIES}USDERGBPCHF"
_SMALL = re.compile(r"0|[1-9]\d{0,2}")
_GROUPED = {sign: re.compile(rf"[1-9]\d{{0,2}}(?:{re.escape(sign)}\d{{3}})+") for sign in OTHER}


def is_clear(cell: str, decimal: str) -> bool:
    """Whether a cell is a number with this decimal sign, and none with the other."""
    signed = "." in cell or "," in cell
    return signed and amount(cell, decimal) is not None and amount(cell, OTHER[decimal]) is None


def decimal_of(cells: Iterable[str], usual: str = ".") -> str:
    """The decimal sign of most cells that are clear; `usual` where commas are clear neither way.

    >>> decimal_of(["3,5", "0,40"]), decimal_of(["1,234", "x, y"]), decimal_of(["3.5", "0,4", "7."])
    (',', '.', '.')
    >>> decimal_of(["52.514,60", "86"]), decimal_of(["1.234.567"]), decimal_of(["1,234"], ",")
    (',', ',', ',')
    """
    cells = list(cells)
    doubtful = {cell for cell in cells if "," in cell or cell.count(".") > 1}
    if not doubtful:
        return "."
    commas = sum(is_clear(cell, ",") for cell in cells if cell in doubtful)
    points = sum(is_clear(cell, ".") for cell in cells if "." in cell or cell in doubtful)
    if commas or points:
        return "," if commas > points else "."
    return usual if any("," in cell and number(cell, ",") is not None for cell in doubtful) else "."


def settle_signs(given: dict[str, Any]) -> None:
    """A point or comma between thousands says that the other one is the decimal sign."""
    decimal, thousands = given.get("decimal"), given.get("thousands")
    if thousands is not None and thousands == decimal:
        raise ParameterError(
            f"decimal and thousands are both {decimal!r}; give two signs, or one of them."
        )
    if decimal is None and thousands in OTHER:
        given["decimal"] = OTHER[thousands]


def doubts(
    columns: Sequence[tuple[str, str, list[str]]], decimal: str, delimiter: str = ""
) -> dict[str, tuple[bool, str]]:
    """By name of a column (name, kind, cells) what is not sure about its numbers, in a sentence;
    and whether it has to be settled before anything is made of them.

    >>> doubts([("a", "number", ["1.234", "999", "12.345"])], ".", ";")["a"]
    (True, "column 'a' holds 1.234 beside 999: a decimal point, or a thousand and more? Pass \
decimal='.' or thousands='.' to tell.")
    >>> doubts([("a", "number", ["1.234", "999"]), ("b", "number", ["0.125", "2"])], ".", ";")
    {}
    """
    found = {}
    clear: bool | None = None
    for name, kind, cells in columns:
        if kind == "text":
            if contrary := _contrary(name, cells, decimal):
                found[name] = (True, contrary)
            continue
        grouped, small = _grouped(cells, decimal) if kind == "number" else ([], [])
        if not grouped:
            continue
        if clear is None:
            clear = any(is_clear(c, decimal) for _, _, some in columns for c in some)
        sure = len(set(grouped)) >= MANY  # such a column holds thousands whatever others hold
        if small and (sure or not clear):
            beside = f"holds {grouped[0]} beside {small[0]}"
            found[name] = (sure or delimiter != ",", _question(name, beside, decimal))
        elif not small and not clear and delimiter != ",":
            beside = f"holds three digits behind the {_WORDS[decimal]} in every cell ({grouped[0]})"
            found[name] = (False, _question(name, beside, decimal))
    return found


def _question(name: str, beside: str, decimal: str) -> str:
    return (
        f"column {name!r} {beside}: a decimal {_WORDS[decimal]}, or a thousand and more? "
        f"Pass decimal={decimal!r} or thousands={decimal!r} to tell."
    )


def _grouped(cells: list[str], decimal: str) -> tuple[list[str], list[str]]:
    """Cells such as 1.234 and cells of up to three digits, where a column holds no others."""
    signed = [cell for cell in cells if decimal in cell]
    grouped = _GROUPED[decimal].fullmatch
    if not signed or not all(grouped(cell.strip(_AROUND)) for cell in signed):
        return [], []
    small = [cell for cell in cells if decimal not in cell]
    plain = all(_SMALL.fullmatch(cell.strip(_AROUND)) for cell in small)
    return (signed, small) if plain else ([], [])


def _contrary(name: str, cells: list[str], decimal: str) -> str:
    """That a column of texts holds numbers with the other sign."""
    other = OTHER[decimal]
    signed = [cell for cell in cells if other in cell]
    if not signed or not any(is_clear(cell, other) for cell in signed[:MANY]):
        return ""
    numbers = sum(amount(cell, other) is not None for cell in cells)
    if numbers < 0.9 * len(cells):
        return ""
    return (
        f"column {name!r} holds numbers with a decimal {_WORDS[other]} ({signed[0]}), other "
        f"columns with a {_WORDS[decimal]}. Pass decimal={other!r} or decimal={decimal!r}, or "
        f"columns={{{name!r}: 'text'}}."
    )
