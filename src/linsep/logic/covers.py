"""A Boolean function as few threshold functions joined by "or".

First an irredundant sum of products (Minato and Morreale), then products are put together as long
as one threshold unit computes them: x1 x2 + x1 x3 is the one unit 2 x1 + x2 + x3 >= 3.

>>> from linsep.logic.tables import truth_table
>>> [str(unit) for unit in cover(truth_table(lambda a, b, c: a != (b and c), 3))]
['2 x1 - x2 - x3 >= 1', '-x1 + x2 + x3 >= 2']
"""

from functools import lru_cache
from typing import NamedTuple

from linsep.logic.realization import realize_table
from linsep.logic.tables import TruthTable, all_rows, rows_without
from linsep.logic.units import ThresholdUnit, conjunction

MERGED = 8
REMEMBERED = 3


class Product(NamedTuple):
    """A product of inputs and negated inputs; bit k stands for input k, counted from the last."""

    ones: int
    zeros: int


def cover(table: TruthTable) -> list[ThresholdUnit]:
    """Return units of which one or more fire where the function is 1, and none elsewhere.

    Their weights are whole. Up to eight inputs every unit stands for as many products as fit;
    beyond, for one.
    """
    n = table.n
    if n > MERGED:
        return [_conjunction(product, n) for product in products(table)]
    groups: list[int] = []
    for rows in sorted(
        (rows_of(p, n) for p in products(table)), key=lambda rows: -rows.bit_count()
    ):
        for k, group in enumerate(groups):
            if _unit(group | rows, n) is not None:
                groups[k] = group | rows
                break
        else:
            groups.append(rows)
    units = [_unit(group, n) for group in groups]
    return [unit for unit in units if unit is not None]


def products(table: TruthTable) -> tuple[Product, ...]:
    """Return products whose "or" is the function and none of which can be left out.

    >>> products(TruthTable(0b0110, 2))
    (Product(ones=1, zeros=2), Product(ones=2, zeros=1))
    """
    return _between(table.bits, table.bits, table.n)[1]


@lru_cache(maxsize=1 << 14)
def rows_of(product: Product, n: int) -> int:
    """Return the rows on which a product is 1, as bits.

    >>> bin(rows_of(Product(ones=2, zeros=1), 2))
    '0b100'
    """
    rows = all_rows(n)
    for i in range(n):
        place = 1 << (n - 1 - i)
        if product.ones & place:
            rows &= ~rows_without(n, i)
        elif product.zeros & place:
            rows &= rows_without(n, i)
    return rows


def _conjunction(product: Product, n: int) -> ThresholdUnit:
    ones = [i for i in range(n) if product.ones >> (n - 1 - i) & 1]
    zeros = [i for i in range(n) if product.zeros >> (n - 1 - i) & 1]
    return conjunction(ones, n, negated=zeros)


@lru_cache(maxsize=1 << 16)
def _unit(rows: int, n: int) -> ThresholdUnit | None:
    answer = realize_table(TruthTable(rows, n))
    return answer if isinstance(answer, ThresholdUnit) else None


def _between(must: int, may: int, n: int) -> tuple[int, tuple[Product, ...]]:
    """Return products of the last n inputs that fill `must` within `may`, after their rows."""
    if not must:
        return 0, ()
    if may == all_rows(n):
        return may, (Product(0, 0),)
    return _remembered(must, may, n) if n <= REMEMBERED else _split(must, may, n)


def _split(must: int, may: int, n: int) -> tuple[int, tuple[Product, ...]]:
    half, place = 1 << (n - 1), 1 << (n - 1)
    low = (1 << half) - 1
    must_0, must_1, may_0, may_1 = must & low, must >> half, may & low, may >> half
    rows_0, terms_0 = _between(must_0 & ~may_1, may_0, n - 1)  # products with the input negated
    rows_1, terms_1 = _between(must_1 & ~may_0, may_1, n - 1)  # products with the input
    left = must_0 & ~rows_0 | must_1 & ~rows_1
    rows, terms = _between(left, may_0 & may_1, n - 1)  # products without it
    return rows | rows_0 | (rows | rows_1) << half, (
        *(Product(ones, zeros | place) for ones, zeros in terms_0),
        *(Product(ones | place, zeros) for ones, zeros in terms_1),
        *terms,
    )


_remembered = lru_cache(maxsize=1 << 14)(_split)
