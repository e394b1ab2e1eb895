"""Cells as people write them: numbers with signs and separators, truth values, dates and times.

    number   3.5 · 1,234.50 · $1,200 · 12 % · (300), which is below zero
    truth    true and false, in any case: 1 and 0
    date     2024-02-29, 2024-02-29T13:45, 29.02.2024, 2/29/2024, 13:45: days since 1970

A cell that is none of what its column holds is None; a missing one never comes here.
"""

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from functools import cache

CURRENCIES = "$€£¥₹₽₩₺¢"
TRUTHS = {"true": 1.0, "false": 0.0}
ORDERS = ("ymd", "dmy", "mdy")
"""Which of year, month and day comes first, where slashes or points stand between them."""

PARTS = ("year", "month", "day", "weekday", "hour")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400.0
_DATE = re.compile(r"(\d{1,4})([./])(\d{1,2})\2(\d{1,4})(?:[ T]+(.*))?")
_WORD = re.compile(r"\w\w+")
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*([AaPp][Mm])?")


def number(text: str, decimal: str = ".") -> float | None:
    """The finite number a cell holds as machines write it, or None."""
    if decimal != ".":
        text = text.replace(".", "x").replace(decimal, ".")
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def amount(text: str, decimal: str = ".") -> float | None:
    """The number a cell holds as people write it, or None; a share of 12 % is 12.

    >>> [amount(cell) for cell in ("3.5", "$1,234.50", "12 %", "(300)", "1,23", "12 men")]
    [3.5, 1234.5, 12.0, -300.0, None, None]
    >>> amount("1.234,5 €", ","), amount("0,125")  # no thousands begin with 0
    (1234.5, None)
    """
    value = number(text, decimal)
    if value is not None:
        return value
    match = _amounts(decimal).fullmatch(text)
    if match is None or (match["open"] is None) != (match["close"] is None):
        return None
    whole, _, rest = match["digits"].partition(decimal)
    value = float(f"{re.sub(r'[^0-9]', '', whole)}.{rest}")
    return -value if match["open"] or "-" in (match["sign"], match["late"]) else value


@cache
def _amounts(decimal: str) -> re.Pattern[str]:
    between = r"[,'’\u00a0\u202f ]" if decimal == "." else r"[.'’\u00a0\u202f ]"
    coin = rf"[{CURRENCIES}]|USD|EUR|GBP|CHF"
    return re.compile(
        rf"(?P<open>\()?(?P<sign>[+-])?\s*(?:{coin})?\s*(?P<late>[+-])?"
        rf"(?P<digits>(?:[1-9]\d{{0,2}}(?:{between}\d{{3}})+|\d+)(?:{re.escape(decimal)}\d*)?)"
        rf"\s*(?:%|{coin})?(?P<close>\))?"
    )


def truth(text: str) -> float | None:
    """1 for true and 0 for false, in any case; None for anything else."""
    return TRUTHS.get(text.lower())


def days(text: str, order: str = "ymd") -> float | None:
    """Days since 1970 of a date or moment, UTC where no zone is named; the share of a day of a
    time alone; None where the cell is neither.

    >>> days("1970-01-02"), days("1970-01-01T12:00"), days("18:00"), days("02.01.1970", "dmy")
    (1.0, 0.5, 0.75, 1.0)
    >>> days("20240105") is None, days("2/30/2024", "mdy") is None
    (True, True)
    """
    if ":" in text and (clock := _TIME.fullmatch(text)):
        return _share(clock)
    if "-" in text[1:]:
        try:
            return days_of(datetime.fromisoformat(text))
        except ValueError:
            return None
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    first, _, second, third, later = match.groups()
    places = {"ymd": (0, 1, 2), "dmy": (2, 1, 0), "mdy": (2, 0, 1)}[order]
    values = [int(first), int(second), int(third)]
    year, month, day = (values[place] for place in places)
    if len((first, second, third)[places[0]]) not in (2, 4):
        return None
    if year < 100:
        year += 2000 if year < 70 else 1900
    share = 0.0
    if later:
        clock = _TIME.fullmatch(later.strip())
        at = None if clock is None else _share(clock)
        if at is None:
            return None
        share = at
    try:
        return float((date(year, month, day) - date(1970, 1, 1)).days) + share
    except ValueError:
        return None


def _share(clock: re.Match[str]) -> float | None:
    hour, minute, second = int(clock[1]), int(clock[2]), float(clock[3] or 0)
    if clock[4] is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if clock[4].lower() == "pm" else 0)
    if hour > 23 or minute > 59 or second >= 60:
        return None
    return (hour * 3600 + minute * 60 + second) / _DAY


def days_of(moment: datetime | date | time) -> float:
    """Days since 1970, UTC where no zone is named."""
    if isinstance(moment, time):
        seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
        return (seconds + moment.microsecond / 1e6) / _DAY
    if not isinstance(moment, datetime):
        return float((moment - date(1970, 1, 1)).days)
    known = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (known - _EPOCH).total_seconds() / _DAY


def order_of(cells: Sequence[str]) -> str | None:
    """How dates in these cells are ordered; None where fewer than nine in ten are dates.

    Where days up to twelve leave it open, points mean the day first and slashes the month.

    >>> order_of(["2024-01-31"]), order_of(["31/01/2024"]), order_of(["1/2/2024"]), order_of(["x"])
    ('ymd', 'dmy', 'mdy', None)
    """
    if not cells:
        return None
    points = sum("." in cell for cell in cells) * 2 > len(cells)
    preferred = ("ymd", "dmy", "mdy") if points else ("ymd", "mdy", "dmy")
    counts = {o: sum(days(cell, o) is not None for cell in cells) for o in preferred}
    best = max(preferred, key=lambda order: counts[order])
    return best if counts[best] >= 0.9 * len(cells) else None


def words_of(text: str) -> list[str]:
    """The words of a text, of two letters or digits at least, in small letters.

    >>> words_of("It's TOO dear, 10 € too dear!")
    ['it', 'too', 'dear', '10', 'too', 'dear']
    """
    return _WORD.findall(text.casefold())


def parser(kind: str, decimal: str = ".") -> Callable[[str], float | None]:
    """What reads a cell of this kind: 'number', 'truth', or 'date' with its order, 'date:dmy'."""
    word, _, order = kind.partition(":")
    if word == "truth":
        return truth
    if word == "date":
        return lambda text: days(text, order or "ymd")
    return lambda text: amount(text, decimal)
